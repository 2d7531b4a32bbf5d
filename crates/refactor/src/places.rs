//! Lists the properties of elements that hold names of variables.

use drumfire_jmx::Node;

use crate::leaves::Leaf;
use crate::names::OccurrenceKind;

/// A property that holds names of variables: the class of the test element (empty for any); the property; the separator, if
/// there may be several names; whether they are set or read.
type Row = (&'static str, &'static str, Option<char>, OccurrenceKind);

const TABLE: &[Row] = &[
    (
        "CSVDataSet",
        "variableNames",
        Some(','),
        OccurrenceKind::Set,
    ),
    (
        "com.blazemeter.jmeter.RandomCSVDataSetConfig",
        "variableNames",
        Some(','),
        OccurrenceKind::Set,
    ),
    (
        "RegexExtractor",
        "RegexExtractor.refname",
        None,
        OccurrenceKind::Set,
    ),
    (
        "BoundaryExtractor",
        "BoundaryExtractor.refname",
        None,
        OccurrenceKind::Set,
    ),
    (
        "HtmlExtractor",
        "HtmlExtractor.refname",
        None,
        OccurrenceKind::Set,
    ),
    (
        "JSONPostProcessor",
        "JSONPostProcessor.referenceNames",
        Some(';'),
        OccurrenceKind::Set,
    ),
    (
        "JMESPathExtractor",
        "JMESExtractor.referenceName",
        None,
        OccurrenceKind::Set,
    ),
    (
        "XPathExtractor",
        "XPathExtractor.refname",
        None,
        OccurrenceKind::Set,
    ),
    (
        "XPath2Extractor",
        "XPathExtractor2.refname",
        None,
        OccurrenceKind::Set,
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        "VAR",
        None,
        OccurrenceKind::Set,
    ),
    (
        "CounterConfig",
        "CounterConfig.name",
        None,
        OccurrenceKind::Set,
    ),
    (
        "RandomVariableConfig",
        "variableName",
        None,
        OccurrenceKind::Set,
    ),
    (
        "ForeachController",
        "ForeachController.inputVal",
        None,
        OccurrenceKind::Read,
    ),
    (
        "ForeachController",
        "ForeachController.returnVal",
        None,
        OccurrenceKind::Set,
    ),
    (
        "UserParameters",
        "UserParameters.names",
        None,
        OccurrenceKind::Set,
    ),
    (
        "JDBCSampler",
        "variableNames",
        Some(','),
        OccurrenceKind::Set,
    ),
    (
        "JDBCPreProcessor",
        "variableNames",
        Some(','),
        OccurrenceKind::Set,
    ),
    (
        "JDBCPostProcessor",
        "variableNames",
        Some(','),
        OccurrenceKind::Set,
    ),
    ("JDBCSampler", "resultVariable", None, OccurrenceKind::Set),
    (
        "JDBCPreProcessor",
        "resultVariable",
        None,
        OccurrenceKind::Set,
    ),
    (
        "JDBCPostProcessor",
        "resultVariable",
        None,
        OccurrenceKind::Set,
    ),
    (
        "KeystoreConfig",
        "clientCertAliasVarName",
        None,
        OccurrenceKind::Read,
    ),
    ("", "Scope.variable", None, OccurrenceKind::Read),
];

/// Elements whose arguments are variables, and the property that holds the arguments; empty for the element itself.
const ARGUMENTS: &[(&str, &str)] = &[
    ("Arguments", "Arguments.arguments"),
    ("TestPlan", "TestPlan.user_defined_variables"),
    ("com.blazemeter.jmeter.control.ParameterizedController", ""),
    ("com.blazemeter.jmeter.sampler.SetVariablesAction", ""),
];

/// Extractors and other elements that also set parts of a variable: `name_1`, `name_matchNr`, `name_g1`.
const WITH_PARTS: &[&str] = &[
    "RegexExtractor",
    "BoundaryExtractor",
    "HtmlExtractor",
    "JSONPostProcessor",
    "JMESPathExtractor",
    "XPathExtractor",
    "XPath2Extractor",
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
    "JDBCSampler",
    "JDBCPreProcessor",
    "JDBCPostProcessor",
    "ForeachController",
];

/// If a text holds names of variables: their separator, and whether they are set or read.
pub fn variable_property(leaf: &Leaf<'_>) -> Option<(Option<char>, OccurrenceKind)> {
    if leaf.name == "Argument.name" && leaf.class == "Argument" {
        let is_variable = |(class, top): &&(&str, &str)| {
            leaf.node.class == *class && (top.is_empty() || leaf.top == *top)
        };
        return ARGUMENTS
            .iter()
            .find(is_variable)
            .map(|_| (None, OccurrenceKind::Set));
    }
    let row = TABLE.iter().find(|(class, property, ..)| {
        *property == leaf.name && (class.is_empty() || leaf.node.class == *class)
    });
    row.map(|(.., separator, kind)| (*separator, *kind))
}

/// Whether an element that sets a variable also sets its parts.
pub(crate) fn sets_parts(node: &Node) -> bool {
    WITH_PARTS.contains(&node.class.as_str())
}

/// Whether an element is a script.
pub fn is_script(node: &Node) -> bool {
    let kinds = ["JSR223", "BeanShell", "BSF"];
    kinds.iter().any(|kind| node.class.starts_with(kind))
}
