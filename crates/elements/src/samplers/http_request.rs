//! HTTP Request.

use crate::form::{ElementFacts, Role};
use crate::shared::{http, stream};

pub const CLASS: &str = "HTTPSamplerProxy";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "HTTP Request", "HttpTestSampleGui")
        .help("Sends an HTTP request.")
        .sections(&[
            http::SERVER,
            http::REQUEST,
            http::CLIENT,
            http::TIMEOUTS,
            http::EMBEDDED,
            http::SOURCE,
            http::PROXY,
            http::OPTIONAL,
            stream::STREAM,
        ]);
