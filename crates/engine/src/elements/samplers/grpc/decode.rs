//! The plan's properties of the gRPC samplers.

use std::sync::Arc;

use drumfire_elements::samplers::{grpc_request as facts, old_grpc_request as old};
use drumfire_expr::Template;
use drumfire_grpc::Dialect;

use super::sampler::GrpcSampler;
use super::schemas::{ProtoFiles, Schemas};
use super::settings::{Address, GrpcSettings};
use crate::decode::Decoder;
use crate::decode::setting::{Flag, WholeNumber};
use crate::elements::config::keystore_config::of_plan as keystore;
use crate::elements::samplers::http::settings::allowed_hosts;
use crate::run::needs::Needs;

/// The property that bounds the sub-results of a stream.
const MAX_SUB_RESULTS: &str = "drumfire.grpc.max_sub_results";
/// The property that chooses the form of calls.
const PROTOCOL: &str = "drumfire.grpc.protocol";
/// The property that reproduces the plugin's faults.
const PLUGIN_FAULTS: &str = "drumfire.grpc.plugin_faults";

/// GRPC Request (`vn.zalopay.benchmark.GRPCSampler`): calls a method of a gRPC service and prints the response as JSON.
///
/// Properties: `GRPCSampler.host`, `.port`, `.tls`, `.tlsDisableVerification`, `.protoFolder` (a folder, a `.proto` file, or a
/// `.bin` file with descriptors), `.libFolder` (folders for imports, separated by commas), `.fullMethod`
/// (`package.Service/Method`), `.requestJson`, `.metadata` (JSON, or `key1:value1,key2:value2`), `.deadline` in milliseconds,
/// `.maxInboundMessageSize` and `.maxInboundMetadataSize` in bytes. As in the plugin, a user's sampler evaluates host, port,
/// folders, method and TLS once, and has a channel of its own, which stays shut after the first failed call; a status without a
/// description has no row. With `drumfire.grpc.plugin_faults=false`, the next sample opens the channel again, and every call has
/// a row.
///
/// Differences: without `.proto` files, an empty folder means that the server is asked by reflection, v1 or v1alpha; methods
/// that stream succeed with all messages as a list and as sub-results, and a JSON array is sent as a stream of messages; connect time, latency and
/// sent bytes are measured, which the plugin leaves at 0; with TLS, a Keystore Configuration chooses the client's certificate,
/// and the system's authorities or `drumfire.tls_ca_file` verify the server.
pub fn decode(d: &mut Decoder, needs: Needs) -> GrpcSampler {
    if d.element.class == old::CLASS {
        return decode_old(d, needs);
    }
    let settings = GrpcSettings {
        address: Address::Parts {
            host: d.template(facts::HOST.name),
            port: d.template(facts::PORT.name),
        },
        files: ProtoFiles {
            folder: d.template(facts::PROTO_FOLDER.name),
            libraries: d.template(facts::LIB_FOLDER.name),
        },
        method: d.template(facts::FULL_METHOD.name),
        tls: Flag::decode(d, facts::TLS.name, false),
        trusts_all: Flag::decode(d, facts::TLS_DISABLE_VERIFICATION.name, false),
        request: d.template(facts::REQUEST_JSON.name),
        request_file: None,
        metadata: d.template(facts::METADATA.name),
        deadline: d.template(facts::DEADLINE.name),
        message_bytes: WholeNumber::decode(d, facts::MAX_MESSAGE_SIZE.name, 4 << 20),
        metadata_bytes: WholeNumber::decode(d, facts::MAX_METADATA_SIZE.name, 8 << 10),
    };
    sampler(d, settings, false, needs)
}

/// GrpcRequest (`vn.zalopay.benchmark.testbean.GrpcRequest`): the sampler of the plugin's version 1.0, which calls a method of a
/// gRPC service and prints the response as JSON.
///
/// Properties: `hostPort`, `tls`, `protoFolder`, `libFolder`, `fullMethod`, `requestJson` (or `requestFile`, a file that holds
/// it), `metadata`, `deadline` in milliseconds (0 for none). Messages show only the fields that are set. Failed calls leave
/// the channel open. A request that cannot be made has no row, unless `drumfire.grpc.plugin_faults` is false; unknown fields are
/// ignored, while that version fails on them.
fn decode_old(d: &mut Decoder, needs: Needs) -> GrpcSampler {
    let settings = GrpcSettings {
        address: Address::Whole(d.template(old::HOST_PORT.name)),
        files: ProtoFiles {
            folder: d.template(old::PROTO_FOLDER.name),
            libraries: d.template(old::LIB_FOLDER.name),
        },
        method: d.template(old::FULL_METHOD.name),
        tls: Flag::decode(d, old::TLS.name, false),
        trusts_all: Flag::Fixed(false),
        request: d.template(old::REQUEST_JSON.name),
        request_file: Some(d.template(old::REQUEST_FILE.name)),
        metadata: d.template(old::METADATA.name),
        deadline: d
            .optional(old::DEADLINE.name)
            .unwrap_or_else(|| Template::raw("0")),
        message_bytes: WholeNumber::Fixed(4 << 20),
        metadata_bytes: WholeNumber::Fixed(8 << 10),
    };
    sampler(d, settings, true, needs)
}

fn sampler(d: &mut Decoder, settings: GrpcSettings, is_old: bool, needs: Needs) -> GrpcSampler {
    let schemas = d.decoding.kept.of::<Arc<Schemas>>().clone();
    let properties = d.settings().properties.clone();
    GrpcSampler {
        settings,
        is_old,
        dialect: dialect(d),
        schemas,
        base_dir: d.settings().base_dir.clone(),
        keystore: keystore(d.decoding),
        allowed_hosts: allowed_hosts(
            &properties
                .get("drumfire.http.allowed_hosts")
                .unwrap_or_default(),
        ),
        has_faults: properties.get_bool(PLUGIN_FAULTS, true),
        most_parts: usize::try_from(properties.get_long(MAX_SUB_RESULTS, 1000)).unwrap_or(0),
        renames_parts: !properties.get_bool("subresults.disable_renaming", false)
            && !d.decoding.save_config.functional_mode,
        channel: d.new_state(),
        needs,
    }
}

/// The form of calls, by [`PROTOCOL`].
fn dialect(d: &mut Decoder) -> Dialect {
    let Some(name) = d.settings().properties.get_trimmed(PROTOCOL) else {
        return Dialect::default();
    };
    Dialect::named(&name).unwrap_or_else(|| {
        let message = format!("`{name}` in {PROTOCOL} is no protocol of gRPC");
        d.refuse(
            "grpc-protocol",
            message,
            "write `grpc`, `grpc-web` or `connect`",
        );
        Dialect::default()
    })
}
