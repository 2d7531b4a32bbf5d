//! The texts of a plan with their positions.

use drumfire_jmx::{Node, Prop, Props, Span, Tree, Value};

/// A text property of an element, however deep inside collections.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'t> {
    /// The test element.
    pub node: &'t Node,
    /// The index of the test element, in the order of the file.
    pub number: usize,
    /// The class of the innermost element: `Argument` for an argument, otherwise the test element's.
    pub class: &'t str,
    /// The property of the test element that contains the text.
    pub top: &'t str,
    /// The name of the property, or of the collection that it is an item of.
    pub name: &'t str,
    /// The decoded text.
    pub value: &'t str,
    /// The whole XML element.
    pub span: Span,
    /// The property with the innermost element. Its `name` attribute repeats the name of an argument.
    pub around: Option<Span>,
}

/// All texts of a plan in the order of the file.
pub fn leaves(tree: &Tree) -> Vec<Leaf<'_>> {
    fn walk<'t>(nodes: &'t [Node], next: &mut usize, found: &mut Vec<Leaf<'t>>) {
        for node in nodes {
            let number = *next;
            *next += 1;
            let inside = Inside {
                node,
                number,
                class: &node.class,
                top: "",
                around: None,
            };
            inside.props(&node.props, found);
            walk(&node.children, next, found);
        }
    }
    let mut leaves = Vec::new();
    walk(&tree.roots, &mut 0, &mut leaves);
    leaves
}

#[derive(Clone, Copy)]
struct Inside<'t> {
    node: &'t Node,
    number: usize,
    class: &'t str,
    top: &'t str,
    around: Option<Span>,
}

impl<'t> Inside<'t> {
    fn props(self, props: &'t Props, found: &mut Vec<Leaf<'t>>) {
        for prop in props {
            let top = match self.top {
                "" => prop.name.as_str(),
                top => top,
            };
            Inside { top, ..self }.value(&prop.name, prop, found);
        }
    }

    fn value(self, name: &'t str, prop: &'t Prop, found: &mut Vec<Leaf<'t>>) {
        match &prop.value {
            Value::Str(value) => found.push(Leaf {
                node: self.node,
                number: self.number,
                class: self.class,
                top: self.top,
                name,
                value,
                span: prop.span,
                around: self.around,
            }),
            Value::Element(element) => {
                let inner = Inside {
                    class: &element.class,
                    around: Some(prop.span),
                    ..self
                };
                inner.props(&element.props, found);
            }
            Value::List(items) | Value::Map(items) => {
                for item in items {
                    self.value(name, item, found);
                }
            }
            _ => {}
        }
    }
}
