//! A change of the text, and its inverse.

use drumfire_jmx::Span;
use serde::{Deserialize, Serialize};

/// Names an element for as long as the session lasts. The number of a removed element is never given to another one.
pub type Id = u64;

/// A replaced range of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Patch {
    /// The offset in the text before the step.
    pub start: usize,
    /// The text that was there.
    pub removed: String,
    /// The text that is there now.
    pub inserted: String,
    /// The elements that begin in the removed text, in its order.
    #[serde(skip)]
    pub removed_ids: Vec<Id>,
    /// The elements that begin in the inserted text, in its order. Further ones get new numbers.
    #[serde(skip)]
    pub inserted_ids: Vec<Id>,
}

impl Patch {
    /// The offset behind the removed text.
    pub fn end(&self) -> usize {
        self.start + self.removed.len()
    }
}

/// Patches in the order of the text that do not overlap. They are made and taken back together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Step {
    /// Says what it does, for the commands Undo and Redo.
    pub label: String,
    /// The patches.
    pub patches: Vec<Patch>,
}

impl Step {
    /// The step that takes this one back.
    pub fn inverse(&self) -> Step {
        let mut moved = 0_isize;
        Step {
            label: self.label.clone(),
            patches: self
                .patches
                .iter()
                .map(|patch| {
                    let start = patch.start.wrapping_add_signed(moved);
                    moved += growth(patch);
                    Patch {
                        start,
                        removed: patch.inserted.clone(),
                        inserted: patch.removed.clone(),
                        removed_ids: patch.inserted_ids.clone(),
                        inserted_ids: patch.removed_ids.clone(),
                    }
                })
                .collect(),
        }
    }

    /// The text after the step; `None` if the text is not the one that the step was made for.
    pub fn applied(&self, text: &str) -> Option<String> {
        let (replaced, inserted) = self.joined(text)?;
        Some(
            [
                &text[..replaced.start],
                inserted.as_str(),
                &text[replaced.end..],
            ]
            .concat(),
        )
    }

    /// The range that the patches cover, and the text that it becomes; `None` if the text is not the one that the step was made
    /// for.
    pub fn joined(&self, text: &str) -> Option<(Span, String)> {
        let (Some(first), Some(last)) = (self.patches.first(), self.patches.last()) else {
            return Some((Span::default(), String::new()));
        };
        let mut inserted = String::new();
        let mut from = first.start;
        for patch in &self.patches {
            inserted.push_str(text.get(from..patch.start)?);
            if text.get(patch.start..patch.end())? != patch.removed {
                return None;
            }
            inserted.push_str(&patch.inserted);
            from = patch.end();
        }
        Some((Span::new(first.start, last.end()), inserted))
    }

    /// The ranges of the inserted texts after the step.
    pub fn inserted_spans(&self) -> Vec<Span> {
        let mut moved = 0_isize;
        self.patches
            .iter()
            .map(|patch| {
                let start = patch.start.wrapping_add_signed(moved);
                moved += growth(patch);
                Span::new(start, start + patch.inserted.len())
            })
            .collect()
    }

    /// This step and a later one as a single step, if the later one changes within the texts that this one inserted.
    pub fn then(&self, next: &Step) -> Option<Step> {
        if self.label != next.label || self.patches.len() != next.patches.len() {
            return None;
        }
        let mut joined = self.clone();
        let places = self.inserted_spans();
        for ((own, place), next) in joined.patches.iter_mut().zip(places).zip(&next.patches) {
            let has_ids = [
                &own.removed_ids,
                &own.inserted_ids,
                &next.removed_ids,
                &next.inserted_ids,
            ];
            if next.start < place.start
                || next.end() > place.end
                || has_ids.iter().any(|ids| !ids.is_empty())
            {
                return None;
            }
            let at = next.start - place.start;
            own.inserted
                .replace_range(at..at + next.removed.len(), &next.inserted);
        }
        Some(joined)
    }

    /// This step and a later one, which moves no element, as a single step; `None` if a patch of the later one reaches over the end
    /// of a text that this one inserted.
    pub fn composed(&self, next: &Step) -> Option<Step> {
        let mut both = self.clone();
        let places = self.inserted_spans();
        let mut within = 0_isize;
        let mut last = None;
        for patch in &next.patches {
            let at = places.partition_point(|place| place.end <= patch.start);
            match places.get(at) {
                Some(place) if place.start <= patch.start && patch.end() <= place.end => {
                    if last != Some(at) {
                        (within, last) = (0, Some(at));
                    }
                    let start = (patch.start - place.start).checked_add_signed(within)?;
                    let range = start..start + patch.removed.len();
                    both.patches[at]
                        .inserted
                        .replace_range(range, &patch.inserted);
                    within += growth(patch);
                }
                Some(place) if place.start < patch.end() => return None,
                _ => {
                    let before = self.patches[..at].iter().map(growth).sum::<isize>();
                    both.patches.push(Patch {
                        start: patch.start.checked_add_signed(-before)?,
                        ..patch.clone()
                    });
                }
            }
        }
        both.patches.sort_by_key(|patch| patch.start);
        Some(both)
    }

