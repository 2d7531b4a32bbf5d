//! Names that a user has probably meant: the nearest word of a list, and the nearest file.

use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

/// How many folders below the first one are searched for a file.
const DEEPEST: usize = 4;
/// How many entries of folders are looked at in one search.
const MOST_ENTRIES: usize = 5_000;
/// Folders that hold other programs' files.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// The candidate that a misspelt word probably means: at most one edit away for every three characters.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// No name is longer, and the time of the search grows with the square of the length.
    const LONGEST: usize = 100;
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let near = |candidate: &'a str| {
        let limit = (length / 3).max(1);
        if length.abs_diff(candidate.chars().count()) > limit || candidate == word {
            return None;
        }
        let distance = edits(word, candidate);
        (distance <= limit).then_some((distance, candidate))
    };
    // Among equally near candidates take the first by name, so that the result is deterministic.
    let nearest = candidates.into_iter().filter_map(near).min();
    nearest.map(|(_, candidate)| candidate)
}

/// The edit distance. A change of case is free, and swapping two adjacent letters counts as one edit.
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (letters(a), letters(b));
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

fn letters(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The remedy for a word that is not one of a list: the nearest, or all of them.
pub fn one_of(word: &str, known: &[&str]) -> String {
    match did_you_mean(word, known.iter().copied()) {
        Some(near) => format!("write `{near}`"),
        None => format!("write one of {}", known.join(", ")),
    }
}

/// The remedy for a file that does not exist, named relative to the working folder.
pub fn absent(path: &Path) -> String {
    match near_file(path, &[PathBuf::new()]) {
        Some(near) => format!("write `{}`, which exists", near.display()),
        None => "check the path; it is relative to the working folder".to_owned(),
    }
}

/// The file that a path probably means, as the user should write it: the same path with other slashes or in another case, a
/// similar name in the same folder, or the same name in a folder below one of `folders`. Relative paths start at each of
/// `folders`. The search is bounded.
pub fn near_file(path: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let slashed = PathBuf::from(path.to_string_lossy().replace('\\', "/"));
    let folders = if slashed.is_absolute() {
        &[PathBuf::new()]
    } else {
        folders
    };
    let respelt = folders.iter().find_map(|folder| respelt(&slashed, folder));
    let similar = || folders.iter().find_map(|folder| similar(&slashed, folder));
    let elsewhere = || folders.iter().find_map(|folder| below(&slashed, folder));
    let near = respelt.or_else(similar);
    if slashed.is_absolute() {
        near
    } else {
        near.or_else(elsewhere)
    }
}

/// The folder as the system opens it; an empty path is the working folder.
fn opened(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(opened(folder)).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.take(MOST_ENTRIES).collect();
    names.sort();
    names
}

/// The path with the case in which its parts exist, if they all do.
fn respelt(path: &Path, folder: &Path) -> Option<PathBuf> {
    let mut spelling = PathBuf::new();
    for part in path.components() {
        let exact = folder.join(&spelling).join(part);
        let Component::Normal(name) = part else {
            spelling.push(part);
            continue;
        };
        let name = name.to_str()?;
        if exact.exists() {
            spelling.push(name)
        } else {
            let lower = name.to_lowercase();
            let all = names(&folder.join(&spelling));
            spelling.push(
                all.into_iter()
                    .find(|other| other.to_lowercase() == lower)?,
            );
        }
    }
    folder.join(&spelling).is_file().then_some(spelling)
}

/// A file in the same folder: the only one of a name that was written without its extension, one of a similar name, or one of
/// a similar extension.
fn similar(path: &Path, folder: &Path) -> Option<PathBuf> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let around = folder.join(parent);
    let (stem, extension) = parts(path)?;
    let mut files = names(&around);
    files.retain(|name| around.join(name).is_file());
    let files: Vec<(&String, String, String)> = files
        .iter()
        .filter_map(|name| parts(Path::new(name)).map(|(stem, extension)| (name, stem, extension)))
        .collect();
    let namesakes: Vec<_> = files.iter().filter(|file| file.1 == stem).collect();
    if let [only] = namesakes[..]
        && extension.is_empty()
    {
        return Some(parent.join(only.0));
    }
    let same_kind = files.iter().filter(|file| file.2 == extension);
    let near_stem = did_you_mean(&stem, same_kind.clone().map(|file| file.1.as_str()));
    let near = match near_stem {
        Some(near) => same_kind.clone().find(|file| file.1 == near),
        None => {
            let near = did_you_mean(&extension, namesakes.iter().map(|file| file.2.as_str()))?;
            namesakes.into_iter().find(|file| file.2 == near)
        }
    };
    Some(parent.join(near?.0))
}

