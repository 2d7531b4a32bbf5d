//! Converts findings to the editor's diagnostics.

use std::collections::HashMap;

use drumfire_jmx::{Diagnostic, Node, Severity, Span};

use crate::document::{Lines, OpenDocument};
use crate::protocol::{self, DiagnosticCode, DiagnosticSeverity, Range};
use crate::{Inspection, Inspector};

/// The findings from reading a document, without inspecting the plan.
pub fn of_reading(
    document: &mut OpenDocument,
    inspector: &dyn Inspector,
) -> Vec<protocol::Diagnostic> {
    if !document.is_plan() {
        document.is_stale = false;
        let fault = inspector.project(&document.lines.text);
        return fault
            .into_iter()
            .map(|(range, message)| {
                let range = document.lines.range(Span::new(range.start, range.end));
                made(range, Severity::Error, "drumfire-toml", message)
            })
            .collect();
    }
    document.read();
    let lines: &Lines = &document.lines;
    let said = if document.faults.is_empty() {
        &document.warnings
    } else {
        &document.faults
    };
    said.iter().map(|fault| shown(fault, lines)).collect()
}

/// All findings of a plan after an inspection.
pub fn of(document: &OpenDocument, inspection: Inspection) -> Vec<protocol::Diagnostic> {
    let Some((plan, lines)) = &document.plan else {
        return Vec::new();
    };
    let Inspection {
        findings, advice, ..
    } = inspection;
    let mut all: Vec<protocol::Diagnostic> = document
        .warnings
        .iter()
        .chain(&findings)
        .filter(|finding| {
            let file = finding.source.as_ref();
            file.is_none_or(|file| file.path == document.path)
        })
        .map(|finding| shown(finding, lines))
        .collect();
    // An element of an included plan is in another file, so the line alone does not identify it.
    let mut by_line: HashMap<usize, Vec<(Vec<&str>, Span)>> =
        advice.iter().map(|hint| (hint.line, Vec::new())).collect();
    if !by_line.is_empty() {
        note_lines(&plan.tree.roots, lines, &mut Vec::new(), &mut by_line);
    }
    for hint in advice {
        let on_line = by_line.get(&hint.line).into_iter().flatten();
        let meant = on_line.clone().find(|(path, _)| *path == hint.path);
        if let Some((_, tag)) = meant {
            let range = lines.range(*tag);
            all.push(made(range, Severity::Warning, &hint.rule, hint.message));
        }
    }
    all
}

/// Records the elements that start on the requested lines: their path of names, and the start tag.
fn note_lines<'t>(
    nodes: &'t [Node],
    lines: &Lines,
    path: &mut Vec<&'t str>,
    by_line: &mut HashMap<usize, Vec<(Vec<&'t str>, Span)>>,
) {
    for node in nodes {
        path.push(&node.name);
        if let Some(elements) = by_line.get_mut(&lines.line(node.span.start)) {
            elements.push((path.clone(), node.span));
        }
        note_lines(&node.children, lines, path, by_line);
        path.pop();
    }
}

fn shown(finding: &Diagnostic, lines: &Lines) -> protocol::Diagnostic {
    let range = lines.range(finding.span.unwrap_or_default());
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    made(range, finding.severity, finding.code, message)
}

fn made(range: Range, severity: Severity, code: &str, message: String) -> protocol::Diagnostic {
    let severity = match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    };
    protocol::Diagnostic {
        range,
        severity: Some(severity),
        code: Some(DiagnosticCode::Text(code.to_owned())),
        source: Some("drumfire".to_owned()),
        message,
    }
}
