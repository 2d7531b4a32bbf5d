//! Finds plans that belong together because Include Controllers join them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use drumfire_elements::controllers::include_controller;
use drumfire_java::file_server;
use drumfire_jmx::{Diagnostic, Node, Tree};
use memchr::memmem;

use crate::index::Index;

/// The most plans of a project that are searched.
const MAX_PLANS: usize = 5_000;
/// How deep folders are searched.
const MAX_DEPTH: usize = 12;

/// A plan of a project with its names.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// The file.
    pub path: PathBuf,
    /// The plan.
    pub tree: Tree,
    /// Its names, computed on first use. Clones share them.
    index: OnceLock<Arc<Index>>,
    /// Its path without links, found on first use.
    canonical: OnceLock<PathBuf>,
}

impl PlanFile {
    /// A plan that was read from a file.
    pub fn new(path: PathBuf, tree: Tree) -> PlanFile {
        PlanFile {
            path,
            tree,
            index: OnceLock::new(),
            canonical: OnceLock::new(),
        }
    }

    fn canonical(&self) -> &Path {
        self.canonical.get_or_init(|| canonical(&self.path))
    }

    /// The names of the plan.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| Arc::new(Index::of(&self.tree)))
    }
}

/// Plans joined by Include Controllers.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    /// The plans; the requested one comes first.
    pub plans: Vec<PlanFile>,
    /// Pairs of a plan and a plan that it includes, as indices into `plans`.
    pub includes: Vec<(usize, usize)>,
}

impl Joined {
    /// Reads a plan, everything that it includes, and all plans of the project that include any of these.
    ///
    /// # Errors
    /// The errors of a plan that belongs to it and cannot be read.
    pub fn around(plan: &Path) -> Result<Joined, Vec<Diagnostic>> {
        let mut others: Vec<PathBuf> = Vec::new();
        find_plans(&project_root(plan), 0, &mut others);
        let mut joined = Joined::default();
        joined.read(plan)?;
        joined.follow(0, plan)?;
        let mut candidates: Vec<(PlanFile, Vec<PathBuf>)> = including(&others, plan)
            .into_iter()
            .map(|other| {
                let targets = targets(&other).map(|file| canonical(&file)).collect();
                (other, targets)
            })
            .collect();
        // Another plan may include one that has just joined.
        while let Some(at) = candidates.iter().position(|(other, targets)| {
            joined.index_of(other.canonical()).is_none()
                && targets.iter().any(|file| joined.index_of(file).is_some())
        }) {
            let (other, _) = candidates.remove(at);
            joined.plans.push(other);
            joined.follow(joined.plans.len() - 1, plan)?;
        }
        Ok(joined)
    }

    /// Joins plans that are already in memory, such as those open in an editor.
    pub fn of(plans: Vec<PlanFile>) -> Joined {
        let mut joined = Joined {
            plans,
            includes: Vec::new(),
        };
        for from in 0..joined.plans.len() {
            let indices: Vec<usize> = targets(&joined.plans[from])
                .filter_map(|file| joined.index_of(&canonical(&file)))
                .collect();
            joined
                .includes
                .extend(indices.into_iter().map(|to| (from, to)));
        }
        joined
    }

    /// The index of the plan with a canonical path.
    fn index_of(&self, canonical: &Path) -> Option<usize> {
        let mut plans = self.plans.iter();
        plans.position(|plan| plan.canonical() == canonical)
    }

    fn read(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let tree = drumfire_jmx::read_file(path)?.tree;
        self.plans.push(PlanFile::new(path.to_path_buf(), tree));
        Ok(())
    }

