//! Services and messages, in the form in which calls read them: indices instead of names, and nothing that threads share by a
//! refcount.

use std::collections::HashMap;

use drumfire_platform::message_error;
use drumfire_platform::spelling::did_you_mean;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet,
};

message_error! {
    /// Why descriptors cannot be used.
    pub struct SchemaError;
}

/// Why there is no method with a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// The name is not `package.Service/Method`.
    #[error("`{0}` is not of the form `package.Service/Method`")]
    Form(String),
    /// There is no such service.
    #[error("there is no service of the method `{name}`; {hint}")]
    Service {
        /// The full name of the method.
        name: String,
        /// The most similar name.
        hint: String,
    },
    /// The service has no such method.
    #[error("there is no method `{name}`; {hint}")]
    Method {
        /// Its full name.
        name: String,
        /// The most similar name.
        hint: String,
    },
}

/// All services and messages of a set of `.proto` files.
#[derive(Debug, Default)]
pub struct Schema {
    pub(crate) messages: Vec<Message>,
    pub(crate) enums: Vec<Enum>,
    methods: Vec<Method>,
    by_name: HashMap<Box<str>, TypeId>,
}

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The service with its package.
    pub service: Box<str>,
    /// The method.
    pub name: Box<str>,
    /// The message that a call sends.
    pub input: MessageId,
    /// The message that a call receives.
    pub output: MessageId,
    /// Whether a call sends a stream of messages.
    pub client_streaming: bool,
    /// Whether a call receives a stream of messages.
    pub server_streaming: bool,
}

impl Method {
    /// The path of its requests, `/package.Service/Method`.
    pub fn path(&self) -> String {
        format!("/{}/{}", self.service, self.name)
    }
}

/// A message type of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId(pub(crate) usize);

/// An enum of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumId(pub usize);

#[derive(Clone, Copy, Debug)]
enum TypeId {
    Message(MessageId),
    Enum(EnumId),
}

#[derive(Debug)]
pub(crate) struct Message {
    pub full_name: Box<str>,
    /// In the order of their numbers.
    pub fields: Vec<Field>,
    /// Fields by their names in the file and in JSON.
    by_name: HashMap<Box<str>, usize>,
    pub known: Option<KnownType>,
    pub oneofs: usize,
}

impl Message {
    pub fn field(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub fn numbered(&self, number: u32) -> Option<usize> {
        let found = self.fields.binary_search_by_key(&number, |f| f.number);
        found.ok()
    }
}

#[derive(Debug)]
pub(crate) struct Field {
    pub name: Box<str>,
    pub json_name: Box<str>,
    pub number: u32,
    pub kind: Kind,
    pub label: FieldLabel,
    /// The oneof that it belongs to, also the one that stands for proto3's `optional`.
    pub oneof: Option<usize>,
    /// Whether a set default value differs from none.
    pub has_presence: bool,
    pub is_packed: bool,
    /// The default of proto2, as the file writes it.
    pub default: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldLabel {
    Optional,
    Required,
    Repeated,
    Map,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int32,
    Sint32,
    Sfixed32,
    Int64,
    Sint64,
    Sfixed64,
    Uint32,
    Fixed32,
    Uint64,
    Fixed64,
    Bool,
    Float,
    Double,
    String,
    Bytes,
    Enum(EnumId),
    Message(MessageId),
    Group(MessageId),
}

impl Kind {
    /// Whether several values may stand in one field of bytes.
    pub fn is_packable(self) -> bool {
        !matches!(
            self,
            Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Group(_)
        )
    }

