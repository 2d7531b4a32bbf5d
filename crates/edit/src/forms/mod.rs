//! The form of an element: its fields from the facts, with the values that apply.

mod effective;
mod files;
mod variables;

pub use variables::{byte_offset, complete, property_at, variables};

use drumfire_elements::shared::save_config;
use drumfire_elements::{Choice, Item, Kind, Language, Property};
use drumfire_jmx::{Node, Object, Prop, Value};

use crate::jar_forms::JarForm;
use crate::operations::defaults::ElementType;
use crate::operations::retype::COMMENTS;
use crate::operations::search;
use crate::operations::table::{Rows, rows};
use crate::protocol::types::{self, Column, Field, Table};
use crate::session::Session;
use crate::tree::Id;

/// The heading of properties without facts.
const OTHERS: &str = "Other properties";
/// The label of the comments, which all elements have.
const COMMENTS_LABEL: &str = "Comments";

/// The fields of an element, in the order of JMeter's form.
pub fn fields(session: &Session, id: Id) -> Vec<Field> {
    let Some(node) = session.model().node(id) else {
        return Vec::new();
    };
    let kind = ElementType::of(node);
    let jar = session.model().jar_forms.of(node);
    let mut form = Form {
        session,
        node,
        kind,
        jar: jar.filter(|_| kind.is_none()),
        fields: Vec::new(),
    };
    if let Some(kind) = form.kind {
        for property in kind.facts.fields {
            form.property(property, "");
        }
        for section in kind.facts.sections {
            for property in section.fields {
                form.property(property, section.title);
            }
        }
        effective::inherit(session.model(), id, &mut form.fields);
    }
    form.comments();
    form.of_jar();
    form.unlabelled();
    form.others();
    if form
        .kind
        .is_some_and(|kind| kind.facts.role == drumfire_elements::Role::Sampler)
    {
        form.fields.extend(effective::sent(session.model(), id));
    }
    form.fields
}

struct Form<'s> {
    session: &'s Session,
    node: &'s Node,
    kind: Option<ElementType>,
    jar: Option<&'s JarForm>,
    fields: Vec<Field>,
}

/// The name of a kind of value in messages, and the language of a text.
pub fn kind_name(kind: &Kind, names_variables: bool) -> (&'static str, Option<&'static str>) {
    match kind {
        _ if names_variables => ("names", None),
        Kind::Text | Kind::Suggested(_) => ("text", None),
        Kind::Whole | Kind::Number => ("number", None),
        Kind::Flag => ("flag", None),
        Kind::Choice(_) => ("choice", None),
        Kind::Code(language) => ("code", Some(language_name(*language))),
        Kind::Script => ("code", Some("groovy")),
        Kind::File(_) => ("file", None),
        Kind::Secret => ("secret", None),
        Kind::List | Kind::Rows(_) | Kind::Items(_) => ("table", None),
        Kind::Element(_) | Kind::Object => ("text", None),
    }
}

fn language_name(language: Language) -> &'static str {
    match language {
        Language::Css => "css",
        Language::Condition => "condition",
        Language::GraphQl => "graphql",
        Language::JmesPath => "jmespath",
        Language::Json => "json",
        Language::JsonPath => "jsonpath",
        Language::Regex => "regex",
        Language::Schedule => "schedule",
        Language::Sql => "sql",
        Language::Xml => "xml",
        Language::XPath => "xpath",
    }
}

fn choices(kind: &Kind) -> Vec<types::Choice> {
    let of = |value: &str, label: &str| types::Choice {
        value: value.to_owned(),
        label: label.to_owned(),
    };
    match kind {
        Kind::Choice(choices) => choices
            .iter()
            .map(|Choice { value, label }| of(value, label))
            .collect(),
        Kind::Suggested(values) => values.iter().map(|value| of(value, value)).collect(),
        _ => Vec::new(),
    }
}

