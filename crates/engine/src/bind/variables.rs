//! User defined variables: the Test Plan's, then those of every User Defined Variables element wherever it stands, all
//! before the first user starts (`PreCompiler`).

use drumfire_elements::config::user_defined_variables::{self, VARIABLES};
use drumfire_elements::other::test_plan;
use drumfire_expr::Compiler;
use drumfire_jmx::Value;

use crate::decode::{Decoder, DecodingContext};
use crate::resolve::Element;

/// Defines the variables that hold the start of the run, from the properties that `JMeter#startTest` sets
/// (`JMeterVariables#preloadVariables`).
fn preload_dates(decoding: &mut DecodingContext) {
    for name in ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"] {
        if let Some(value) = decoding.settings.properties.get(name) {
            decoding.compiler.define(name, &*value);
        }
    }
}

/// User Defined Variables (`Arguments`): variables that every user starts with.
///
/// Property: `Arguments.arguments`, with `Argument.name` and `Argument.value`. Wherever the element stands, its values are
/// computed once, before the run. Functions in them see the variables defined earlier; functions in the Test Plan's own values
/// see none. If one element defines a name twice, its first value counts; if several elements define it, the last one counts.
pub fn define(element: &Element, decoding: &mut DecodingContext) {
    match element.class.as_str() {
        test_plan::CLASS => {
            let variables = element
                .props
                .element(test_plan::USER_DEFINED_VARIABLES.name);
            let arguments = variables.map_or(&[][..], |own| own.props.list(VARIABLES.name));
            // There are no variables yet (`PreCompiler#createVars`): variables that functions set are lost at once.
            let values = values(element, arguments, decoding, Compiler::forget_variables);
            preload_dates(decoding);
            define_all(values, decoding);
        }
        user_defined_variables::CLASS => {
            let props = element.props.clone();
            let values = values(element, props.list(VARIABLES.name), decoding, |_| ());
            define_all(values, decoding);
        }
        _ => {}
    }
    for child in &element.children {
        define(child, decoding);
    }
}

/// The names and values of one element: all are computed before any is defined (`Arguments#getArgumentsAsMap`).
fn values(
    element: &Element,
    arguments: &[drumfire_jmx::Prop],
    decoding: &mut DecodingContext,
    after_each: fn(&mut Compiler),
) -> Vec<(String, String)> {
    let mut decoder = Decoder::new(element, decoding);
    let mut values: Vec<(String, String)> = Vec::new();
    for argument in arguments {
        let Value::Element(argument) = &argument.value else {
            continue;
        };
        let name = decoder.compile(&argument.props.str("Argument.name"));
        let value = decoder.compile(&argument.props.str("Argument.value"));
        let (name, value) = (decoder.now(&name), decoder.now(&value));
        after_each(&mut decoder.decoding.compiler);
        // The first of two equal names counts: getArgumentsAsMap does not overwrite.
        if !values.iter().any(|(known, _)| *known == name) {
            values.push((name, value));
        }
    }
    values
}

fn define_all(values: Vec<(String, String)>, decoding: &mut DecodingContext) {
    for (name, value) in values {
        decoding.compiler.define(&name, value.as_str());
    }
}
