//! Changes that another program made to the file, merged with those that are not saved yet.

use std::path::Path;

use drumfire_jmx::{Conflict, Tree, merge, read, write};
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices};

use crate::tree::Piece;

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The text with the changes of both.
    Merged(String),
    /// Both changed the same settings.
    Conflict(Vec<Conflict>),
}

/// Merges the changes of two texts to a third one. Lines that only one of them changed are taken as they are. Where both changed
/// the same lines, the meaning of the plans decides, as `drumfire merge-plan` does.
pub fn merged(path: &Path, base: &str, ours: &str, theirs: &str) -> Outcome {
    if let Some(text) = by_lines(base, ours, theirs)
        && read(text.as_bytes(), path).is_ok()
    {
        return Outcome::Merged(text);
    }
    let tree = |text: &str| read(text.as_bytes(), path).map(|read| read.tree);
    let (Ok(old), Ok(our_tree), Ok(their_tree)) = (tree(base), tree(ours), tree(theirs)) else {
        return Outcome::Conflict(vec![whole_file()]);
    };
    let result = merge(&old, &our_tree, &their_tree);
    if !result.conflicts.is_empty() {
        return Outcome::Conflict(result.conflicts);
    }
    // A merged tree has no text of its own. Plans as JMeter saves them have one form.
    if is_as_saved(&our_tree) && is_as_saved(&their_tree) {
        return Outcome::Merged(write(&result.ours));
    }
    Outcome::Conflict(vec![whole_file()])
}

fn is_as_saved(tree: &Tree) -> bool {
    write(tree) == tree.source.text
}

fn whole_file() -> Conflict {
    Conflict {
        element: String::new(),
        setting: "text".to_owned(),
        ours: "changed".to_owned(),
        theirs: "changed".to_owned(),
    }
}

/// A replaced range of lines.
struct Hunk<'t> {
    start: usize,
    end: usize,
    lines: &'t [&'t str],
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn hunks<'t>(old: &[&str], new: &'t [&'t str]) -> Vec<Hunk<'t>> {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    let changes = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let hunks = changes.map(|op| Hunk {
        start: op.old_range().start,
        end: op.old_range().end,
        lines: &new[op.new_range()],
    });
    hunks.collect()
}

/// Both texts' changes of lines; `None` if they touch each other.
fn by_lines(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let mut ours_left = hunks(&base, &ours).into_iter().peekable();
    let mut theirs_left = hunks(&base, &theirs).into_iter().peekable();
    let mut all: Vec<Hunk<'_>> = Vec::new();
    loop {
        let next = match (ours_left.peek(), theirs_left.peek()) {
            (Some(one), Some(two))
                if one.start == two.start && one.end == two.end && one.lines == two.lines =>
            {
                theirs_left.next();
                ours_left.next()
            }
            (Some(one), Some(two)) if one.start <= two.start => ours_left.next(),
            (Some(_), None) => ours_left.next(),
            (_, Some(_)) => theirs_left.next(),
            (None, None) => break,
        };
        let next = next?;
        if all.last().is_some_and(|last| next.start <= last.end) {
            return None;
        }
        all.push(next);
    }
    let mut text = String::new();
    let mut from = 0;
    for hunk in all {
        text.extend(base[from..hunk.start].iter().copied());
        text.extend(hunk.lines.iter().copied());
        from = hunk.end;
    }
    text.extend(base[from..].iter().copied());
    Some(text)
}

/// Changed ranges of lines that are longer are not compared word by word.
const LONGEST: usize = 100_000;

/// The pieces that make one text the other. In changed lines they are words, so that an element keeps its number whose start tag
/// keeps its class.
pub fn pieces(old: &str, new: &str) -> Vec<Piece> {
    let lines = differing(&TextDiff::from_lines(old, new), 0);
    let words = lines.into_iter().flat_map(|piece| {
        let before = &old[piece.start..piece.end];
        if before.is_empty() || piece.text.is_empty() || before.len() + piece.text.len() > LONGEST {
            return vec![piece];
        }
        differing(&TextDiff::from_words(before, &piece.text), piece.start)
    });
    words.collect()
}

/// The replaced ranges of a text that begins at an offset.
fn differing<'t>(diff: &TextDiff<'t, 't, '_, str>, start: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = start;
    for change in diff.iter_all_changes() {
        let text = change.value();
        let last = pieces.last_mut().filter(|last| last.end == at);
        match (change.tag(), last) {
            (ChangeTag::Equal, _) => at += text.len(),
            (ChangeTag::Delete, Some(last)) => {
                at += text.len();
                last.end = at;
            }
            (ChangeTag::Delete, None) => {
                pieces.push(Piece::new(at, at + text.len(), ""));
                at += text.len();
            }
            (ChangeTag::Insert, Some(last)) => last.text.push_str(text),
            (ChangeTag::Insert, None) => pieces.push(Piece::new(at, at, text)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str, timers: &[(&str, &str)]) -> String {
        let timers: String = timers
            .iter()
            .map(|(name, delay)| {
                format!(
                    "      <ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"{name}\">\n        <stringProp name=\"ConstantTimer.delay\">{delay}</stringProp>\n      </ConstantTimer>\n      <hashTree/>\n"
                )
            })
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  <hashTree>\n    <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"{name}\"/>\n    <hashTree>\n{timers}    </hashTree>\n  </hashTree>\n</jmeterTestPlan>\n"
        )
    }

    #[test]
    fn changes_of_different_lines_join_and_of_one_setting_conflict() {
        let path = Path::new("p.jmx");
        let base = plan("p", &[("a", "1"), ("b", "2")]);
        let ours = plan("ours", &[("a", "1"), ("b", "2")])
            .replace("  <hashTree>\n    <T", "  <hashTree>\n    <!-- mine --><T");
        let theirs = plan("p", &[("a", "1"), ("b", "3")]);
        let Outcome::Merged(text) = merged(path, &base, &ours, &theirs) else {
            panic!("the changes do not touch each other");
        };
        assert!(
            text.contains("<!-- mine -->") && text.contains(">3<") && text.contains("\"ours\"")
        );
        // Two settings of one line: the meaning decides.
        let ours = plan("p", &[("x", "1"), ("b", "2")]);
        let theirs = base.replace("testname=\"a\"", "testname=\"a\" enabled=\"false\"");
        let Outcome::Merged(text) = merged(path, &base, &ours, &theirs) else {
            panic!("name and flag are two settings");
        };
        assert!(text.contains("testname=\"x\" enabled=\"false\""), "{text}");
        let theirs = plan("p", &[("y", "1"), ("b", "2")]);
        let Outcome::Conflict(conflicts) = merged(path, &base, &ours, &theirs) else {
            panic!("both renamed the timer");
        };
        assert_eq!(
            (conflicts[0].ours.as_str(), conflicts[0].theirs.as_str()),
            ("x", "y")
        );
    }

    #[test]
    fn pieces_make_one_text_the_other() {
        let mut random = fastrand::Rng::with_seed(46);
        for _ in 0..500 {
            let mut text = || -> String {
                (0..random.usize(..12))
                    .map(|_| ["a\n", "b\n", "c\r\n", "d"][random.usize(..4)])
                    .collect()
            };
            let (old, new) = (text(), text());
            let step = crate::tree::step(String::new(), &old, pieces(&old, &new));
            assert_eq!(step.applied(&old), Some(new));
        }
    }
}
