//! The values that variables have at the start of a run.

use drumfire_elements::config::user_defined_variables::{self, VARIABLES};
use drumfire_elements::items;
use drumfire_elements::other::test_plan;
use drumfire_expr::{Compiler, Properties, Template};
use drumfire_jmx::{Node, Prop, Tree, Value};

/// The User Defined Variables of a plan as names and texts, those of the Test Plan first.
pub fn defined(tree: &Tree) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut open: Vec<&Node> = tree.roots.iter().rev().collect();
    while let Some(node) = open.pop() {
        open.extend(node.children.iter().rev());
        if !node.enabled {
            continue;
        }
        match node.class.as_str() {
            user_defined_variables::CLASS => {
                arguments(node.props.list(VARIABLES.name), &mut variables);
            }
            test_plan::CLASS => {
                if let Some(of_plan) = node.props.element(test_plan::USER_DEFINED_VARIABLES.name) {
                    arguments(of_plan.props.list(VARIABLES.name), &mut variables);
                }
            }
            _ => {}
        }
    }
    variables
}

fn arguments(items: &[Prop], found: &mut Vec<(String, String)>) {
    for item in items {
        if let Value::Element(argument) = &item.value {
            let text = |name: &str| argument.props.str(name).into_owned();
            found.push((text(items::NAME.name), text(items::VALUE.name)));
        }
    }
}

/// The value of a text before the first sample; `None` if only Java or a running user can evaluate it.
pub fn evaluated(
    text: &str,
    defined: &[(String, String)],
    properties: &[(String, String)],
) -> Option<String> {
    let all = Properties::new();
    for (name, value) in properties {
        all.set(name, value.as_str());
    }
    let mut compiler = Compiler::new(all);
    for (name, text) in defined {
        if let Some(value) = value(text, &mut compiler) {
            compiler.define(name, value);
        }
    }
    value(text, &mut compiler)
}

fn value(text: &str, compiler: &mut Compiler) -> Option<String> {
    let template = Template::compile(text, compiler).ok()?;
    if template.needs_jvm() {
        return None;
    }
    let value = template.eval(compiler.scope_mut()).to_string();
    // A variable without a value stays unexpanded.
    (!value.contains("${")).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_values_of_the_start() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let defined = [
            pair("host", "${__P(host,shop.example)}"),
            pair("port", "8080"),
            pair("url", "http://${host}:${port}"),
        ];
        let value =
            |text: &str, properties: &[(String, String)]| evaluated(text, &defined, properties);
        assert_eq!(
            value("${url}/a", &[]).as_deref(),
            Some("http://shop.example:8080/a")
        );
        let set = [pair("host", "h")];
        assert_eq!(value("${url}", &set).as_deref(), Some("http://h:8080"));
        assert_eq!(value("${token}", &[]), None);
        assert_eq!(value("${__groovy(1)}", &[]), None);
    }
}
