//! Findings as messages: where each stands, and what mends it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Node, Severity, Span, Tree};
use serde_json::json;

use super::types::{Counts, Finding, Fix};
use crate::fixes::{NEEDLESS, SETTINGS};
use crate::forms::property_at;
use crate::operations::search;
use crate::program::{Hint, Inspection, Rung};
use crate::tree::{Id, Outline};

/// What is known about a plan from its last inspection.
#[derive(Debug, Clone, Default)]
pub struct Inspected {
    /// The revision that was inspected.
    pub revision: u64,
    /// The findings, in the order of the file.
    pub findings: Vec<Finding>,
    counts: HashMap<Id, Counts>,
    runs: HashMap<Id, Rung>,
}

impl Inspected {
    /// How many findings an element has.
    pub fn counts(&self, id: Id) -> Counts {
        self.counts.get(&id).cloned().unwrap_or_default()
    }

    /// How an element runs.
    pub fn runs(&self, id: Id) -> Option<&'static str> {
        Some(match self.runs.get(&id)? {
            Rung::Native => "native",
            Rung::Java => "java",
            Rung::Skipped => "skipped",
            Rung::Refused => "refused",
        })
    }
}

/// A plan as it was when its inspection began.
pub struct Inspectee {
    /// The file.
    pub path: std::path::PathBuf,
    /// The plan.
    pub tree: Tree,
    /// The elements.
    pub outline: Arc<Outline>,
    /// The warnings of reading it.
    pub warnings: Vec<Diagnostic>,
    /// The number of its last change.
    pub revision: u64,
}

impl Inspectee {
    /// The findings of an inspection as messages.
    pub fn told(&self, inspection: Inspection) -> Inspected {
        let mut starts = Vec::with_capacity(self.outline.entries.len());
        crate::tree::each(&self.tree.roots, &mut |node| starts.push(node.whole.start));
        let all = self.warnings.iter().chain(&inspection.findings);
        let mut findings: Vec<Finding> =
            all.map(|finding| self.finding(finding, &starts)).collect();
        let by_line = self.by_line(&starts, &inspection.advice);
        let advice = inspection
            .advice
            .iter()
            .filter_map(|hint| self.advice(hint, &by_line));
        findings.extend(advice);
        findings.sort_by_key(|finding| finding.line);
        let mut counts: HashMap<Id, Counts> = HashMap::new();
        for finding in &findings {
            let of_element = counts.entry(finding.id).or_default();
            match finding.severity.as_str() {
                "error" => of_element.error += 1,
                _ => of_element.warning += 1,
            }
        }
        let rungs = self.outline.entries.iter().zip(&inspection.rungs);
        Inspected {
            revision: self.revision,
            findings,
            counts,
            runs: rungs.map(|(entry, rung)| (entry.id, *rung)).collect(),
        }
    }

    fn finding(&self, finding: &Diagnostic, starts: &[usize]) -> Finding {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "advice",
        };
        let file = finding.source.as_ref();
        let is_here = file.is_none_or(|file| same_file(&file.path, &self.path));
        let span = finding.span.filter(|_| is_here);
        let (id, property) = span
            .map(|span| self.place(span, finding.property.as_deref(), starts))
            .unwrap_or((self.first(), None));
        let message = match file {
            Some(file) if !is_here => format!("{}: {}", file.path.display(), finding.message),
            _ => finding.message.clone(),
        };
        let line = file
            .zip(finding.span)
            .map(|(file, span)| file.line_column(span.start).0)
            .unwrap_or(1);
        Finding {
            severity: severity.to_owned(),
            id,
            property,
            message,
            hint: finding.help.clone(),
            line: if is_here { line } else { 1 },
            fixes: Vec::new(),
        }
    }

    fn first(&self) -> Id {
        self.outline
            .entries
            .first()
            .map(|entry| entry.id)
            .unwrap_or(0)
    }

    /// The element that holds a position, and the property that a finding there is about.
    fn place(&self, span: Span, property: Option<&str>, starts: &[usize]) -> (Id, Option<String>) {
        let at = starts
            .partition_point(|start| *start <= span.start)
            .saturating_sub(1);
        let Some(entry) = self.outline.entries.get(at) else {
            return (self.first(), None);
        };
        let node = self.outline.node(&self.tree.roots, at);
        let property = match property {
            Some(name) => Some(path_of(node, name)),
            None => property_at(node, span),
        };
        (entry.id, property)
    }

    /// The elements that begin on the lines of advice.
    fn by_line(&self, starts: &[usize], advice: &[Hint]) -> HashMap<usize, Vec<usize>> {
        let mut by_line: HashMap<usize, Vec<usize>> =
            advice.iter().map(|hint| (hint.line, Vec::new())).collect();
        if by_line.is_empty() {
            return by_line;
        }
        for (at, start) in starts.iter().enumerate() {
            let line = self.tree.source.line_column(*start).0;
            if let Some(elements) = by_line.get_mut(&line) {
                elements.push(at);
            }
        }
        by_line
    }

    /// Advice about an element of this file.
    fn advice(&self, hint: &Hint, by_line: &HashMap<usize, Vec<usize>>) -> Option<Finding> {
        let elements = by_line.get(&hint.line)?.iter().copied();
        let at = elements
            .into_iter()
            .find(|at| self.names(*at) == hint.path)?;
        let node = self.outline.node(&self.tree.roots, at);
        let id = self.outline.entries[at].id;
        let mut fixes = Vec::new();
        let settings = SETTINGS.iter().filter(|(rule, ..)| *rule == hint.rule);
        for (_, properties, value) in settings {
            for property in properties
                .iter()
                .filter(|property| node.props.has(property))
            {
                fixes.push(Fix {
                    title: format!("Set `{property}` to {value}"),
                    ops: vec![json!({"op": "set", "id": id, "property": property, "value": value})],
                });
            }
        }
        if NEEDLESS.contains(&hint.rule.as_str()) && node.enabled {
            fixes.push(Fix {
                title: format!("Disable `{}`", node.name),
                ops: vec![json!({"op": "enable", "ids": [id], "enabled": false})],
            });
        }
        let (message, rest) = hint.message.split_once('\n').unwrap_or((&hint.message, ""));
        Some(Finding {
            severity: "advice".to_owned(),
            id,
            property: hint.property.as_deref().map(|name| path_of(node, name)),
            message: message.to_owned(),
            hint: (!rest.is_empty()).then(|| rest.to_owned()),
            line: hint.line,
            fixes,
        })
    }

    /// The names from the Test Plan down to an element.
    fn names(&self, at: usize) -> Vec<String> {
        let upwards = self.outline.upwards(at);
        let mut names: Vec<String> = upwards
            .map(|at| self.outline.node(&self.tree.roots, at).name.to_string())
            .collect();
        names.reverse();
        names
    }
}

/// The path of a property that the engine knows by its name alone: it may be in an element within the element.
fn path_of(node: &Node, name: &str) -> String {
    let mut property = None;
    if !node.props.has(name) {
        search::props(&node.props, "", &mut |path, _| {
            let is_it = path.rsplit('/').next() == Some(name);
            if is_it && property.is_none() {
                property = Some(path.to_owned());
            }
        });
    }
    property.unwrap_or_else(|| name.to_owned())
}

fn same_file(one: &Path, other: &Path) -> bool {
    one == other
}
