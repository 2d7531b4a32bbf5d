//! Marks of the files that contain a sample's rows (`SampleResult#markFile`).

use std::cell::{Cell, RefCell};

/// Where a sample has been recorded. Listeners may receive a sample several times, but each file gets its rows once, and it
/// counts once.
#[derive(Clone, Debug, Default)]
pub struct Written {
    is_counted: Cell<bool>,
    /// A bit for each of the first files.
    first: Cell<u64>,
    others: RefCell<Vec<usize>>,
}

impl Written {
    /// Marks the sample as counted in the statistics. Returns whether it was not.
    pub fn mark_counted(&self) -> bool {
        !self.is_counted.replace(true)
    }

    /// Whether the sample is counted in the statistics.
    pub fn is_counted(&self) -> bool {
        self.is_counted.get()
    }

    /// Marks the sample as written to a file. Returns whether it was not.
    pub fn mark_file(&self, file: usize) -> bool {
        if file < 64 {
            let before = self.first.get();
            self.first.set(before | 1 << file);
            return before & 1 << file == 0;
        }
        let mut others = self.others.borrow_mut();
        let is_new = !others.contains(&file);
        if is_new {
            others.push(file);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_new_once() {
        let written = Written::default();
        for file in [0, 63, 64, 200] {
            assert!(written.mark_file(file));
            assert!(!written.mark_file(file));
        }
        assert!(written.mark_counted());
        assert!(!written.mark_counted());
    }
}
