//! Writes a tree as the bytes that JMeter 5.6.3 saves for it: `SaveService.saveTree`, its converters and XStream's
//! `PrettyPrintWriter`.
//!
//! Elements of JMeter's own classes are written from their properties. JMeter creates an element before it reads the
//! properties, so the ones that the constructor sets come first ([`crate::constructed`]). Elements of other classes
//! are copied from the source byte by byte, because only their own class defines how it is saved.

use drumfire_java::text::spread_hash;
use drumfire_java::values;

use crate::classes::{canonical_class, is_known_alias};
use crate::constructed::constructed;
use crate::source::Span;
use crate::tree::{Element, Node, Object, Prop, Props, Tree, Value};
use crate::xml_writer::XmlWriter;

const NULL_PROPERTY: &str = "org.apache.jmeter.testelement.property.NullProperty";
const SAVE_CONFIG: &str = "SampleSaveConfiguration";
const COMMENTS: &str = "TestPlan.comments";

/// The fields of `SampleSaveConfiguration` that JMeter always writes, in its order. `assertionsResultsToSave`, a
/// number, comes after them.
const SAVED_ALWAYS: [&str; 20] = [
    "time",
    "latency",
    "timestamp",
    "success",
    "label",
    "code",
    "message",
    "threadName",
    "dataType",
    "encoding",
    "assertions",
    "subresults",
    "responseData",
    "samplerData",
    "xml",
    "fieldNames",
    "responseHeaders",
    "requestHeaders",
    "responseDataOnError",
    "saveAssertionResultsFailureMessage",
];
/// The fields that JMeter writes only if they are true.
const SAVED_IF_TRUE: [&str; 9] = [
    "bytes",
    "sentBytes",
    "url",
    "fileName",
    "hostname",
    "threadCounts",
    "sampleCount",
    "idleTime",
    "connectTime",
];

/// The plan as JMeter 5.6.3 saves it. Reading the result gives the same tree. A plan of JMeter 6 keeps its version, which decides
/// how it runs.
pub fn write(tree: &Tree) -> String {
    let mut writer = JmxWriter {
        xml: XmlWriter::new(),
        // Texts of version 1.0 are URL-encoded and would mean something else in 1.2.
        source: (tree.version != "1.0").then_some(tree.source.text.as_str()),
    };
    writer.xml.start("jmeterTestPlan");
    writer.xml.attribute("version", "1.2");
    writer.xml.attribute("properties", "5.0");
    let version = tree.jmeter.as_deref().filter(|_| tree.is_of_jmeter6());
    writer.xml.attribute("jmeter", version.unwrap_or("5.6.3"));
    writer.nodes(&tree.roots);
    writer.xml.end();
    writer.xml.finish()
}

/// Elements with everything below them, each followed by its tree, as JMeter saves them; without indentation in front. Lines end
/// with a line feed.
pub fn write_elements(nodes: &[Node]) -> String {
    let mut writer = JmxWriter {
        xml: XmlWriter::fragment(),
        source: None,
    };
    for node in nodes {
        writer.node(node);
        writer.nodes(&node.children);
    }
    writer.xml.fragment_text()
}

/// A property as JMeter saves it, without indentation in front. Lines end with a line feed.
pub fn write_property(prop: &Prop) -> String {
    let mut writer = JmxWriter {
        xml: XmlWriter::fragment(),
        source: None,
    };
    writer.prop(prop);
    writer.xml.fragment_text()
}

struct JmxWriter<'t> {
    xml: XmlWriter,
    source: Option<&'t str>,
}

/// The attributes shared by the start tags of elements and of elements in properties.
struct Special<'t> {
    gui_class: &'t str,
    test_class: &'t str,
    name: &'t str,
    enabled: bool,
    enabled_as: &'t str,
    props: &'t Props,
}

