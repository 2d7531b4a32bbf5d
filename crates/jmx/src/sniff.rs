//! Detects a file's encoding, and files that are not plans, before the XML is parsed.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A hint that fits whenever a file is not a plan.
pub(crate) const SAVE_AGAIN: &str = "give the .jmx file that JMeter's File > Save writes";

/// Keys of the JSON that `drumfire import` reads: HAR, OpenAPI, Postman.
const IMPORTED: [&str; 4] = [
    "\"entries\"",
    "\"openapi\"",
    "\"swagger\"",
    "\"_postman_id\"",
];

/// The byte order mark of UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file, and what is unusual about its encoding.
pub(crate) struct Decoded {
    /// The text without a byte order mark.
    pub text: String,
    pub oddity: Option<EncodingOddity>,
}

pub(crate) enum EncodingOddity {
    /// Bytes that are not UTF-8 were replaced; the span is that of the first one.
    NotUtf8(Span),
    /// UTF-16, which JMeter cannot read.
    Utf16,
}

/// Decodes the text of a plan. JMeter reads every plan as UTF-8, whatever its XML declaration says (`SaveService`
/// with the `_file_encoding` of `saveservice.properties`), and replaces invalid bytes with U+FFFD.
pub(crate) fn decode(mut bytes: Vec<u8>) -> Decoded {
    if let Some(text) = utf16(&bytes) {
        return Decoded {
            text,
            oddity: Some(EncodingOddity::Utf16),
        };
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Decoded { text, oddity: None },
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let span = Span::new(at, at + '\u{fffd}'.len_utf8());
            Decoded {
                text,
                oddity: Some(EncodingOddity::NotUtf8(span)),
            }
        }
    }
}

/// The encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes that are not UTF-8 are read as U+FFFD.
    Utf8,
    Utf16 {
        is_little: bool,
    },
}

impl Encoding {
    /// UTF-16 by the byte order mark or by the bytes of `<?`, else UTF-8.
    pub fn of(bytes: &[u8]) -> Encoding {
        match bytes {
            [0xff, 0xfe, ..] | [b'<', 0, b'?' | b'j', 0, ..] => Encoding::Utf16 { is_little: true },
            [0xfe, 0xff, ..] | [0, b'<', 0, b'?' | b'j', ..] => {
                Encoding::Utf16 { is_little: false }
            }
            _ => Encoding::Utf8,
        }
    }
}

/// Decodes the bytes if they are UTF-16.
fn utf16(bytes: &[u8]) -> Option<String> {
    let Encoding::Utf16 { is_little: little } = Encoding::of(bytes) else {
        return None;
    };
    let units = bytes.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if little {
            u16::from_le_bytes(pair)
        } else {
            u16::from_be_bytes(pair)
        }
    });
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or('\u{fffd}'))
        .collect();
    Some(
        text.strip_prefix('\u{feff}')
            .map(str::to_string)
            .unwrap_or(text),
    )
}

/// The first bytes of a file, by which [`not_xml`] recognises archives.
pub(crate) fn magic(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len().min(4)].to_vec()
}

/// Names the kind of a file that clearly is not XML, and the command that takes it; `bytes` are its first ones.
pub(crate) fn not_xml(bytes: &[u8], text: &str, path: &Path) -> Option<Diagnostic> {
    if bytes.is_empty() {
        return Some(Diagnostic::error("jmx-empty", "the file is empty").help(SAVE_AGAIN));
    }
    let start = text.trim_start();
    if start.is_empty() {
        return Some(
            Diagnostic::error("jmx-empty", "the file holds nothing but blanks").help(SAVE_AGAIN),
        );
    }
    if let Some(diagnostic) = binary(bytes, text, path).or_else(|| html(start)) {
        return Some(diagnostic);
    }
    if start.starts_with('<') {
        return None;
    }
    let first_line = start.lines().next().unwrap_or("");
    known_text(start, first_line, path).or_else(|| {
        let shown: String = first_line
            .chars()
            .take(30)
            .filter(|c| !c.is_control())
            .collect();
        let message = format!("a JMeter plan starts with <?xml, this file with {shown:?}");
        Some(Diagnostic::error("jmx-not-xml", message).help(SAVE_AGAIN))
    })
}

