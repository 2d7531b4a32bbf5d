//! Reads files of any kind: detects their encoding and format and calls the matching importer.

use std::path::Path;

use drumfire_platform::message_error;
use serde_json::Value;

use crate::draft::Draft;
use crate::options::{FORMATS, Format, ImportError, ImportOptions};
use crate::{access_log, curl, graphql, har, openapi, postman, powershell};

message_error! {
    /// Where a file breaks the rules of its format.
    pub struct FormatError;
}

/// Makes a draft of files that belong together: a recording, an API description, or a Postman collection with its
/// environments.
///
/// # Errors
/// The format is unknown, the content is broken, or it holds no request that a plan can send.
pub fn import(files: &[(String, Vec<u8>)], options: &ImportOptions) -> Result<Draft, ImportError> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut environments = Vec::new();
    let mut collections = Vec::new();
    for (name, bytes) in files {
        if let Some(error) = packed(bytes) {
            return Err(at(name, error));
        }
        let text = decode(bytes);
        let json = parse(&text);
        if let Ok(value) = &json
            && postman::is_environment(value)
        {
            environments.push(value.clone());
            continue;
        }
        let format = match options.format {
            Some(format) => format,
            None => recognise(&text, &json).map_err(|error| at(name, error))?,
        };
        let draft = match (format, json) {
            (Format::Curl, _) => curl::import(&text),
            (Format::PowerShell, _) => powershell::import(&text),
            (Format::AccessLog, _) => access_log::import(&text, options),
            (Format::GraphQl, _) => graphql::import(&text, options),
            (Format::OpenApi, Err(why)) => Err(not_json(&text, why.as_ref())),
            (_, Err(why)) => Err(not_json(&text, why.as_ref())),
            (Format::Har, Ok(value)) => har::import(&value, options),
            (Format::OpenApi, Ok(value)) => openapi::import(value, Path::new(name), options),
            (Format::Postman, Ok(value)) => {
                collections.push((name, value));
                continue;
            }
        };
        drafts.push(draft.map_err(|error| at(name, error))?);
    }
    for (name, value) in collections {
        drafts.push(postman::import(&value, &environments).map_err(|error| at(name, error))?);
    }
    let mut drafts = drafts.into_iter();
    let Some(mut first) = drafts.next() else {
        return Err(ImportError::new("an environment alone holds no requests")
            .hint("name its collection too"));
    };
    for other in drafts {
        first.absorb(other);
    }
    Ok(first)
}

/// Explains why an archive cannot be imported: k6's archives hold a script and no requests.
fn packed(bytes: &[u8]) -> Option<ImportError> {
    if bytes.get(257..262) == Some(b"ustar") {
        let error = ImportError::new(
            "an archive, such as `k6 archive` writes, holds a script and no requests",
        );
        return Some(
            error.hint("record the visit: `drumfire record URL --browser`, or import a HAR"),
        );
    }
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"PK\x03\x04");
    is_packed.then(|| ImportError::new("the file is packed").hint("unpack it first"))
}

fn at(name: &str, error: ImportError) -> ImportError {
    ImportError {
        message: format!("`{name}`: {}", error.message),
        ..error
    }
}

impl Draft {
    /// Adds the transactions of another input.
    fn absorb(&mut self, other: Draft) {
        self.transactions.extend(other.transactions);
        for (name, value, description) in other.variables {
            self.variable(&name, value, &description);
        }
        self.cookies |= other.cookies;
        self.cache |= other.cache;
        self.embedded = self.embedded.take().or(other.embedded);
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
        for warning in other.warnings {
            self.warn(warning);
        }
    }
}

/// Decodes the text of a file: UTF-8 or UTF-16 of either byte order, with or without a byte order mark, or else Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_le_bytes)
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_be_bytes)
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
        },
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Parses JSON, or YAML if the text looks like an API description.
fn parse(text: &str) -> Result<Value, FormatError> {
    if openapi::is_yaml(text) {
        parse_any(text)
    } else {
        parse_json(text.trim_start())
    }
}

