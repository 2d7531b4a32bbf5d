//! Jayway JsonPath 2.8.0 (the version in JMeter 5.6.3), including its oddities.
//!
//! `$.a.b`, `$['a','b']`, `[*]`, `..`, `[1,2]`, `[1:3]`, `[?(@.x == 'y' && …)]` and functions; a path without a leading
//! `$` gets one. Compiled once; finding borrows from the parsed body.

mod compile;
mod cursor;
mod eval;
mod filter;
mod function;
mod operand;

use crate::json::{self, Json, PathStep, Value};

/// A compiled path; `Send + Sync`.
#[derive(Debug)]
pub struct JsonPath {
    path: Path,
}

/// A hit: a part of the body, or a value that the path creates (a union of keys, a function).
#[derive(Clone, Debug)]
pub enum JsonMatch<'j, 't> {
    /// A part of the body.
    Part(&'j Value<'t>),
    /// A value that is not in the body.
    Made(Value<'t>),
}

impl<'t> std::ops::Deref for JsonMatch<'_, 't> {
    type Target = Value<'t>;

    fn deref(&self) -> &Value<'t> {
        match self {
            JsonMatch::Part(value) => value,
            JsonMatch::Made(value) => value,
        }
    }
}

impl<'t> JsonMatch<'_, 't> {
    fn into_value(self) -> Value<'t> {
        match self {
            JsonMatch::Part(value) => value.clone(),
            JsonMatch::Made(value) => value,
        }
    }
}

/// The exception of Jayway that an error corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// `PathNotFoundException`: a definite path has no hit.
    NotFound,
    /// `InvalidPathException`: the path is invalid, or cannot be applied to this body.
    Invalid,
    /// Any other exception.
    Failed,
}

/// Why a path cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The corresponding exception.
    pub kind: ErrorKind,
    /// `getMessage()` of the exception, which `JSONPathAssertion` shows as its failure.
    pub message: String,
}

impl Error {
    fn not_found(message: String) -> Error {
        Error {
            kind: ErrorKind::NotFound,
            message,
        }
    }

    fn invalid(message: impl Into<String>) -> Error {
        Error {
            kind: ErrorKind::Invalid,
            message: message.into(),
        }
    }

    fn failed(message: impl Into<String>) -> Error {
        Error {
            kind: ErrorKind::Failed,
            message: message.into(),
        }
    }
}

impl JsonPath {
    /// `JsonPath.compile`.
    ///
    /// # Errors
    /// With Jayway's message if the path is malformed.
    pub fn compile(text: &str) -> Result<JsonPath, Error> {
        if text.is_empty() {
            return Err(Error::failed("json can not be null or empty"));
        }
        compile::compile(text).map(|path| JsonPath { path })
    }

    /// Whether the path has at most one hit (`JsonPath.isPathDefinite`).
    pub fn is_definite(&self) -> bool {
        self.path.is_definite()
    }

    /// The hits as the JSON Extractor gets them (`JSONManager`, with `ALWAYS_RETURN_LIST`): none if the path is not found.
    ///
    /// # Errors
    /// If the path ends with a function, which Jayway does not allow with that option, or cannot be applied to the body.
    pub fn find<'j, 't>(&'j self, json: &'j Json<'t>) -> Result<Vec<JsonMatch<'j, 't>>, Error> {
        if self.path.ends_with_function() {
            return Err(Error::failed(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!",
            ));
        }
        if matches!(json.root(), Value::Null) {
            return Err(Error::failed("root can not be null"));
        }
        match eval::evaluate(&self.path, json.root(), json.root(), false) {
            Ok(hits) if self.is_definite() => {
                Ok(hits.into_iter().next_back().into_iter().collect())
            }
            Err(Error {
                kind: ErrorKind::NotFound,
                ..
            }) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Finds the only hit of [`JsonPath::find`] in a body that was not parsed. For a path of keys and indexes, this costs
    /// a fraction of parsing. `None` is inconclusive; the caller must parse the body.
    pub fn find_in_text<'t>(&self, text: &'t str) -> Option<Value<'t>> {
        let steps: Option<Vec<PathStep<'_>>> =
            self.path.tokens.iter().map(PathToken::step).collect();
        json::locate(text, &steps.filter(|steps| !steps.is_empty())?)
    }

