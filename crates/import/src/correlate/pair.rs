//! Compares two recordings of the same visit by two users.

use std::collections::HashMap;

use super::form::ValueEncoding;
use super::search;
use super::sent::{self, Sent};
use super::worth::is_telling;
use crate::draft::{Draft, DraftStep};
use crate::exchange::Request;
use crate::extractor::ExtractorSource;

/// The largest table of request pairs that is compared. For longer recordings only the common beginning and end are
/// matched.
const MOST_COMPARED: usize = 16 << 20;

/// The number of requests of a recording that the other one also has.
pub fn counterparts(draft: &Draft, other: &Draft) -> usize {
    let steps: Vec<DraftStep> = draft.steps().cloned().collect();
    steps.len() - Pair::of(&steps, other).lone()
}

/// The other user's requests, matched to those of the first user.
pub(super) struct Pair<'o> {
    pub(super) other: Vec<&'o DraftStep>,
    /// For each step of the first recording, the index of its counterpart in the other.
    pub(super) same: Vec<Option<usize>>,
    /// The other user's value, by step index, field and the first user's value.
    values: HashMap<(usize, String, String), String>,
    /// The short path segments in which the users differ, by step index.
    segments: HashMap<usize, Vec<Sent>>,
}

impl<'o> Pair<'o> {
    pub fn of(steps: &[DraftStep], other: &'o Draft) -> Pair<'o> {
        let other: Vec<&DraftStep> = other.steps().collect();
        let own_shapes: Vec<String> = steps.iter().map(shapes).collect();
        let other_shapes: Vec<String> = other.iter().map(|step| shape(&step.request)).collect();
        let same = aligned(&own_shapes, &other_shapes);
        let mut pair = Pair {
            other,
            same,
            values: HashMap::new(),
            segments: HashMap::new(),
        };
        for (place, step) in steps.iter().enumerate() {
            if let Some(at) = pair.same[place] {
                let theirs = pair.other[at];
                pair.compare(place, &step.request, &theirs.request);
            }
        }
        pair
    }

    fn compare(&mut self, place: usize, own: &Request, other: &Request) {
        let (ours, theirs) = (sent::values(own), sent::values(other));
        for sent in &ours {
            let is_alike = |one: &&Sent| one.is_field == sent.is_field && one.field == sent.field;
            let all: Vec<&Sent> = ours.iter().filter(is_alike).collect();
            let others: Vec<&Sent> = theirs.iter().filter(is_alike).collect();
            let at = all.iter().position(|one| *one == sent);
            if let (true, Some(at)) = (all.len() == others.len(), at) {
                let key = (place, sent.field.clone(), sent.value.clone());
                self.values.insert(key, others[at].value.clone());
            }
        }
        let (our_path, their_path) = (own.address.bare_path(), other.address.bare_path());
        let mut before = "";
        for (number, (one, two)) in our_path.split('/').zip(their_path.split('/')).enumerate() {
            if one != two && !is_telling(one) {
                let key = (place, number.to_string(), one.to_owned());
                self.values.insert(key, two.to_owned());
                let sent = Sent::segment(before, one, number);
                self.segments.entry(place).or_default().push(sent);
            }
            before = one;
        }
    }

    /// The steps of the first recording that the other one does not have.
    pub fn lone(&self) -> usize {
        self.same.iter().filter(|same| same.is_none()).count()
    }

    /// The other user's counterpart of the first user's value.
    pub fn value(&self, place: usize, sent: &Sent) -> Option<&String> {
        let field = sent
            .segment
            .map(|number| number.to_string())
            .unwrap_or_else(|| sent.field.clone());
        self.values.get(&(place, field, sent.value.clone()))
    }

    /// Path segments in which the users differ and that are too short to be recognised without the second
    /// recording.
    pub fn short_segments(&self, place: usize) -> Vec<Sent> {
        self.segments.get(&place).cloned().unwrap_or_default()
    }

    /// Whether an extractor of a step yields the other user's value from the other user's response.
    pub fn gives(
        &self,
        from: usize,
        (source, form): &(ExtractorSource, ValueEncoding),
        value: &str,
    ) -> bool {
        let same = self.same.get(from).copied().flatten();
        let step = same.map(|at| self.other[at]);
        let Some((step, response)) = step.and_then(|step| Some((step, step.response.as_ref()?)))
        else {
            return false;
        };
        let given = search::yielded(source, response, &step.request);
        given.is_some_and(|given| form.stands_for(&given, value))
    }
}

fn shapes(step: &DraftStep) -> String {
    shape(&step.request)
}

/// The parts of a request that are the same for both users.
fn shape(request: &Request) -> String {
    let address = &request.address;
    let path = address.bare_path();
    let path: Vec<&str> = path
        .split('/')
        .map(|segment| {
            if is_telling(segment) || segment.bytes().any(|byte| byte.is_ascii_digit()) {
                "*"
            } else {
                segment
            }
        })
        .collect();
    let with_query = address.path.template();
    let query = with_query
        .split_once('?')
        .map(|(_, query)| query)
        .unwrap_or("");
    let mut names: Vec<&str> = query
        .split('&')
        .map(|parameter| parameter.split('=').next().unwrap_or(""))
        .collect();
    names.sort_unstable();
    let host = address.host.template();
    format!(
        "{} {host} {} {}",
        request.method,
        path.join("/"),
        names.join("&")
    )
}

/// The longest common subsequence of two lists: for each item of the first, its index in the second.
fn aligned(one: &[String], two: &[String]) -> Vec<Option<usize>> {
    let mut same = vec![None; one.len()];
    let shorter = one.len().min(two.len());
    let start = (0..shorter).take_while(|&at| one[at] == two[at]).count();
    let end = (0..shorter - start)
        .take_while(|at| one[one.len() - 1 - at] == two[two.len() - 1 - at])
        .count();
    for (at, same) in same.iter_mut().enumerate().take(start) {
        *same = Some(at);
    }
    for at in 0..end {
        same[one.len() - 1 - at] = Some(two.len() - 1 - at);
    }
    let (left, right) = (&one[start..one.len() - end], &two[start..two.len() - end]);
    if left.len().saturating_mul(right.len()) > MOST_COMPARED {
        return same;
    }
    // The length of the longest common subsequence of the two tails that start here.
    let width = right.len() + 1;
    let mut longest = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            longest[i * width + j] = if left[i] == right[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            same[start + i] = Some(start + j);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_sequence_is_found() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let places = |one: &str, two: &str| aligned(&words(one), &words(two));
        assert_eq!(places("a b c", "a b c"), [Some(0), Some(1), Some(2)]);
        assert_eq!(
            places("a x b c", "a b y c"),
            [Some(0), None, Some(1), Some(3)]
        );
        assert_eq!(places("a a", "a"), [Some(0), None]);
        assert_eq!(places("a b", "c d"), [None, None]);
        assert_eq!(
            places("p a q b r", "s a b t"),
            [None, Some(1), None, Some(2), None]
        );
    }
}
