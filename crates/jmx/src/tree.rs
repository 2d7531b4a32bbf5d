//! The tree of a plan: its elements, their properties and their positions in the file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use drumfire_java::values;

use crate::name::Name;
use crate::source::{MovedOffsets, SourceFile, Span};

/// A plan that was read.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The file, for diagnostics.
    pub source: Arc<SourceFile>,
    /// `version` of `<jmeterTestPlan>`: `1.0` (texts are URL-encoded), `1.1` or `1.2`; empty if absent.
    pub version: String,
    /// The JMeter version that saved the plan, such as `5.6.3`; JMeter 2.8 and older did not record it.
    pub jmeter: Option<String>,
    /// The Test Plan, and the WorkBench of plans saved by JMeter 3 and older. Copies of a tree share them.
    pub roots: Arc<[Node]>,
}

impl Tree {
    /// Whether JMeter 6 or a later version saved the plan.
    pub fn is_of_jmeter6(&self) -> bool {
        let version = self.jmeter.as_deref();
        let major = version.and_then(|version| version.split('.').next());
        major.and_then(|major| major.parse::<u32>().ok()) >= Some(6)
    }
}

/// A test element: one line of the tree that JMeter shows.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// JMeter's short name after upgrades, such as `HTTPSamplerProxy`; the full name of a class that has no short one.
    pub class: Name,
    /// The class as written in the file.
    pub written_class: Name,
    /// The class of the GUI component, canonical like `class`. Some classes mean different things under different GUIs
    /// (`ConfigTestElement`).
    pub gui_class: Name,
    /// The name that the user gave the element.
    pub name: Name,
    /// Whether the element is enabled.
    pub enabled: bool,
    /// The `enabled` attribute as written in the file; empty if it has none.
    pub enabled_as: Name,
    /// The properties.
    pub props: Props,
    /// The start tag.
    pub span: Span,
    /// From the start tag to the end tag, without the children, which follow it in a `hashTree`.
    pub whole: Span,
    /// The elements below, in their order.
    pub children: Vec<Node>,
}

/// An element that is the value of a property (`elementProp`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    /// Canonical like [`Node::class`].
    pub class: Name,
    /// The class of the GUI component, canonical.
    pub gui_class: Name,
    /// The `testclass` attribute, canonical; empty if the file has none.
    pub test_class: Name,
    /// The name, usually empty.
    pub name: Name,
    /// Whether the element is enabled.
    pub enabled: bool,
    /// The `enabled` attribute as written in the file; empty if it has none.
    pub enabled_as: Name,
    /// The properties.
    pub props: Props,
}

/// A Java object that XStream wrote field by field, such as the `saveConfig` of a listener.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object {
    /// The tag: the name of the field that holds the object.
    pub name: String,
    /// The `class` attribute, canonical; empty if the file has none.
    pub class: String,
    /// The text before the first child.
    pub text: String,
    /// The fields of the object.
    pub children: Vec<Object>,
}

impl Object {
    /// The first child of that name.
    pub fn child(&self, name: &str) -> Option<&Object> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of that name.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }
}

/// The value of a property, by the kind of the tag.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `stringProp`.
    Str(String),
    /// `boolProp`.
    Bool(bool),
    /// `intProp`.
    Int(i32),
    /// `longProp`.
    Long(i64),
    /// `floatProp`.
    Float(f32),
    /// `doubleProp`.
    Double(f64),
    /// `elementProp`.
    Element(Box<Element>),
    /// `collectionProp`.
    List(Vec<Prop>),
    /// `mapProp`.
    Map(Vec<Prop>),
    /// `objProp`.
    Object(Box<Object>),
    /// A property without a value.
    Null,
}

/// A property. Its name is empty where JMeter writes none.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// The name of the property.
    pub name: Name,
    /// The value.
    pub value: Value,
    /// The whole XML element.
    pub span: Span,
}

/// The properties of an element in the order of the file. Each name occurs once. Clones share the list until one is
/// changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Props(Arc<Vec<Prop>>);

