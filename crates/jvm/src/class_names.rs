//! The classes in jars, read without Java.

use std::fs::File;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

/// Whether a class with this full name belongs to JMeter itself, whose jars every run has.
pub fn is_jmeters(class: &str) -> bool {
    class.starts_with("org.apache.jmeter.")
}

/// Whether one of these jars and folders contains the class.
pub fn contain(class_path: &[PathBuf], class: &str) -> bool {
    let file = format!("{}.class", class.replace('.', "/"));
    class_path.iter().any(|one| {
        if one.is_dir() {
            one.join(&file).is_file()
        } else {
            open(one).is_some_and(|archive| archive.index_for_name(&file).is_some())
        }
    })
}

fn open(jar: &Path) -> Option<ZipArchive<File>> {
    ZipArchive::new(File::open(jar).ok()?).ok()
}

/// The classes of a jar with their checksums, from its central directory. Variants for newer Java versions are left out.
pub fn classes(jar: &Path) -> Vec<(String, u32)> {
    let Some(mut archive) = open(jar) else {
        return Vec::new();
    };
    let mut classes = Vec::new();
    for index in 0..archive.len() {
        let Ok(file) = archive.by_index_raw(index) else {
            continue;
        };
        let Ok(name) = file.name() else {
            continue;
        };
        let is_special = name.starts_with("META-INF/") || name.ends_with("module-info.class");
        if let Some(class) = name.strip_suffix(".class")
            && !is_special
        {
            classes.push((class.replace('/', "."), file.crc32()));
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn a_class_is_found_in_jars_and_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let jar = folder.path().join("a.jar");
        let mut archive = ZipWriter::new(File::create(&jar).expect("a file"));
        archive
            .start_file("kg/apc/One.class", SimpleFileOptions::default())
            .expect("an entry");
        archive.write_all(b"x").expect("room");
        archive.finish().expect("room");
        let classes = folder.path().join("classes/own");
        std::fs::create_dir_all(&classes).expect("a folder");
        std::fs::write(classes.join("Two.class"), "x").expect("a file");
        let path = [
            folder.path().join("none.jar"),
            jar,
            folder.path().join("classes"),
        ];
        for (class, expected) in [
            ("kg.apc.One", true),
            ("own.Two", true),
            ("kg.apc.Two", false),
        ] {
            assert_eq!(contain(&path, class), expected, "{class}");
        }
        assert!(is_jmeters("org.apache.jmeter.X") && !is_jmeters("kg.apc.X"));
    }
}
