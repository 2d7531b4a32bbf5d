//! Counts failures that no row shows: functions that gave no text, samplers without a sample, users that ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_platform::words::counted;

/// The most elements to list.
const MOST_ELEMENTS: usize = 3;

/// The kind of failure in an element.
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
        let mut kinds: [Kind<'_>; 3] = Default::default();
        for ((failed, element), tally) in noted.iter() {
            let kind = match failed {
                Failed::Function(_) => 0,
                Failed::Sample => 1,
                Failed::User => 2,
            };
            kinds[kind].push((*failed, element, tally));
        }
        let [functions, samples, users] = kinds;
        let lines = [
            line(functions, "call", "of functions failed"),
            line(
                samples,
                "turn",
                "of samplers gave no sample, because of errors",
            ),
            line(users, "user", "ended by errors"),
        ];
        lines.into_iter().flatten().collect()
    }
}

/// The failures of a kind: what failed, in which element, and how often.
type Kind<'n> = Vec<(Failed, &'n Arc<str>, &'n Tally)>;

/// The line about failures of one kind; `None` if there were none.
fn line(mut kind: Kind<'_>, noun: &str, what: &str) -> Option<String> {
    let sum: u64 = kind.iter().map(|(.., tally)| tally.count).sum();
    if sum == 0 {
        return None;
    }
    kind.sort_by_key(|(.., tally)| std::cmp::Reverse(tally.count));
    let places = kind.iter().take(MOST_ELEMENTS);
    let mut places: Vec<String> = places
        .map(|(failed, element, tally)| failure_text(*failed, element, tally))
        .collect();
    if kind.len() > MOST_ELEMENTS {
        let more = kind.len() - MOST_ELEMENTS;
        places.push(format!("the rest in {more} more"));
    }
    let (sum, places) = (counted(sum, noun), places.join(", "));
    Some(format!("{sum} {what}: {places}; the log says why"))
}

fn failure_text(failed: Failed, element: &str, tally: &Tally) -> String {
    let times = match tally.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let function = match failed {
        Failed::Function(name) => format!("`{name}` in "),
        Failed::Sample | Failed::User => String::new(),
    };
    let reason = match tally.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!("{times} {function}`{element}`{reason}")
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