impl JmxWriter<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        self.xml.start("hashTree");
        for node in nodes {
            match self.verbatim(node) {
                Some(text) => {
                    let text = text.to_owned();
                    self.xml.raw(&text);
                }
                None => self.node(node),
            }
            self.nodes(&node.children);
        }
        self.xml.end();
    }

    /// The text of an element whose class is not JMeter's.
    fn verbatim(&self, node: &Node) -> Option<&str> {
        let is_foreign = !is_known_alias(&node.class);
        let Span { start, end } = node.whole;
        let text = self.source.filter(|_| is_foreign && end > start)?;
        text.get(start..end)
    }

    fn node(&mut self, node: &Node) {
        self.xml.start(&class_to_tag(&node.class));
        self.special(&Special {
            gui_class: &node.gui_class,
            test_class: &node.class,
            name: &node.name,
            enabled: node.enabled,
            enabled_as: &node.enabled_as,
            props: &node.props,
        });
        self.element_props(&node.class, &node.props, node.class == "TestPlan");
        self.xml.end();
    }

    /// `ConversionHelp.saveSpecialProperties`.
    fn special(&mut self, special: &Special) {
        let classes = [
            ("guiclass", "TestElement.gui_class", special.gui_class),
            ("testclass", "TestElement.test_class", special.test_class),
        ];
        for (attribute, property, class) in classes {
            let written_class = special.props.value(property).map(Value::as_str);
            let class = written_class
                .as_deref()
                .map(canonical_class)
                .unwrap_or(class);
            self.attribute_unless_empty(attribute, class);
        }
        self.attribute_unless_empty("testname", special.name);
        let as_written = special.enabled_as;
        let said = as_written.is_empty() || values::parse_bool(as_written);
        let enabled = match (said == special.enabled, special.enabled) {
            (true, _) => as_written,
            (false, true) => "true",
            (false, false) => "false",
        };
        self.attribute_unless_empty("enabled", enabled);
    }

    fn attribute_unless_empty(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.xml.attribute(name, value);
        }
    }

    /// Writes the properties of an element: first those that its constructor sets, with the element's values, then the
    /// others.
    fn element_props(&mut self, class: &str, props: &Props, keeps_empty_comments: bool) {
        let first = constructed(class);
        for default in first {
            self.prop(props.get(&default.name).unwrap_or(default));
        }
        for prop in props {
            let is_special = matches!(
                prop.name.as_str(),
                "TestElement.name"
                    | "TestElement.gui_class"
                    | "TestElement.test_class"
                    | "TestElement.enabled"
            );
            let is_empty_comment =
                prop.name == COMMENTS && prop.value.as_str().is_empty() && !keeps_empty_comments;
            let is_first = first.iter().any(|default| default.name == prop.name);
            if !is_special && !is_empty_comment && !is_first {
                self.prop(prop);
            }
        }
    }

    fn prop(&mut self, prop: &Prop) {
        match &prop.value {
            Value::Str(text) => self.named("stringProp", prop, text),
            Value::Bool(_) => self.named("boolProp", prop, &prop.value.as_str()),
            Value::Int(_) => self.named("intProp", prop, &prop.value.as_str()),
            Value::Long(_) => self.named("longProp", prop, &prop.value.as_str()),
            Value::List(items) => self.collection("collectionProp", prop, items),
            Value::Map(items) => self.map(prop, items),
            Value::Element(element) => self.element(prop, element),
            Value::Float(_) => self.number_by_fields("FloatProperty", prop),
            Value::Double(_) => self.number_by_fields("doubleProp", prop),
            Value::Object(object) => {
                self.xml.start("objProp");
                self.field("name", &prop.name);
                self.object(object);
                self.xml.end();
            }
            Value::Null => {
                self.xml.start(NULL_PROPERTY);
                self.field("name", &prop.name);
                self.xml.end();
            }
        }
    }

    fn named(&mut self, tag: &str, prop: &Prop, text: &str) {
        self.xml.start(tag);
        self.xml.attribute("name", &prop.name);
        self.xml.text(text);
        self.xml.end();
    }

    fn collection(&mut self, tag: &str, prop: &Prop, items: &[Prop]) {
        self.xml.start(tag);
        self.xml.attribute("name", &prop.name);
        for item in items {
            self.prop(item);
        }
        self.xml.end();
    }

    fn map(&mut self, prop: &Prop, items: &[Prop]) {
        self.xml.start("mapProp");
        self.xml.attribute("name", &prop.name);
        let mut ordered: Vec<&Prop> = items.iter().collect();
        let last = hash_map_size(items.len()) - 1;
        ordered.sort_by_key(|item| spread_hash(&item.name) & last);
        for item in ordered {
            self.prop(item);
        }
        self.xml.end();
    }

    fn element(&mut self, prop: &Prop, element: &Element) {
        self.xml.start("elementProp");
        self.xml.attribute("name", &prop.name);
        self.xml.attribute("elementType", &element.class);
        self.special(&Special {
            gui_class: &element.gui_class,
            test_class: &element.test_class,
            name: &element.name,
            enabled: element.enabled,
            enabled_as: &element.enabled_as,
            props: &element.props,
        });
        self.element_props(&element.class, &element.props, false);
        self.xml.end();
    }

    /// Writes a number with a fraction field by field, as XStream does. `savedValue` is the value before the current
    /// run in JMeter.
    fn number_by_fields(&mut self, tag: &str, prop: &Prop) {
        self.xml.start(tag);
        self.field("name", &prop.name);
        self.field("value", &prop.value.as_str());
        self.field("savedValue", "0.0");
        self.xml.end();
    }

    fn field(&mut self, tag: &str, text: &str) {
        self.xml.start(tag);
        self.xml.text(text);
        self.xml.end();
    }

    fn object(&mut self, object: &Object) {
        self.xml.start(&object.name);
        if !object.class.is_empty() {
            self.xml.attribute("class", &object.class);
        }
        if object.class == SAVE_CONFIG {
            self.save_config(object);
        } else if object.children.is_empty() {
            self.xml.text(&object.text);
        } else {
            for child in &object.children {
                self.object(child);
            }
        }
        self.xml.end();
    }

    /// Writes a listener's columns. A missing one is false (`SampleSaveConfigurationConverter`).
    fn save_config(&mut self, object: &Object) {
        let is_true = |field: &str| object.text_of(field).is_some_and(values::parse_bool);
        for field in SAVED_ALWAYS {
            self.field(field, if is_true(field) { "true" } else { "false" });
        }
        let assertions = object
            .text_of("assertionsResultsToSave")
            .and_then(values::parse_int)
            .unwrap_or(0);
        self.field("assertionsResultsToSave", &assertions.to_string());
        for field in SAVED_IF_TRUE.into_iter().filter(|field| is_true(field)) {
            self.field(field, "true");
        }
    }
}

/// XStream's spelling of a class name as a tag (`XmlFriendlyNameCoder`).
pub fn class_to_tag(class: &str) -> String {
    class.replace('_', "__").replace('$', "_-")
}

/// The number of buckets of a `java.util.HashMap` with this many entries. JMeter saves maps in bucket order.
fn hash_map_size(entries: usize) -> u32 {
    let mut size: u32 = 16;
    while u64::from(size) * 3 / 4 < entries as u64 {
        size *= 2;
    }
    size
}
