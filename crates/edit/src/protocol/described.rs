//! Types of messages that describe themselves, for the reference.

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub struct FieldText {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its type, as Rust spells it.
    pub kind: &'static str,
    /// The meaning of the field, in a sentence.
    pub about: &'static str,
}

/// A type of message.
#[derive(Debug, Clone, Copy)]
pub struct MessageText {
    /// Its name.
    pub name: &'static str,
    /// The meaning of the type, in a sentence.
    pub about: &'static str,
    /// Its fields.
    pub fields: &'static [FieldText],
}

/// A type that describes itself.
pub trait Described {
    /// The description.
    const TEXT: MessageText;
}

/// Defines types of messages whose comments are also their descriptions.
macro_rules! messages {
    ($($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])* $field:ident: $kind:ty,)* })+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
            pub struct $name {
                $($(#[doc = $doc])+ $(#[serde($($serde)*)])* pub $field: $kind,)*
            }

            impl $crate::protocol::described::Described for $name {
                const TEXT: $crate::protocol::described::MessageText = $crate::protocol::described::MessageText {
                    name: stringify!($name),
                    about: concat!($($about),+),
                    fields: &[$($crate::protocol::described::FieldText {
                        name: stringify!($field),
                        kind: stringify!($kind),
                        about: concat!($($doc),+),
                    }),*],
                };
            }
        )+
    };
}

pub(crate) use messages;

/// A type in the notation of JSON's users: `text`, `number`, `[Node]`, `Id?`.
pub fn notation(kind: &str) -> String {
    let kind: String = kind.chars().filter(|sign| !sign.is_whitespace()).collect();
    let inside = |outer: &str| {
        Some(
            kind.strip_prefix(outer)?
                .strip_prefix('<')?
                .strip_suffix('>')?
                .to_owned(),
        )
    };
    if let Some(inner) = inside("Option") {
        return format!("{}?", notation(&inner));
    }
    if let Some(inner) = inside("Vec") {
        return format!("[{}]", notation(&inner));
    }
    match kind.as_str() {
        "String" => "text",
        "bool" => "flag",
        "u16" | "u64" | "usize" | "i32" | "i64" => "number",
        "serde_json::Value" | "Value" => "any",
        "std::collections::BTreeMap<String,String>" | "BTreeMap<String,String>" => "{name: text}",
        "std::collections::BTreeMap<String,Option<String>>" | "BTreeMap<String,Option<String>>" => {
            "{name: text?}"
        }
        other => other,
    }
    .to_owned()
}
