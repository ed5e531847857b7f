//! The heights of all cells and their sums in a Fenwick tree. One of a hundred thousand cells can grow,
//! and a row be found, without reading the others.

#[derive(Clone, Debug, Default)]
pub struct Heights {
    heights: Vec<u32>,
    /// `sums[i - 1]` is the sum of the `i & -i` heights up to and including number `i`, counted from 1.
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

/// The heights of the cells of a page, or a guess of their sum while the page isn't read.
#[derive(Clone, Debug, Default)]
pub struct PageHeights {
    /// `None` while the page isn't read.
    pub cells: Option<Heights>,
    pub measured: Vec<bool>,
    /// The guessed sum while the page isn't read.
    pub guess: u64,
}

impl PageHeights {
    pub fn total(&self) -> u64 {
        self.cells.as_ref().map_or(self.guess, Heights::total)
    }

    /// The rows of the cells before the one at `place`, plus `row` of its rows.
    pub fn rows_to(&self, place: usize, row: u32) -> u64 {
        match &self.cells {
            Some(heights) if place < heights.len() => {
                heights.before(place) + u64::from(row.min(heights.get(place)))
            }
            _ => self.total(),
        }
    }
}
