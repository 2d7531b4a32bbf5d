//! The fields of elements that send SQL.

use crate::form::{Language, Property, Section, choice, code, same, section, text, whole};

pub const STATEMENT: Section = section(
    "SQL Query",
    &[
        QUERY_TYPE,
        QUERY,
        QUERY_ARGUMENTS,
        QUERY_ARGUMENTS_TYPES,
        VARIABLE_NAMES,
        RESULT_VARIABLE,
        QUERY_TIMEOUT,
        MAX_ROWS,
        RESULT_SET_HANDLER,
    ],
);

pub const PROCESSOR_STATEMENT: Section = section(
    "SQL Query",
    &[
        QUERY_TYPE,
        QUERY,
        QUERY_ARGUMENTS,
        QUERY_ARGUMENTS_TYPES,
        VARIABLE_NAMES,
        RESULT_VARIABLE,
        QUERY_TIMEOUT.label("Query timeout"),
        MAX_ROWS,
        RESULT_SET_HANDLER,
    ],
);

pub const POOL: Property = text("dataSource")
    .label("Variable Name of Pool declared in JDBC Connection Configuration")
    .reads()
    .help("Names the connection pool that runs the statement.");

pub const QUERY_TYPE: Property = choice(
    "queryType",
    &[
        same("Select Statement"),
        same("Update Statement"),
        same("Callable Statement"),
        same("Prepared Select Statement"),
        same("Prepared Update Statement"),
        same("Commit"),
        same("Rollback"),
        same("AutoCommit(false)"),
        same("AutoCommit(true)"),
    ],
)
.label("Query Type")
.default("Select Statement")
.help("Says what kind of statement it is.");

pub const QUERY: Property = code("query", Language::Sql)
    .label("Query")
    .help("Holds the statement.");

pub const QUERY_ARGUMENTS: Property = text("queryArguments").label("Parameter values").help("Lists the values of the parameters of a prepared or callable statement, with commas between them.");

pub const QUERY_ARGUMENTS_TYPES: Property = text("queryArgumentsTypes").label("Parameter types").help("Lists the SQL types of the parameters, with `OUT` or `INOUT` in front where a callable statement returns them.");

pub const VARIABLE_NAMES: Property = text("variableNames").label("Variable names").sets_each_with_parts(',').help("Names variables for the columns: `name_1` is the first row, and `name_#` the number of rows.");

pub const RESULT_VARIABLE: Property = text("resultVariable")
    .label("Result variable name")
    .sets()
    .help("Names a variable that holds all rows as a list of maps.");

pub const QUERY_TIMEOUT: Property = whole("queryTimeout")
    .label("Query timeout (s)")
    .help("Ends the statement after this many seconds.");

pub const MAX_ROWS: Property = whole("resultSetMaxRows")
    .label("Limit ResultSet")
    .help("Reads at most this many rows.");

pub const RESULT_SET_HANDLER: Property = choice(
    "resultSetHandler",
    &[
        same("Store as String"),
        same("Store as Object"),
        same("Count Records"),
    ],
)
.label("Handle ResultSet")
.default("Store as String")
.help("Says how columns are stored in variables.");
