//! `Arguments` tables: the rows of names and values that several elements contain.

use drumfire_expr::Template;
use drumfire_jmx::Value;

use crate::decode::Decoder;
use crate::run::assignments::Assignments;

/// Decodes the rows of the `Arguments` element in a property. Of rows with the same name, the first one counts
/// (`Arguments#getArgumentsAsMap`).
pub fn assignments(d: &mut Decoder, property: &str) -> Assignments {
    let element = d.element;
    let Some(table) = element.props.element(property) else {
        return Assignments(Box::default());
    };
    let mut rows: Vec<(Template, Template)> = Vec::new();
    for row in table.props.list("Arguments.arguments") {
        let Value::Element(row) = &row.value else {
            continue;
        };
        let name = d.compile(&row.props.str("Argument.name"));
        let is_repeated = rows
            .iter()
            .any(|(known, _)| known.source() == name.source());
        if !is_repeated {
            rows.push((name, d.compile(&row.props.str("Argument.value"))));
        }
    }
    for name in rows.iter().filter_map(|(name, _)| name.literal()) {
        d.decoding.compiler.intern(name);
    }
    Assignments(rows.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn variables_are_set_together_and_the_first_of_equal_names_counts() {
        let row = |name: &str, value: &str| {
            format!(
                r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
            )
        };
        let rows = row("x", "${y}") + &row("y", "2") + &row("x", "3");
        let xml = format!(
            r#"<kg.apc.jmeter.control.ParameterizedController guiclass="g" testclass="kg.apc.jmeter.control.ParameterizedController" testname="p">
            <elementProp name="ParameterizedController" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp></kg.apc.jmeter.control.ParameterizedController>"#
        );
        let (assignments, mut cx) =
            fixture::decode(&xml, |d| assignments(d, "ParameterizedController"));
        cx.vars.set_named("y", "1".into());
        assignments.apply(&mut cx);
        assert_eq!(fixture::variables(&cx, ""), ["x=1", "y=2"]);
    }
}
