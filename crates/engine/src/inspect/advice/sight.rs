//! The tree that is run, in the form that rules read.

use std::cell::OnceCell;

use drumfire_elements::Property;
use drumfire_expr::{Compiler, Template};
use drumfire_jmx::{Props, Value};

use crate::elements::{self, Role};
use crate::resolve::Element;
use crate::run::settings::RunSettings;

/// A plan as it is run.
pub struct AdvisedPlan<'p> {
    pub settings: &'p RunSettings,
    pub groups: Vec<&'p Element>,
    /// Everything that takes part, from the Test Plan down.
    pub all: Vec<&'p Element>,
    /// The elements beside the thread groups, which are in the scope of all samplers.
    beside: Vec<&'p Element>,
    texts: OnceCell<Texts<'p>>,
    sample_variables: Option<String>,
}

impl PropertyText<'_> {
    /// The facts of the property, if the element's class has any.
    pub fn facts(&self, class: &str) -> Option<&'static Property> {
        drumfire_elements::property(class, self.top, self.name)
    }
}

/// The texts of all elements in their order.
struct Texts<'p> {
    all: Vec<PropertyText<'p>>,
    /// Where the texts of each element end.
    ends: Vec<usize>,
}

/// A text of an element's properties.
#[derive(Clone, Copy)]
pub struct PropertyText<'p> {
    /// The property of the element.
    pub top: &'p str,
    /// The property that it belongs to. For a text of a nested element, this is the nested property's name.
    pub name: &'p str,
    pub text: &'p str,
    /// Whether it has a `${`.
    pub refers: bool,
}

impl<'p> PropertyText<'p> {
    /// The name by which findings name the property.
    pub fn path(&self) -> &'p str {
        if self.name.is_empty() {
            self.top
        } else {
            self.name
        }
    }
}

impl<'p> AdvisedPlan<'p> {
    pub fn new(plan: &'p Element, settings: &'p RunSettings) -> AdvisedPlan<'p> {
        let named = settings.properties.get("sample_variables");
        let mut sight = AdvisedPlan {
            settings,
            groups: Vec::new(),
            all: vec![plan],
            beside: Vec::new(),
            texts: OnceCell::new(),
            sample_variables: named.map(|names| names.to_string()),
        };
        for child in &plan.children {
            if elements::is_thread_group(child) {
                sight.groups.push(child);
                sight.reach(child);
            } else if !is_controller(child) {
                sight.all.push(child);
                sight.beside.push(child);
            }
        }
        sight
    }

    fn reach(&mut self, element: &'p Element) {
        self.all.push(element);
        element.children.iter().for_each(|child| self.reach(child));
    }

    /// Everything that takes part, each with the texts of its properties. Comments are left out: nothing in a run reads them.
    pub fn with_texts(&self) -> impl Iterator<Item = (&'p Element, &[PropertyText<'p>])> {
        let Texts { all, ends } = self.texts.get_or_init(|| {
            let mut all = Vec::new();
            let mut ends = Vec::with_capacity(self.all.len());
            for element in &self.all {
                texts(None, &element.props, &mut all);
                ends.push(all.len());
            }
            Texts { all, ends }
        });
        let mut start = 0;
        self.all
            .iter()
            .copied()
            .zip(ends)
            .map(move |(element, end)| {
                let own = &all[start..*end];
                start = *end;
                (element, own)
            })
    }

    /// The variables that result files have columns for.
    pub fn sample_variables(&self) -> Option<&str> {
        self.sample_variables.as_deref()
    }

    /// All elements of some classes.
    pub fn of(&self, classes: &'static [&'static str]) -> impl Iterator<Item = &'p Element> {
        self.all
            .iter()
            .copied()
            .filter(|element| classes.contains(&element.class.as_str()))
    }

    /// All samplers below an element, each with the elements in its scope.
    pub fn samplers(&self, below: &'p Element) -> Vec<(&'p Element, Vec<&'p Element>)> {
        let mut found = Vec::new();
        let mut scope = self.beside.clone();
        visit_samplers(below, &mut scope, &mut found);
        found
    }

    /// A property's value before the run: its text, with `__P` and `__property` evaluated. `None` if it reads anything else.
    pub fn known(&self, props: &Props, name: &str) -> Option<String> {
        let text = props.str(name);
        if !text.contains("${") {
            return Some(text.into_owned());
        }
        let mut compiler = Compiler::new(self.settings.properties.clone());
        let template = Template::compile(&text, &mut compiler).ok()?;
        let specs = template.functions();
        if specs.is_empty() || !specs.iter().all(|spec| reads_properties(spec.name)) {
            return None;
        }
        let known = template.eval(compiler.scope_mut()).into_string();
        (!known.contains("${")).then_some(known)
    }

    /// That value as a number.
    pub fn number(&self, props: &Props, name: &str) -> Option<f64> {
        self.known(props, name)?.trim().parse().ok()
    }

    /// Whether a property is set.
    pub fn sets(&self, name: &str) -> bool {
        self.settings.properties.get(name).is_some()
    }

    pub fn property(&self, name: &str, default: bool) -> bool {
        self.settings.properties.get_bool(name, default)
    }
}

