//! Turns XML elements into properties, by the rules of the property converters.
//!
//! JMeter has its own converters for strings, booleans, ints, longs, lists, maps and elements, which take the name from
//! an attribute. It leaves floats, doubles and objects to XStream, which writes fields as child elements:
//! `<doubleProp><name>..</name><value>..</value></doubleProp>`.

use std::borrow::Cow;
use std::collections::HashSet;

use drumfire_java::values::{parse_bool, parse_double, parse_float, parse_int, parse_long};

use crate::classes::{aliases, canonical_class, is_known_alias};
use crate::diagnostic::Diagnostic;
use crate::interpret::{PlanReader, is_test_element, test_elements};
use crate::name::Name;
use crate::tree::{Element, Object, Prop, Props, Value};
use crate::upgrade;
use crate::xml::NodeId;

const TAGS: [&str; 10] = [
    "stringProp",
    "boolProp",
    "intProp",
    "longProp",
    "FloatProperty",
    "doubleProp",
    "elementProp",
    "collectionProp",
    "mapProp",
    "objProp",
];
/// How deep properties may be nested, because reading them is recursive. JMeter's own go five deep.
const MAX_NESTING: usize = 64;

/// Fields of `SampleSaveConfiguration`, besides `assertionsResultsToSave`. `formatter` is read and ignored.
const SAVE_CONFIG_FIELDS: [&str; 32] = [
    "assertions",
    "bytes",
    "code",
    "connectTime",
    "dataType",
    "delimiter",
    "encoding",
    "fieldNames",
    "fileName",
    "formatter",
    "hostname",
    "idleTime",
    "label",
    "latency",
    "message",
    "printMilliseconds",
    "requestHeaders",
    "responseData",
    "responseDataOnError",
    "responseHeaders",
    "sampleCount",
    "samplerData",
    "saveAssertionResultsFailureMessage",
    "sentBytes",
    "subresults",
    "success",
    "threadCounts",
    "threadName",
    "time",
    "timestamp",
    "url",
    "xml",
];
const NULL_PROPERTY: &str = "org.apache.jmeter.testelement.property.NullProperty";
const HEADER_CLASS: &str = "org.apache.jmeter.protocol.http.control.Header";

/// Whether a class (by its canonical name) is a property and not a test element.
pub(crate) fn is_property(canonical: &str) -> bool {
    TAGS.contains(&canonical) || canonical == NULL_PROPERTY
}

