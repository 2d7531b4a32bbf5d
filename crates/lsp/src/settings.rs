//! The property of an element at a position, as the element's facts describe it.

use drumfire_elements::{ElementFacts, Kind, Property};
use drumfire_refactor::PlanFile;

use crate::workspace::element_at;

/// How far back to search for the start of a property. A longer text is a script, whose words mean something else.
const LONGEST: usize = 2_000;

/// The facts of the element at a position.
pub fn facts(plan: &PlanFile, offset: usize) -> Option<&'static ElementFacts> {
    let at = element_at(&plan.index().elements, offset)?;
    let element = &plan.index().elements[at];
    drumfire_elements::of_form(&element.class, &element.gui)
}

/// The property whose tag or text stands at a position.
pub fn at(plan: &PlanFile, text: &str, offset: usize) -> Option<&'static Property> {
    let start = text[..text.floor_char_boundary(offset)].rfind('<')?;
    if offset - start > LONGEST {
        return None;
    }
    let tag = &text[start..];
    let name = name(&tag[..tag.find('>')?])?;
    facts(plan, offset)?.property(name, name)
}

/// The name in the opening tag of a property, such as `<stringProp name="a"`.
pub fn name(tag: &str) -> Option<&str> {
    let (kind, attributes) = tag.strip_prefix('<')?.split_once(char::is_whitespace)?;
    let (_, named) = attributes.split_once("name=\"")?;
    let (name, _) = named.split_once('"')?;
    kind.ends_with("Prop").then_some(name)
}

/// The values that the form offers, each with its label.
pub fn choices(property: &Property) -> Vec<(&'static str, &'static str)> {
    match property.kind {
        Kind::Flag => vec![("true", ""), ("false", "")],
        Kind::Choice(choices) => choices
            .iter()
            .map(|choice| (choice.value, choice.label))
            .collect(),
        Kind::Suggested(values) => values.iter().map(|value| (*value, "")).collect(),
        _ => Vec::new(),
    }
}

/// Markdown about a property.
pub fn describe(property: &Property) -> String {
    let mut text = match property.label {
        "" => format!("**`{}`**\n", property.name),
        label => format!("**{label}** (`{}`)\n", property.name),
    };
    let mut paragraph = |words: String| text.push_str(&format!("\n{words}\n"));
    paragraph(property.help.to_owned());
    if !matches!(property.kind, Kind::Flag) {
        let values: Vec<String> = choices(property)
            .into_iter()
            .map(|(value, label)| match label {
                "" => format!("`{value}`"),
                label if label == value => format!("`{value}`"),
                label => format!("`{value}` ({label})"),
            })
            .collect();
        if !values.is_empty() {
            paragraph(format!("Values: {}", values.join(", ")));
        }
    }
    if !property.default.is_empty() {
        paragraph(format!("Default: `{}`", property.default));
    }
    if !property.since.is_empty() {
        paragraph(format!("Since {}", property.since));
    }
    if !property.differs.is_empty() {
        paragraph(format!("Differs from JMeter: {}", property.differs));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_its_property() {
        for (tag, expected) in [
            ("<stringProp name=\"a.b\"", Some("a.b")),
            ("<elementProp name=\"a\" elementType=\"B\"", Some("a")),
            ("<CSVDataSet testname=\"a\"", None),
            ("</stringProp", None),
            ("<stringProp", None),
        ] {
            assert_eq!(name(tag), expected, "{tag}");
        }
    }
}
