//! The rows of a sampler's tables, and the body pieces made from them.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use drumfire_java::text::{is_blank, trim};

/// One row of the parameter table (`HTTPArgument`), already evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Argument<'a> {
    /// `Argument.name`.
    pub name: &'a str,
    /// `Argument.value`.
    pub value: &'a str,
    /// `Argument.metadata`: the text between name and value in a query string; empty if the plan has none.
    pub metadata: &'a str,
    /// `HTTPArgument.always_encode`.
    pub always_encode: bool,
    /// `HTTPArgument.content_type`: `text/plain` if the plan has none.
    pub content_type: &'a str,
}

impl Argument<'_> {
    /// `Argument.isSkippable`: a blank name or an unresolved variable.
    pub(crate) fn is_skippable(&self) -> bool {
        is_blank(self.name) || (trim(self.name).starts_with("${") && self.name.ends_with('}'))
    }
}

/// One row of the file table (`HTTPFileArg`), already evaluated.
#[derive(Clone, Copy, Debug)]
pub struct FileArgument<'a> {
    /// `File.path` as written.
    pub path: &'a str,
    /// The path resolved against JMeter's base directory (`FileServer.getResolvedFile`).
    pub resolved: &'a Path,
    /// `File.paramname`.
    pub param_name: &'a str,
    /// `File.mimetype`.
    pub mime_type: &'a str,
}

/// Everything that determines the body of one request.
#[derive(Clone, Copy, Debug)]
pub struct BodySpec<'a> {
    /// The request method.
    pub method: &'a str,
    /// `HTTPSampler.postBodyRaw`.
    pub raw: bool,
    /// `HTTPSampler.DO_MULTIPART_POST`.
    pub multipart: bool,
    /// `HTTPSampler.BROWSER_COMPATIBLE_MULTIPART`.
    pub browser_compatible: bool,
    /// `HTTPSampler.contentEncoding`; empty means UTF-8.
    pub content_encoding: &'a str,
    /// The parameter table.
    pub arguments: &'a [Argument<'a>],
    /// The file table.
    pub files: &'a [FileArgument<'a>],
    /// Whether this request follows a redirect; a `GET` then never has a body.
    pub following_redirect: bool,
    /// The property `http.post_add_content_type_if_missing` (default false).
    pub add_content_type_if_missing: bool,
    /// The pieces of a raw UTF-8 body that is too long to concatenate; empty if the body is in the arguments.
    pub pieces: &'a [Rc<str>],
}

/// A piece of a request body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyStretch {
    /// Bytes to send.
    Bytes(Vec<u8>),
    /// A shared text.
    Shared(Rc<str>),
    /// A whole file to send; the size is from when the body was built.
    File {
        /// Its path.
        path: PathBuf,
        /// Its size in bytes.
        len: u64,
    },
}

/// A file as HttpClient treats it: an unreadable one has size 0 and fails only when it is sent.
pub(crate) fn file_part(path: &Path) -> BodyStretch {
    BodyStretch::File {
        path: path.to_owned(),
        len: std::fs::metadata(path).map(|meta| meta.len()).unwrap_or(0),
    }
}
