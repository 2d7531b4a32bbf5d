//! The elements that JMeter's menu makes, from the facts.

use drumfire_elements::{
    Created, ElementFacts, Item, Kind, Property, Role, Saved, config::user_defined_variables, items,
};
use drumfire_jmx::{Element, Node, Prop, Value};

/// The class of the form in which HTTP requests show their parameters.
const HTTP_ARGUMENTS_PANEL: &str = "HTTPArgumentsPanel";

/// An element type with the form that edits it.
#[derive(Debug, Clone, Copy)]
pub struct ElementType {
    /// The facts.
    pub facts: &'static ElementFacts,
    /// The class of the form.
    pub gui: &'static str,
    /// The name in JMeter's menu.
    pub name: &'static str,
}

impl ElementType {
    /// All types, by role.
    pub fn all() -> impl Iterator<Item = ElementType> {
        drumfire_elements::all().flat_map(|facts| {
            let first = (facts.gui, facts.name);
            let forms = std::iter::once(first).chain(facts.other_guis.iter().copied());
            forms.map(move |(gui, name)| ElementType { facts, gui, name })
        })
    }

    /// The name by which requests ask for it: the class, and the form if other types have the class too.
    pub fn key(&self) -> String {
        let of_class = drumfire_elements::of_class(self.facts.class);
        let is_first =
            of_class.is_some_and(|own| std::ptr::eq(own, self.facts) && own.gui == self.gui);
        if is_first {
            self.facts.class.to_owned()
        } else {
            format!("{}/{}", self.facts.class, self.gui)
        }
    }

    /// The type with this key: a class, or a class and a form with `/` between them.
    pub fn of_key(key: &str) -> Option<ElementType> {
        let (class, gui) = match key.split_once('/') {
            Some((class, gui)) => (class, Some(gui)),
            None => (key, None),
        };
        let facts = match gui {
            Some(gui) => drumfire_elements::of_form(class, gui)?,
            None => drumfire_elements::of_class(class)?,
        };
        ElementType::all()
            .filter(|own| std::ptr::eq(own.facts, facts))
            .find(|own| gui.is_none_or(|gui| own.gui == gui))
    }

    /// The type of an element of a plan.
    pub fn of(node: &Node) -> Option<ElementType> {
        let facts = drumfire_elements::of_form(&node.class, &node.gui_class)?;
        let full = drumfire_jmx::full_class_name;
        let mut others = facts.other_guis.iter().copied();
        let named = others.find(|(gui, _)| full(gui) == full(&node.gui_class));
        let (gui, name) = named.unwrap_or((facts.gui, facts.name));
        Some(ElementType { facts, gui, name })
    }

    /// A new element as JMeter's menu makes it.
    pub fn node(&self) -> Node {
        let mut node = Node::new(self.facts.class, self.gui, self.name);
        node.enabled_as = "true".into();
        match drumfire_elements::created(self.facts.class, self.gui) {
            Some(created) => self.recorded(created, &mut node),
            None => {
                for prop in self.facts.properties().filter_map(new_property) {
                    node.props.set(prop);
                }
            }
        }
        node
    }

    /// The properties that JMeter gave such an element, in the order of the form.
    fn recorded(&self, created: &[Created], node: &mut Node) {
        let mut rest: Vec<&Created> = created.iter().collect();
        for property in self.facts.properties() {
            let Some(at) = rest.iter().position(|own| own.name == property.name) else {
                continue;
            };
            let recorded = rest.remove(at);
            let value = match recorded.saved {
                Saved::ElementProp | Saved::CollectionProp => {
                    new_property(property).map(|prop| prop.value)
                }
                saved => plain(saved, recorded.value),
            };
            if let Some(value) = value {
                node.props.set(Prop::new(recorded.name, value));
            }
        }
        for recorded in rest {
            let value = plain(recorded.saved, recorded.value);
            if let Some(value) = value {
                node.props.set(Prop::new(recorded.name, value));
            }
        }
    }
}

/// The value of a property that holds no elements; a list is empty.
fn plain(saved: Saved, text: &str) -> Option<Value> {
    match saved {
        Saved::ElementProp | Saved::ObjProp => None,
        Saved::CollectionProp => Some(Value::List(Vec::new())),
        Saved::FloatProp => text.parse().ok().map(Value::Float),
        Saved::DoubleProp => text.parse().ok().map(Value::Double),
        saved => Some(typed(saved, text)),
    }
}

/// The part that an element plays; `None` for classes without facts.
pub fn role(node: &Node) -> Option<Role> {
    drumfire_elements::of_form(&node.class, &node.gui_class).map(|facts| facts.role)
}

/// The property of a new element; `None` if JMeter leaves it out.
pub fn new_property(property: &Property) -> Option<Prop> {
    let value = match (property.kind, property.saved) {
        (Kind::Element(item), _) => new_item(item).into(),
        (_, Saved::CollectionProp) => Value::List(Vec::new()),
        (Kind::Object, _) => return None,
        _ if property.default.is_empty() => return None,
        (_, saved) => typed(saved, property.default),
    };
    Some(Prop::new(property.name, value))
}

/// A new element within a property.
pub fn new_item(item: &Item) -> Element {
    let mut element = Element::new(item.class);
    let holds_http = item.fields.iter().any(|field| {
        matches!(field.kind, Kind::Items(inner) if inner.class == items::HTTP_ARGUMENT.class)
    });
    if holds_http {
        element = element.shown(HTTP_ARGUMENTS_PANEL, user_defined_variables::FACTS.name);
    } else if let Some(facts) = drumfire_elements::of_class(item.class) {
        element = element.shown(facts.gui, facts.name);
    }
    for prop in item.fields.iter().filter_map(new_property) {
        element.props.set(prop);
    }
    element
}

/// A text as the value of a property that is saved so; a text that does not fit stays a text.
pub fn typed(saved: Saved, text: &str) -> Value {
    let value = match saved {
        Saved::BoolProp => text.parse().ok().map(Value::Bool),
        Saved::IntProp => text.parse().ok().map(Value::Int),
        Saved::LongProp => text.parse().ok().map(Value::Long),
        _ => None,
    };
    // Another spelling, such as `007`, is kept as a text.
    value
        .filter(|value| value.as_str() == text)
        .unwrap_or_else(|| Value::Str(text.to_owned()))
}