    pub fn message(self) -> Option<MessageId> {
        match self {
            Kind::Message(message) | Kind::Group(message) => Some(message),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Enum {
    pub values: Vec<(Box<str>, i32)>,
    /// Values without a name are unknown fields, as in proto2.
    pub is_closed: bool,
    /// `google.protobuf.NullValue`.
    pub is_null: bool,
}

impl Enum {
    pub fn name(&self, number: i32) -> Option<&str> {
        let found = self.values.iter().find(|(_, own)| *own == number);
        found.map(|(name, _)| &**name)
    }

    pub fn number(&self, name: &str) -> Option<i32> {
        let found = self.values.iter().find(|(own, _)| **own == *name);
        found.map(|(_, number)| *number)
    }
}

/// Messages with a JSON form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownType {
    Any,
    Wrapper,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
}

impl KnownType {
    fn of(full_name: &str) -> Option<Self> {
        Some(match full_name.strip_prefix("google.protobuf.")? {
            "Any" => Self::Any,
            "BoolValue" | "Int32Value" | "UInt32Value" | "Int64Value" | "UInt64Value"
            | "StringValue" | "BytesValue" | "FloatValue" | "DoubleValue" => Self::Wrapper,
            "Timestamp" => Self::Timestamp,
            "Duration" => Self::Duration,
            "FieldMask" => Self::FieldMask,
            "Struct" => Self::Struct,
            "Value" => Self::Value,
            "ListValue" => Self::ListValue,
            _ => return None,
        })
    }
}

impl Schema {
    /// Reads the descriptors of files, each after those that it imports.
    ///
    /// # Errors
    /// A field or a method names a type that no file has.
    pub fn of(set: &FileDescriptorSet) -> Result<Self, SchemaError> {
        let mut schema = Self::default();
        let mut found = Vec::new();
        for file in &set.file {
            let package = file.package();
            for one in &file.enum_type {
                schema.add_enum(package, file, one);
            }
            for message in &file.message_type {
                schema.add_message(package, file, message, &mut found);
            }
        }
        for (id, (file, message)) in found.iter().enumerate() {
            schema.read_fields(id, file, message)?;
        }
        for file in &set.file {
            schema.read_methods(file)?;
        }
        Ok(schema)
    }

    /// The method with this full name, `package.Service/Method`. The package may be left out.
    ///
    /// # Errors
    /// There is none.
    pub fn method(&self, full_name: &str) -> Result<&Method, MethodError> {
        let Some((service, name)) = full_name
            .rsplit_once('/')
            .filter(|(service, name)| !drumfire_java::text::is_blank(service) && !name.is_empty())
        else {
            return Err(MethodError::Form(full_name.to_owned()));
        };
        let of_service = |own: &&Method| {
            let short = own.service.rsplit('.').next();
            *own.service == *service || short == Some(service)
        };
        let mut own = self.methods.iter().filter(of_service).peekable();
        let has_service = own.peek().is_some();
        if let Some(found) = own.find(|own| *own.name == *name) {
            return Ok(found);
        }
        let (name, hint) = (full_name.to_owned(), self.hint(full_name));
        Err(match has_service {
            true => MethodError::Method { name, hint },
            false => MethodError::Service { name, hint },
        })
    }

    /// The most similar name to one that no method has.
    fn hint(&self, full_name: &str) -> String {
        let known: Vec<String> = self
            .methods
            .iter()
            .map(|own| own.path()[1..].to_owned())
            .collect();
        match did_you_mean(full_name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "there are no services".to_owned(),
            None => format!("there are {}", listed(&known)),
        }
    }

    /// All methods in the order of the files.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    pub(crate) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }

    /// The message type with this full name.
    pub(crate) fn message_named(&self, full_name: &str) -> Option<MessageId> {
        match self.by_name.get(full_name) {
            Some(TypeId::Message(id)) => Some(*id),
            _ => None,
        }
    }

    fn add_enum(&mut self, scope: &str, file: &FileDescriptorProto, one: &EnumDescriptorProto) {
        let full_name = within(scope, one.name());
        let values = one.value.iter();
        let id = EnumId(self.enums.len());
        self.enums.push(Enum {
            values: values
                .map(|value| (value.name().into(), value.number()))
                .collect(),
            is_closed: !is_proto3(file),
            is_null: full_name == "google.protobuf.NullValue",
        });
        self.by_name.insert(full_name.into(), TypeId::Enum(id));
    }

    fn add_message<'d>(
        &mut self,
        scope: &str,
        file: &'d FileDescriptorProto,
        message: &'d DescriptorProto,
        found: &mut Vec<(&'d FileDescriptorProto, &'d DescriptorProto)>,
    ) {
        let full_name = within(scope, message.name());
        let id = MessageId(self.messages.len());
        found.push((file, message));
        self.messages.push(Message {
            full_name: full_name.as_str().into(),
            fields: Vec::new(),
            by_name: HashMap::new(),
            known: KnownType::of(&full_name),
            oneofs: message.oneof_decl.len(),
        });
        self.by_name
            .insert(full_name.as_str().into(), TypeId::Message(id));
        for one in &message.enum_type {
            self.add_enum(&full_name, file, one);
        }
        for inner in &message.nested_type {
            self.add_message(&full_name, file, inner, found);
        }
    }

    fn read_fields(
        &mut self,
        id: usize,
        file: &FileDescriptorProto,
        message: &DescriptorProto,
    ) -> Result<(), SchemaError> {
        let mut fields = Vec::with_capacity(message.field.len());
        for field in &message.field {
            fields.push(self.read_field(file, message, field)?);
        }
        fields.sort_by_key(|field| field.number);
        let mut by_name = HashMap::new();
        for (index, field) in fields.iter().enumerate() {
            by_name.insert(field.json_name.clone(), index);
            by_name.insert(field.name.clone(), index);
        }
        (self.messages[id].fields, self.messages[id].by_name) = (fields, by_name);
        Ok(())
    }

    fn read_field(
        &self,
        file: &FileDescriptorProto,
        message: &DescriptorProto,
        field: &FieldDescriptorProto,
    ) -> Result<Field, SchemaError> {
        let kind = self.kind(field)?;
        let is_map = field.label() == Label::Repeated
            && message.nested_type.iter().any(|inner| {
                let is_entry = inner.options.as_ref().is_some_and(|o| o.map_entry());
                is_entry && field.type_name().rsplit('.').next() == inner.name.as_deref()
            });
        let label = match field.label() {
            Label::Repeated if is_map => FieldLabel::Map,
            Label::Repeated => FieldLabel::Repeated,
            Label::Required => FieldLabel::Required,
            Label::Optional => FieldLabel::Optional,
        };
        let oneof = field.oneof_index.and_then(|at| usize::try_from(at).ok());
        let packed = field.options.as_ref().and_then(|options| options.packed);
        let json_name = match &field.json_name {
            Some(name) => name.as_str().into(),
            None => json_name(field.name()).into(),
        };
        Ok(Field {
            name: field.name().into(),
            json_name,
            number: u32::try_from(field.number()).unwrap_or(0),
            kind,
            label,
            oneof,
            has_presence: oneof.is_some() || !is_proto3(file) || kind.message().is_some(),
            is_packed: packed.unwrap_or(is_proto3(file)) && kind.is_packable(),
            default: field.default_value.as_deref().map(Into::into),
        })
    }

    fn kind(&self, field: &FieldDescriptorProto) -> Result<Kind, SchemaError> {
        let named = || {
            let name = field.type_name();
            let name = name.strip_prefix('.').unwrap_or(name);
            self.by_name.get(name).copied().ok_or_else(|| {
                let message = format!(
                    "the type `{name}` of the field `{}` is missing",
                    field.name()
                );
                SchemaError::from(message)
            })
        };
        let wrong =
            || SchemaError::from(format!("the type of `{}` is of another kind", field.name()));
        Ok(match field.r#type() {
            Type::Int32 => Kind::Int32,
            Type::Sint32 => Kind::Sint32,
            Type::Sfixed32 => Kind::Sfixed32,
            Type::Int64 => Kind::Int64,
            Type::Sint64 => Kind::Sint64,
            Type::Sfixed64 => Kind::Sfixed64,
            Type::Uint32 => Kind::Uint32,
            Type::Fixed32 => Kind::Fixed32,
            Type::Uint64 => Kind::Uint64,
            Type::Fixed64 => Kind::Fixed64,
            Type::Bool => Kind::Bool,
            Type::Float => Kind::Float,
            Type::Double => Kind::Double,
            Type::String => Kind::String,
            Type::Bytes => Kind::Bytes,
            Type::Enum => match named()? {
                TypeId::Enum(id) => Kind::Enum(id),
                TypeId::Message(_) => return Err(wrong()),
            },
            Type::Message | Type::Group => match (named()?, field.r#type()) {
                (TypeId::Message(id), Type::Group) => Kind::Group(id),
                (TypeId::Message(id), _) => Kind::Message(id),
                _ => return Err(wrong()),
            },
        })
    }

