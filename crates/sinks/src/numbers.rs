//! Times and numbers as the wire forms write them.

use std::borrow::Cow;

use drumfire_results::{Distribution, Histogram, LabelIncrement};

/// Milliseconds of a time in microseconds.
pub fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

/// Each label once: JMeter does not tell a transaction from a sampler of the same name. Labels are in order.
pub fn by_label(labels: &[LabelIncrement]) -> Vec<Cow<'_, LabelIncrement>> {
    let namesakes = labels.chunk_by(|a, b| a.label == b.label);
    namesakes
        .filter_map(|namesakes| {
            let (first, rest) = namesakes.split_first()?;
            let mut all = Cow::Borrowed(first);
            for other in rest {
                all.to_mut().absorb(other.clone());
            }
            Some(all)
        })
        .collect()
}

/// Several distributions as one.
pub struct Times {
    histogram: Histogram,
}

impl Times {
    /// The times of all distributions together.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Distribution>) -> Times {
        let mut all = Distribution::default();
        for part in parts {
            all.merge(part);
        }
        Times {
            histogram: all.histogram(),
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// The shortest, in milliseconds; 0 without times.
    pub fn min_ms(&self) -> f64 {
        ms(self.histogram.min())
    }

    /// The longest, in milliseconds; 0 without times.
    pub fn max_ms(&self) -> f64 {
        ms(self.histogram.max())
    }

    /// The mean, in milliseconds; 0 without times.
    pub fn mean_ms(&self) -> f64 {
        self.histogram.mean() / 1000.0
    }

    /// A percentile, in milliseconds; 0 without times.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        self.histogram.percentile(percent) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_and_a_sampler_of_one_name_are_one_label() {
        let label = |name: &str, transaction| {
            let mut label = LabelIncrement::new(name.to_owned(), transaction);
            label.count = 2;
            label
        };
        let labels = [label("a", false), label("a", true), label("b", false)];
        let told = by_label(&labels);
        let told: Vec<_> = told.iter().map(|one| (&*one.label, one.count)).collect();
        assert_eq!(told, [("a", 4), ("b", 2)]);
    }
}