fn not_a_plan(code: &'static str, what: &str) -> Diagnostic {
    Diagnostic::error(code, format!("this is {what}, not a JMeter plan"))
}

fn binary(bytes: &[u8], text: &str, path: &Path) -> Option<Diagnostic> {
    match bytes {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            let archive = not_a_plan("jmx-archive", "a ZIP archive");
            Some(archive.help("unpack it and give the .jmx file inside"))
        }
        [0x1f, 0x8b, ..] if is_run_file(path) => {
            Some(not_a_plan("jmx-results", "a run file").help(report(path)))
        }
        [0x1f, 0x8b, ..] => {
            Some(not_a_plan("jmx-archive", "gzip-compressed").help("unpack it with gunzip"))
        }
        _ if text.as_bytes().iter().take(4096).any(|&byte| byte == 0) => {
            Some(not_a_plan("jmx-binary", "binary data").help(SAVE_AGAIN))
        }
        _ => None,
    }
}

fn html(start: &str) -> Option<Diagnostic> {
    let lower = start[..start.floor_char_boundary(15)].to_ascii_lowercase();
    if !lower.starts_with("<!doctype html") && !lower.starts_with("<html") {
        return None;
    }
    let page = not_a_plan("jmx-html", "an HTML page");
    Some(page.help("if the plan was downloaded, the server probably answered with a login or error page: look at it in a browser"))
}

/// Texts that other commands take.
fn known_text(start: &str, first_line: &str, path: &Path) -> Option<Diagnostic> {
    let (code, what, help) = if start.starts_with(['{', '[']) {
        let has_requests = IMPORTED.iter().any(|key| start.contains(key));
        let help = if has_requests {
            import(path)
        } else {
            SAVE_AGAIN.to_owned()
        };
        ("jmx-json", "JSON", help)
    } else if first_line.contains("timeStamp") && first_line.contains("elapsed") {
        ("jmx-results", "a result file (JTL, CSV)", report(path))
    } else if start.starts_with("drumfire-run-stream") {
        (
            "jmx-results",
            "the file of a run that did not end",
            report(path),
        )
    } else if start.lines().take(20).any(is_description) {
        ("jmx-yaml", "an API description", import(path))
    } else if first_line.starts_with("---") || first_line.starts_with("execution:") {
        let help = "a Taurus configuration ends with .yml: `drumfire run FILE.yml` runs it";
        ("jmx-yaml", "YAML", help.to_owned())
    } else {
        return None;
    };
    Some(not_a_plan(code, what).help(help))
}

fn is_description(line: &str) -> bool {
    line.starts_with("openapi:") || line.starts_with("swagger:")
}

/// The remedy for the results of a run.
fn report(path: &Path) -> String {
    format!("write `drumfire report {}`", path.display())
}

/// The remedy for a recording or an API description.
fn import(path: &Path) -> String {
    let plan = if path.extension().is_some_and(|ending| ending == "jmx") {
        path.with_file_name("imported.jmx")
    } else {
        path.with_extension("jmx")
    };
    format!(
        "write `drumfire import {} -o {}`",
        path.display(),
        plan.display()
    )
}

/// Whether a name is that of a run file, which is compressed.
fn is_run_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "drumfire")
}

