//! Joins a description of several files: the files that `$ref` names become parts of one document.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::input;
use crate::options::ReadFile;

/// The field of the document under which the other files are stored, by path.
const FILES: &str = "x-files";
/// No API has more files.
const MOST_FILES: usize = 10_000;

/// A description with all its files.
pub struct Joined {
    /// The whole document, with all references pointing into itself.
    pub description: Value,
    /// A line for each reference that could not be resolved.
    pub lost: Vec<String>,
}

/// Reads the files to which a description refers, but only those in its own folder and below. A description from somebody
/// else must not be able to send this machine's other files in requests.
pub fn join(description: Value, file: &Path, read: ReadFile) -> Joined {
    let name = PathBuf::from(file.file_name().unwrap_or_default());
    let mut joiner = Joiner {
        folder: file.parent().map(Path::to_path_buf).unwrap_or_default(),
        read,
        root: name.clone(),
        files: Map::new(),
        waiting: VecDeque::new(),
        lost: BTreeSet::new(),
    };
    let mut description = description;
    joiner.follow(&mut description, &name);
    while let Some((path, mut value)) = joiner.waiting.pop_front() {
        joiner.follow(&mut value, &path);
        joiner.files.insert(key(&path), value);
    }
    if let (false, Value::Object(fields)) = (joiner.files.is_empty(), &mut description) {
        fields.insert(FILES.to_owned(), Value::Object(joiner.files));
    }
    Joined {
        description,
        lost: joiner.lost.into_iter().collect(),
    }
}

struct Joiner {
    folder: PathBuf,
    read: ReadFile,
    root: PathBuf,
    files: Map<String, Value>,
    /// Files that were read and whose references are still to be followed.
    waiting: VecDeque<(PathBuf, Value)>,
    lost: BTreeSet<String>,
}

impl Joiner {
    /// Turns every reference in a file into one that points into the whole document.
    fn follow(&mut self, value: &mut Value, file: &Path) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                    match self.target(reference, file) {
                        Ok(target) => *reference = target,
                        Err(why) => {
                            self.lost.insert(format!("`$ref: {reference}` {why}"));
                        }
                    }
                }
                fields
                    .values_mut()
                    .for_each(|value| self.follow(value, file));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.follow(item, file)),
            _ => {}
        }
    }

    /// The target of a reference within the whole document.
    fn target(&mut self, reference: &str, file: &Path) -> Result<String, &'static str> {
        let (named, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if named.contains("://") {
            return Err("is on another machine: bundle the description into one file first");
        }
        let named = percent_encoding::percent_decode_str(named).decode_utf8_lossy();
        let path = if named.is_empty() {
            file.to_path_buf()
        } else {
            below(file.parent().unwrap_or(Path::new("")), Path::new(&*named))
                .ok_or("lies outside the folder of the description: move the description up")?
        };
        if path == self.root {
            return Ok(format!("#{pointer}"));
        }
        let is_known = self.files.contains_key(&key(&path))
            || self.waiting.iter().any(|(waiting, _)| *waiting == path)
            || path == file;
        if !is_known {
            if self.files.len() + self.waiting.len() >= MOST_FILES {
                return Err("exceeds the number of files allowed");
            }
            let bytes = (self.read)(&self.folder.join(&path)).map_err(|_| "does not exist")?;
            let value =
                input::parse_any(&input::decode(&bytes)).map_err(|_| "is neither JSON nor YAML")?;
            self.waiting.push_back((path.clone(), value));
        }
        let key = key(&path)
            .replace('~', "~0")
            .replace('/', "~1")
            .replace('%', "%25");
        Ok(format!("#/{FILES}/{key}{pointer}"))
    }
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A path relative to a folder; `None` if it leaves the description's folder.
fn below(folder: &Path, named: &Path) -> Option<PathBuf> {
    let mut path = folder.to_path_buf();
    for component in named.components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}
