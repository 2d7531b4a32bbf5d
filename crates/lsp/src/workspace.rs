//! The open files, and the plans on disk that belong together with them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use drumfire_jmx::Span;
use drumfire_refactor::{ElementEntry, Joined, PlanFile};

use crate::document::{Lines, OpenDocument};
use crate::protocol::Location;
use crate::uri;

/// All open documents.
#[derive(Debug, Default)]
pub struct Workspace {
    pub documents: HashMap<PathBuf, OpenDocument>,
}

impl Workspace {
    /// The document of a URI, read again if it has changed.
    pub fn document(&mut self, uri: &str) -> Option<&mut OpenDocument> {
        let document = self.documents.get_mut(&uri::path(uri)?)?;
        document.read();
        Some(document)
    }

    /// The plan of a document when it was last readable, with its lines.
    pub fn plan(&self, path: &Path) -> Option<(&PlanFile, &Lines)> {
        let (plan, lines) = self.documents.get(path)?.plan.as_ref()?;
        Some((plan, lines.as_ref()))
    }

    /// The plans that belong together with a plan, which comes first. The editor's text of an open file
    /// takes precedence.
    pub fn joined(&self, path: &Path) -> Joined {
        let plan = self.plan(path).map(|(plan, _)| plan.clone());
        let mut joined = Joined::around(path).unwrap_or_else(|_| {
            // The plan is not saved yet, or one of the plans cannot be read.
            Joined::of(plan.iter().cloned().collect())
        });
        for plan in &mut joined.plans {
            let absolute = std::path::absolute(&plan.path).unwrap_or_else(|_| plan.path.clone());
            if let Some((open, _)) = self.plan(&absolute) {
                *plan = open.clone();
            }
        }
        joined
    }
}

/// A span of a file as a protocol location.
pub fn location(path: &Path, lines: &Lines, span: Span) -> Option<Location> {
    Some(Location {
        uri: uri::of(path)?,
        range: lines.range(span),
    })
}

/// The lines of a plan's text.
pub fn lines_of(plan: &PlanFile) -> Lines {
    Lines::new(plan.tree.source.text.clone())
}

/// The index of the element whose tags and properties enclose an offset.
pub fn element_at(elements: &[ElementEntry], offset: usize) -> Option<usize> {
    elements
        .iter()
        .position(|element| element.whole.start <= offset && offset <= element.whole.end)
}

/// The end of each element's subtree.
pub fn ends(elements: &[ElementEntry]) -> Vec<usize> {
    let mut ends: Vec<usize> = elements.iter().map(|element| element.whole.end).collect();
    for at in (0..elements.len()).rev() {
        if let Some(parent) = elements[at].parent {
            ends[parent] = ends[parent].max(ends[at]);
        }
    }
    ends
}
