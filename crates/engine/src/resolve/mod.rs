//! Stop 2, **resolve**: a plan's files become the [`Plan`] that is run. Nothing but these files is read: no Java, no
//! network, no clock, no scripts, no data files.

mod jmeter6;
mod load;
mod tree;

use std::path::Path;

use drumfire_expr::Properties;
use drumfire_jmx::{Diagnostic, Tree};

pub use load::{LoadError, LoadOverride};
pub use tree::{Element, Resolver};

/// A plan with its modules and includes joined, and without its disabled elements.
pub struct Plan {
    /// The file as it was read.
    pub tree: Tree,
    /// The Test Plan with everything below it; `None` if the file has none.
    pub root: Option<Element>,
    /// Faults and warnings about the files.
    pub findings: Vec<Diagnostic>,
}

/// Joins modules and included files. `base_dir` is the folder of the plan, where relative file names start.
pub fn resolve(tree: Tree, properties: &Properties, base_dir: &Path) -> Plan {
    let mut resolver = Resolver::new(tree.clone(), properties, base_dir);
    let root = resolver.resolve();
    Plan {
        tree,
        root,
        findings: resolver.findings,
    }
}
