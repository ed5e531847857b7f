//! The printed table: one line per measurement, with its budget. It doesn't judge, because on a
//! loaded machine assertions about time would be wrong.

/// Prints the table's header.
pub fn head() {
    println!(
        "{:10} {:44} {:>9} {:>9} {:>9} {:>9}  {:>4}  budget",
        "", "", "median", "p95", "best", "worst", "runs"
    );
}

/// What to measure, its unit, and its budget.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub program: &'a str,
    pub what: &'a str,
    pub unit: &'a str,
    pub budget: &'a str,
}

impl<'a> Row<'a> {
    pub fn of(program: &'a str, what: &'a str, unit: &'a str, budget: &'a str) -> Self {
        Self {
            program,
            what,
            unit,
            budget,
        }
    }

    /// Measures `runs` times and prints the line. A failed measurement ends the row.
    pub fn measure(self, runs: usize, mut once: impl FnMut() -> Option<f64>) {
        self.print((0..runs).map_while(|_| once()).collect());
    }

    /// Prints the line for these figures.
    pub fn print(self, mut values: Vec<f64>) {
        let Self {
            program,
            what,
            unit,
            budget,
        } = self;
        values.sort_by(f64::total_cmp);
        let (Some(best), Some(worst)) = (values.first(), values.last()) else {
            println!("{program:10} {what:44}  no figure");
            return;
        };
        let count = values.len();
        let median = values[count / 2];
        if count == 1 {
            let gap = "";
            println!("{program:10} {what:44} {median:6.2} {unit:2} {gap:29}  {count:4}  {budget}");
            return;
        }
        let p95 = values[(count * 95).div_ceil(100) - 1];
        println!(
            "{program:10} {what:44} {median:6.2} {unit:2} {p95:6.2} {unit:2} {best:6.2} {unit:2} \
             {worst:6.2} {unit:2}  {count:4}  {budget}"
        );
    }
}
