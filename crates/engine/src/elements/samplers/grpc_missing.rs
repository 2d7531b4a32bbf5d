//! gRPC samplers in a build without gRPC.

use drumfire_elements::samplers::{grpc_request, old_grpc_request};

use crate::decode::Decoder;
use crate::run::sampler::Sampler;

/// The samplers' classes.
pub const CLASSES: [&str; 2] = [grpc_request::CLASS, old_grpc_request::CLASS];

/// Reports that this build cannot run the sampler.
pub fn refuse(d: &mut Decoder) -> Option<Box<dyn Sampler>> {
    let message = format!(
        "'{}' calls a gRPC service, but this build has no gRPC",
        d.element.name
    );
    let help = "build the program with --features grpc, or take a package, which has it";
    d.refuse("no-grpc", message, help);
    None
}
