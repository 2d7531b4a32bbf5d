//! Expressions in a plan's texts: patterns, paths, selectors. A constant expression is compiled once for all users. One that
//! is computed at run time is compiled once per worker and text.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use drumfire_expr::{Properties, Scope, Template, Text};
use drumfire_query::css::{Engine, Selector};
use drumfire_query::jmespath::JmesPath;
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_query::xpath::XPath;

use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;

/// How many computed expressions a worker caches; JMeter's own pattern cache has the same size.
const CAPACITY: usize = 1000;

/// Something that is compiled from a text.
pub trait Compile: Sized + Send + Sync + 'static {
    /// The dialect that the text is written in, where there are several.
    type Rules: Copy + Into<u8>;

    /// # Errors
    /// Returns the message of JMeter's library, since plans can see it.
    fn compile(text: &str, rules: Self::Rules) -> Result<Self, ExceptionText>;
}

/// The rules of an expression that has only one dialect.
#[derive(Clone, Copy)]
pub struct NoRules;

impl From<NoRules> for u8 {
    fn from(_: NoRules) -> u8 {
        0
    }
}

/// The regular expression engine (`jmeter.regex.engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegexRules(pub Dialect);

impl RegexRules {
    pub fn new(properties: &Properties) -> RegexRules {
        match properties.get_trimmed("jmeter.regex.engine") {
            Some(engine) if !engine.eq_ignore_ascii_case("oro") => RegexRules(Dialect::Java),
            _ => RegexRules(Dialect::Oro),
        }
    }
}

impl From<RegexRules> for u8 {
    fn from(rules: RegexRules) -> u8 {
        rules.0 as u8
    }
}

/// The library a CSS selector is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectorRules(pub Engine);

impl From<SelectorRules> for u8 {
    fn from(rules: SelectorRules) -> u8 {
        rules.0 as u8
    }
}

impl Compile for Pattern {
    type Rules = RegexRules;
    fn compile(text: &str, rules: RegexRules) -> Result<Self, ExceptionText> {
        Pattern::compile(text, rules.0, RegexOptions::default())
            .map_err(|error| error.exception_text(text, rules.0).into())
    }
}

impl Compile for JsonPath {
    type Rules = NoRules;
    fn compile(text: &str, _: NoRules) -> Result<Self, ExceptionText> {
        JsonPath::compile(text).map_err(|error| error.message.into())
    }
}

impl Compile for JmesPath {
    type Rules = NoRules;
    fn compile(text: &str, _: NoRules) -> Result<Self, ExceptionText> {
        JmesPath::compile(text).map_err(|error| error.message.into())
    }
}

impl Compile for XPath {
    type Rules = NoRules;
    fn compile(text: &str, _: NoRules) -> Result<Self, ExceptionText> {
        XPath::compile(text).map_err(|error| error.message.into())
    }
}

impl Compile for Selector {
    type Rules = SelectorRules;
    fn compile(text: &str, rules: SelectorRules) -> Result<Self, ExceptionText> {
        Selector::compile(text, rules.0).map_err(|error| error.message.into())
    }
}

/// A property that holds an expression.
pub struct CompiledProperty<T: Compile> {
    template: Template,
    rules: T::Rules,
    constant: Option<Result<Arc<T>, ExceptionText>>,
}

/// An expression ready for use, with its text.
pub struct Ready<'a, T> {
    pub text: Text<'a>,
    pub outcome: Result<Use<'a, T>, ExceptionText>,
}

/// An expression of the plan, or one that this worker has compiled. It is borrowed from the plan, since a refcount that all
/// workers share would be contended; a search in the pool gets a clone.
pub type Use<'a, T> = Cow<'a, Arc<T>>;

impl<T: Compile> CompiledProperty<T> {
    /// Warns about a constant expression that cannot be compiled: JMeter then fails on every sample.
    pub fn new(d: &mut Decoder, template: Template, rules: T::Rules) -> CompiledProperty<T> {
        let constant = template
            .literal()
            .map(|text| T::compile(text, rules).map(Arc::new));
        if let Some(Err(message)) = &constant {
            d.warn(
                "expression-malformed",
                format!(
                    "'{}' in '{}' is malformed: {message}",
                    template.source(),
                    d.element.name
                ),
            );
        }
        CompiledProperty {
            template,
            rules,
            constant,
        }
    }

    /// See [`Template::repeat`].
    pub fn repeat(&self, cx: &mut dyn Scope, times: usize) {
        self.template.repeat(cx, times);
    }

    pub fn get(&self, cx: &mut dyn Scope) -> Ready<'_, T> {
        self.get_by(cx, self.rules)
    }

    /// The expression by other rules than those it was compiled by.
    pub fn get_by(&self, cx: &mut dyn Scope, rules: T::Rules) -> Ready<'_, T> {
        let text = self.template.eval(cx);
        let is_own = rules.into() == self.rules.into();
        let outcome = match self.constant.as_ref().filter(|_| is_own) {
            Some(Ok(expression)) => Ok(Use::Borrowed(expression)),
            Some(Err(message)) => Err(message.clone()),
            None => computed(&text, rules).map(Use::Owned),
        };
        Ready { text, outcome }
    }
}

type Key = (TypeId, u8, Box<str>);

thread_local! {
    static CACHE: RefCell<HashMap<Key, Arc<dyn Any + Send + Sync>>> = RefCell::default();
}

/// The compiled form of a text that is known only at run time.
///
/// # Errors
/// As [`Compile::compile`].
pub fn computed<T: Compile>(text: &str, rules: T::Rules) -> Result<Arc<T>, ExceptionText> {
    CACHE.with_borrow_mut(|cache| {
        let key = (TypeId::of::<T>(), rules.into(), Box::from(text));
        if let Some(known) = cache.get(&key) {
            return Ok(known.clone().downcast().expect("the key holds the type"));
        }
        let expression = Arc::new(T::compile(text, rules)?);
        if cache.len() >= CAPACITY {
            cache.clear();
        }
        cache.insert(key, expression.clone());
        Ok(expression)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const ORO: RegexRules = RegexRules(Dialect::Oro);

    #[test]
    fn computed_expressions_are_compiled_once_per_text_and_rules() {
        let first = computed::<Pattern>("a+", ORO).expect("a pattern");
        assert!(Arc::ptr_eq(
            &first,
            &computed::<Pattern>("a+", ORO).expect("a pattern")
        ));
        let java = computed::<Pattern>("a+", RegexRules(Dialect::Java)).expect("a pattern");
        assert!(!Arc::ptr_eq(&first, &java));
        assert!(computed::<Pattern>("(", ORO).is_err());
    }

    #[test]
    fn constant_expressions_are_compiled_with_the_plan() {
        let xml = r#"<RegexExtractor guiclass="x" testclass="RegexExtractor" testname="r">
            <stringProp name="a">a(b</stringProp><stringProp name="b">${p}c</stringProp></RegexExtractor>"#;
        let (decoded, mut cx, findings) = fixture::decode_with_findings(&[], xml, |d| {
            let (a, b) = (d.template("a"), d.template("b"));
            (
                CompiledProperty::<Pattern>::new(d, a, ORO),
                CompiledProperty::<Pattern>::new(d, b, ORO),
            )
        });
        assert_eq!(findings.len(), 1);
        assert!(decoded.0.get(&mut cx).outcome.is_err());
        cx.vars.set_named("p", "x+".into());
        let ready = decoded.1.get(&mut cx);
        assert_eq!(&*ready.text, "x+c");
        assert!(ready.outcome.is_ok_and(|pattern| pattern.is_match("xxc")));
    }
}
