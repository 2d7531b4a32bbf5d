//! Parses node tests and types.

use xpath_eval::{Axis, NodeKind};

use super::XPath2Error;
use super::ast::{AtomicType, ItemType, NameTest, NodeTest, Optional, SequenceType};
use super::lex::XPathToken;
use super::parse::{Parsed, Parser};

impl Parser<'_> {
    /// The namespace of a prefix.
    fn uri(&self, prefix: &str) -> Parsed<String> {
        self.namespaces.uri_of(prefix).map(str::to_owned)
    }

    /// Parses a name or kind test; `None` if neither comes next.
    pub(super) fn node_test(&mut self, axis: Axis) -> Parsed<Option<NodeTest>> {
        let word = match self.peek() {
            XPathToken::Name(None, word) if self.ahead(1).is("(") => word.clone(),
            _ => {
                let name = self.name_test(axis == Axis::Attribute)?;
                return Ok(name.map(NodeTest::Principal));
            }
        };
        self.next();
        self.next();
        let kind = match word.as_str() {
            "node" => NodeTest::Any,
            "text" => NodeTest::Kind(NodeKind::Text, NameTest::Any),
            "comment" => NodeTest::Kind(NodeKind::Comment, NameTest::Any),
            "document-node" => NodeTest::Kind(NodeKind::Root, NameTest::Any),
            "processing-instruction" => match self.peek().clone() {
                XPathToken::Literal(super::ast::Literal::Text(name))
                | XPathToken::Name(None, name) => {
                    self.next();
                    NodeTest::Instruction(name)
                }
                _ => NodeTest::Kind(NodeKind::ProcessingInstruction, NameTest::Any),
            },
            "element" | "attribute" => {
                let is_attribute = word == "attribute";
                let name = self.name_test(is_attribute)?.unwrap_or(NameTest::Any);
                let kind = if is_attribute {
                    NodeKind::Attribute
                } else {
                    NodeKind::Element
                };
                NodeTest::Kind(kind, name)
            }
            other => {
                return Err(XPath2Error::not_built(&format!(
                    "{other}() as a test of nodes"
                )));
            }
        };
        if self.peek().is(",") || (word == "document-node" && !self.peek().is(")")) {
            return Err(XPath2Error::not_built("a test of a node's type or content"));
        }
        self.expect(")")?;
        Ok(Some(kind))
    }

    fn name_test(&mut self, is_attribute: bool) -> Parsed<Option<NameTest>> {
        let test = match self.peek().clone() {
            XPathToken::Symbol("*") => NameTest::Any,
            XPathToken::PrefixWildcard(prefix) => NameTest::Namespace(self.uri(&prefix)?),
            XPathToken::LocalWildcard(local) => NameTest::Local(local),
            XPathToken::Expanded(uri, local) => NameTest::Name(uri, local),
            XPathToken::Name(Some(prefix), local) => NameTest::Name(self.uri(&prefix)?, local),
            XPathToken::Name(None, local) => {
                let uri = if is_attribute {
                    ""
                } else {
                    self.namespaces.uri("").unwrap_or_default()
                };
                NameTest::Name(uri.to_owned(), local)
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(test))
    }

    /// Parses the type of a cast, with an optional `?` that allows an empty sequence.
    pub(super) fn single_type(&mut self) -> Parsed<(AtomicType, Optional)> {
        let (prefix, name) = match self.next() {
            XPathToken::Name(prefix, name) => (prefix, name),
            other => {
                return Err(XPath2Error::malformed(format!(
                    "Expected type name in 'cast' expression, found {}",
                    other.shown()
                )));
            }
        };
        let to = self.atomic_type(prefix.as_deref(), &name)?;
        if matches!(to, AtomicType::AnyAtomic | AtomicType::Numeric) {
            return Err(XPath2Error::malformed(format!(
                "Cannot cast to {name} (abstract type)"
            )));
        }
        Ok((to, self.eat("?")))
    }

    pub(super) fn atomic_type(&self, prefix: Option<&str>, name: &str) -> Parsed<AtomicType> {
        let unknown = || {
            Err(XPath2Error::malformed(format!(
                "Unknown atomic type {}{name}",
                prefix.map(|p| format!("{p}:")).unwrap_or_default()
            )))
        };
        let Some(prefix) = prefix else {
            return unknown();
        };
        if self.uri(prefix)? != "http://www.w3.org/2001/XMLSchema" {
            return unknown();
        }
        Ok(match name {
            "anyAtomicType" => AtomicType::AnyAtomic,
            "untypedAtomic" => AtomicType::Untyped,
            "string" => AtomicType::Text,
            "boolean" => AtomicType::Bool,
            "integer" => AtomicType::Whole,
            "long" => AtomicType::Bounded("long", i64::MIN, i64::MAX),
            "int" => AtomicType::Bounded("int", i64::from(i32::MIN), i64::from(i32::MAX)),
            "short" => AtomicType::Bounded("short", i64::from(i16::MIN), i64::from(i16::MAX)),
            "byte" => AtomicType::Bounded("byte", i64::from(i8::MIN), i64::from(i8::MAX)),
            "nonNegativeInteger" => AtomicType::Bounded("nonNegativeInteger", 0, i64::MAX),
            "positiveInteger" => AtomicType::Bounded("positiveInteger", 1, i64::MAX),
            "unsignedInt" => AtomicType::Bounded("unsignedInt", 0, i64::from(u32::MAX)),
            "decimal" => AtomicType::Decimal,
            "double" => AtomicType::Double,
            "numeric" => AtomicType::Numeric,
            "float" | "date" | "dateTime" | "dateTimeStamp" | "time" | "duration"
            | "dayTimeDuration" | "yearMonthDuration" | "gDay" | "gMonth" | "gMonthDay"
            | "gYear" | "gYearMonth" | "anyURI" | "QName" | "NOTATION" | "hexBinary"
            | "base64Binary" | "normalizedString" | "token" | "language" | "NMTOKEN" | "Name"
            | "NCName" | "ID" | "IDREF" | "ENTITY" | "nonPositiveInteger" | "negativeInteger"
            | "unsignedLong" | "unsignedShort" | "unsignedByte" | "error" => {
                return Err(XPath2Error::not_built(&format!("the type xs:{name}")));
            }
            _ => return unknown(),
        })
    }

    pub(super) fn sequence_type(&mut self) -> Parsed<SequenceType> {
        if self.peek().is_word("empty-sequence") && self.ahead(1).is("(") {
            self.next();
            self.next();
            self.expect(")")?;
            return Ok(SequenceType {
                item: None,
                least: 0,
                most: 0,
                text: "empty-sequence()".to_owned(),
            });
        }
        let (item, text) = self.item_type()?;
        let (least, most, mark) = match self.peek() {
            XPathToken::Symbol("?") => (0, 1, "?"),
            XPathToken::Symbol("*") => (0, usize::MAX, "*"),
            XPathToken::Symbol("+") => (1, usize::MAX, "+"),
            _ => (1, 1, ""),
        };
        if !mark.is_empty() {
            self.next();
        }
        Ok(SequenceType {
            item: Some(item),
            least,
            most,
            text: format!("{text}{mark}"),
        })
    }

    fn item_type(&mut self) -> Parsed<(ItemType, String)> {
        if !self.ahead(1).is("(") {
            let (prefix, name) = match self.next() {
                XPathToken::Name(prefix, name) => (prefix, name),
                other => {
                    return Err(XPath2Error::malformed(format!(
                        "Expected type name, found {}",
                        other.shown()
                    )));
                }
            };
            let item = self.atomic_type(prefix.as_deref(), &name)?;
            if matches!(item, AtomicType::Bounded(..)) {
                return Err(XPath2Error::not_built(&format!(
                    "the test for the type xs:{name}"
                )));
            }
            return Ok((ItemType::Atomic(item), format!("xs:{name}")));
        }
        if self.peek().is_word("item") {
            self.next();
            self.next();
            self.expect(")")?;
            return Ok((ItemType::Item, "item()".to_owned()));
        }
        let text = match self.peek() {
            XPathToken::Name(_, name) => format!("{name}()"),
            _ => String::new(),
        };
        match self.node_test(Axis::Child)? {
            Some(test) => Ok((ItemType::Node(test), text)),
            None => Err(XPath2Error::malformed(format!(
                "Expected type name, found {}",
                self.peek().shown()
            ))),
        }
    }
}