impl Form<'_> {
    fn property(&mut self, property: &'static Property, section: &str) {
        if property.label.is_empty() {
            return;
        }
        match (Rows::of(property), property.kind) {
            (Some((kind, path)), _) => self.table(property, kind, &path, section),
            (None, Kind::Element(item)) => self.inner(property.name, item, section),
            (None, Kind::Object) => self.object(property),
            (None, _) => self.own(property, section),
        }
    }

    /// The field of a property with one value.
    fn own(&mut self, property: &Property, section: &str) {
        let value = self
            .node
            .props
            .value(property.name)
            .map(Value::as_str)
            .map(|value| value.into_owned());
        self.simple(property, property.name.to_owned(), section, value);
    }

    /// The fields of an element within the element.
    fn inner(&mut self, path: &str, item: &'static Item, section: &str) {
        let element = self.node.props.element(path);
        for property in item.fields.iter().filter(|property| is_plain(property)) {
            if (section == OTHERS) != property.label.is_empty() {
                continue;
            }
            let value = element
                .and_then(|element| element.props.value(property.name))
                .map(|value| value.as_str().into_owned());
            self.simple(
                property,
                format!("{path}/{}", property.name),
                section,
                value,
            );
        }
    }

    /// The properties that JMeter's own form does not show, named as in the file.
    fn unlabelled(&mut self) {
        let Some(kind) = self.kind else { return };
        for property in kind.facts.properties() {
            match property.kind {
                Kind::Element(item) => self.inner(property.name, item, OTHERS),
                _ if property.label.is_empty() && is_plain(property) => self.own(property, OTHERS),
                _ => {}
            }
        }
    }

    fn simple(&mut self, property: &Property, path: String, section: &str, value: Option<String>) {
        let (kind, language) = kind_name(&property.kind, property.names.is_some());
        let language = match property.kind {
            Kind::Script => Some(self.script_language()),
            _ => language.map(str::to_owned),
        };
        let is_secret = matches!(property.kind, Kind::Secret);
        let file = match property.kind {
            Kind::File(used) => value
                .as_deref()
                .and_then(|name| files::file(self.session.path(), name, used)),
            _ => None,
        };
        let absent = self.absent(property);
        let label = match property.label {
            "" => path.as_str(),
            label => label,
        };
        self.fields.push(Field {
            label: label.to_owned(),
            kind: kind.to_owned(),
            language,
            value,
            default: (!absent.is_empty()).then(|| absent.to_owned()),
            choices: choices(&property.kind),
            help: help(property),
            section: heading(section),
            secret: is_secret,
            file,
            property: path,
            ..Field::default()
        });
    }

    /// The value that JMeter takes if the file lacks the property.
    fn absent(&self, property: &Property) -> &'static str {
        let of_form = || {
            let kind = self.kind?;
            drumfire_elements::absent(kind.facts.class, kind.gui, property.name)
        };
        match property.absent {
            "" => of_form().unwrap_or(match property.kind {
                Kind::Flag => "false",
                _ => "",
            }),
            told => told,
        }
    }

    /// The language of a script: that of the element's property, or the class's own.
    fn script_language(&self) -> String {
        let named = self.node.props.str("scriptLanguage").to_lowercase();
        let class = self.node.class.as_str();
        match named.as_str() {
            "" if class.starts_with("BeanShell") => "java".to_owned(),
            "" => "groovy".to_owned(),
            "beanshell" | "bsh" | "java" => "java".to_owned(),
            "js" | "rhino" | "nashorn" | "ecmascript" => "javascript".to_owned(),
            other => other.to_owned(),
        }
    }

    fn table(&mut self, property: &'static Property, kind: Rows, path: &str, section: &str) {
        let list = match path.split_once('/') {
            Some((outer, inner)) => self
                .node
                .props
                .element(outer)
                .map(|element| element.props.list(inner)),
            None => Some(self.node.props.list(path)),
        };
        let list = list.unwrap_or_default();
        let mut columns: Vec<Column> = kind
            .columns()
            .into_iter()
            .map(|column| Column {
                property: column.property,
                label: column.label.to_owned(),
                kind: kind_name(&column.kind, false).0.to_owned(),
                default: column.default.to_owned(),
                choices: choices(&column.kind),
            })
            .collect();
        // Rows may be longer than the table's heading, as those of User Parameters.
        let rows = rows(kind, list);
        let most = rows.iter().map(Vec::len).max().unwrap_or_default();
        for at in columns.len()..most {
            columns.push(Column {
                property: at.to_string(),
                label: (at + 1).to_string(),
                kind: "text".to_owned(),
                ..Column::default()
            });
        }
        self.fields.push(Field {
            property: property.name.to_owned(),
            label: property.label.to_owned(),
            kind: "table".to_owned(),
            help: help(property),
            section: heading(section),
            table: Some(Table { columns, rows }),
            ..Field::default()
        });
    }

    /// The fields of a Java object: what a listener saves.
    fn object(&mut self, property: &'static Property) {
        let Some(object) = self.node.props.object(property.name) else {
            return;
        };
        let mut shown: Vec<_> = object
            .children
            .iter()
            .filter_map(|field| Some((save_config::shown(&field.name)?, field)))
            .collect();
        shown.sort_by_key(|((place, _), _)| *place);
        for ((_, label), Object { name, text, .. }) in shown {
            self.fields.push(Field {
                property: format!("{}/{name}", property.name),
                label: label.to_owned(),
                kind: "flag".to_owned(),
                value: Some(text.clone()),
                section: heading(property.label),
                ..Field::default()
            });
        }
    }

    fn comments(&mut self) {
        if self.fields.iter().any(|field| field.property == COMMENTS) {
            return;
        }
        let value = self.node.props.value(COMMENTS);
        self.fields.push(Field {
            property: COMMENTS.to_owned(),
            label: COMMENTS_LABEL.to_owned(),
            kind: "text".to_owned(),
            value: value.map(|value| value.as_str().into_owned()),
            ..Field::default()
        });
    }

    /// The fields that a jar of the user tells.
    fn of_jar(&mut self) {
        let Some(jar) = self.jar else { return };
        for input in &jar.inputs {
            let value = self.node.props.value(&input.property);
            let choice = |(value, label): &(String, String)| types::Choice {
                value: value.clone(),
                label: label.clone(),
            };
            let label = match input.label.as_str() {
                "" => &input.property,
                _ => &input.label,
            };
            self.fields.push(Field {
                property: input.property.clone(),
                label: label.clone(),
                kind: input.kind.to_owned(),
                value: value.map(|value| value.as_str().into_owned()),
                default: input.absent.clone(),
                choices: input.choices.iter().map(choice).collect(),
                secret: input.kind == "secret",
                ..Field::default()
            });
        }
    }

    /// The properties that neither facts nor jars describe.
    fn others(&mut self) {
        let is_described = |name: &str| {
            name == COMMENTS
                || self
                    .jar
                    .is_some_and(|jar| jar.inputs.iter().any(|input| input.property == name))
                || self.kind.is_some_and(|kind| {
                    kind.facts
                        .properties()
                        .any(|property| property.name == name)
                })
        };
        let mut others = Vec::new();
        for prop in self
            .node
            .props
            .iter()
            .filter(|prop| !is_described(&prop.name))
        {
            let single = [prop.clone()].into_iter().collect();
            search::props(&single, "", &mut |path, prop| {
                others.push(other(path, prop))
            });
            if let Value::Object(object) = &prop.value {
                let plain = object
                    .children
                    .iter()
                    .filter(|field| field.children.is_empty());
                others.extend(plain.map(|field| {
                    let value = Value::Str(field.text.clone());
                    other(
                        &format!("{}/{}", prop.name, field.name),
                        &Prop::new(&field.name, value),
                    )
                }));
            }
        }
        self.fields.extend(others);
    }
}

/// Whether a property has one value.
fn is_plain(property: &Property) -> bool {
    !matches!(property.kind, Kind::Element(_) | Kind::Object) && Rows::of(property).is_none()
}

fn other(path: &str, prop: &Prop) -> Field {
    let kind = match &prop.value {
        Value::Bool(_) => "flag",
        Value::Int(_) | Value::Long(_) | Value::Float(_) | Value::Double(_) => "number",
        _ => "text",
    };
    let is_secret = drumfire_platform::secrets::is_secret(path);
    Field {
        property: path.to_owned(),
        label: path.to_owned(),
        kind: if is_secret { "secret" } else { kind }.to_owned(),
        value: Some(prop.value.as_str().into_owned()),
        section: heading(OTHERS),
        secret: is_secret,
        ..Field::default()
    }
}

fn help(property: &Property) -> Option<String> {
    let sentences = [property.help, property.differs];
    let text = sentences
        .iter()
        .filter(|text| !text.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    (!text.is_empty()).then_some(text)
}

fn heading(section: &str) -> Option<String> {
    (!section.is_empty()).then(|| section.to_owned())
}