impl Value {
    /// `getStringValue` of the property classes. Elements and objects give an empty text: no plan could rely on theirs.
    pub fn as_str(&self) -> Cow<'_, str> {
        match self {
            Value::Str(text) => Cow::Borrowed(text),
            Value::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Value::Int(value) => Cow::Owned(value.to_string()),
            Value::Long(value) => Cow::Owned(value.to_string()),
            Value::Float(value) => Cow::Owned(values::float_to_string(*value)),
            Value::Double(value) => Cow::Owned(values::double_to_string(*value)),
            Value::List(items) => Cow::Owned(bracketed(items, '[', ']', |p| {
                p.value.as_str().into_owned()
            })),
            Value::Map(items) => Cow::Owned(bracketed(items, '{', '}', |p| {
                format!("{}={}", p.name, p.value.as_str())
            })),
            Value::Element(_) | Value::Object(_) | Value::Null => Cow::Borrowed(""),
        }
    }

    /// `getBooleanValue`: a text is true if it is `true` in any case, a number if it is above zero.
    pub fn as_bool(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            Value::Int(value) => *value > 0,
            Value::Long(value) => *value > 0,
            Value::Float(value) => *value > 0.0,
            Value::Double(value) => *value > 0.0,
            other => values::parse_bool(&other.as_str()),
        }
    }

    /// `getIntValue`: a long is truncated to 32 bits, a fraction is rounded towards zero, and a text that is not a
    /// number is 0.
    pub fn as_int(&self) -> i32 {
        match self {
            Value::Int(value) => *value,
            Value::Long(value) => *value as i32,
            Value::Float(value) => *value as i32,
            Value::Double(value) => *value as i32,
            other => values::parse_int(&other.as_str()).unwrap_or(0),
        }
    }

    /// `getLongValue`: a fraction is rounded towards zero, and a text that is not a number is 0.
    pub fn as_long(&self) -> i64 {
        match self {
            Value::Int(value) => i64::from(*value),
            Value::Long(value) => *value,
            Value::Float(value) => *value as i64,
            Value::Double(value) => *value as i64,
            other => values::parse_long(&other.as_str()).unwrap_or(0),
        }
    }

    /// `getFloatValue`: text that is not a number is 0.
    pub fn as_float(&self) -> f32 {
        match self {
            Value::Int(value) => *value as f32,
            Value::Long(value) => *value as f32,
            Value::Float(value) => *value,
            Value::Double(value) => *value as f32,
            other => values::parse_float(&other.as_str()).unwrap_or(0.0),
        }
    }

    /// `getDoubleValue`: text that is not a number is 0.
    pub fn as_double(&self) -> f64 {
        match self {
            Value::Int(value) => f64::from(*value),
            Value::Long(value) => *value as f64,
            Value::Float(value) => f64::from(*value),
            Value::Double(value) => *value,
            other => values::parse_double(&other.as_str()).unwrap_or(0.0),
        }
    }
}

/// `toString` of Java's collections.
fn bracketed(items: &[Prop], open: char, close: char, show: impl Fn(&Prop) -> String) -> String {
    let shown: Vec<String> = items.iter().map(show).collect();
    format!("{open}{}{close}", shown.join(", "))
}

/// Getters as in JMeter's `AbstractTestElement.getPropertyAs…`: a missing property gives the default, and an existing
/// one is converted by its kind and never refused.
impl Props {
    /// The property of that name, null or not.
    pub fn get(&self, name: &str) -> Option<&Prop> {
        self.0.iter().find(|prop| prop.name == name)
    }

