//! Reads properties that may hold a variable although JMeter's window shows a box or a number.

use drumfire_elements::Property;
use drumfire_expr::Template;
use drumfire_java::values;

use crate::decode::Decoder;
pub use crate::run::property::{Choice, Flag, Unused, WholeNumber};

impl Flag {
    pub fn decode(d: &mut Decoder, name: &str, default: bool) -> Flag {
        if !d.element.props.has(name) {
            return Flag::Fixed(default);
        }
        Flag::of(d.template(name))
    }

    pub fn of(template: Template) -> Flag {
        match template.literal() {
            Some(text) => Flag::Fixed(values::property_bool(text)),
            None => Flag::Computed(template),
        }
    }
}

impl WholeNumber {
    pub fn decode(d: &mut Decoder, name: &str, default: i32) -> WholeNumber {
        if !d.element.props.has(name) {
            return WholeNumber::Fixed(default);
        }
        WholeNumber::of(d.template(name))
    }

    pub fn of(template: Template) -> WholeNumber {
        match template.literal() {
            Some(text) => WholeNumber::Fixed(crate::base::number::int(text)),
            None => WholeNumber::Computed(template),
        }
    }
}

impl<T: Copy> Choice<T> {
    /// A missing property is the word `default`.
    pub fn decode(d: &mut Decoder, name: &str, default: &str, read: fn(&str) -> T) -> Choice<T> {
        if !d.element.props.has(name) {
            return Choice::Fixed(read(default));
        }
        let template = d.template(name);
        match template.literal() {
            Some(text) => Choice::Fixed(read(text)),
            None => Choice::Computed(template, read),
        }
    }
}

impl Unused {
    pub fn decode(d: &mut Decoder, properties: &[Property]) -> Unused {
        let templates = properties.iter().map(|property| d.template(property.name));
        Unused(templates.filter(Template::is_stateful).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn missing_ones_have_their_default_and_texts_are_read_as_java_does() {
        let xml = r#"<SizeAssertion guiclass="x" testclass="SizeAssertion" testname="s">
            <boolProp name="t">true</boolProp><stringProp name="no">yes</stringProp><stringProp name="var">${v}</stringProp>
            <intProp name="seven">7</intProp><stringProp name="bad">7 </stringProp></SizeAssertion>"#;
        let ((flags, numbers), mut cx) = fixture::decode(xml, |d| {
            let flags = ["missing", "t", "no", "var"].map(|name| Flag::decode(d, name, true));
            (
                flags,
                ["missing", "seven", "bad", "var"].map(|name| WholeNumber::decode(d, name, -1)),
            )
        });
        cx.vars.set_named("v", "TRUE".into());
        assert_eq!(
            flags.map(|flag| flag.get(&mut cx)),
            [true, true, false, true]
        );
        cx.vars.set_named("v", "-3".into());
        assert_eq!(numbers.map(|number| number.get(&mut cx)), [-1, 7, 0, -3]);
    }
}
