//! GRPC Request.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, section, text, whole};

pub const CLASS: &str = "vn.zalopay.benchmark.GRPCSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "GRPC Request",
    "vn.zalopay.benchmark.GRPCSamplerGui",
)
.help("Calls a method of a gRPC service.")
.sections(&[
    section("Web Server", &[HOST, PORT, TLS, TLS_DISABLE_VERIFICATION]),
    section("GRPC Request", &[PROTO_FOLDER, LIB_FOLDER, FULL_METHOD]),
    section(
        "Optional Configuration",
        &[
            METADATA,
            DEADLINE,
            AWAIT_TERMINATION,
            MAX_MESSAGE_SIZE,
            MAX_METADATA_SIZE,
        ],
    ),
    section("Send JSON Format With the Request", &[REQUEST_JSON]),
]);

pub const HOST: Property = text("GRPCSampler.host")
    .label("Server Name or IP")
    .help("Names the server.");

pub const PORT: Property = whole("GRPCSampler.port")
    .label("Port Number")
    .help("Sets the port.");

pub const TLS: Property = flag("GRPCSampler.tls")
    .label("SSL/TLS")
    .default("false")
    .help("Connects with TLS.");

pub const TLS_DISABLE_VERIFICATION: Property = flag("GRPCSampler.tlsDisableVerification")
    .label("Disable SSL/TLS Cert Verification")
    .default("false")
    .help("Accepts every certificate of the server.");

pub const PROTO_FOLDER: Property = text("GRPCSampler.protoFolder")
    .label("Proto Root Directory")
    .help("Names the folder of the `.proto` files, or a `.bin` file with descriptors.")
    .differs("The server is asked by reflection if there are no files.");

pub const LIB_FOLDER: Property = text("GRPCSampler.libFolder")
    .label("Library Directory (Optional)")
    .help("Lists folders with imported `.proto` files, separated by commas.");

pub const FULL_METHOD: Property = text("GRPCSampler.fullMethod")
    .label("Full Method")
    .help("Names the method as `package.Service/Method`.");

pub const METADATA: Property = text("GRPCSampler.metadata")
    .label("Metadata")
    .help("Holds the metadata as JSON, or as `key1:value1,key2:value2` with URL encoding.");

pub const DEADLINE: Property = whole("GRPCSampler.deadline")
    .label("Deadline In Millisecond")
    .default("1000")
    .help("Fails the call after this many milliseconds; 0 waits for ever.");

pub const AWAIT_TERMINATION: Property = whole("GRPCSampler.channelAwaitTermination")
    .label("Channel Await Termination In Millisecond")
    .default("1000")
    .absent("5000")
    .help("Sets how long the end of a user waits for its channel.")
    .differs("A channel ends at once.");

pub const MAX_MESSAGE_SIZE: Property = whole("GRPCSampler.maxInboundMessageSize")
    .label("Maximum message size allowed for a single gRPC frame")
    .default("4194304")
    .absent("4194304")
    .help("Fails the call if a message is larger, in bytes.");

pub const MAX_METADATA_SIZE: Property = whole("GRPCSampler.maxInboundMetadataSize")
    .label("Maximum size of metadata allowed to be received")
    .default("8192")
    .absent("8192")
    .help("Fails the call if headers or trailers are larger, in bytes.");

pub const REQUEST_JSON: Property =
    code("GRPCSampler.requestJson", Language::Json).help("Holds the request as JSON.");