    /// Whether the property exists and is not null.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The value. A null counts as missing.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name)
            .map(|prop| &prop.value)
            .filter(|value| !matches!(value, Value::Null))
    }

    /// The value as text; empty if missing.
    pub fn str(&self, name: &str) -> Cow<'_, str> {
        self.str_or(name, "")
    }

    /// The value as text; `default` if missing.
    pub fn str_or<'a>(&'a self, name: &str, default: &'a str) -> Cow<'a, str> {
        self.value(name)
            .map(Value::as_str)
            .unwrap_or(Cow::Borrowed(default))
    }

    /// The value as a boolean; `default` if missing.
    pub fn bool(&self, name: &str, default: bool) -> bool {
        self.value(name).map(Value::as_bool).unwrap_or(default)
    }

    /// The value as an `int`; `default` if missing.
    pub fn int(&self, name: &str, default: i32) -> i32 {
        self.value(name).map(Value::as_int).unwrap_or(default)
    }

    /// The value as a `long`; `default` if missing.
    pub fn long(&self, name: &str, default: i64) -> i64 {
        self.value(name).map(Value::as_long).unwrap_or(default)
    }

    /// The value as a `float`; `default` if missing.
    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.value(name).map(Value::as_float).unwrap_or(default)
    }

    /// The value as a `double`; `default` if missing.
    pub fn double(&self, name: &str, default: f64) -> f64 {
        self.value(name).map(Value::as_double).unwrap_or(default)
    }

    /// The element in an `elementProp`.
    pub fn element(&self, name: &str) -> Option<&Element> {
        match self.value(name)? {
            Value::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The items of a `collectionProp`; empty if missing or of another kind.
    pub fn list(&self, name: &str) -> &[Prop] {
        match self.value(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// The entries of a `mapProp`; empty if missing or of another kind.
    pub fn map(&self, name: &str) -> &[Prop] {
        match self.value(name) {
            Some(Value::Map(items)) => items,
            _ => &[],
        }
    }

    /// The object in an `objProp`.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.value(name)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The position of a property in the file.
    pub fn span(&self, name: &str) -> Option<Span> {
        self.get(name).map(|prop| prop.span)
    }

    /// All properties in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Prop> {
        self.0.iter()
    }

    /// The number of properties.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no properties.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a property, or replaces the one of the same name in its position, as `AbstractTestElement.setProperty`
    /// does.
    pub fn set(&mut self, prop: Prop) {
        set(Arc::make_mut(&mut self.0), prop);
    }

    /// Removes a property and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Prop> {
        let at = self.0.iter().position(|prop| prop.name == name)?;
        Some(Arc::make_mut(&mut self.0).remove(at))
    }

    /// Moves the positions of all properties.
    pub(crate) fn shift(&mut self, moved: MovedOffsets) {
        shift(Arc::make_mut(&mut self.0).as_mut_slice(), moved);
    }
}

/// Moves the positions of properties, including those inside elements and collections.
fn shift(props: &mut [Prop], moved: MovedOffsets) {
    for prop in props {
        prop.span = moved.span(prop.span);
        match &mut prop.value {
            Value::Element(element) => element.props.shift(moved),
            Value::List(items) | Value::Map(items) => shift(items, moved),
            _ => {}
        }
    }
}

fn set(props: &mut Vec<Prop>, prop: Prop) {
    match props.iter_mut().find(|old| old.name == prop.name) {
        Some(old) => *old = prop,
        None => props.push(prop),
    }
}

/// Iterates over the texts of properties, including those inside elements and collections, in the order of the file.
#[derive(Debug, Clone)]
pub struct Texts<'p> {
    items: std::slice::Iter<'p, Prop>,
    /// The enclosing iterators, suspended while an inner one runs.
    around: Vec<std::slice::Iter<'p, Prop>>,
}

impl Prop {
    /// The texts of the value.
    pub fn texts(&self) -> Texts<'_> {
        Texts {
            items: std::slice::from_ref(self).iter(),
            around: Vec::new(),
        }
    }
}

impl Props {
    /// The texts of all values.
    pub fn texts(&self) -> Texts<'_> {
        Texts {
            items: self.iter(),
            around: Vec::new(),
        }
    }
}

impl<'p> Iterator for Texts<'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        loop {
            let Some(prop) = self.items.next() else {
                self.items = self.around.pop()?;
                continue;
            };
            let inner = match &prop.value {
                Value::Str(text) => return Some(text),
                Value::Element(element) => element.props.iter(),
                Value::List(items) | Value::Map(items) => items.iter(),
                _ => continue,
            };
            self.around.push(std::mem::replace(&mut self.items, inner));
        }
    }
}

