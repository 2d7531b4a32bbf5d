//! Opens a file with git's conflict markers: its two sides are the versions of a conflict.

use std::path::Path;
use std::time::SystemTime;

use drumfire_jmx::{Conflict, Diagnostic};

use super::{Pending, Session};
use crate::session::encoding::Encoding;
use crate::session::journal::hash;

/// A session of our side, with a conflict; `None` if the file has no markers, or a side is no plan.
pub fn open(
    path: &Path,
    bytes: &[u8],
    faults: &[Diagnostic],
    stamp: Option<(SystemTime, u64)>,
) -> Option<Session> {
    let mut sources = faults.iter().filter_map(|fault| fault.source.as_ref());
    let source = sources.find(|source| drumfire_jmx::conflict(&source.text).is_some())?;
    let sides = sides(&source.text);
    let ours = drumfire_jmx::read(sides.ours.as_bytes(), path).ok()?;
    let theirs = drumfire_jmx::read(sides.theirs.as_bytes(), path).ok()?;
    let conflicts = drumfire_jmx::differences(&ours.tree, &theirs.tree);
    let encoding = Encoding::of(bytes, &source.text)?;
    let mut session = Session::new(path, ours, bytes, stamp);
    session.encoding = encoding;
    session.read_only = None;
    session.disk.text = Some(source.text.clone());
    session.history.diverged();
    let whole = Conflict {
        element: String::new(),
        setting: "text".to_owned(),
        ours: format!("{} differences", conflicts.len()),
        theirs: "git's conflict markers".to_owned(),
    };
    session.conflict = Some(Pending {
        theirs: sides.theirs,
        hash: hash(bytes),
        conflicts: vec![whole],
        base: sides.base,
        is_marked: true,
    });
    Some(session)
}

/// The sides of a text with conflict markers.
#[derive(Debug, PartialEq, Eq)]
struct MarkedSides {
    ours: String,
    theirs: String,
    /// The common version, if the markers show it (`merge.conflictStyle=diff3`).
    base: Option<String>,
}

fn sides(text: &str) -> MarkedSides {
    /// Which side the lines belong to.
    #[derive(Clone, Copy, PartialEq)]
    enum Side {
        All,
        Ours,
        Base,
        Theirs,
    }
    let (mut ours, mut base, mut theirs) = (String::new(), String::new(), String::new());
    let (mut side, mut has_base, mut lacks_base) = (Side::All, false, false);
    for line in text.split_inclusive('\n') {
        let is =
            |marker: &str| line.trim_end() == marker || line.starts_with(&format!("{marker} "));
        side = match side {
            Side::All if is("<<<<<<<") => Side::Ours,
            Side::Ours if is("|||||||") => {
                has_base = true;
                Side::Base
            }
            Side::Ours if is("=======") => {
                lacks_base = true;
                Side::Theirs
            }
            Side::Base if is("=======") => Side::Theirs,
            Side::Theirs if is(">>>>>>>") => Side::All,
            side => {
                let is_all = side == Side::All;
                for (own, text) in [
                    (Side::Ours, &mut ours),
                    (Side::Base, &mut base),
                    (Side::Theirs, &mut theirs),
                ] {
                    if is_all || side == own {
                        text.push_str(line);
                    }
                }
                side
            }
        };
    }
    MarkedSides {
        ours,
        theirs,
        base: (has_base && !lacks_base).then_some(base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_part_the_sides() {
        let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n";
        let own = |text: &str| text.to_owned();
        assert_eq!(
            sides(text),
            MarkedSides {
                ours: own("a\nb\nd\n"),
                theirs: own("a\nc\nd\n"),
                base: None,
            }
        );
        let with_base = text.replace("=======", "||||||| 12\no\n=======");
        assert_eq!(sides(&with_base).base, Some(own("a\no\nd\n")));
        let windows = with_base.replace('\n', "\r\n");
        assert_eq!(sides(&windows).theirs, "a\r\nc\r\nd\r\n");
    }
}
