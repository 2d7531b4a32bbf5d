//! Example values for the schemas of a description: its own examples if it has any, or else values that the schema
//! allows.

use std::cell::Cell;

use serde_json::Value;

use crate::text::PlanText;

/// How deep nested schemas are followed. A description may be arbitrarily deep, or refer to itself.
const DEEPEST: usize = 8;

/// The most parts of one example. A few schemas that refer to each other could expand to millions.
const MOST_PARTS: u32 = 5_000;

pub struct OpenApiDocument<'d> {
    pub root: &'d Value,
    /// How many parts the current example may still have.
    parts: Cell<u32>,
}

/// A value for a schema. Parts of it may be calls of JMeter functions.
#[derive(Debug, Clone)]
pub enum Example {
    Value(Value),
    /// A function call instead of a string.
    Function(&'static str),
    /// A variable, which holds a text or another value.
    Variable {
        name: String,
        is_text: bool,
    },
    List(Vec<Example>),
    Object(Vec<(String, Example)>),
}

impl Example {
    /// The value as a parameter sends it.
    pub fn text(&self) -> PlanText {
        match self {
            Example::Value(Value::String(text)) => text.as_str().into(),
            Example::Value(Value::Null) => PlanText::default(),
            Example::Function(call) => PlanText::expression(*call),
            Example::Variable { name, .. } => PlanText::variable(name),
            Example::List(items) => {
                let mut text = PlanText::default();
                for (place, item) in items.iter().enumerate() {
                    text.push(if place == 0 { "" } else { "," });
                    text.append(item.text());
                }
                text
            }
            Example::Value(Value::Array(items)) => {
                Example::List(items.iter().cloned().map(Example::Value).collect()).text()
            }
            Example::Value(value) => value.to_string().into(),
            Example::Object(_) => self.json(),
        }
    }

    /// The value as a JSON body.
    pub fn json(&self) -> PlanText {
        let mut text = PlanText::default();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, out: &mut PlanText) {
        match self {
            Example::Value(value @ (Value::Array(_) | Value::Object(_))) => {
                let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
                out.push(&pretty.replace('\n', &line(depth)));
            }
            Example::Value(value) => out.push(&value.to_string()),
            Example::Function(call) => {
                out.push("\"");
                out.append(PlanText::expression(*call));
                out.push("\"");
            }
            Example::Variable { name, is_text } => {
                let quote = if *is_text { "\"" } else { "" };
                out.push(quote);
                out.append(PlanText::variable(name));
                out.push(quote);
            }
            Example::List(items) if items.is_empty() => out.push("[]"),
            Example::List(items) => {
                for (place, item) in items.iter().enumerate() {
                    out.push(if place == 0 { "[" } else { "," });
                    out.push(&line(depth + 1));
                    item.write(depth + 1, out);
                }
                out.push(&line(depth));
                out.push("]");
            }
            Example::Object(fields) if fields.is_empty() => out.push("{}"),
            Example::Object(fields) => {
                for (place, (name, value)) in fields.iter().enumerate() {
                    out.push(if place == 0 { "{" } else { "," });
                    out.push(&line(depth + 1));
                    out.push(&format!("{}: ", Value::from(name.as_str())));
                    value.write(depth + 1, out);
                }
                out.push(&line(depth));
                out.push("}");
            }
        }
    }

    /// Whether JSON writes it in quotes.
    pub fn is_text(&self) -> bool {
        match self {
            Example::Value(value) => value.is_string(),
            Example::Variable { is_text, .. } => *is_text,
            Example::Function(_) => true,
            Example::List(_) | Example::Object(_) => false,
        }
    }

    /// A property of an object.
    pub fn field(&self, name: &str) -> Option<&Example> {
        match self {
            Example::Object(fields) => {
                let field = fields.iter().find(|(own, _)| own == name);
                field.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The value as the fields of a form.
    pub fn fields(&self) -> Vec<(PlanText, PlanText)> {
        match self {
            Example::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.as_str().into(), value.text()))
                .collect(),
            Example::Value(Value::Object(fields)) => fields
                .iter()
                .map(|(name, value)| (name.as_str().into(), Example::Value(value.clone()).text()))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// A value as an example whose parts can be changed.
impl From<&Value> for Example {
    fn from(value: &Value) -> Example {
        match value {
            Value::Array(items) => Example::List(items.iter().map(Example::from).collect()),
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), Example::from(value)));
                Example::Object(fields.collect())
            }
            value => Example::Value(value.clone()),
        }
    }
}

fn line(depth: usize) -> String {
    format!("\n{}", "  ".repeat(depth))
}

impl<'d> OpenApiDocument<'d> {
    pub fn new(root: &'d Value) -> OpenApiDocument<'d> {
        OpenApiDocument {
            root,
            parts: Cell::new(0),
        }
    }

    /// Follows a chain of `$ref`s to its target. A reference to itself or to another file resolves to nothing.
    pub fn resolve<'v>(&self, value: &'v Value) -> &'v Value
    where
        'd: 'v,
    {
        let mut value = value;
        for _ in 0..DEEPEST {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return value;
            };
            let pointer = reference.strip_prefix('#').unwrap_or("-");
            let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
            value = self.root.pointer(&pointer).unwrap_or(&Value::Null);
        }
        &Value::Null
    }

