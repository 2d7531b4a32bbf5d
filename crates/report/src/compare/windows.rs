//! A run cut into windows of time.

use drumfire_results::{Cell, Sparse, Timeline};

use crate::page;

/// The most windows of a run, approximately.
const WINDOWS: i64 = 60;

/// The samples that ended in one window.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub count: u64,
    pub errors: u64,
    pub histogram: Sparse,
}

/// Adjacent windows of equal length.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    /// Length of each, in seconds.
    pub length_s: f64,
    /// Start of the first, in seconds since the Unix epoch.
    pub from_s: f64,
    pub all: Vec<Window>,
}

impl Windows {
    pub fn of_total(timeline: &Timeline) -> Windows {
        let cells = timeline.total().iter().map(|step| &step.ended);
        Windows::of(cells, timeline.total_step_s())
    }

    pub fn of_label(timeline: &Timeline, place: usize) -> Windows {
        Windows::of(timeline.label(place).iter(), timeline.label_step_s())
    }

    fn of<'a>(cells: impl Iterator<Item = &'a Cell> + Clone, step_s: u32) -> Windows {
        let mut used = cells.filter(|cell| cell.count > 0);
        let Some(first) = used.clone().next().map(|cell| cell.at) else {
            return Windows::default();
        };
        let last = used.clone().last().map(|cell| cell.at).unwrap_or(first);
        let steps = (last - first) / WINDOWS + 1;
        let mut all = vec![Window::default(); ((last - first) / steps + 1) as usize];
        used.by_ref().for_each(|cell| {
            let window = &mut all[((cell.at - first) / steps) as usize];
            window.count += cell.count;
            window.errors += cell.errors;
            window.histogram.merge(&cell.histogram);
        });
        Windows {
            length_s: f64::from(step_s) * steps as f64,
            from_s: first as f64 * f64::from(step_s),
            all,
        }
    }

    /// The windows as points: seconds since the start of the run, 95th percentile in milliseconds, samples a second.
    pub fn over_time(&self, started_s: f64) -> super::TimeCurve {
        // The first and the last window are covered only in part, so a rate of all of one would be too low.
        let inner = self.inner().len();
        let skipped = (self.all.len() - inner) / 2;
        let windows = self.inner().iter().enumerate();
        let points = windows.map(|(place, window)| {
            let from_s = self.from_s + (place + skipped) as f64 * self.length_s;
            let p95 = window.histogram.percentile(95.0);
            let middle_s = from_s + self.length_s / 2.0 - started_s;
            (
                page::rounded(middle_s.max(0.0)),
                p95.map(|us| page::rounded(us / 1000.0)),
                page::rounded(window.count as f64 / self.length_s),
            )
        });
        points.collect()
    }

    /// The windows without the first and the last, which the run fills only partly. If there are
    /// very few, all of them.
    pub fn inner(&self) -> &[Window] {
        match self.all.len() {
            0..=4 => &self.all,
            len => &self.all[1..len - 1],
        }
    }
}
