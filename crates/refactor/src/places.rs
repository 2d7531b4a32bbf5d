//! Lists the properties of elements that hold names of variables.

use drumfire_jmx::Node;

use crate::leaves::Leaf;
use crate::names::Kind;

/// A property that holds names of variables: the class of the test element (empty for any); the property; the separator, if
/// there may be several names; whether they are set or read.
type Row = (&'static str, &'static str, Option<char>, Kind);

const TABLE: &[Row] = &[
    ("CSVDataSet", "variableNames", Some(','), Kind::Set),
    (
        "com.blazemeter.jmeter.RandomCSVDataSetConfig",
        "variableNames",
        Some(','),
        Kind::Set,
    ),
    ("RegexExtractor", "RegexExtractor.refname", None, Kind::Set),
    (
        "BoundaryExtractor",
        "BoundaryExtractor.refname",
        None,
        Kind::Set,
    ),
    ("HtmlExtractor", "HtmlExtractor.refname", None, Kind::Set),
    (
        "JSONPostProcessor",
        "JSONPostProcessor.referenceNames",
        Some(';'),
        Kind::Set,
    ),
    (
        "JMESPathExtractor",
        "JMESExtractor.referenceName",
        None,
        Kind::Set,
    ),
    ("XPathExtractor", "XPathExtractor.refname", None, Kind::Set),
    (
        "XPath2Extractor",
        "XPathExtractor2.refname",
        None,
        Kind::Set,
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        "VAR",
        None,
        Kind::Set,
    ),
    ("CounterConfig", "CounterConfig.name", None, Kind::Set),
    ("RandomVariableConfig", "variableName", None, Kind::Set),
    (
        "ForeachController",
        "ForeachController.inputVal",
        None,
        Kind::Read,
    ),
    (
        "ForeachController",
        "ForeachController.returnVal",
        None,
        Kind::Set,
    ),
    ("UserParameters", "UserParameters.names", None, Kind::Set),
    ("JDBCSampler", "variableNames", Some(','), Kind::Set),
    ("JDBCPreProcessor", "variableNames", Some(','), Kind::Set),
    ("JDBCPostProcessor", "variableNames", Some(','), Kind::Set),
    ("JDBCSampler", "resultVariable", None, Kind::Set),
    ("JDBCPreProcessor", "resultVariable", None, Kind::Set),
    ("JDBCPostProcessor", "resultVariable", None, Kind::Set),
    ("KeystoreConfig", "clientCertAliasVarName", None, Kind::Read),
    ("", "Scope.variable", None, Kind::Read),
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
pub fn variable_property(leaf: &Leaf<'_>) -> Option<(Option<char>, Kind)> {
    if leaf.name == "Argument.name" && leaf.class == "Argument" {
        let is_variable = |(class, top): &&(&str, &str)| {
            leaf.node.class == *class && (top.is_empty() || leaf.top == *top)
        };
        return ARGUMENTS
            .iter()
            .find(is_variable)
            .map(|_| (None, Kind::Set));
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
