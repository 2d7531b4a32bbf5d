//! GraphQL HTTP Request.

use crate::form::{ElementFacts, Language, Property, Role, code, section, text};
use crate::shared::http;

pub use crate::samplers::http_request::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "GraphQL HTTP Request",
    "GraphQLHTTPSamplerGui",
)
.help("Sends a GraphQL query over HTTP.")
.sections(&[
    http::SERVER,
    http::GRAPHQL_REQUEST,
    section("GraphQL", &[OPERATION_NAME, QUERY, VARIABLES]),
    http::CLIENT,
    http::TIMEOUTS,
    http::EMBEDDED,
    http::SOURCE,
    http::PROXY,
    http::OPTIONAL,
])
.since("5.5");

pub const OPERATION_NAME: Property = text("GraphQLHTTPSampler.operationName")
    .label("Operation Name")
    .help("Names the operation of the query that runs.");

pub const QUERY: Property = code("GraphQLHTTPSampler.query", Language::GraphQl)
    .label("Query")
    .help("Holds the query.");

pub const VARIABLES: Property = code("GraphQLHTTPSampler.variables", Language::Json)
    .label("Variables")
    .help("Holds the variables of the query as JSON.");