    fn read_methods(&mut self, file: &FileDescriptorProto) -> Result<(), SchemaError> {
        for service in &file.service {
            let full_name = within(file.package(), service.name());
            for method in &service.method {
                let message = |name: &str| {
                    let name = name.strip_prefix('.').unwrap_or(name);
                    self.message_named(name).ok_or_else(|| {
                        let of = format!("{full_name}/{}", method.name());
                        SchemaError::from(format!("the message `{name}` of `{of}` is missing"))
                    })
                };
                let (input, output) = (
                    message(method.input_type())?,
                    message(method.output_type())?,
                );
                self.methods.push(Method {
                    service: full_name.as_str().into(),
                    name: method.name().into(),
                    input,
                    output,
                    client_streaming: method.client_streaming(),
                    server_streaming: method.server_streaming(),
                });
            }
        }
        Ok(())
    }
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

fn is_proto3(file: &FileDescriptorProto) -> bool {
    file.syntax() == "proto3"
}

fn within(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    }
}

/// The name of a field in JSON: without underscores, each letter after one in upper case.
fn json_name(name: &str) -> String {
    let mut raised = false;
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter == '_' {
            raised = true;
        } else if std::mem::take(&mut raised) {
            out.push(letter.to_ascii_uppercase());
        } else {
            out.push(letter);
        }
    }
    out
}
