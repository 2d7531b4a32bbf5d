//! Shared by the JSON assertions: the settings, and comparing with a pattern (`JSONPathAssertion`, `JMESPathAssertion`).

use drumfire_elements::shared::expectation as facts;
use drumfire_expr::Template;
use drumfire_query::regex::{Dialect, Pattern};

use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, RegexRules};
use crate::decode::setting::Flag;
use crate::run::view::AssertionView;

/// The settings `EXPECTED_VALUE`, `JSONVALIDATION`, `EXPECT_NULL`, `INVERT` and `ISREGEX`.
///
/// The assertions evaluate them where JMeter's do, so that each is evaluated as often.
pub struct Expectation {
    value: Expected,
    dialect: Dialect,
    /// Compare the value; otherwise it only has to exist.
    pub validates: Flag,
    pub null: Flag,
    pub invert: Flag,
    pub regex: Flag,
}

enum Expected {
    /// Never read as a pattern, so not compiled.
    Text(Template),
    Pattern(Box<CompiledProperty<Pattern>>),
}

impl Expectation {
    pub fn decode(d: &mut Decoder) -> Expectation {
        let rules = RegexRules::new(&d.settings().properties);
        let validates = Flag::decode(d, facts::COMPARES.name, false);
        let regex = Flag::decode(d, facts::IS_REGEX.name, true);
        let template = d.template(facts::EXPECTED_VALUE.name);
        let value = match (&validates, &regex) {
            (Flag::Fixed(false), _) | (_, Flag::Fixed(false)) => Expected::Text(template),
            _ => Expected::Pattern(Box::new(CompiledProperty::new(d, template, rules))),
        };
        Expectation {
            value,
            dialect: rules.0,
            validates,
            null: Flag::decode(d, facts::EXPECT_NULL.name, false),
            invert: Flag::decode(d, facts::INVERT.name, false),
            regex,
        }
    }

    /// The expected value as it is written.
    pub fn text(&self, cx: &mut AssertionView) -> String {
        match &self.value {
            Expected::Text(template) => template.eval(cx).into_string(),
            Expected::Pattern(pattern) => pattern.get(cx).text.into_string(),
        }
    }

    /// Whether one of the texts matches the pattern as a whole.
    ///
    /// # Errors
    /// The message of the exception for a malformed pattern.
    pub fn matches(&self, cx: &mut AssertionView, text: &str) -> Result<bool, ExceptionText> {
        let Expected::Pattern(pattern) = &self.value else {
            return Ok(false);
        };
        let pattern = pattern.get(cx).outcome.map_err(|exception| {
            let class = match self.dialect {
                Dialect::Oro => "org.apache.oro.text.MalformedCachePatternException: ",
                Dialect::Java => "java.util.regex.PatternSyntaxException: ",
            };
            exception.without(class)
        })?;
        Ok(pattern.full_match(text))
    }
}

#[cfg(test)]
pub mod tests {
    /// An element with an expectation; `flags` are validation, null, invert and regex.
    pub fn element(
        class: &str,
        (property, path): (&str, &str),
        expected: &str,
        flags: &str,
    ) -> String {
        let expected = expected.replace('"', "&quot;");
        let names = ["JSONVALIDATION", "EXPECT_NULL", "INVERT", "ISREGEX"];
        let flags = names.iter().zip(flags.chars());
        let flags: String = flags
            .map(|(name, flag)| format!(r#"<boolProp name="{name}">{}</boolProp>"#, flag == '1'))
            .collect();
        format!(
            r#"<{class} guiclass="x" testclass="{class}" testname="j"><stringProp name="{property}">{path}</stringProp>
            <stringProp name="EXPECTED_VALUE">{expected}</stringProp>{flags}</{class}>"#
        )
    }
}
