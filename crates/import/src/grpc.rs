//! A plan with a GRPC Request for each method of a service.

use drumfire_elements::samplers::grpc_request;
use drumfire_jmx::{Node, Tree};

use crate::elements;

/// A method to call.
#[derive(Debug, Clone)]
pub struct GrpcMethod {
    /// `package.Service/Method`.
    pub name: String,
    /// The request as JSON.
    pub request: String,
}

/// Where the calls go.
#[derive(Debug, Clone)]
pub struct GrpcServer {
    /// The host, which may be an expression.
    pub host: String,
    /// The port, which may be an expression.
    pub port: String,
    /// Whether to use TLS.
    pub tls: bool,
    /// The folder or file with the `.proto` files, as the plan names it; empty to ask the server.
    pub protos: String,
}

/// A GRPC Request.
pub fn grpc_sampler(server: &GrpcServer, method: &GrpcMethod) -> Node {
    use grpc_request as facts;
    let label = method.name.rsplit('/').next().unwrap_or(&method.name);
    facts::FACTS
        .node(label)
        .with(facts::PROTO_FOLDER.name, server.protos.as_str())
        .with(facts::LIB_FOLDER.name, "")
        .with(facts::METADATA.name, "")
        .with(facts::HOST.name, server.host.as_str())
        .with(facts::PORT.name, server.port.as_str())
        .with(facts::FULL_METHOD.name, method.name.as_str())
        .with(facts::DEADLINE.name, "5000")
        .with(facts::TLS.name, server.tls)
        .with(facts::TLS_DISABLE_VERIFICATION.name, false)
        .with(facts::AWAIT_TERMINATION.name, "1000")
        .with(
            facts::MAX_MESSAGE_SIZE.name,
            facts::MAX_MESSAGE_SIZE.default,
        )
        .with(
            facts::MAX_METADATA_SIZE.name,
            facts::MAX_METADATA_SIZE.default,
        )
        .with(facts::REQUEST_JSON.name, method.request.as_str())
}

/// A plan whose users call each method in turn.
pub fn grpc_plan(name: &str, server: &GrpcServer, methods: &[GrpcMethod]) -> Tree {
    let comments = format!(
        "Users call each method of {name} in turn.\nRun it with: drumfire run PLAN.jmx -Jhost=api.example -Jport=443 -Jusers=50 -Jseconds=300"
    );
    let plan = elements::test_plan(name, &comments, &[]);
    let group = elements::thread_group(
        "Users",
        "${__P(users,1)}",
        "${__P(ramp_up,1)}",
        "${__P(loops,1)}",
        "${__P(seconds,)}",
    );
    let calls = methods.iter().map(|method| grpc_sampler(server, method));
    Tree::new(plan.above([group.above(calls.collect::<Vec<_>>())]))
}
