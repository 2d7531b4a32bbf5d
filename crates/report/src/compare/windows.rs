//! A run cut into windows of time.

use drumfire_results::{Cell, Sparse, Timeline};

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
        let last = used.clone().last().map_or(first, |cell| cell.at);
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
            all,
        }
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