    /// The value that `JsonPath.read(json, path)` returns to `JSONPathAssertion`: the hit of a definite path, or an array
    /// of the hits of an indefinite one.
    ///
    /// # Errors
    /// If the path is not found or cannot be applied to the body.
    pub fn read<'j, 't>(&'j self, json: &'j Json<'t>) -> Result<JsonMatch<'j, 't>, Error> {
        if matches!(json.root(), Value::Null) {
            return Err(Error::failed("json can not be null"));
        }
        eval::read(&self.path, json.root(), json.root())
    }
}

/// A path: `$` or `@` and its tokens.
#[derive(Debug)]
struct Path {
    /// Whether it starts at the document (`$`) instead of the filtered item (`@`).
    from_root: bool,
    tokens: Vec<PathToken>,
}

#[derive(Debug)]
enum PathToken {
    /// `.a`, `['a']`, `["a","b"]`
    Property { names: Vec<String>, quote: char },
    /// `[0]`, `[0,1]`
    Index(Vec<i32>),
    /// `[1:]`, `[:2]`, `[1:2]`
    Slice { from: Option<i32>, to: Option<i32> },
    /// `[*]`, `.*`
    Wildcard,
    /// `..`
    Scan,
    /// `[?(…)]`
    Filter(filter::Expr),
    /// `.length()`
    Function {
        name: String,
        parameters: Vec<Parameter>,
    },
}

#[derive(Debug)]
enum Parameter {
    Json(String),
    Path(Path),
}

impl Path {
    fn is_leaf(&self, at: usize) -> bool {
        at + 1 == self.tokens.len()
    }

    fn is_token_definite(&self, at: usize) -> bool {
        match &self.tokens[at] {
            PathToken::Property { names, .. } => names.len() == 1 || self.is_leaf(at),
            PathToken::Index(indexes) => indexes.len() == 1,
            PathToken::Function { .. } => true,
            PathToken::Slice { .. }
            | PathToken::Wildcard
            | PathToken::Scan
            | PathToken::Filter(_) => false,
        }
    }

    fn is_upstream_definite(&self, at: usize) -> bool {
        (0..at).all(|before| self.is_token_definite(before))
    }

    fn is_definite(&self) -> bool {
        self.is_upstream_definite(self.tokens.len())
    }

    fn ends_with_function(&self) -> bool {
        matches!(self.tokens.last(), Some(PathToken::Function { .. }))
    }

    /// `toString` of the tokens from this index.
    fn text_from(&self, at: usize) -> String {
        self.tokens[at..].iter().map(PathToken::fragment).collect()
    }

    fn text(&self) -> String {
        format!("{}{}", self.root_text(), self.text_from(0))
    }

    fn root_text(&self) -> &'static str {
        if self.from_root { "$" } else { "@" }
    }
}

impl PathToken {
    /// The step for a single key, or a single non-negative index.
    fn step(&self) -> Option<PathStep<'_>> {
        match self {
            PathToken::Property { names, .. } => match names.as_slice() {
                [name] => Some(PathStep::Key(name)),
                _ => None,
            },
            PathToken::Index(indexes) => match indexes.as_slice() {
                [index] => usize::try_from(*index).ok().map(PathStep::Index),
                _ => None,
            },
            _ => None,
        }
    }

    /// `getPathFragment`.
    fn fragment(&self) -> String {
        match self {
            PathToken::Property { names, quote } => {
                let names: Vec<String> = names
                    .iter()
                    .map(|name| format!("{quote}{name}{quote}"))
                    .collect();
                format!("[{}]", names.join(","))
            }
            PathToken::Index(indexes) => {
                let indexes: Vec<String> = indexes.iter().map(i32::to_string).collect();
                format!("[{}]", indexes.join(","))
            }
            PathToken::Slice { from, to } => {
                format!("[{}:{}]", text(from), text(to))
            }
            PathToken::Wildcard => "[*]".to_owned(),
            PathToken::Scan => "..".to_owned(),
            PathToken::Filter(_) => "[?]".to_owned(),
            PathToken::Function { name, parameters } => {
                format!(
                    ".{name}({})",
                    if parameters.is_empty() { "" } else { "..." }
                )
            }
        }
    }
}

fn text(index: &Option<i32>) -> String {
    index.map(|index| index.to_string()).unwrap_or_default()
}
