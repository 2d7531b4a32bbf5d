//! The order of versions, and version ranges, as in Maven's resolver (`GenericVersion`, `GenericVersionRange`).

use std::cmp::Ordering;

/// A part of a version, delimited by dots, dashes and changes between digits and letters.
#[derive(Debug, PartialEq, Eq)]
enum VersionPart {
    /// A qualifier that Maven knows: -5 for alpha up to 1 for sp; 0 is a release.
    Known(i8),
    /// Another qualifier in lower case.
    Word(String),
    /// Digits without leading zeros.
    Number(String),
}

impl VersionPart {
    /// The rank by which parts of different kinds are ordered.
    fn kind(&self) -> u8 {
        match self {
            VersionPart::Known(_) => 0,
            VersionPart::Word(_) => 1,
            VersionPart::Number(_) => 2,
        }
    }

    /// Compares the part with a missing one, which counts as zero or as a release.
    fn to_nothing(&self) -> Ordering {
        match self {
            VersionPart::Known(rank) => rank.cmp(&0),
            VersionPart::Word(_) => Ordering::Greater,
            VersionPart::Number(digits) => {
                if digits.is_empty() {
                    Ordering::Equal
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl Ord for VersionPart {
    fn cmp(&self, other: &VersionPart) -> Ordering {
        match (self, other) {
            (VersionPart::Known(one), VersionPart::Known(two)) => one.cmp(two),
            (VersionPart::Word(one), VersionPart::Word(two)) => one.cmp(two),
            (VersionPart::Number(one), VersionPart::Number(two)) => {
                one.len().cmp(&two.len()).then_with(|| one.cmp(two))
            }
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for VersionPart {
    fn partial_cmp(&self, other: &VersionPart) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two versions.
pub(crate) fn compare(one: &str, two: &str) -> Ordering {
    let (one, two) = (parts(one), parts(two));
    for at in 0..one.len().max(two.len()) {
        let order = match (one.get(at), two.get(at)) {
            (Some(one), Some(two)) => one.cmp(two),
            (Some(one), None) => one.to_nothing(),
            (None, Some(two)) => two.to_nothing().reverse(),
            (None, None) => Ordering::Equal,
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn parts(version: &str) -> Vec<VersionPart> {
    let version = version.to_ascii_lowercase();
    let mut parts = Vec::new();
    for word in version.split(['.', '-', '_']) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_digit = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != is_digit);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            parts.push(if is_digit {
                VersionPart::Number(part.trim_start_matches('0').to_owned())
            } else {
                qualifier(part, !after.is_empty())
            });
            rest = after;
        }
    }
    trim(parts)
}

/// Parses a qualifier. `a`, `b` and `m` are abbreviations if digits follow.
fn qualifier(word: &str, is_before_digits: bool) -> VersionPart {
    VersionPart::Known(match word {
        "a" if is_before_digits => -5,
        "b" if is_before_digits => -4,
        "m" if is_before_digits => -3,
        "alpha" => -5,
        "beta" => -4,
        "milestone" => -3,
        "rc" | "cr" => -2,
        "snapshot" => -1,
        "ga" | "final" | "release" => 0,
        "sp" => 1,
        _ => return VersionPart::Word(word.to_owned()),
    })
}

/// Removes zeros and release qualifiers at the end and before other qualifiers: 1.0-alpha equals 1-alpha.
fn trim(parts: Vec<VersionPart>) -> Vec<VersionPart> {
    let mut significant: Vec<VersionPart> = Vec::new();
    for part in parts {
        if !matches!(part, VersionPart::Number(_)) {
            while significant.last().is_some_and(is_nothing) {
                significant.pop();
            }
        }
        significant.push(part);
    }
    while significant.last().is_some_and(is_nothing) {
        significant.pop();
    }
    significant
}

fn is_nothing(part: &VersionPart) -> bool {
    part.to_nothing() == Ordering::Equal
}

/// Whether a version is a range, such as `[1.0,2.0)`.
pub(crate) fn is_range(version: &str) -> bool {
    version.starts_with(['[', '('])
}

/// The highest version of a list that lies in a range; `[1.0]` only contains 1.0.
pub(crate) fn highest<'v>(range: &str, versions: &'v [String]) -> Option<&'v str> {
    let ranges = intervals(range)?;
    let within = versions
        .iter()
        .filter(|version| ranges.iter().any(|one| one.has(version)));
    within
        .max_by(|one, two| compare(one, two))
        .map(String::as_str)
}

struct Interval<'r> {
    from: Option<&'r str>,
    is_from_in: bool,
    to: Option<&'r str>,
    is_to_in: bool,
}

impl Interval<'_> {
    fn has(&self, version: &str) -> bool {
        let above = self.from.is_none_or(|from| match compare(version, from) {
            Ordering::Greater => true,
            Ordering::Equal => self.is_from_in,
            Ordering::Less => false,
        });
        let below = self.to.is_none_or(|to| match compare(version, to) {
            Ordering::Less => true,
            Ordering::Equal => self.is_to_in,
            Ordering::Greater => false,
        });
        above && below
    }
}

fn intervals(range: &str) -> Option<Vec<Interval<'_>>> {
    let mut ranges = Vec::new();
    let mut rest = range.trim();
    while !rest.is_empty() {
        let is_from_in = match rest.as_bytes()[0] {
            b'[' => true,
            b'(' => false,
            _ => return None,
        };
        let end = rest.find([']', ')'])?;
        let is_to_in = rest.as_bytes()[end] == b']';
        let inner = &rest[1..end];
        let (from, to) = inner.split_once(',').unwrap_or((inner, inner));
        let bound = |text: &'_ str| !text.trim().is_empty();
        ranges.push(Interval {
            from: Some(from.trim()).filter(|text| bound(text)),
            is_from_in,
            to: Some(to.trim()).filter(|text| bound(text)),
            is_to_in,
        });
        rest = rest[end + 1..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_mavens_order() {
        let order = [
            "1.0-alpha-1",
            "1.0-beta2",
            "1.0-m3",
            "1.0-rc1",
            "1.0-SNAPSHOT",
            "1.0",
            "1.0-sp",
            "1.0-jre",
            "1.0.1",
            "1.2",
            "1.10",
            "2.0",
            "20040616",
        ];
        for pair in order.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        for (one, two) in [
            ("1", "1.0.0"),
            ("1.0-ga", "1"),
            ("1.0-RC1", "1-cr1"),
            ("1-a1", "1-alpha-1"),
        ] {
            assert_eq!(compare(one, two), Ordering::Equal, "{one} {two}");
        }
    }

    #[test]
    fn the_highest_version_of_a_range_is_taken() {
        let versions = ["1.0", "1.5", "2.0", "3.0"].map(str::to_owned);
        for (range, expected) in [
            ("[1.0,2.0)", Some("1.5")),
            ("[1.0,2.0]", Some("2.0")),
            ("(1.5,)", Some("3.0")),
            ("(,1.0]", Some("1.0")),
            ("[1.5]", Some("1.5")),
            ("[1.0,1.2),(2.5,3.5)", Some("3.0")),
            ("(3.0,)", None),
            ("[1.0", None),
        ] {
            assert_eq!(highest(range, &versions), expected, "{range}");
        }
    }
}
