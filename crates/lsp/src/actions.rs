//! The code actions that an editor offers at a position.

use std::collections::{BTreeSet, HashMap};

use drumfire_edit::fixes::{NEEDLESS, SETTINGS};
use drumfire_jmx::{Node, Span, content_span, did_you_mean};
use drumfire_refactor::{Joined, OccurrenceKind, PlanFile, Subject, leaves};

use crate::document::Lines;
use crate::protocol::{
    CodeAction, CodeActionKind, Diagnostic, DiagnosticCode, Range, TextEdit, WorkspaceEdit,
};
use crate::workspace::element_at;

/// The document that the actions change.
pub struct ActionSite<'a> {
    pub uri: &'a str,
    pub plan: &'a PlanFile,
    pub lines: &'a Lines,
}

impl ActionSite<'_> {
    /// All actions for a range and its findings.
    pub fn actions(
        &self,
        joined: &Joined,
        range: Range,
        findings: &[Diagnostic],
    ) -> Vec<CodeAction> {
        let mut all = Vec::new();
        for finding in findings {
            self.answers(finding, &mut all);
        }
        let span = self.lines.span(range);
        self.misspelt(joined, span, &mut all);
        all.extend(self.extracted(joined, span));
        all
    }

    fn action(
        &self,
        title: String,
        kind: CodeActionKind,
        finding: Option<&Diagnostic>,
        edits: &[(Span, String)],
    ) -> CodeAction {
        let edits = edits.iter().map(|(span, text)| TextEdit {
            range: self.lines.range(*span),
            new_text: text.clone(),
        });
        let changes = HashMap::from([(self.uri.to_owned(), edits.collect::<Vec<_>>())]);
        CodeAction {
            title,
            kind,
            diagnostics: finding.map(|finding| vec![finding.clone()]),
            edit: WorkspaceEdit { changes },
        }
    }

    /// Adds the actions that resolve advice about an element.
    fn answers(&self, finding: &Diagnostic, all: &mut Vec<CodeAction>) {
        let Some(DiagnosticCode::Text(rule)) = &finding.code else {
            return;
        };
        let start = self.lines.offset(finding.range.start);
        let Some(at) = element_at(&self.plan.index().elements, start) else {
            return;
        };
        let fix = CodeActionKind::QuickFix;
        let node = node(&self.plan.tree.roots, at);
        let source = self.plan.tree.source.text.as_str();
        for (_, properties, value) in SETTINGS.iter().filter(|(own, ..)| own == rule) {
            for property in *properties {
                let whole = node.and_then(|node| node.props.span(property));
                if let Some(span) = whole.and_then(|whole| content_span(source, whole)) {
                    let title = format!("Set `{property}` to {value}");
                    let edits = [(span, (*value).to_owned())];
                    all.push(self.action(title, fix, Some(finding), &edits));
                }
            }
        }
        let element = &self.plan.index().elements[at];
        if NEEDLESS.contains(&rule.as_str())
            && element.enabled
            && let Some(edit) = disabling(source, element.tag)
        {
            let title = format!("Disable `{}`", element.name);
            all.push(self.action(title, fix, Some(finding), &[edit]));
        }
    }

    /// Adds corrections for variables that nothing sets, if a variable with a similar name is set.
    fn misspelt(&self, joined: &Joined, span: Span, all: &mut Vec<CodeAction>) {
        let plans = joined.plans.iter().flat_map(|plan| &plan.index().names);
        let set: BTreeSet<&str> = plans
            .filter(|one| one.subject == Subject::Variable && one.kind == OccurrenceKind::Set)
            .map(|one| one.name.as_str())
            .collect();
        let names = self.plan.index().names.iter().filter(|one| {
            one.subject == Subject::Variable
                && one.kind == OccurrenceKind::Read
                && one.span.start <= span.end
                && span.start <= one.span.end
        });
        for one in names {
            let is_set = set.contains(one.name.as_str())
                || set.contains(drumfire_refactor::base_name(&one.name));
            if let Some(near) = did_you_mean(&one.name, set.iter().copied()).filter(|_| !is_set) {
                let title = format!("Change to `{near}`");
                let edits = [(one.span, near.to_owned())];
                all.push(self.action(title, CodeActionKind::QuickFix, None, &edits));
            }
        }
    }

    /// Extracts the selected text into a User Defined Variable of the Test Plan.
    fn extracted(&self, joined: &Joined, span: Span) -> Option<CodeAction> {
        let source = self.plan.tree.source.text.as_str();
        let text = source.get(span.start..span.end)?;
        let is_plain = !text.trim().is_empty() && !text.contains(['<', '$', '{', '}', '\n']);
        if !is_plain {
            return None;
        }
        leaves(&self.plan.tree).into_iter().find(|leaf| {
            content_span(source, leaf.span)
                .is_some_and(|inside| inside.start <= span.start && span.end <= inside.end)
        })?;
        let taken: BTreeSet<&str> = joined
            .plans
            .iter()
            .flat_map(|plan| &plan.index().names)
            .map(|one| one.name.as_str())
            .collect();
        let mut names = (1..).map(|number| format!("value_{number}"));
        let name = names.find(|name| !taken.contains(name.as_str()))?;
        let root = self.plan.tree.roots.first()?;
        let whole = root.props.span("TestPlan.user_defined_variables")?;
        let element = &source[whole.start..whole.end];
        let argument = format!(
            "<elementProp name=\"{name}\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
             <stringProp name=\"Argument.value\">{text}</stringProp><stringProp name=\"Argument.metadata\">=</stringProp></elementProp>"
        );
        const EMPTY: &str = "<collectionProp name=\"Arguments.arguments\"/>";
        let definition = if let Some(at) = element.rfind("</collectionProp>") {
            let at = whole.start + at;
            (Span::new(at, at), argument)
        } else {
            let at = whole.start + element.find(EMPTY)?;
            let list = format!("{}>{argument}</collectionProp>", &EMPTY[..EMPTY.len() - 2]);
            (Span::new(at, at + EMPTY.len()), list)
        };
        let title = format!("Make it the User Defined Variable `{name}`");
        let edits = [definition, (span, format!("${{{name}}}"))];
        Some(self.action(title, CodeActionKind::RefactorExtract, None, &edits))
    }
}

/// The edit of a start tag that disables its element.
fn disabling(source: &str, tag: Span) -> Option<(Span, String)> {
    let text = source.get(tag.start..tag.end)?;
    const ENABLED: &str = "enabled=\"true\"";
    if let Some(at) = text.find(ENABLED) {
        let span = Span::new(tag.start + at, tag.start + at + ENABLED.len());
        return Some((span, "enabled=\"false\"".to_owned()));
    }
    let end = tag.start + text.rfind("/>").or_else(|| text.rfind('>'))?;
    let is_named = !text.contains("enabled=");
    is_named.then(|| (Span::new(end, end), " enabled=\"false\"".to_owned()))
}

/// The element with an index, in the order of the file.
fn node(roots: &[Node], number: usize) -> Option<&Node> {
    let mut open: Vec<&Node> = roots.iter().rev().collect();
    let mut at = 0;
    while let Some(node) = open.pop() {
        if at == number {
            return Some(node);
        }
        at += 1;
        open.extend(node.children.iter().rev());
    }
    None
}