/// JSON or YAML.
pub(crate) fn parse_any(text: &str) -> Result<Value, FormatError> {
    let text = text.trim_start();
    let json = parse_json(text);
    if json.is_ok() || text.starts_with(['{', '[']) {
        return json;
    }
    openapi::parse_yaml(text)
}

/// The words for JSON that is cut off.
const ENDS_EARLY: &str = "ends too early";

fn parse_json(text: &str) -> Result<Value, FormatError> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let what = if error.is_eof() {
            ENDS_EARLY
        } else {
            "is broken"
        };
        format!("the JSON {what} at line {line}, column {column}").into()
    })
}

fn recognise(text: &str, json: &Result<Value, FormatError>) -> Result<Format, ImportError> {
    if let Ok(value) = json {
        let has = |name: &str| value.get(name).is_some();
        return if value.pointer("/log/entries").is_some() {
            Ok(Format::Har)
        } else if has("openapi") || has("swagger") {
            Ok(Format::OpenApi)
        } else if has("item")
            || value.pointer("/collection/item").is_some()
            || (has("requests") && has("order"))
        {
            Ok(Format::Postman)
        } else if value.pointer("/log").is_some() {
            Err(har::without_entries())
        } else {
            Err(unknown())
        };
    }
    let broken = || {
        not_json(
            text,
            json.as_ref().err().map(FormatError::as_ref).unwrap_or(""),
        )
    };
    if openapi::is_yaml(text) {
        Err(broken())
    } else if curl::is_curl(text) {
        Ok(Format::Curl)
    } else if powershell::is_powershell(text) {
        Ok(Format::PowerShell)
    } else if access_log::is_access_log(text) {
        Ok(Format::AccessLog)
    } else if graphql::is_graphql(text) {
        Ok(Format::GraphQl)
    } else if text.trim_start().starts_with(['{', '[']) {
        Err(broken())
    } else if text.trim().is_empty() {
        Err(ImportError::new("the file is empty").hint("save it again"))
    } else if text.trim_start().starts_with("<?xml") && text.contains("<jmeterTestPlan") {
        Err(ImportError::new("this is a plan already").hint("run it: `drumfire run PLAN.jmx`"))
    } else {
        Err(unknown())
    }
}

fn unknown() -> ImportError {
    let names: Vec<&str> = FORMATS.iter().map(|(_, name)| *name).collect();
    ImportError::new("the format is not known")
        .hint(format!("name it: `--from {}`", names.join("|")))
}

fn not_json(text: &str, why: &str) -> ImportError {
    let error = ImportError::new(why);
    if why.contains(ENDS_EARLY) && text.len() > 40 {
        error.hint("the file is cut off; save it again")
    } else {
        error.hint("correct it there, or save the file again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
        };
        assert_eq!(decode("\u{feff}{é}".as_bytes()), "{é}");
        assert_eq!(decode(&utf16("\u{feff}{é}", u16::to_le_bytes)), "{é}");
        assert_eq!(decode(&utf16("\u{feff}{é}", u16::to_be_bytes)), "{é}");
        assert_eq!(decode(&utf16("{\"é\"}", u16::to_le_bytes)), "{\"é\"}");
        assert_eq!(decode(b"caf\xe9"), "café");
    }

    #[test]
    fn formats_are_recognised_by_their_content() {
        let recognised = |text: &str| recognise(text, &parse(text));
        assert_eq!(recognised("{\"log\":{\"entries\":[]}}"), Ok(Format::Har));
        assert_eq!(recognised("{\"swagger\":\"2.0\"}"), Ok(Format::OpenApi));
        assert_eq!(recognised("{\"info\":{},\"item\":[]}"), Ok(Format::Postman));
        assert_eq!(recognised("curl http://h/"), Ok(Format::Curl));
        let log = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326";
        assert_eq!(recognised(log), Ok(Format::AccessLog));
        assert_eq!(recognised("query A { b }"), Ok(Format::GraphQl));
        for text in [
            "",
            "{",
            "hello",
            "{}",
            "<?xml version=\"1.0\"?><jmeterTestPlan/>",
            "{\"log\":1}",
        ] {
            assert!(recognised(text).is_err(), "{text}");
        }
    }
}
