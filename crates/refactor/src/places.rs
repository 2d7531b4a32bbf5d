//! Says which texts of elements hold names of variables.

use drumfire_elements::{Access, Names};

use crate::leaves::Leaf;
use crate::names::OccurrenceKind;

/// How a text names variables, if it does.
pub fn variable_property(leaf: &Leaf<'_>) -> Option<Names> {
    drumfire_elements::variable_names(&leaf.node.class, leaf.top, leaf.name)
}

impl From<Access> for OccurrenceKind {
    fn from(access: Access) -> OccurrenceKind {
        match access {
            Access::Sets => OccurrenceKind::Set,
            Access::Reads => OccurrenceKind::Read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::joined::{Joined, PlanFile};
    use crate::rename::rename_variable;

    /// An element with one more property in XML.
    fn element(class: &str, props: &str) -> String {
        format!(
            r#"<{class} guiclass="G" testclass="{class}" testname="e">{props}</{class}><hashTree/>"#
        )
    }

    fn text(name: &str, value: &str) -> String {
        format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
    }

    /// The plan with these elements after the variable `user` has become `customer`.
    fn renamed(elements: &str) -> String {
        let reader = element("HTTPSamplerProxy", &text("HTTPSampler.path", "/${user}"));
        let plan = drumfire_testkit::plans::plan(&format!(r#"{elements}{reader}"#));
        let path = Path::new("p.jmx");
        let tree = drumfire_jmx::read(plan.as_bytes(), path)
            .expect("a plan")
            .tree;
        let joined = Joined::of(vec![PlanFile::new(path.to_path_buf(), tree)]);
        let renamed = rename_variable(&joined, "user", "customer", false);
        let mut changes = renamed.expect("it has the variable").changes;
        assert!(changes[0].text.contains("/${customer}"));
        changes.remove(0).text
    }

    #[test]
    fn every_setter_and_reader_of_a_variable_follows_its_rename() {
        for (class, property) in [
            ("kg.apc.jmeter.config.redis.RedisDataSet", "variableNames"),
            ("kg.apc.jmeter.modifiers.FifoPopPreProcessor", "Variable"),
            ("ResultSaver", "FileSaver.variablename"),
            ("RegExUserParameters", "RegExUserParameters.regex_ref_name"),
            ("JDBCDataSource", "dataSource"),
            ("JDBCSampler", "dataSource"),
            (
                "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
                "VARIABLE",
            ),
            ("XPath2Assertion", "Scope.variable"),
        ] {
            let plan = renamed(&element(class, &text(property, "user")));
            let expected = text(property, "customer");
            assert!(plan.contains(&expected), "{class} {property}: {plan}");
        }
    }

    #[test]
    fn tables_of_variables_follow_a_rename_in_every_element_that_has_one() {
        let argument = |name: &str| {
            format!(
                r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">1</stringProp></elementProp>"#
            )
        };
        let list = |name: &str| {
            format!(
                r#"<collectionProp name="Arguments.arguments">{}</collectionProp>"#,
                argument(name)
            )
        };
        for (class, property) in [
            (
                "kg.apc.jmeter.control.sampler.SetVariablesAction",
                "SetVariablesAction",
            ),
            (
                "kg.apc.jmeter.control.ParameterizedController",
                "ParameterizedController",
            ),
        ] {
            let table = |name: &str| {
                format!(
                    r#"<elementProp name="{property}" elementType="Arguments">{}</elementProp>"#,
                    list(name)
                )
            };
            let plan = renamed(&element(class, &table("user")));
            assert!(plan.contains(&table("customer")), "{class}: {plan}");
        }
        // The parameters of a request are no variables.
        let request = format!(
            r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments">{}</elementProp>"#,
            list("user")
        );
        let elements = [
            element("CounterConfig", &text("CounterConfig.name", "user")),
            element("HTTPSamplerProxy", &request),
        ];
        assert!(renamed(&elements.concat()).contains(&request));
    }
}
