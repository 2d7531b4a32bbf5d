//! Compiles `.proto` files, as the plugin has `protoc` do it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use drumfire_platform::files::{open_regular, read_regular};
use drumfire_platform::message_error;
use prost_types::FileDescriptorSet;
use protox::Compiler;
use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};
use protox::prost::Message as _;

message_error! {
    /// Why `.proto` files cannot be compiled. It names the file and the place in it.
    pub struct CompileError;
}

/// The ending of a file with compiled descriptors (`protoc --descriptor_set_out --include_imports`).
const DESCRIPTORS: &str = "bin";
/// How deep folders are searched.
const MAX_FOLDERS: usize = 64;
/// The most files that a folder may have.
const MAX_FILES: usize = 10_000;

/// Compiles all `.proto` files of a folder and its folders, or a single file. Imports are looked up in `libraries` first, then
/// in the folder. A file that ends in `.bin` holds descriptors that are already compiled.
///
/// # Errors
/// There is no such file, or one is not sound.
pub fn compile(root: &Path, libraries: &[PathBuf]) -> Result<FileDescriptorSet, CompileError> {
    let absent = || CompileError::from(format!("`{}` does not exist", root.display()));
    let is_file = root.metadata().map_err(|_| absent())?.is_file();
    if is_file && root.extension().is_some_and(|ending| ending == DESCRIPTORS) {
        let bytes = read_regular(root).map_err(|error| unreadable(root, &error))?;
        return FileDescriptorSet::decode(bytes.as_slice()).map_err(|_| {
            format!(
                "`{}` holds no descriptors of `protoc --descriptor_set_out`",
                root.display()
            )
            .into()
        });
    }
    let mut files = Vec::new();
    let folder = if is_file {
        files.push(root.to_owned());
        root.parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
    } else {
        collect(root, &mut files, 0)?;
        root
    };
    if files.is_empty() {
        return Err(format!("`{}` has no `.proto` files", root.display()).into());
    }
    files.sort();
    let mut resolver = ChainFileResolver::new();
    for folder in libraries.iter().map(PathBuf::as_path).chain([folder]) {
        resolver.add(RegularFiles::of(folder));
    }
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler
        .include_imports(true)
        .open_files(files)
        .map_err(told)?;
    Ok(compiler.file_descriptor_set())
}

/// Compiles files that are given as names and texts. They may import each other.
///
/// # Errors
/// One is not sound.
pub fn compile_texts(files: &[(&str, &str)]) -> Result<FileDescriptorSet, CompileError> {
    let own = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let mut resolver = ChainFileResolver::new();
    resolver.add(Texts(own.collect()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    let names = files.iter().map(|(name, _)| name);
    compiler
        .include_imports(true)
        .open_files(names)
        .map_err(told)?;
    Ok(compiler.file_descriptor_set())
}

/// Each file of a set as servers tell it by reflection: an encoded `FileDescriptorProto`.
pub fn descriptors(set: &FileDescriptorSet) -> Vec<Vec<u8>> {
    set.file.iter().map(|file| file.encode_to_vec()).collect()
}

/// The regular files of a folder. A link among them may lead to a device, which has no end.
struct RegularFiles {
    folder: PathBuf,
    files: IncludeFileResolver,
}

impl RegularFiles {
    fn of(folder: &Path) -> RegularFiles {
        RegularFiles {
            folder: folder.to_owned(),
            files: IncludeFileResolver::new(folder.to_owned()),
        }
    }
}

impl FileResolver for RegularFiles {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        self.files.resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let path = self.folder.join(name);
        match open_regular(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(protox::Error::new(unreadable(&path, &error)))
            }
            _ => self.files.open_file(name),
        }
    }
}

/// Files in memory.
struct Texts(Vec<(String, String)>);

impl FileResolver for Texts {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.0.iter().find(|(own, _)| own == name) {
            Some((name, text)) => File::from_source(name, text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<(), CompileError> {
    if depth > MAX_FOLDERS {
        return Err(format!("the folders in `{}` are nested too deep", folder.display()).into());
    }
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let (path, kind) = (entry.path(), entry.file_type());
        // Links to folders could lead in a circle.
        if kind.is_ok_and(|kind| kind.is_dir()) {
            collect(&path, files, depth + 1)?;
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            let message = format!(
                "`{}` has more than {MAX_FILES} `.proto` files",
                folder.display()
            );
            return Err(message.into());
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> CompileError {
    drumfire_platform::causes::unreadable(path, error).into()
}

/// The compiler's message with file, line and column, which only its debug form has.
fn told(error: protox::Error) -> CompileError {
    let text = format!("{error:?}");
    match error.file() {
        Some(file) if !text.starts_with(file) => format!("{file}: {text}").into(),
        Some(_) => text.into(),
        None => error.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    const SHOP: &str = r#"syntax = "proto3"; package shop; import "lib/money.proto"; import "google/protobuf/empty.proto";
        message Item { money.Price price = 1; }
        service Shop { rpc Get(google.protobuf.Empty) returns (Item); }"#;
    const MONEY: &str = r#"syntax = "proto3"; package money; message Price { int64 units = 1; }"#;

    #[test]
    fn a_folder_is_compiled_with_its_libraries() {
        let own = folder(&[("a/shop.proto", SHOP), ("readme.txt", "no")]);
        let library = folder(&[("lib/money.proto", MONEY)]);
        let libraries = [library.path().to_owned()];
        let set = compile(own.path(), &libraries).expect("it is sound");
        let names: Vec<_> = set.file.iter().map(|file| file.name()).collect();
        assert_eq!(
            names,
            [
                "lib/money.proto",
                "google/protobuf/empty.proto",
                "a/shop.proto"
            ]
        );
        let alone = compile(&own.path().join("a/shop.proto"), &libraries).expect("it is sound");
        assert_eq!(alone.file.len(), 3);
        let packed = own.path().join("all.bin");
        fs::write(&packed, set.encode_to_vec()).expect("a file");
        assert_eq!(compile(&packed, &[]).expect("descriptors"), set);
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_compiled() {
        let own = folder(&[("a.proto", r#"syntax = "proto3"; import "lib/zero.proto";"#)]);
        let library = folder(&[("lib/x.proto", MONEY)]);
        let endless = library.path().join("lib/zero.proto");
        std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link");
        let told = "cannot be read: it is a device or a pipe, not a file";
        for (root, libraries) in [
            (own.path(), &[library.path().to_owned()][..]),
            (library.path(), &[]),
        ] {
            let fault = compile(root, libraries).expect_err("it has no end");
            let fault = fault.to_string();
            assert!(fault.starts_with('`') && fault.ends_with(told), "{fault}");
        }
    }

    #[test]
    fn faults_name_the_file_and_the_place() {
        let own = folder(&[("shop.proto", SHOP)]);
        let fault = compile(own.path(), &[])
            .expect_err("the import is missing")
            .to_string();
        assert!(
            fault.starts_with("shop.proto:1:")
                && fault.ends_with("import 'lib/money.proto' not found"),
            "{fault}"
        );
        let broken = folder(&[("x.proto", "syntax = \"proto3\";\nmessage {")]);
        let fault = compile(broken.path(), &[])
            .expect_err("it is broken")
            .to_string();
        assert!(fault.contains("x.proto:2:"), "{fault}");
        let empty = folder(&[]);
        let fault = compile(empty.path(), &[])
            .expect_err("it is empty")
            .to_string();
        assert!(fault.ends_with("has no `.proto` files"), "{fault}");
        assert!(compile(&empty.path().join("none"), &[]).is_err());
    }
}
