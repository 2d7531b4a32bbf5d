//! The properties of an element that JMeter's menu has just made, as recorded from JMeter 5.6.3.

use std::collections::HashMap;
use std::sync::LazyLock;

use drumfire_jmx::{canonical_class, full_class_name};

use crate::property::Saved;

/// What JMeter's own forms say.
const RECORD: &str = include_str!("../jmeter-5.6.3.tsv");

/// A property of a new element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Its name.
    pub name: &'static str,
    /// The XML element that holds it.
    pub saved: Saved,
    /// Its text; empty for lists, elements and objects.
    pub value: &'static str,
}

/// The record of a form: the element that it creates.
#[derive(Default)]
struct Form {
    created: Vec<Created>,
    /// The values that JMeter takes for missing properties, by name.
    absent: HashMap<&'static str, &'static str>,
}

/// Forms by their own class and that of their element.
type Forms = HashMap<(String, &'static str), Form>;

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let mut forms = Forms::new();
    let mut own = None;
    for line in RECORD.lines() {
        let mut cells = line.split('\t');
        match cells.next() {
            Some("form") => {
                let (gui, class) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
                let key = (full_class_name(gui).to_owned(), canonical_class(class));
                own = Some(key.clone());
                forms.entry(key).or_default();
            }
            Some("new") => {
                let cell = |cells: &mut std::str::Split<'static, char>| cells.next().unwrap_or("");
                let created = Created {
                    name: cell(&mut cells),
                    saved: Saved::recorded(cell(&mut cells)).unwrap_or(Saved::StringProp),
                    value: cell(&mut cells),
                };
                let form = own.as_ref().and_then(|own| forms.get_mut(own));
                form.into_iter().for_each(|form| form.created.push(created));
            }
            Some("absent") => {
                let (name, value) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
                let form = own.as_ref().and_then(|own| forms.get_mut(own));
                form.and_then(|form| form.absent.insert(name, value));
            }
            _ => {}
        }
    }
    forms
});

/// The properties of a new element of a class that a form has made; `None` if that was not recorded.
pub fn created(class: &str, gui: &str) -> Option<&'static [Created]> {
    form(class, gui).map(|form| form.created.as_slice())
}

/// The value that JMeter takes for a missing property of an element; `None` if its schema names none.
pub fn absent(class: &str, gui: &str, property: &str) -> Option<&'static str> {
    form(class, gui)?.absent.get(property).copied()
}

fn form(class: &str, gui: &str) -> Option<&'static Form> {
    let class = FORMS
        .keys()
        .find(|(_, own)| *own == canonical_class(class))?
        .1;
    FORMS.get(&(full_class_name(gui).to_owned(), class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_elements_have_what_jmeter_gives_them() {
        let names = |class: &str, gui: &str| -> Vec<&str> {
            let own = created(class, gui).unwrap_or_else(|| panic!("{class} {gui}"));
            own.iter().map(|own| own.name).collect()
        };
        assert_eq!(
            names("HTTPSamplerProxy", "HttpTestSampleGui"),
            [
                "HTTPSampler.follow_redirects",
                "HTTPSampler.method",
                "HTTPSampler.postBodyRaw",
                "HTTPSampler.use_keepalive",
                "HTTPsampler.Arguments"
            ]
        );
        assert_eq!(
            names("IfController", "IfControllerPanel"),
            [
                "IfController.condition",
                "IfController.evaluateAll",
                "IfController.useExpression"
            ]
        );
        assert!(created("X", "Y").is_none());
        let on_error = "ThreadGroup.on_sample_error";
        assert_eq!(
            absent("ThreadGroup", "ThreadGroupGui", on_error),
            Some("continue")
        );
        assert_eq!(absent("ThreadGroup", "ThreadGroupGui", "no such"), None);
    }
}