impl<'a> IntoIterator for &'a Props {
    type Item = &'a Prop;
    type IntoIter = std::slice::Iter<'a, Prop>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Collects properties; a later one replaces an earlier one of the same name.
impl FromIterator<Prop> for Props {
    fn from_iter<I: IntoIterator<Item = Prop>>(items: I) -> Self {
        /// Beyond this size a linear search for each property would be slow on hostile files.
        const LINEAR: usize = 64;
        let items = items.into_iter();
        let mut props = Vec::with_capacity(items.size_hint().0);
        let mut places: Option<HashMap<Name, usize>> = None;
        for prop in items {
            if props.len() < LINEAR {
                set(&mut props, prop);
                continue;
            }
            let places = places.get_or_insert_with(|| {
                let named = props.iter().enumerate();
                named.map(|(i, p)| (p.name.clone(), i)).collect()
            });
            match places.get(&prop.name) {
                Some(&at) => props[at] = prop,
                None => {
                    places.insert(prop.name.clone(), props.len());
                    props.push(prop);
                }
            }
        }
        Props(Arc::new(props))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prop(name: &str, value: Value) -> Prop {
        Prop {
            name: name.into(),
            value,
            span: Span::default(),
        }
    }

    fn one(value: Value) -> Props {
        [prop("p", value)].into_iter().collect()
    }

    fn text(value: &str) -> Props {
        one(Value::Str(value.into()))
    }

    #[test]
    fn text_converts_as_abstract_property_does() {
        assert!(text("TRUE").bool("p", false));
        assert!(!text(" true").bool("p", true), "no trimming");
        assert!(
            !text("").bool("p", true),
            "there but empty is false, not the default"
        );
        assert_eq!(text("").int("p", 7), 0);
        assert_eq!(text("x").int("p", 7), 0);
        assert_eq!(text("+5").int("p", 7), 5);
        assert_eq!(text("3000000000").int("p", 7), 0);
        assert_eq!(text("3000000000").long("p", 7), 3_000_000_000);
        assert_eq!(text(" 1.5 ").double("p", 7.0), 1.5, "parseDouble trims");
        assert_eq!(text("1.5").int("p", 7), 0);
    }

    #[test]
    fn numbers_convert_as_their_property_classes_do() {
        assert_eq!(one(Value::Long(9_999_999_999)).int("p", 0), 1_410_065_407);
        assert_eq!(one(Value::Double(1.0e10)).int("p", 0), 2_147_483_647);
        assert_eq!(one(Value::Double(1.0e10)).str("p"), "1.0E10");
        assert_eq!(one(Value::Double(f64::NAN)).long("p", 1), 0);
        assert!(one(Value::Float(0.1)).bool("p", false));
        assert_eq!(
            one(Value::Float(0.1)).double("p", 0.0),
            0.100_000_001_490_116_12
        );
        assert!(!one(Value::Int(-1)).bool("p", true));
        assert_eq!(
            one(Value::Bool(true)).int("p", 5),
            0,
            "\"true\" is no number"
        );
    }

    #[test]
    fn missing_and_null_give_the_default() {
        for props in [Props::default(), one(Value::Null)] {
            assert_eq!(props.int("p", 7), 7);
            assert_eq!(props.str("p"), "");
            assert_eq!(props.str_or("p", "d"), "d");
            assert!(props.bool("p", true));
            assert!(!props.has("p"));
            assert!(props.list("p").is_empty());
        }
    }

    #[test]
    fn collections_print_like_java() {
        let items = vec![prop("a", Value::Str("x".into())), prop("b", Value::Int(2))];
        assert_eq!(one(Value::List(items.clone())).str("p"), "[x, 2]");
        assert_eq!(one(Value::Map(items)).str("p"), "{a=x, b=2}");
    }

    #[test]
    fn a_repeated_name_replaces_in_place_in_short_and_long_lists() {
        for filler in [0, 200] {
            let mut items = vec![prop("x", Value::Int(1))];
            items.extend((0..filler).map(|i| prop(&format!("f{i}"), Value::Null)));
            items.push(prop("x", Value::Int(3)));
            items.push(prop("last", Value::Int(4)));
            items.push(prop("last", Value::Int(5)));
            let props: Props = items.into_iter().collect();
            assert_eq!(props.len(), filler + 2);
            assert_eq!(
                props.iter().next().map(|p| p.value.clone()),
                Some(Value::Int(3))
            );
            assert_eq!(props.int("last", 0), 5);
        }
    }

    #[test]
    fn remove_takes_it_out() {
        let mut props = text("v");
        assert!(props.remove("p").is_some());
        assert!(props.remove("p").is_none());
        assert!(props.is_empty());
    }
}
