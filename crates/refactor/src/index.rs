//! Indexes all names of a plan with their positions.

use drumfire_elements::Names;
use drumfire_jmx::{Node, Span, Tree, attribute_span, content_span};

use crate::leaves::{Leaf, leaves};
use crate::mapped::MappedText;
use crate::names::{NameUse, OccurrenceKind, Subject, scan};
use crate::places::variable_property;

/// A position where a name occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The name as written there.
    pub name: String,
    /// The thing that the name refers to.
    pub subject: Subject,
    /// Whether it is set or read there.
    pub kind: OccurrenceKind,
    /// Its position in the text of the file.
    pub span: Span,
    /// The index of the test element, in the order of the file.
    pub element: usize,
    /// Whether the element also sets parts of the variable, such as `name_1`.
    pub has_parts: bool,
}

/// A position where a name is computed at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    /// The literal beginning of the name.
    pub prefix: String,
    /// The thing that the name refers to.
    pub subject: Subject,
    /// Its position in the text of the file.
    pub span: Span,
    /// The index of the test element.
    pub element: usize,
}

/// A test element of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementEntry {
    /// Its name.
    pub name: String,
    /// JMeter's short class name.
    pub class: String,
    /// The class of its form, as the plan spells it.
    pub gui: String,
    /// The index of its parent.
    pub parent: Option<usize>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The start tag.
    pub tag: Span,
    /// From the start tag to the end tag, without the children, which follow it in a `hashTree`.
    pub whole: Span,
    /// The value of the `testname` attribute.
    pub name_span: Option<Span>,
}

/// The names of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// Variables, properties, functions and timers.
    pub names: Vec<Occurrence>,
    /// Names that are computed at run time.
    pub computed: Vec<Computed>,
    /// All elements in the order of the file.
    pub elements: Vec<ElementEntry>,
}

impl Index {
    /// Collects all names of a plan.
    pub fn of(tree: &Tree) -> Index {
        let source = tree.source.text.as_str();
        let mut index = Index::default();
        index.elements(&tree.roots, None, source);
        for leaf in leaves(tree) {
            index.leaf(&leaf, source);
        }
        index.names.sort_by_key(|name| name.span.start);
        index
    }

    fn elements(&mut self, nodes: &[Node], parent: Option<usize>, source: &str) {
        for node in nodes {
            let number = self.elements.len();
            let name_span = attribute_span(source, node.span, "testname");
            self.elements.push(ElementEntry {
                name: node.name.to_string(),
                class: node.class.to_string(),
                gui: node.gui_class.to_string(),
                parent,
                enabled: node.enabled,
                tag: node.span,
                whole: node.whole,
                name_span,
            });
            if let Some(span) = name_span.filter(|_| node.name.contains("${")) {
                let mapped = MappedText::decode(&source[span.start..span.end], span.start);
                self.scanned(&mapped, number);
            }
            self.elements(&node.children, Some(number), source);
        }
    }

    fn leaf(&mut self, leaf: &Leaf<'_>, source: &str) {
        let property = variable_property(leaf);
        let may_name = ["${", "vars", "props", "getVariables"];
        if property.is_none() && !may_name.iter().any(|sign| leaf.value.contains(sign)) {
            return;
        }
        let Some(content) = content_span(source, leaf.span) else {
            return;
        };
        let mapped = MappedText::decode(&source[content.start..content.end], content.start);
        // JMeter may have truncated or upgraded the text. Then the positions are unknown.
        if mapped.text != leaf.value {
            return;
        }
        if let Some(names) = property {
            self.listed(leaf, &mapped, names);
            if let Some(around) = leaf.around.filter(|_| leaf.name == "Argument.name") {
                self.repeated(leaf, around, source);
            }
        }
        self.scanned(&mapped, leaf.number);
    }

