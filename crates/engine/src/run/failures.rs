//! Counts failures that no row shows: functions that gave no text, samplers without a sample, users that ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_platform::words::counted;

/// The most elements to list.
const MOST_ELEMENTS: usize = 3;

/// What failed in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failed {
    /// A function gave no text, or another one than the plan means.
    Function(&'static str),
    /// The exception of an evaluation discarded the sample.
    Sample,
    /// An exception ended the user.
    User,
}

/// How often something failed in one element, and why at first.
#[derive(Debug)]
struct Tally {
    count: u64,
    reason: String,
}

/// The failures of a run that no row shows.
#[derive(Debug, Default)]
pub struct Failures(Mutex<BTreeMap<(Failed, Arc<str>), Tally>>);

impl Failures {
    /// Records a failure in the element of this name. `reason` may be empty if the log says why.
    pub fn note(&self, failed: Failed, element: &Arc<str>, reason: &str) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = noted
            .entry((failed, element.clone()))
            .or_insert_with(|| Tally {
                count: 0,
                reason: reason.lines().next().unwrap_or_default().to_owned(),
            });
        tally.count += 1;
    }

    /// A line for each kind of failure that occurred.
    pub fn told(&self) -> Vec<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |wanted: fn(&Failed) -> bool| {
            let mut found: Vec<_> = noted.iter().filter(|((kind, _), _)| wanted(kind)).collect();
            found.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
            let sum: u64 = found.iter().map(|(_, tally)| tally.count).sum();
            let places = found
                .iter()
                .take(MOST_ELEMENTS)
                .map(|((kind, element), tally)| {
                    let function = match kind {
                        Failed::Function(name) => format!("`{name}` in "),
                        Failed::Sample | Failed::User => String::new(),
                    };
                    let reason = match tally.reason.as_str() {
                        "" => String::new(),
                        reason => format!(" ({reason})"),
                    };
                    let times = match tally.count {
                        1 => "once".to_owned(),
                        count => format!("{count} times"),
                    };
                    format!("{times} {function}`{element}`{reason}")
                });
            let mut places: Vec<String> = places.collect();
            if found.len() > MOST_ELEMENTS {
                places.push(format!("the rest in {} more", found.len() - MOST_ELEMENTS));
            }
            (sum, places.join(", "))
        };
        let mut lines = Vec::new();
        let mut tell = |wanted: fn(&Failed) -> bool, said: fn(u64) -> String| {
            let (sum, places) = of(wanted);
            if sum > 0 {
                lines.push(format!("{}: {places}; the log says why", said(sum)));
            }
        };
        tell(
            |kind| matches!(kind, Failed::Function(_)),
            |sum| format!("{} of functions failed", counted(sum, "call")),
        );
        tell(
            |kind| matches!(kind, Failed::Sample),
            |sum| {
                let turns = counted(sum, "turn");
                format!("{turns} of samplers gave no sample, because of errors")
            },
        );
        tell(
            |kind| matches!(kind, Failed::User),
            |sum| format!("{} ended by errors", counted(sum, "user")),
        );
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_line_with_the_elements_that_failed_most() {
        let failures = Failures::default();
        assert!(failures.told().is_empty());
        for element in ["a", "b", "b", "c", "d", "e"] {
            failures.note(Failed::Function("__groovy"), &element.into(), "");
        }
        failures.note(Failed::User, &"if".into(), "java.lang.Error: no\n\tat X");
        failures.note(Failed::User, &"if".into(), "another");
        let expected = [
            "6 calls of functions failed: 2 times `__groovy` in `b`, once `__groovy` in `a`, once `__groovy` in `c`, the rest in 2 more; the log says why",
            "2 users ended by errors: 2 times `if` (java.lang.Error: no); the log says why",
        ];
        assert_eq!(failures.told(), expected);
    }
}
