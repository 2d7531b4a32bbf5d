//! The outline of a plan and its foldable ranges.

use drumfire_elements::Role;
use drumfire_elements::config::user_defined_variables;

use crate::document::Lines;
use crate::protocol::{DocumentSymbol, FoldingRange, SymbolKind};
use crate::workspace::ends;
use drumfire_jmx::Span;
use drumfire_refactor::{ElementEntry, PlanFile};

/// The elements of a plan as a tree.
pub fn symbols(plan: &PlanFile, lines: &Lines) -> Vec<DocumentSymbol> {
    let elements = &plan.index().elements;
    let ends = ends(elements);
    let mut roots = Vec::new();
    // Children come after their parents, so going backwards each subtree is complete when it is
    // moved to its parent.
    let mut below: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); elements.len()];
    for (at, element) in elements.iter().enumerate().rev() {
        let mut children = std::mem::take(&mut below[at]);
        children.reverse();
        let made = symbol(element, ends[at], lines, children);
        match element.parent {
            Some(parent) => below[parent].push(made),
            None => roots.push(made),
        }
    }
    roots.reverse();
    roots
}

fn symbol(
    element: &ElementEntry,
    end: usize,
    lines: &Lines,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let short = element.class.rsplit('.').next().unwrap_or("");
    let detail = if element.enabled {
        short.to_owned()
    } else {
        format!("{short}, disabled")
    };
    let name = match element.name.trim() {
        "" => short.to_owned(),
        name => name.to_owned(),
    };
    DocumentSymbol {
        name,
        detail,
        kind: kind(&element.class),
        range: lines.range(Span::new(element.tag.start, end)),
        selection_range: lines.range(element.tag),
        children,
    }
}

/// The icon of a class. A class without facts is judged by the end of its name.
fn kind(class: &str) -> SymbolKind {
    let role = match drumfire_elements::of_class(class) {
        Some(facts) => facts.role,
        None => role_by_name(class),
    };
    match role {
        Role::Plan => SymbolKind::FILE,
        Role::ThreadGroup => SymbolKind::NAMESPACE,
        Role::Controller | Role::Fragment => SymbolKind::PACKAGE,
        Role::Sampler => SymbolKind::METHOD,
        Role::PreProcessor => SymbolKind::FUNCTION,
        Role::PostProcessor => SymbolKind::VARIABLE,
        Role::Assertion => SymbolKind::BOOLEAN,
        Role::Timer => SymbolKind::EVENT,
        Role::Listener => SymbolKind::INTERFACE,
        Role::Data => SymbolKind::CONSTANT,
        Role::Config if class == user_defined_variables::CLASS => SymbolKind::CONSTANT,
        Role::Config | Role::NonTest => SymbolKind::OBJECT,
    }
}

fn role_by_name(class: &str) -> Role {
    let ends = [
        ("ThreadGroup", Role::ThreadGroup),
        ("Controller", Role::Controller),
        ("Sampler", Role::Sampler),
        ("PreProcessor", Role::PreProcessor),
        ("PostProcessor", Role::PostProcessor),
        ("Extractor", Role::PostProcessor),
        ("Assertion", Role::Assertion),
        ("Timer", Role::Timer),
    ];
    let named = ends.iter().find(|(end, _)| class.ends_with(end));
    named.map(|(_, role)| *role).unwrap_or(Role::Config)
}

/// The range of each element together with its children.
pub fn folds(plan: &PlanFile, lines: &Lines) -> Vec<FoldingRange> {
    let ends = ends(&plan.index().elements);
    let elements = plan.index().elements.iter().zip(ends);
    let folds = elements.map(|(element, end)| FoldingRange {
        start_line: lines.position(element.tag.start).line,
        end_line: lines.position(end).line,
    });
    folds
        .filter(|fold| fold.start_line < fold.end_line)
        .collect()
}