    /// Records the names in a property that lists names.
    fn listed(&mut self, leaf: &Leaf<'_>, mapped: &MappedText, names: Names) {
        let mut from = 0;
        let text = mapped.text.as_str();
        let parts: Vec<&str> = match names.separator {
            Some(separator) => text.split(separator).collect(),
            None => vec![text],
        };
        for part in parts {
            let start = from + (part.len() - part.trim_start().len());
            let name = part.trim();
            from += part.len() + 1;
            match name.find("${") {
                _ if name.is_empty() => {}
                Some(at) => self.computed.push(Computed {
                    prefix: name[..at].to_owned(),
                    subject: Subject::Variable,
                    span: mapped.span(start, start + at),
                    element: leaf.number,
                }),
                None => self.names.push(Occurrence {
                    name: name.to_owned(),
                    subject: Subject::Variable,
                    kind: names.access.into(),
                    span: mapped.span(start, start + name.len()),
                    element: leaf.number,
                    has_parts: names.has_parts,
                }),
            }
        }
    }

    /// Records the `name` attribute of an argument, which repeats the argument's name.
    fn repeated(&mut self, leaf: &Leaf<'_>, around: Span, source: &str) {
        let Some(span) = attribute_span(source, around, "name") else {
            return;
        };
        let name = MappedText::decode(&source[span.start..span.end], span.start).text;
        if name == leaf.value {
            self.names.push(Occurrence {
                name,
                subject: Subject::Variable,
                kind: OccurrenceKind::Set,
                span,
                element: leaf.number,
                has_parts: false,
            });
        }
    }

    fn scanned(&mut self, mapped: &MappedText, element: usize) {
        for NameUse {
            range,
            subject,
            kind,
            is_computed,
        } in scan(&mapped.text)
        {
            let span = mapped.span(range.start, range.end);
            let name = mapped.text[range].to_owned();
            if is_computed {
                self.computed.push(Computed {
                    prefix: name,
                    subject,
                    span,
                    element,
                })
            } else {
                self.names.push(Occurrence {
                    has_parts: kind == OccurrenceKind::Set,
                    name,
                    subject,
                    kind,
                    span,
                    element,
                })
            }
        }
    }

    /// The names from the Test Plan down to an element.
    pub fn path(&self, element: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut here = Some(element);
        while let Some(entry) = here.and_then(|at| self.elements.get(at)) {
            names.push(entry.name.as_str());
            here = entry.parent;
        }
        names.reverse();
        names
    }

    /// The occurrences of a variable, including those of its parts if an element sets them.
    pub fn variable<'i>(&'i self, name: &'i str) -> impl Iterator<Item = &'i Occurrence> {
        self.names.iter().filter(move |one| {
            one.subject == Subject::Variable
                && (one.name == name || crate::derived_suffix(&one.name, name).is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_places_of_the_file() {
        let xml = r#"<?xml version="1.0"?><jmeterTestPlan version="1.2"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p ${who}">
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="who" elementType="Argument"><stringProp name="Argument.name">who</stringProp><stringProp name="Argument.value">me</stringProp></elementProp>
</collectionProp></elementProp></TestPlan><hashTree>
<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="s"><stringProp name="script">vars.get(&quot;who&quot;) + &apos;${who}&apos;</stringProp></JSR223Sampler><hashTree/>
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="c"><stringProp name="variableNames">a, who ,b</stringProp></CSVDataSet><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#;
        let read =
            drumfire_jmx::read(xml.as_bytes(), std::path::Path::new("p.jmx")).expect("a plan");
        let index = Index::of(&read.tree);
        let who: Vec<_> = index.variable("who").collect();
        assert_eq!(who.len(), 6);
        for one in &who {
            assert_eq!(&xml[one.span.start..one.span.end], "who");
        }
        assert_eq!(index.path(1), ["p ${who}", "s"]);
        let set = who
            .iter()
            .filter(|one| one.kind == OccurrenceKind::Set)
            .count();
        assert_eq!(set, 3);
    }
}