/// The name without its extension, and the extension, both in small letters.
fn parts(path: &Path) -> Option<(String, String)> {
    let stem = path.file_stem()?.to_str()?;
    let extension = path.extension().unwrap_or_default().to_str()?;
    Some((stem.to_lowercase(), extension.to_lowercase()))
}

/// A file of the same name in a folder below, the least deep one first.
fn below(path: &Path, folder: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?.to_lowercase();
    let mut waiting = VecDeque::from([(PathBuf::new(), 0)]);
    let mut looked_at = 0;
    while let Some((here, depth)) = waiting.pop_front() {
        for name in names(&folder.join(&here)) {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                return None;
            }
            let path = here.join(&name);
            let whole = folder.join(&path);
            if name.to_lowercase() == wanted && whole.is_file() {
                return Some(path);
            }
            let is_searched = !name.starts_with('.') && !SKIPPED.contains(&name.as_str());
            // Links are not followed: they may lead up again.
            let is_folder = std::fs::symlink_metadata(&whole).is_ok_and(|kind| kind.is_dir());
            if depth < DEEPEST && is_searched && is_folder {
                waiting.push_back((path, depth + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(path: &str, files: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, "x").expect("a file");
        }
        let near = near_file(Path::new(path), &[folder.path().to_path_buf()])?;
        assert!(folder.path().join(&near).is_file());
        let near = near.display().to_string();
        Some(if cfg!(windows) {
            near.replace('\\', "/")
        } else {
            near
        })
    }

    #[test]
    fn a_file_is_found_under_another_spelling_or_in_another_folder() {
        if cfg!(not(windows)) {
            // Windows finds a file under both names.
            let near = near("Data/Users.CSV", &["data/users.csv"]);
            assert_eq!(near.as_deref(), Some("data/users.csv"));
        }
        for (path, file) in [
            ("data\\users.csv", "data/users.csv"),
            ("data/user.csv", "data/users.csv"),
            ("users.csv", "more/data/users.csv"),
            ("old/users.csv", "data/users.csv"),
            ("../users.csv", "users.csv"),
            ("users.cvs", "users.csv"),
            ("data/users", "data/users.csv"),
        ] {
            assert_eq!(near(path, &[file]).as_deref(), Some(file), "{path}");
        }
    }

    #[test]
    fn other_files_and_hidden_folders_are_not_proposed() {
        for file in [
            "a/b/c/d/e/f/users.csv",
            ".git/users.csv",
            "node_modules/users.csv",
            "users.txt",
            "orders.csv",
        ] {
            assert_eq!(near("users.csv", &[file]), None, "{file}");
        }
    }

    #[test]
    fn suggestions_are_near_or_absent() {
        let known = ["stringProp", "boolProp", "intProp"];
        assert_eq!(did_you_mean("strngProp", known), Some("stringProp"));
        assert_eq!(did_you_mean("stringprop", known), Some("stringProp"));
        assert_eq!(did_you_mean("banana", known), None);
        assert_eq!(
            did_you_mean("intProp", known),
            None,
            "the same word is no suggestion"
        );
    }
}
