//! The heights of all cells, with their sums: a Fenwick tree, so that one cell among a hundred
//! thousand can grow, and one row be found, without looking at the others.

#[derive(Clone, Debug, Default)]
pub struct Heights {
    heights: Vec<u32>,
    /// `sums[i - 1]` is the sum of the `i & -i` heights that end with number `i`, from 1.
    sums: Vec<u64>,
}

impl Heights {
    pub fn len(&self) -> usize {
        self.heights.len()
    }

    pub fn push(&mut self, height: u32) {
        let number = self.heights.len() + 1;
        let start = number - (number & number.wrapping_neg());
        let before = self.before(number - 1) - self.before(start);
        self.heights.push(height);
        self.sums.push(before + u64::from(height));
    }

    pub fn set(&mut self, index: usize, height: u32) {
        let old = std::mem::replace(&mut self.heights[index], height);
        if old == height {
            return;
        }
        let mut number = index + 1;
        while number <= self.sums.len() {
            let sum = &mut self.sums[number - 1];
            *sum = *sum + u64::from(height) - u64::from(old);
            number += number & number.wrapping_neg();
        }
    }

    pub fn get(&self, index: usize) -> u32 {
        self.heights[index]
    }

    pub fn before(&self, index: usize) -> u64 {
        let mut sum = 0;
        let mut number = index;
        while number > 0 {
            sum += self.sums[number - 1];
            number &= number - 1;
        }
        sum
    }

    pub fn total(&self) -> u64 {
        self.before(self.len())
    }
}
