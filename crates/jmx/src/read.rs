//! The crate's entry points: they read the bytes of a plan into its tree.

use std::path::Path;
use std::sync::Arc;

use crate::conflicts;
use crate::diagnostic::Diagnostic;
use crate::interpret;
use crate::sniff::{self, EncodingOddity};
use crate::source::{SourceFile, Span};
use crate::tree::Tree;
use crate::xml::{self, Document, PLAN_TAG};

/// A plan that JMeter could also load, with the warnings about it.
#[derive(Debug)]
pub struct Read {
    /// The plan.
    pub tree: Tree,
    /// Warnings and notes only.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a plan from a file.
///
/// # Errors
/// All findings, at least one of which is an error: those of [`read`], or that the file cannot be read.
pub fn read_file(path: &Path) -> Result<Read, Vec<Diagnostic>> {
    match drumfire_platform::files::read_regular(path) {
        Ok(bytes) => read_owned(bytes, path),
        Err(error) => Err(vec![Diagnostic::from_io(path, &error)]),
    }
}

/// Reads a plan from bytes; the path is only shown in diagnostics.
///
/// # Errors
/// All findings in the order of the file, at least one of which is an error. A plan fails for the same reasons for which
/// JMeter 5.6.3 refuses to load it, except that a class unknown to JMeter is taken for a plugin's. The rest of the file
/// after a syntax error is not read.
pub fn read(bytes: &[u8], path: &Path) -> Result<Read, Vec<Diagnostic>> {
    read_owned(bytes.to_vec(), path)
}

/// Takes the bytes over as the text of the tree, without a copy if they are UTF-8.
fn read_owned(bytes: Vec<u8>, path: &Path) -> Result<Read, Vec<Diagnostic>> {
    let magic = sniff::magic(&bytes);
    let decoded = sniff::decode(bytes);
    if let Some(finding) = sniff::not_xml(&magic, &decoded.text, path) {
        // The file is named without a position, because there is no line to show.
        return Err(vec![finding.in_file(&Arc::new(SourceFile::new(path, "")))]);
    }
    let source = Arc::new(SourceFile::new(path, decoded.text));
    if let Some(finding) = conflicts::finding(&source) {
        return Err(vec![finding]);
    }
    let mut findings = Vec::new();
    if let Some(oddity) = decoded.oddity {
        findings.push(encoding_warning(&oddity, &source));
    }
    let document = xml::parse(&source.text);
    let mut roots = Vec::new();
    if let Some(root) = document.root() {
        let node = document.node(root);
        if node.name == PLAN_TAG {
            let outcome = interpret::plan(&document, root, &source);
            findings.extend(outcome.findings);
            roots = outcome.roots;
        } else {
            let finding = sniff::other_root(node.name, interpret::is_test_element(node.name), path);
            findings.push(finding.at(&source, node.tag()));
        }
    }
    findings.extend(file_findings(&document, &source));
    findings.sort_by_key(|finding| finding.span.map(|span| span.start).unwrap_or(0));
    if findings.iter().any(Diagnostic::is_error) {
        return Err(findings);
    }
    let attribute = |name| {
        document
            .root()
            .and_then(|root| document.attribute(root, name))
    };
    let version = attribute("version").unwrap_or("").to_string();
    let jmeter = attribute("jmeter").map(str::to_string);
    drop(document);
    Ok(Read {
        tree: Tree {
            source,
            version,
            jmeter,
            roots: roots.into(),
        },
        warnings: findings,
    })
}

/// The findings of the XML stage.
fn file_findings(document: &Document<'_>, source: &Arc<SourceFile>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if let Some(fault) = &document.fault {
        let path = fault
            .node
            .map(|node| interpret::path_of(document, node))
            .unwrap_or_default();
        let mut finding = Diagnostic::error(fault.code, fault.message.clone())
            .at(source, fault.span)
            .within(path);
        finding.help.clone_from(&fault.help);
        findings.push(finding);
    }
    if let [first, rest @ ..] = document.lone_surrogates.as_slice() {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" (and {} more)", rest.len())
        };
        findings.push(
            Diagnostic::warning(
                "xml-lone-surrogate",
                format!("this is half a character{more}; JMeter sends ? for it"),
            )
            .at(source, *first)
            .help("write the whole character, such as &#x1F600;"),
        );
    }
    if let Some(trailing) = document.trailing {
        findings.push(trailing_warning(trailing, source));
    }
    findings
}

fn trailing_warning(trailing: Span, source: &Arc<SourceFile>) -> Diagnostic {
    let text = &source.text[trailing.start..trailing.end];
    if text.trim().is_empty() {
        return Diagnostic::warning(
            "jmx-trailing",
            format!("</{PLAN_TAG}> is missing; JMeter does not look for it"),
        )
        .at(source, Span::new(trailing.start, trailing.start))
        .help(format!(
            "add </{PLAN_TAG}> at the end; check whether more of the plan is missing"
        ));
    }
    let start = trailing.start + (text.len() - text.trim_start().len());
    Diagnostic::warning(
        "jmx-trailing",
        "the plan ends here: JMeter ignores what follows",
    )
    .at(source, Span::new(start, start + 1))
    .help(format!(
        "only </{PLAN_TAG}> may follow the outer </hashTree>; move elements into it or remove them"
    ))
}

fn encoding_warning(oddity: &EncodingOddity, source: &Arc<SourceFile>) -> Diagnostic {
    match oddity {
        EncodingOddity::NotUtf8(span) => {
            Diagnostic::warning("xml-encoding", "this byte is not UTF-8; like JMeter, Drumfire reads a replacement character here")
                .at(source, *span)
                .help("save the file as UTF-8: JMeter reads every plan as UTF-8, whatever encoding its first line declares")
        }
        EncodingOddity::Utf16 => Diagnostic::warning("xml-utf16", "the file is UTF-16, which JMeter itself cannot read")
            .in_file(source)
            .help("save it as UTF-8"),
    }
}