impl<'d> PlanReader<'d, '_> {
    /// The properties in an element. Text between them is ignored.
    pub fn properties(&mut self, id: NodeId) -> Vec<Prop> {
        self.nested(id, Self::property)
    }

    /// Reads the children one level deeper, or nothing if that is too deep.
    fn nested<T>(&mut self, id: NodeId, read: fn(&mut Self, NodeId) -> Option<T>) -> Vec<T> {
        if self.nesting >= MAX_NESTING {
            self.too_deep(id);
            return Vec::new();
        }
        self.nesting += 1;
        let children = self.document.children(id);
        let read = children.filter_map(|child| read(self, child)).collect();
        self.nesting -= 1;
        read
    }

    /// Reads one property; `None` if an upgrade drops it or it is invalid.
    fn property(&mut self, id: NodeId) -> Option<Prop> {
        let span = self.node(id).span();
        let id = self.follow(id)?;
        let class = self.class_of(id);
        let (name, value) = match &*class {
            "stringProp" => self.string(id)?,
            "boolProp" => (
                self.renamed_name(id)?,
                Value::Bool(parse_bool(&self.node(id).text)),
            ),
            "intProp" => {
                let name = self.renamed_name(id)?;
                (
                    name,
                    Value::Int(self.number(id, "jmx-bad-int", WHOLE_INT, parse_int)?),
                )
            }
            "longProp" => {
                let name = self.renamed_name(id)?;
                (
                    name,
                    Value::Long(self.number(id, "jmx-bad-long", WHOLE_LONG, parse_long)?),
                )
            }
            "collectionProp" => (self.plain_name(id)?, Value::List(self.properties(id))),
            "mapProp" => (self.plain_name(id)?, Value::Map(self.map(id))),
            "elementProp" => self.element(id)?,
            "FloatProperty" | "doubleProp" | "objProp" | NULL_PROPERTY => {
                self.by_fields(id, &class)?
            }
            _ => {
                self.not_a_property(id, &class);
                return None;
            }
        };
        Some(Prop { name, value, span })
    }

    fn string(&mut self, id: NodeId) -> Option<(Name, Value)> {
        let name = self.renamed_name(id)?;
        let node = self.node(id);
        let value = self.decode(id, node.text_span(), &node.text).into_owned();
        Some((name, Value::Str(value)))
    }

    /// The `name` attribute, decoded. Without one the property is reported and the result is `None`.
    fn plain_name(&mut self, id: NodeId) -> Option<Name> {
        let node = self.node(id);
        match self.attribute(id, "name") {
            Some(name) => {
                let name = self.decode(id, node.tag(), name);
                Some(self.names.get(&name))
            }
            None => {
                let message = format!("<{}> has no name attribute", node.name);
                let finding = Diagnostic::error("jmx-no-name", message)
                    .help("write name=\"…\" as JMeter saves it for this property");
                self.report(id, node.tag(), finding);
                None
            }
        }
    }

    /// The name after the upgrades of the enclosing test element; also `None` if they drop the property.
    fn renamed_name(&mut self, id: NodeId) -> Option<Name> {
        let name = self.plain_name(id)?;
        match self.renamed.iter().find(|(old, _)| name == *old) {
            None => Some(name),
            Some((_, new)) => (!new.is_empty()).then(|| self.names.get(new)),
        }
    }

    fn number<N>(
        &mut self,
        id: NodeId,
        code: &'static str,
        what: &str,
        parse: fn(&str) -> Option<N>,
    ) -> Option<N> {
        let node = self.node(id);
        let number = parse(&node.text);
        if number.is_none() && !self.is_cut(id) {
            let name = self
                .attribute(id, "name")
                .map(|name| format!(" name=\"{name}\""))
                .unwrap_or_default();
            let message = format!(
                "<{}{name}> holds {}, which is not {what}",
                node.name,
                quoted(&node.text)
            );
            let blanks = node.text.trim() != node.text && parse(node.text.trim()).is_some();
            let help = if blanks {
                "remove the blanks around the number".to_string()
            } else if node.text.contains("${") && node.name == "value" {
                format!(
                    "only text can hold a variable: replace the whole property around <value> with <stringProp name=\"…\">{}</stringProp>",
                    node.text
                )
            } else if node.text.contains("${") {
                format!(
                    "only text can hold a variable: write <stringProp> instead of <{}>",
                    node.name
                )
            } else {
                "JMeter refuses the whole plan for this: write a number here".to_string()
            };
            self.report(
                id,
                node.text_span(),
                Diagnostic::error(code, message).help(help),
            );
        }
        number
    }

    /// Reads a map. The first entry of a name wins (`MapProperty.addProperty`).
    fn map(&mut self, id: NodeId) -> Vec<Prop> {
        let mut names = HashSet::new();
        let entries = self.properties(id);
        entries
            .into_iter()
            .filter(|entry| names.insert(entry.name.clone()))
            .collect()
    }

    fn element(&mut self, id: NodeId) -> Option<(Name, Value)> {
        let node = self.node(id);
        if self.attribute(id, "name").is_none() {
            // TestElementPropertyConverter puts a property ERROR in its place, which JMeter never reads.
            let message = "<elementProp> has no name attribute, so JMeter ignores it";
            let finding = Diagnostic::warning("jmx-no-name", message);
            self.report(
                id,
                node.tag(),
                finding.help("write name=\"…\" as JMeter saves it for this property"),
            );
            return None;
        }
        let name = self.plain_name(id)?;
        let name = match upgrade::renamed_element_property(&name) {
            Some(new) => new.into(),
            None => name,
        };
        let written = self.element_type(id)?;
        let mut props: Vec<Prop> = self.properties(id);
        if written == HEADER_CLASS {
            // TestElementPropertyConverter does this only for the full name.
            for prop in props
                .iter_mut()
                .filter(|prop| prop.name == "TestElement.name")
            {
                prop.name = self.names.get("Header.name");
            }
        }
        let props: Props = props.into_iter().collect();
        let own_name = match props.value("TestElement.name") {
            Some(name) => self.names.get(&name.as_str()),
            None => {
                let name = self.attribute(id, "testname").unwrap_or("");
                let name = self.decode(id, node.tag(), name);
                self.names.get(&name)
            }
        };
        let gui = self.attribute(id, "guiclass").unwrap_or("");
        let enabled_as = self.attribute(id, "enabled");
        let enabled = enabled_as.is_none_or(parse_bool);
        let test_class = self.attribute(id, "testclass").unwrap_or("");
        let element = Element {
            class: self.upgraded_class(written).canonical.clone(),
            gui_class: self.upgraded_class(gui).canonical.clone(),
            test_class: self.names.get(canonical_class(test_class)),
            name: own_name,
            enabled: props.bool("TestElement.enabled", enabled),
            enabled_as: self.names.get(enabled_as.unwrap_or("")),
            props,
        };
        Some((name, element.into()))
    }

    /// The class of an `elementProp` as written. If it is missing or unknown, it is reported and the result is `None`.
    fn element_type(&mut self, id: NodeId) -> Option<&'d str> {
        let node = self.node(id);
        let Some(written) = self.attribute(id, "elementType") else {
            if !self.is_cut(id) {
                let finding = Diagnostic::error(
                    "jmx-no-element-type",
                    "<elementProp> has no elementType attribute",
                )
                .help(
                    "write elementType=\"…\" as JMeter saves it, such as elementType=\"Arguments\"",
                );
                self.report(id, node.tag(), finding);
            }
            return None;
        };
        if !written.contains('.') && !is_test_element(written) {
            let message = format!(
                "elementType=\"{written}\" is neither an element of JMeter nor a full class name"
            );
            let otherwise =
                "write the class that JMeter saves here, such as Argument or HTTPArgument";
            let finding = self.unknown_name(
                "jmx-unknown-element-type",
                message,
                written,
                test_elements(),
                otherwise,
            );
            self.report(id, node.tag(), finding);
            return None;
        }
        Some(written)
    }

    /// Reads a property that XStream writes field by field: `name`, `value` and the unused `savedValue`.
    fn by_fields(&mut self, id: NodeId, class: &str) -> Option<(Name, Value)> {
        let mut name = Name::default();
        let mut value = match class {
            "FloatProperty" => Value::Float(0.0),
            "doubleProp" => Value::Double(0.0),
            _ => Value::Null,
        };
        let mut seen = HashSet::new();
        let mut sound = true;
        for child in self.document.children(id) {
            let node = self.node(child);
            if !matches!(node.name, "name" | "value" | "savedValue") {
                let message = format!("<{}> has no field <{}>", self.node(id).name, node.name);
                self.report(
                    child,
                    node.tag(),
                    Diagnostic::error("jmx-unknown-field", message)
                        .help("it has <name> and <value>"),
                );
                sound = false;
            } else if !seen.insert(node.name) {
                let message = format!("<{}> appears twice", node.name);
                self.report(
                    child,
                    node.tag(),
                    Diagnostic::error("jmx-unknown-field", message).help("remove one of them"),
                );
                sound = false;
            } else if node.name == "name" {
                name = self.names.get(&node.text);
            } else {
                let read = self.field_value(child, class);
                sound &= read.is_some();
                if let (Some(read), "value") = (read, node.name) {
                    value = read;
                }
            }
        }
        self.warn_about_attribute_form(id);
        sound.then_some((name, value))
    }

    fn field_value(&mut self, id: NodeId, class: &str) -> Option<Value> {
        match class {
            "FloatProperty" => Some(Value::Float(self.number(
                id,
                "jmx-bad-float",
                FRACTION,
                parse_float,
            )?)),
            "doubleProp" => Some(Value::Double(self.number(
                id,
                "jmx-bad-double",
                FRACTION,
                parse_double,
            )?)),
            "objProp" => Some(Value::Object(Box::new(self.object(id)?))),
            _ => Some(Value::Null),
        }
    }

    /// Warns about `<doubleProp name="x">3.5</doubleProp>`. It looks right, but JMeter reads it as a zero without a
    /// name.
    fn warn_about_attribute_form(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.first_child().is_none() && self.attribute(id, "name").is_some() && !self.is_cut(id)
        {
            let message = format!("JMeter ignores the name and the text of <{}>", node.name);
            let help = format!(
                "write <{0}><name>…</name><value>…</value></{0}>, or use <stringProp>",
                node.name
            );
            self.report(
                id,
                node.tag(),
                Diagnostic::warning("jmx-ignored-value", message).help(help),
            );
        }
    }

    fn object(&mut self, id: NodeId) -> Option<Object> {
        let name = self.node(id).name.to_string();
        let target = self.follow(id)?;
        let node = self.node(target);
        let written = self
            .attribute(target, "class")
            .or_else(|| self.attribute(id, "class"))
            .unwrap_or("");
        if !written.is_empty() && !written.contains('.') && !is_known_alias(written) {
            let message =
                format!("class=\"{written}\" is neither a class of JMeter nor a full class name");
            let otherwise = "JMeter refuses the whole plan for it: remove the property";
            let finding =
                self.unknown_name("jmx-unknown-class", message, written, aliases(), otherwise);
            self.report(target, node.tag(), finding);
        }
        let class = self.upgraded_class(written).canonical.to_string();
        if class == "SampleSaveConfiguration" {
            self.check_save_config(target);
        }
        Some(Object {
            name,
            class,
            text: node.text.to_string(),
            children: self.nested(target, Self::object),
        })
    }

    /// Reports columns of a listener that JMeter does not know (`SampleSaveConfigurationConverter`).
    fn check_save_config(&mut self, id: NodeId) {
        for child in self.document.children(id) {
            let node = self.node(child);
            if node.name == "assertionsResultsToSave" {
                self.number(child, "jmx-bad-int", WHOLE_INT, parse_int);
            } else if !SAVE_CONFIG_FIELDS.contains(&node.name) {
                let message = format!(
                    "<{}> is not a field of a listener's save configuration",
                    node.name
                );
                let otherwise = "JMeter 5.6.3 refuses the whole plan for it: remove it";
                let fields = SAVE_CONFIG_FIELDS.into_iter();
                let finding =
                    self.unknown_name("jmx-unknown-field", message, node.name, fields, otherwise);
                self.report(child, node.tag(), finding);
            }
        }
    }

    fn not_a_property(&mut self, id: NodeId, class: &str) {
        let node = self.node(id);
        let finding = if class == "hashTree" || is_test_element(class) {
            let message = format!("<{}> stands inside another element", node.name);
            Diagnostic::error("jmx-misplaced", message)
                .help("close the element around it first; what is below an element goes into the <hashTree> after it")
        } else if is_known_alias(class) || class.contains('.') {
            Diagnostic::error(
                "jmx-unknown-property",
                format!("<{}> is not a property", node.name),
            )
            .help("an element holds properties such as <stringProp>")
        } else {
            let message = format!("<{}> is not a property of JMeter", node.name);
            let otherwise = format!("properties are {}", TAGS.join(", "));
            self.unknown_name(
                "jmx-unknown-property",
                message,
                class,
                TAGS.into_iter(),
                &otherwise,
            )
        };
        self.report(id, node.tag(), finding);
    }
}

const WHOLE_INT: &str = "a whole number from -2147483648 to 2147483647";
const WHOLE_LONG: &str = "a whole number of 64 bits";
const FRACTION: &str = "a number";

/// A value for a message: at most a line long, and visible even if it is empty.
fn quoted(text: &str) -> Cow<'static, str> {
    const LONGEST: usize = 40;
    if text.is_empty() {
        return Cow::Borrowed("an empty value");
    }
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Cow::Owned(format!("{shown:?}"))
}