    /// Whether the step changes nothing.
    pub fn is_empty(&self) -> bool {
        self.patches.is_empty()
    }
}

fn growth(patch: &Patch) -> isize {
    // Texts are shorter than `isize::MAX`.
    patch.inserted.len() as isize - patch.removed.len() as isize
}

/// A replacement that is part of a step to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The start of the replaced range.
    pub start: usize,
    /// The end of the replaced range.
    pub end: usize,
    /// The new text.
    pub text: String,
    /// The elements that begin in the new text, if they have numbers already.
    pub ids: Vec<Id>,
}

impl Piece {
    /// A replacement of the bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize, text: impl Into<String>) -> Piece {
        Piece {
            start,
            end,
            text: text.into(),
            ids: Vec::new(),
        }
    }

    /// The elements in the new text keep these numbers.
    pub fn with_ids(mut self, ids: Vec<Id>) -> Piece {
        self.ids = ids;
        self
    }
}

impl From<drumfire_jmx::Splice> for Piece {
    fn from(splice: drumfire_jmx::Splice) -> Piece {
        Piece::new(splice.span.start, splice.span.end, splice.text)
    }
}

/// The pieces as a step; those that touch each other become one patch. A piece that overlaps an earlier one is left out.
pub fn step(label: String, text: &str, mut pieces: Vec<Piece>) -> Step {
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    pieces.dedup();
    let mut patches: Vec<Patch> = Vec::new();
    for piece in pieces {
        let removed = &text[piece.start..piece.end];
        match patches.last_mut() {
            Some(last) if piece.start < last.end() => {}
            Some(last) if piece.start == last.end() => {
                last.removed.push_str(removed);
                last.inserted.push_str(&piece.text);
                last.inserted_ids.extend(piece.ids);
            }
            _ => patches.push(Patch {
                start: piece.start,
                removed: removed.to_owned(),
                inserted: piece.text,
                removed_ids: Vec::new(),
                inserted_ids: piece.ids,
            }),
        }
    }
    patches.retain(|patch| patch.removed != patch.inserted || !patch.inserted_ids.is_empty());
    Step { label, patches }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_and_its_inverse_give_the_text_again() {
        let mut random = fastrand::Rng::with_seed(46);
        for _ in 0..2_000 {
            let text: String = (0..random.usize(1..40))
                .map(|_| random.alphabetic())
                .collect();
            let pieces = (0..random.usize(1..6)).map(|_| {
                let start = random.usize(..=text.len());
                let end = random.usize(start..=text.len());
                Piece::new(start, end, &"abcdef"[random.usize(..6)..])
            });
            let pieces: Vec<Piece> = pieces.collect();
            let step = step("test".to_owned(), &text, pieces);
            let after = step.applied(&text).expect("the step fits");
            let inverse = step.inverse();
            assert_eq!(inverse.applied(&after).as_deref(), Some(text.as_str()));
            assert_eq!(inverse.inverse(), step);
        }
    }

    #[test]
    fn steps_within_each_other_join() {
        let first = step(
            "s".to_owned(),
            "a1b2c",
            vec![Piece::new(1, 2, "xy"), Piece::new(3, 4, "xy")],
        );
        let text = first.applied("a1b2c").expect("it fits");
        let next = step(
            "s".to_owned(),
            &text,
            vec![Piece::new(2, 3, "zz"), Piece::new(5, 6, "zz")],
        );
        let both = first.then(&next).expect("they join");
        assert_eq!(both.applied("a1b2c"), next.applied(&text));
        let beside = step(
            "s".to_owned(),
            &text,
            vec![Piece::new(0, 1, ""), Piece::new(5, 6, "z")],
        );
        assert_eq!(first.then(&beside), None);
    }

    #[test]
    fn a_step_refuses_another_text() {
        let step = step("s".to_owned(), "abc", vec![Piece::new(1, 2, "x")]);
        assert_eq!(step.applied("abc").as_deref(), Some("axc"));
        assert_eq!(step.applied("aXc"), None);
        assert_eq!(step.applied("a"), None);
        assert_eq!(step.applied("äc"), None);
    }
}