/// Names the kind of a file whose first tag is not `<jmeterTestPlan>`.
pub(crate) fn other_root(tag: &str, is_test_element: bool, path: &Path) -> Diagnostic {
    match tag {
        "testResults" => Diagnostic::error("jmx-results", "this is a result file (JTL, XML), not a JMeter plan").help(report(path)),
        "node" | "testelement" => {
            Diagnostic::error("jmx-old-format", format!("a plan that starts with <{tag}> was written by JMeter 1"))
                .help("open it in JMeter 2.0 to 2.13 and save it: later versions cannot read it either")
        }
        "hashTree" => Diagnostic::error("jmx-fragment", "<hashTree> is not inside <jmeterTestPlan>")
            .help("put <jmeterTestPlan version=\"1.2\"> before it and </jmeterTestPlan> at the end"),
        _ if is_test_element => {
            Diagnostic::error("jmx-fragment", format!("<{tag}> is not inside <jmeterTestPlan> and <hashTree>")).help(
                "put <jmeterTestPlan version=\"1.2\"><hashTree> before it and </hashTree></jmeterTestPlan> at the end",
            )
        }
        _ => Diagnostic::error("jmx-other-root", format!("a JMeter plan starts with <jmeterTestPlan>, this file with <{tag}>"))
            .help(SAVE_AGAIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> &'static str {
        not_xml(bytes, &decode(bytes.to_vec()).text, Path::new("a")).map_or("xml", |d| d.code)
    }

    #[test]
    fn things_that_are_no_plan_are_told_apart() {
        assert_eq!(code(b""), "jmx-empty");
        assert_eq!(code(b" \n\t"), "jmx-empty");
        assert_eq!(code(b"PK\x03\x04abc"), "jmx-archive");
        assert_eq!(code(b"\x1f\x8b\x08"), "jmx-archive");
        assert_eq!(code(b"\x7fELF\x02\x01\x01\0\0"), "jmx-binary");
        assert_eq!(code(b"{\"a\": 1}"), "jmx-json");
        assert_eq!(code(b"\n<!DOCTYPE HTML><html>"), "jmx-html");
        assert_eq!(code(b"<HTML lang='x'>"), "jmx-html");
        assert_eq!(code(b"timeStamp,elapsed,label\n1,2,a"), "jmx-results");
        assert_eq!(code(b"---\nexecution:\n"), "jmx-yaml");
        assert_eq!(code(b"openapi: 3.0.0\ninfo: {}"), "jmx-yaml");
        assert_eq!(code(b"drumfire-run-stream 1\n"), "jmx-results");
        assert_eq!(code(b"# a=b"), "jmx-not-xml");
        assert_eq!(code(b"<jmeterTestPlan/>"), "xml");
        assert_eq!(code(b"\xef\xbb\xbf<?xml version='1.0'?>"), "xml");
    }

    #[test]
    fn a_file_of_another_command_is_refused_with_that_command() {
        for (path, bytes, command) in [
            (
                "r.jtl",
                &b"timeStamp,elapsed,label\n"[..],
                "`drumfire report r.jtl`",
            ),
            (
                "r.drumfire",
                b"\x1f\x8b\x08",
                "`drumfire report r.drumfire`",
            ),
            (
                "a.har",
                b"{\"log\": {\"entries\": []}}",
                "`drumfire import a.har -o a.jmx`",
            ),
            (
                "api.yaml",
                b"openapi: 3.0.0\n",
                "`drumfire import api.yaml -o api.jmx`",
            ),
            (
                "p.jmx",
                b"{\"openapi\": 1}",
                "`drumfire import p.jmx -o imported.jmx`",
            ),
        ] {
            let finding = not_xml(bytes, &decode(bytes.to_vec()).text, Path::new(path));
            let help = finding.and_then(|finding| finding.help).unwrap_or_default();
            assert!(help.contains(command), "{path}: {help}");
        }
        let results = other_root("testResults", false, Path::new("r.jtl"));
        assert!(
            results
                .help
                .is_some_and(|help| help.contains("drumfire report r.jtl"))
        );
    }

    #[test]
    fn utf_16_is_known_with_and_without_a_mark() {
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            let text = format!("{}<?xml é", if mark { "\u{feff}" } else { "" });
            let units = text.encode_utf16();
            let bytes: Vec<u8> = units
                .flat_map(|u| {
                    if little {
                        u.to_le_bytes()
                    } else {
                        u.to_be_bytes()
                    }
                })
                .collect();
            let decoded = decode(bytes);
            assert_eq!(decoded.text, "<?xml é");
            assert!(matches!(decoded.oddity, Some(EncodingOddity::Utf16)));
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced_and_located() {
        let decoded = decode(b"caf\xe9!".to_vec());
        assert_eq!(decoded.text, "caf\u{fffd}!");
        assert!(matches!(
            decoded.oddity,
            Some(EncodingOddity::NotUtf8(Span { start: 3, end: 6 }))
        ));
    }
}