    pub fn has_example(&self, parameter: &Value) -> bool {
        let schema = self.resolve(&parameter["schema"]);
        ["example", "examples", "x-example"]
            .iter()
            .any(|name| has(parameter, name))
            || ["example", "examples", "default"]
                .iter()
                .any(|name| has(schema, name))
            || has(parameter, "default")
    }

    /// The value of a parameter.
    pub fn value_of(&self, parameter: &Value) -> Example {
        if let Some(example) = self.given(parameter) {
            return Example::Value(example);
        }
        match parameter.get("schema") {
            Some(schema) => self.example(schema),
            None if parameter.get("content").is_some() => {
                let media = parameter["content"]
                    .as_object()
                    .and_then(|content| content.values().next());
                media
                    .map(|media| self.media_example(media))
                    .unwrap_or(Example::Value(Value::Null))
            }
            // Version 2 has the schema in the parameter itself.
            None => self.example(parameter),
        }
    }

    pub fn media_example(&self, media: &Value) -> Example {
        match self.given(media) {
            Some(example) => Example::Value(example),
            None => self.example(&media["schema"]),
        }
    }

    /// The given example: `example`, or the first of `examples`, which is a list or a map of objects with a `value`.
    fn given(&self, value: &Value) -> Option<Value> {
        if let Some(example) = value.get("example").or(value.get("x-example")) {
            return Some(example.clone());
        }
        match value.get("examples")? {
            Value::Array(examples) => examples.first().cloned(),
            Value::Object(examples) => {
                let first = self.resolve(examples.values().next()?);
                first.get("value").cloned()
            }
            _ => None,
        }
    }

    pub fn example(&self, schema: &Value) -> Example {
        self.parts.set(MOST_PARTS);
        self.example_at(schema, 0)
    }

    fn example_at(&self, schema: &Value, depth: usize) -> Example {
        let schema = self.resolve(schema);
        let parts = self.parts.get();
        if depth >= DEEPEST || parts == 0 {
            return Example::Value(Value::Null);
        }
        self.parts.set(parts - 1);
        if let Some(example) = self.given(schema) {
            return Example::Value(example);
        }
        for name in ["default", "const"] {
            if let Some(value) = schema.get(name) {
                return Example::Value(value.clone());
            }
        }
        if let Some(value) = schema["enum"].get(0) {
            return Example::Value(value.clone());
        }
        if schema.get("allOf").is_some() || schema.get("properties").is_some() {
            return Example::Object(self.properties(schema, depth));
        }
        for name in ["oneOf", "anyOf"] {
            if let Some(first) = schema[name].get(0) {
                return self.example_at(first, depth + 1);
            }
        }
        self.by_type(schema, depth)
    }

    /// The properties that a client sends, including those from `allOf`.
    fn properties(&self, schema: &Value, depth: usize) -> Vec<(String, Example)> {
        let mut fields: Vec<(String, Example)> = Vec::new();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let part = self.resolve(part);
            let parts = self.parts.get();
            if depth < DEEPEST && parts > 0 {
                self.parts.set(parts - 1);
                let more = self.properties(part, depth + 1);
                fields.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
                fields.extend(more);
            }
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let resolved = self.resolve(property);
            if resolved["readOnly"] != true {
                let example = self.example_at(property, depth + 1);
                // The end of a cycle.
                if !matches!(example, Example::Value(Value::Null)) || resolved["type"] == "null" {
                    fields.push((name.clone(), example));
                }
            }
        }
        fields
    }

    fn by_type(&self, schema: &Value, depth: usize) -> Example {
        let kind = schema["type"].as_str().or_else(|| {
            let kinds = schema["type"].as_array()?;
            kinds
                .iter()
                .filter_map(Value::as_str)
                .find(|kind| *kind != "null")
        });
        let number = |name: &str| schema[name].as_f64();
        match kind.unwrap_or("") {
            "string" => string(schema),
            "integer" => Example::Value(Value::from(number("minimum").unwrap_or(1.0) as i64)),
            "number" => Example::Value(Value::from(number("minimum").unwrap_or(1.0))),
            "boolean" => Example::Value(Value::Bool(true)),
            "array" => {
                let item = self.example_at(&schema["items"], depth + 1);
                match item {
                    Example::Value(Value::Null) => Example::List(Vec::new()),
                    item => Example::List(vec![item]),
                }
            }
            "object" => Example::Object(Vec::new()),
            _ => Example::Value(Value::Null),
        }
    }
}

fn has(value: &Value, name: &str) -> bool {
    value.get(name).is_some()
}

fn string(schema: &Value) -> Example {
    let text = match schema["format"].as_str().unwrap_or("") {
        "uuid" => return Example::Function("${__UUID}"),
        "date-time" => return Example::Function("${__time(yyyy-MM-dd'T'HH:mm:ss'Z')}"),
        "date" => return Example::Function("${__time(yyyy-MM-dd)}"),
        "email" => "user@example.com",
        "uri" | "url" => "https://example.com/",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "password" => "secret",
        _ => "text",
    };
    let shortest = schema["minLength"].as_u64().unwrap_or(0).min(1_000);
    let longest = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let mut text = text.to_owned();
    while (text.len() as u64) < shortest {
        text.push('x');
    }
    text.truncate(
        usize::try_from(longest)
            .unwrap_or(usize::MAX)
            .min(text.len()),
    );
    Example::Value(Value::String(text))
}
