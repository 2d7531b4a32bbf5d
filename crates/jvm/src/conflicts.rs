//! Finds classes of which two jars on a class path have different versions. Java loads the first, so the other jar's code
//! meets a class that it was not built with.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::path::PathBuf;

use crate::class_names::classes;

/// Two jars with different versions of the same classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The jar from which Java loads the classes.
    pub winner: PathBuf,
    /// The jar whose classes are never loaded.
    pub loser: PathBuf,
    /// How many classes differ.
    pub classes: usize,
    /// The first of them in the alphabet, as Java writes it.
    pub example: String,
}

/// The conflicts on a class path, in its order. A jar that cannot be read has none: Java reports it itself.
pub fn conflicts(class_path: &[PathBuf]) -> Vec<Conflict> {
    let mut first: HashMap<String, (u32, usize)> = HashMap::new();
    let mut differing: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (index, jar) in class_path.iter().enumerate() {
        for (class, checksum) in classes(jar) {
            match first.entry(class) {
                Entry::Vacant(entry) => {
                    entry.insert((checksum, index));
                }
                Entry::Occupied(entry) => {
                    let (taken, winner) = *entry.get();
                    if taken != checksum && winner != index {
                        let names = differing.entry((winner, index)).or_default();
                        names.push(entry.key().clone());
                    }
                }
            }
        }
    }
    let conflict = |((winner, loser), mut names): ((usize, usize), Vec<String>)| {
        names.sort_unstable();
        Conflict {
            winner: class_path[winner].clone(),
            loser: class_path[loser].clone(),
            classes: names.len(),
            example: names.swap_remove(0),
        }
    };
    differing.into_iter().map(conflict).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::path::Path;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn jar(folder: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let path = folder.join(name);
        let mut archive = ZipWriter::new(File::create(&path).expect("a file"));
        for (file, content) in files {
            let options = SimpleFileOptions::default();
            archive.start_file(*file, options).expect("an entry");
            archive.write_all(content.as_bytes()).expect("room");
        }
        archive.finish().expect("room");
        path
    }

    #[test]
    fn the_first_jar_wins_and_equal_classes_are_no_conflict() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = jar(
            folder.path(),
            "old.jar",
            &[
                ("a/B.class", "1"),
                ("a/A.class", "1"),
                ("a/Same.class", "s"),
            ],
        );
        let new = jar(
            folder.path(),
            "new.jar",
            &[
                ("a/A.class", "2"),
                ("a/B.class", "2"),
                ("a/Same.class", "s"),
                ("a/text.txt", "2"),
            ],
        );
        let path = [folder.path().join("none.jar"), old.clone(), new.clone()];
        let expected = Conflict {
            winner: old,
            loser: new,
            classes: 2,
            example: "a.A".to_owned(),
        };
        assert_eq!(conflicts(&path), [expected]);
    }

    #[test]
    fn descriptions_of_modules_and_variants_are_no_classes() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = |content| {
            [
                ("module-info.class", content),
                ("META-INF/versions/9/a/A.class", content),
            ]
        };
        let one = jar(folder.path(), "one.jar", &files("1"));
        let two = jar(folder.path(), "two.jar", &files("2"));
        assert_eq!(conflicts(&[one, two]), []);
    }
}
