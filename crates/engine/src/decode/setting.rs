//! Properties that may hold a variable although JMeter's window shows a box or a number. They are evaluated for each sample.

use drumfire_expr::Template;
use drumfire_java::values;

use crate::decode::Decoder;
use crate::run::context::Context;

/// A boolean property (`AbstractProperty#getBooleanValue`).
pub enum Flag {
    Fixed(bool),
    Computed(Template),
}

impl Flag {
    pub fn decode(d: &mut Decoder, name: &str, default: bool) -> Flag {
        if !d.element.props.has(name) {
            return Flag::Fixed(default);
        }
        let template = d.template(name);
        match template.literal() {
            Some(text) => Flag::Fixed(values::property_bool(text)),
            None => Flag::Computed(template),
        }
    }

    pub fn get(&self, cx: &mut Context) -> bool {
        match self {
            Flag::Fixed(value) => *value,
            Flag::Computed(template) => values::property_bool(&template.eval(cx)),
        }
    }
}

/// A whole number (`AbstractProperty#getIntValue`, which returns 0 for any other text).
pub enum WholeNumber {
    Fixed(i32),
    Computed(Template),
}

impl WholeNumber {
    pub fn decode(d: &mut Decoder, name: &str, default: i32) -> WholeNumber {
        if !d.element.props.has(name) {
            return WholeNumber::Fixed(default);
        }
        let template = d.template(name);
        match template.literal() {
            Some(text) => WholeNumber::Fixed(crate::base::number::int(text)),
            None => WholeNumber::Computed(template),
        }
    }

    pub fn get(&self, cx: &mut Context) -> i32 {
        match self {
            WholeNumber::Fixed(value) => *value,
            WholeNumber::Computed(template) => crate::base::number::int(&template.eval(cx)),
        }
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
