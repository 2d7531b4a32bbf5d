//! Forms of classes that no facts describe, as the jars of the user tell them.

use std::collections::HashMap;

use drumfire_elements::Saved;
use drumfire_jmx::{Node, full_class_name};

/// The forms of classes by the class's full name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JarForms(HashMap<String, Vec<JarForm>>);

/// One form of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JarForm {
    gui: String,
    /// How the properties of a new element are saved.
    saved: HashMap<String, Saved>,
    /// The values that JMeter takes for missing properties.
    absent: HashMap<String, String>,
    /// Its inputs, in the order of the panel.
    pub inputs: Vec<JarInput>,
}

/// An input, or several radio buttons, with the property that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JarInput {
    /// The name of the property.
    pub property: String,
    /// The label; empty if the input has none.
    pub label: String,
    /// The kind as messages name it: `text`, `secret`, `flag`, `number` or `choice`.
    pub kind: &'static str,
    /// The XML element that holds the property.
    pub saved: Saved,
    /// The values that can be chosen, with their labels.
    pub choices: Vec<(String, String)>,
    /// The value that JMeter takes if the property is missing.
    pub absent: Option<String>,
}

impl JarForms {
    /// Reads the lines that `java/src/main/java/dev/drumfire/forms/Forms.java` writes. It skips other lines.
    pub fn read(lines: &str) -> JarForms {
        let mut all: HashMap<String, Vec<JarForm>> = HashMap::new();
        let mut class = String::new();
        for line in lines.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            if let ["form", gui, named, ..] = parts[..] {
                class = full_class_name(named).to_owned();
                let form = JarForm {
                    gui: full_class_name(gui).to_owned(),
                    ..JarForm::default()
                };
                all.entry(class.clone()).or_default().push(form);
            } else if let Some(form) = all.get_mut(&class).and_then(|forms| forms.last_mut()) {
                form.take(&parts);
            }
        }
        // Lists and elements within an element have no single value.
        for form in all.values_mut().flatten() {
            form.inputs.retain(|input| {
                !matches!(
                    input.saved,
                    Saved::CollectionProp | Saved::ElementProp | Saved::ObjProp
                )
            });
        }
        all.values_mut()
            .for_each(|forms| forms.retain(|form| !form.inputs.is_empty()));
        JarForms(all)
    }

    /// Takes the forms of more classes.
    pub fn extend(&mut self, more: JarForms) {
        self.0.extend(more.0);
    }

    /// The form of an element.
    pub fn of(&self, node: &Node) -> Option<&JarForm> {
        let forms = self.0.get(full_class_name(&node.class))?;
        let gui = full_class_name(&node.gui_class);
        forms
            .iter()
            .find(|form| form.gui == gui)
            .or_else(|| forms.first())
    }

    /// How an element's property is saved.
    pub fn saved(&self, node: &Node, property: &str) -> Option<Saved> {
        let input = self.of(node)?.inputs.iter();
        Some(
            input
                .clone()
                .find(|input| input.property == property)?
                .saved,
        )
    }
}

impl JarForm {
    /// Adds the fact of one line.
    fn take(&mut self, parts: &[&str]) {
        match *parts {
            ["new", property, saved, _] => {
                let saved = Saved::recorded(saved);
                self.saved
                    .extend(saved.map(|saved| (property.to_owned(), saved)));
            }
            ["kind", property, saved] => {
                if let Some(saved) = Saved::recorded(saved) {
                    self.input(property).saved = saved;
                }
            }
            ["absent", property, value] => {
                self.absent.insert(property.to_owned(), value.to_owned());
            }
            ["input", property, kind, label] => {
                let input = self.input(property);
                if input.label.is_empty() {
                    label.trim_end_matches(':').clone_into(&mut input.label);
                }
                match kind {
                    "check" | "boolean" | "Boolean" => {
                        input.kind = "flag";
                        input.saved = Saved::BoolProp;
                    }
                    "int" | "Integer" => (input.kind, input.saved) = ("number", Saved::IntProp),
                    "long" | "Long" => (input.kind, input.saved) = ("number", Saved::LongProp),
                    "password" => input.kind = "secret",
                    _ => {}
                }
            }
            ["choice", property, value, label] => {
                let input = self.input(property);
                let label = if label.is_empty() { value } else { label };
                let choice = (value.to_owned(), label.to_owned());
                if !input.choices.contains(&choice) {
                    input.choices.push(choice);
                }
                input.kind = "choice";
            }
            _ => {}
        }
    }

    fn input(&mut self, property: &str) -> &mut JarInput {
        let at = self
            .inputs
            .iter()
            .position(|input| input.property == property)
            .unwrap_or_else(|| {
                self.inputs.push(JarInput {
                    property: property.to_owned(),
                    label: String::new(),
                    kind: "text",
                    saved: self
                        .saved
                        .get(property)
                        .copied()
                        .unwrap_or(Saved::StringProp),
                    choices: Vec::new(),
                    absent: self.absent.get(property).cloned(),
                });
                self.inputs.len() - 1
            });
        &mut self.inputs[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "form\tcom.acme.MqPanel\tcom.acme.MqSampler\tMQ Request\tmenu_generative_controller\n\
        new\tacme.persistent\tboolean\tfalse\n\
        new\tacme.headers\ttestelement\t\n\
        new\tacme.queue\tstring\t\n\
        absent\tacme.limit\t7\n\
        input\tacme.queue\ttext\tQueue name:\n\
        kind\tacme.queue\tstring\n\
        input\tacme.persistent\tcheck\tKeep\n\
        input\tacme.password\tpassword\tPassword\n\
        input\tacme.level\tlist\tLevel\n\
        choice\tacme.level\t0\tLow\n\
        choice\tacme.level\t1\tHigh\n\
        input\tacme.headers\ttext\tHeaders\n\
        input\tacme.limit\tint\tLimit\n";

    #[test]
    fn the_inputs_of_a_form_are_read_with_kind_label_and_choices() {
        let forms = JarForms::read(LINES);
        let node = Node::new("com.acme.MqSampler", "com.acme.MqPanel", "one");
        let form = forms.of(&node).expect("the class has a form");
        let shown: Vec<_> = form
            .inputs
            .iter()
            .map(|input| (input.property.as_str(), input.label.as_str(), input.kind))
            .collect();
        assert_eq!(
            shown,
            [
                ("acme.queue", "Queue name", "text"),
                ("acme.persistent", "Keep", "flag"),
                ("acme.password", "Password", "secret"),
                ("acme.level", "Level", "choice"),
                ("acme.limit", "Limit", "number"),
            ]
        );
        assert_eq!(forms.saved(&node, "acme.persistent"), Some(Saved::BoolProp));
        assert_eq!(forms.saved(&node, "acme.limit"), Some(Saved::IntProp));
        let limit = form.inputs.last().expect("inputs");
        assert_eq!(limit.absent.as_deref(), Some("7"));
        let level = form.inputs.iter().find(|input| input.kind == "choice");
        let choices = &level.expect("a list").choices;
        assert_eq!(choices[1], ("1".to_owned(), "High".to_owned()));
    }

    #[test]
    fn a_class_of_no_jar_has_no_form() {
        let forms = JarForms::read(LINES);
        let node = Node::new("com.acme.Other", "com.acme.MqPanel", "one");
        assert_eq!(forms.of(&node), None);
    }
}
