//! GRPC Request of version 1.0 of the plugin.

use crate::form::{
    ElementFacts, FileUse, Language, Property, Role, Saved, code, file, flag, section, text, whole,
};

pub const CLASS: &str = "vn.zalopay.benchmark.testbean.GrpcRequest";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "GrpcRequest", "TestBeanGUI")
        .help("Calls a method of a gRPC service.")
        .sections(&[
            section("Server", &[HOST_PORT, FULL_METHOD, TLS]),
            section(
                "Request",
                &[
                    PROTO_FOLDER,
                    LIB_FOLDER,
                    REQUEST_FILE,
                    DEADLINE,
                    METADATA,
                    REQUEST_JSON,
                ],
            ),
        ]);

pub const HOST_PORT: Property = text("hostPort").help("Names the server as `host:port`.");

pub const FULL_METHOD: Property =
    text("fullMethod").help("Names the method as `package.Service/Method`.");

pub const TLS: Property = flag("tls").default("false").help("Connects with TLS.");

pub const PROTO_FOLDER: Property =
    text("protoFolder").help("Names the folder of the `.proto` files.");

pub const LIB_FOLDER: Property =
    text("libFolder").help("Lists folders with imported `.proto` files, separated by commas.");

pub const REQUEST_FILE: Property = file("requestFile", FileUse::Read)
    .help("Names a file with the request, which is read if the request is empty.");

pub const DEADLINE: Property = whole("deadline")
    .saved(Saved::LongProp)
    .default("0")
    .absent("0")
    .help("Fails the call after this many milliseconds; 0 waits for ever.");

pub const METADATA: Property =
    text("metadata").help("Holds the metadata as `key1:value1,key2:value2`.");

pub const REQUEST_JSON: Property =
    code("requestJson", Language::Json).help("Holds the request as JSON.");
