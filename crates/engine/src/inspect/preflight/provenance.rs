//! Finds out where a text's value comes from: which properties it reads, directly or through user defined variables, and
//! whether the value is known before the run.

use drumfire_elements::config::user_defined_variables::{self, VARIABLES};
use drumfire_elements::items;
use drumfire_elements::other::test_plan;
use drumfire_expr::{Compiler, Properties, Template};
use drumfire_jmx::Value;

use crate::inspect::advice::AdvisedPlan;
use crate::inspect::advice::references::{is_call, references};

/// How deep variables may refer to variables.
const DEEPEST: usize = 16;
/// How many definitions are followed for one text.
const MOST_TEXTS: usize = 1_000;

/// The plan's user defined variables, as the plan spells them.
pub struct Definitions {
    texts: Vec<(String, String)>,
    compiler: Compiler,
}

/// The origin of a text's value.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ValueOrigin {
    /// Properties, in the order of the text.
    pub properties: Vec<String>,
    /// Nothing but properties and user defined variables decides the value.
    pub is_known: bool,
}

impl Definitions {
    /// Collects the variables of the Test Plan and of all User Defined Variables. If a name occurs twice, the last one counts.
    pub fn of(sight: &AdvisedPlan) -> Definitions {
        let mut texts = Vec::new();
        for element in &sight.all {
            let arguments = match element.class.as_str() {
                test_plan::CLASS => element
                    .props
                    .element(test_plan::USER_DEFINED_VARIABLES.name)
                    .map_or(&[][..], |own| own.props.list(VARIABLES.name)),
                user_defined_variables::CLASS => element.props.list(VARIABLES.name),
                _ => continue,
            };
            for argument in arguments {
                if let Value::Element(argument) = &argument.value {
                    let text = |name: &str| argument.props.str(name).into_owned();
                    texts.push((text(items::NAME.name), text(items::VALUE.name)));
                }
            }
        }
        Definitions::new(texts, sight.settings.properties.clone())
    }

    fn new(texts: Vec<(String, String)>, properties: Properties) -> Definitions {
        let mut definitions = Definitions {
            texts,
            compiler: Compiler::new(properties),
        };
        for (name, text) in definitions.texts.clone() {
            if let Some((value, _)) = definitions.value(&text) {
                definitions.compiler.define(&name, value.as_str());
            }
        }
        definitions
    }

    /// A text's value before the run, and where it comes from; `None` if anything but properties and user defined variables
    /// decides it. Other functions are not called here, so that functions with side effects run only once.
    pub fn value(&mut self, text: &str) -> Option<(String, ValueOrigin)> {
        let origin = self.origin(text);
        if !origin.is_known {
            return None;
        }
        let template = Template::compile(text, &mut self.compiler).ok()?;
        let value = template.eval(self.compiler.scope_mut()).into_string();
        Some((value, origin))
    }

    /// The origin of a text's value.
    fn origin(&self, text: &str) -> ValueOrigin {
        let mut origin = ValueOrigin {
            properties: Vec::new(),
            is_known: true,
        };
        self.add(text, DEEPEST, &mut { MOST_TEXTS }, &mut origin);
        origin
    }

    fn add(&self, text: &str, deepest: usize, left: &mut usize, origin: &mut ValueOrigin) {
        for reference in references(text) {
            if is_call(reference) {
                match property_read(reference) {
                    Some(name) => origin.properties.push(name.to_owned()),
                    None => origin.is_known = false,
                }
            } else {
                let name = reference.trim();
                let known = self.texts.iter().rfind(|(known, _)| known == name);
                match known {
                    Some((_, value)) if deepest > 0 && *left > 0 => {
                        *left -= 1;
                        self.add(value, deepest - 1, left, origin);
                    }
                    _ => origin.is_known = false,
                }
            }
        }
    }
}

/// The property that a call of `__P` or `__property` reads; `None` if it is another call, or computes the name.
pub fn property_read(reference: &str) -> Option<&str> {
    let call = reference.trim_start();
    let arguments = call
        .strip_prefix("__P(")
        .or_else(|| call.strip_prefix("__property("))?;
    let end = arguments.find([',', ')'])?;
    let name = arguments[..end].trim();
    (!name.is_empty() && !name.contains("${")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(pairs: &[(&str, &str)]) -> Definitions {
        let pairs = pairs.iter();
        let texts = pairs.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Definitions::new(texts.collect(), Properties::new())
    }

    #[test]
    fn properties_are_found_through_variables() {
        let mut known = definitions(&[
            ("users", "${__P(n,${base})}"),
            ("base", "${__property(b)}"),
            ("loop", "${loop}"),
        ]);
        let origin = known.origin("${users}");
        assert_eq!(origin.properties, ["n", "b"]);
        assert!(origin.is_known);
        assert!(!known.origin("${csv}").is_known);
        assert!(!known.origin("${__time()}").is_known);
        assert!(!known.origin("${loop}").is_known);
        assert!(known.origin("50").is_known);
        assert_eq!(
            known
                .value("${__P(n,7)}")
                .map(|(value, _)| value)
                .as_deref(),
            Some("7")
        );
    }

    #[test]
    fn the_name_of_a_property_is_the_first_argument() {
        assert_eq!(property_read("__P( users ,1)"), Some("users"));
        assert_eq!(property_read("__property(a.b)"), Some("a.b"));
        assert_eq!(property_read("__P(${x},1)"), None);
        assert_eq!(property_read("__setProperty(a,1)"), None);
    }
}