    /// Reads the plans that a plan includes, recursively.
    fn follow(&mut self, from: usize, first: &Path) -> Result<(), Vec<Diagnostic>> {
        let mut open = vec![from];
        while let Some(from) = open.pop() {
            let including_plan = self.plans[from].path.clone();
            let folders = [first, including_plan.as_path()]
                .map(|plan| plan.parent().unwrap_or(Path::new("")));
            for written in include_paths(&self.plans[from].tree.roots) {
                let Some(file) = existing(&written, &folders) else {
                    continue;
                };
                let to = match self.index_of(&canonical(&file)) {
                    Some(known) => known,
                    None => {
                        self.read(&file)?;
                        open.push(self.plans.len() - 1);
                        self.plans.len() - 1
                    }
                };
                self.includes.push((from, to));
            }
        }
        Ok(())
    }

    /// The plans in whose tree a Module Controller of this plan looks up its target: the plan itself, and each that includes
    /// it.
    pub(crate) fn roots_of(&self, plan: usize) -> BTreeSet<usize> {
        let mut roots = BTreeSet::from([plan]);
        let mut grown = true;
        while grown {
            let more: Vec<usize> = self
                .includes
                .iter()
                .filter(|(_, to)| roots.contains(to))
                .map(|(from, _)| *from)
                .collect();
            let before = roots.len();
            roots.extend(more);
            grown = roots.len() > before;
        }
        roots
    }
}

/// The folder of the project that a plan belongs to: the nearest one above it with a `drumfire.toml` or a `.git`, or else its
/// own folder.
pub fn project_root(plan: &Path) -> PathBuf {
    let absolute = std::path::absolute(plan).unwrap_or_else(|_| plan.to_path_buf());
    let folder = absolute.parent().unwrap_or(Path::new("/")).to_path_buf();
    let mut above = folder.ancestors();
    let root = above.find(|folder| {
        ["drumfire.toml", ".git"]
            .iter()
            .any(|mark| folder.join(mark).exists())
    });
    root.map(Path::to_path_buf).unwrap_or(folder.clone())
}

fn find_plans(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut entries: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let skipped = name.starts_with('.') || matches!(&*name, "node_modules" | "target");
        if skipped || found.len() >= MAX_PLANS {
            continue;
        }
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() && depth < MAX_DEPTH {
            find_plans(&path, depth + 1, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
        {
            found.push(path);
        }
    }
}

/// The plans with an Include Controller. Plans that cannot be read are skipped.
fn including(plans: &[PathBuf], except: &Path) -> Vec<PlanFile> {
    let excepted = canonical(except);
    let others = plans.iter().filter(|plan| canonical(plan) != excepted);
    let with = others.filter(|plan| {
        let bytes = drumfire_platform::files::read_regular(plan).unwrap_or_default();
        memmem::find(&bytes, include_controller::FILE.name.as_bytes()).is_some()
    });
    let read = with.filter_map(|path| {
        let tree = drumfire_jmx::read_file(path).ok()?.tree;
        Some(PlanFile::new(path.clone(), tree))
    });
    read.collect()
}

fn include_paths(nodes: &[Node]) -> Vec<String> {
    let mut include_paths_found = Vec::new();
    for node in nodes {
        if node.class == include_controller::CLASS {
            let path = node
                .props
                .str(include_controller::FILE.name)
                .trim()
                .to_owned();
            if !path.is_empty() {
                include_paths_found.push(path);
            }
        }
        include_paths_found.extend(include_paths(&node.children));
    }
    include_paths_found
}

/// The files that a plan includes.
fn targets(plan: &PlanFile) -> impl Iterator<Item = PathBuf> {
    let folder = plan.path.parent().unwrap_or(Path::new(""));
    let written = include_paths(&plan.tree.roots).into_iter();
    written.filter_map(move |written| existing(&written, &[folder]))
}

/// The included file, relative to the working folder or to the first of `folders` that has it.
fn existing(written: &str, folders: &[&Path]) -> Option<PathBuf> {
    let mut files = folders
        .iter()
        .map(|folder| file_server::resolve(written, folder));
    files.find(|file| file.is_file())
}

fn canonical(file: &Path) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf())
}