fn reads_properties(name: &str) -> bool {
    matches!(name, "__P" | "__property")
}

fn visit_samplers<'p>(
    element: &'p Element,
    scope: &mut Vec<&'p Element>,
    found: &mut Vec<(&'p Element, Vec<&'p Element>)>,
) {
    let outer = scope.len();
    scope.extend(element.children.iter().filter(is_scoped));
    if is_sampler(element) {
        found.push((element, scope.clone()));
    }
    for child in &element.children {
        if is_sampler(child) || is_controller(child) {
            visit_samplers(child, scope, found);
        }
    }
    scope.truncate(outer);
}

fn is_scoped(child: &&Element) -> bool {
    !is_sampler(child) && !is_controller(child)
}

pub fn is_sampler(element: &Element) -> bool {
    has_role(element, Role::Sampler)
}

pub fn is_controller(element: &Element) -> bool {
    has_role(element, Role::Controller)
}

fn has_role(element: &Element, role: Role) -> bool {
    elements::entry(&element.class).is_some_and(|entry| entry.role == role)
}

/// Whether `is_so` holds for an element or anything below it.
pub fn any_below(element: &Element, is_so: &dyn Fn(&Element) -> bool) -> bool {
    is_so(element) || element.children.iter().any(|child| any_below(child, is_so))
}

/// The property of every element's comment.
const COMMENTS: &str = "TestPlan.comments";

/// Adds the texts of properties; `top` is the element's property that they are part of.
fn texts<'p>(top: Option<&'p str>, props: &'p Props, all: &mut Vec<PropertyText<'p>>) {
    for prop in props.iter().filter(|prop| prop.name != COMMENTS) {
        value_texts(top.unwrap_or(&prop.name), &prop.name, &prop.value, all);
    }
}

fn value_texts<'p>(top: &'p str, name: &'p str, value: &'p Value, all: &mut Vec<PropertyText<'p>>) {
    match value {
        Value::Str(text) => all.push(PropertyText {
            top,
            name,
            text,
            refers: text.contains('$') && text.contains("${"),
        }),
        Value::Element(element) => texts(Some(top), &element.props, all),
        Value::List(items) | Value::Map(items) => {
            for item in items {
                value_texts(top, name, &item.value, all);
            }
        }
        _ => {}
    }
}

/// The script of a script element; `None` for all other elements.
pub fn script(element: &Element) -> Option<Script> {
    let facts = drumfire_elements::of_class(&element.class).filter(|facts| facts.is_script())?;
    let mut texts = facts
        .script_texts()
        .map(|name| (name, element.props.str(name)));
    let mut files = facts.script_files().map(|name| element.props.str(name));
    let text = texts.find(|(_, text)| !text.trim().is_empty());
    let (property, text) = text.unwrap_or_default();
    Some(Script {
        property,
        text: text.into_owned(),
        is_file: files.any(|file| !file.trim().is_empty()),
    })
}

/// The script of a script element.
pub struct Script {
    /// The property that holds the text.
    pub property: &'static str,
    pub text: String,
    pub is_file: bool,
}
