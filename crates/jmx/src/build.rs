//! Builders for trees that no file holds: importers, templates and the recorder use them.

use std::sync::Arc;

use crate::source::{SourceFile, Span};
use crate::tree::{Element, Node, Prop, Props, Tree, Value};

impl Tree {
    /// A plan that comes from no file.
    pub fn new(root: Node) -> Tree {
        Tree {
            source: Arc::new(SourceFile::default()),
            version: "1.2".to_owned(),
            jmeter: Some("5.6.3".to_owned()),
            roots: [root].into(),
        }
    }
}

impl Node {
    /// An enabled element without properties. The classes are JMeter's short names, or full names.
    pub fn new(class: &str, gui_class: &str, name: &str) -> Node {
        Node {
            class: class.into(),
            written_class: class.into(),
            gui_class: gui_class.into(),
            name: name.into(),
            enabled: true,
            ..Node::default()
        }
    }

    /// Adds one more property.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Node {
        self.props.set(Prop::new(name, value));
        self
    }

    /// Adds elements below it.
    pub fn above(mut self, children: impl IntoIterator<Item = Node>) -> Node {
        self.children.extend(children);
        self
    }
}

impl Element {
    /// An enabled element for an `elementProp`, without attributes and properties.
    pub fn new(class: &str) -> Element {
        Element {
            class: class.into(),
            enabled: true,
            ..Element::default()
        }
    }

    /// Sets the attributes that JMeter's screen saves.
    pub fn shown(mut self, gui_class: &str, name: &str) -> Element {
        self.gui_class = gui_class.into();
        self.test_class = self.class.clone();
        self.name = name.into();
        self
    }

    /// Adds one more property.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Element {
        self.props.set(Prop::new(name, value));
        self
    }
}

impl Prop {
    /// A property that comes from no file.
    pub fn new(name: &str, value: impl Into<Value>) -> Prop {
        Prop {
            name: name.into(),
            value: value.into(),
            span: Span::default(),
        }
    }
}

impl Props {
    /// Sets a property that comes from no file.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.set(Prop::new(name, value));
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Long(value)
    }
}

impl From<Element> for Value {
    fn from(element: Element) -> Value {
        Value::Element(Box::new(element))
    }
}

impl From<Vec<Prop>> for Value {
    fn from(items: Vec<Prop>) -> Value {
        Value::List(items)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Double(value)
    }
}
