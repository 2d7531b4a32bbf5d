//! `XPath`, with its `XPathWrapper` and `XPathFileContainer`: each call returns the next node that an XPath finds in a file.

use std::path::Path;
use std::sync::Arc;

use drumfire_java::charset::Charset;
use drumfire_query::xpath::{Tree, XPath, XPathResult};

use crate::call::{Args, CallError, CallResult, NULL, Stateful};
use crate::scope::{Level, Scope};
use crate::shared::xpath_files::FoundNodes;
use crate::text::Text;

#[derive(Debug)]
struct NextNode;

/// `XPath.setParameters` drops all files, as `CSVRead` does.
pub(super) fn prepare(_: Args<'_>, scope: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
    scope.properties().xpath_files().lock().clear();
    Ok(Box::new(NextNode))
}

impl Stateful for NextNode {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let file = args.text(0, scope)?;
        let expression = args.text(1, scope)?;
        let nodes = match open(&file, &expression, scope) {
            Ok(nodes) => nodes,
            Err(message) => {
                scope.log_failure(Level::Warn, &message);
                scope.log_failure(Level::Error, "XPathFileContainer is null!");
                return Ok(Text::Literal(""));
            }
        };
        Ok(match nodes.take() {
            Some(Some(value)) => Text::Owned(value.to_owned()),
            Some(None) => NULL,
            None => {
                let message = format!("XPathFileContainer has no nodes: {file} {expression}");
                scope.log_failure(Level::Warn, &message);
                Text::Literal("")
            }
        })
    }
}

/// The nodes. The first user that needs them reads the file. A failure is not cached, so the next user tries again.
fn open(file: &str, expression: &str, scope: &dyn Scope) -> Result<Arc<FoundNodes>, String> {
    let key = format!("{file}{expression}");
    let mut files = scope.properties().xpath_files().lock();
    if let Some(nodes) = files.get(&key) {
        return Ok(nodes.clone());
    }
    let nodes = Arc::new(FoundNodes::new(search(file, expression)?));
    files.insert(key, nodes.clone());
    Ok(nodes)
}

/// `XPathFileContainer.load`: resolves file names against the current folder and ignores namespaces.
fn search(file: &str, expression: &str) -> Result<Vec<Option<String>>, String> {
    let bytes = drumfire_platform::files::read_regular(Path::new(file))
        .map_err(|error| format!("{file}: {error}"))?;
    let tree = Tree::parse_xml(&decode(&bytes), false).map_err(|error| error.message)?;
    let answer = XPath::compile(expression).and_then(|query| query.evaluate(&tree, false));
    match answer.map_err(|error| error.message)? {
        XPathResult::Nodes(values) => Ok(values),
        XPathResult::Bool(_) => Err("Can not convert #BOOLEAN to a NodeList!".to_owned()),
        XPathResult::Text(_) => Err("Can not convert #STRING to a NodeList!".to_owned()),
    }
}

/// Decodes an XML file by its byte order mark or declaration, or else as UTF-8.
fn decode(bytes: &[u8]) -> String {
    let is_utf16 = bytes.starts_with(&[0xFE, 0xFF]) || bytes.starts_with(&[0xFF, 0xFE]);
    if is_utf16 {
        return encoding_rs::UTF_16BE.decode(bytes).0.into_owned();
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    match declared(&head).and_then(Charset::find) {
        Some(charset) => charset.decode(bytes).into_owned(),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The encoding in an XML declaration.
fn declared(head: &str) -> Option<&str> {
    let declaration = head.strip_prefix("<?xml")?.split_once("?>")?.0;
    let rest = declaration
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_name_the_charset() {
        assert_eq!(
            declared("<?xml version='1.0' encoding = 'ISO-8859-1' ?><a/>"),
            Some("ISO-8859-1")
        );
        assert_eq!(declared("<?xml version='1.0'?><a encoding='x'/>"), None);
        assert_eq!(
            decode(b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xfc</a>")
                .split_once("?>")
                .map(|(_, text)| text.to_owned()),
            Some("<a>\u{fc}</a>".to_owned())
        );
        assert_eq!(decode(b"\xff\xfe<\0a\0"), "<a");
    }
}
