//! HTTP Request.

use crate::form::{ElementFacts, Role};
use crate::shared::http;

pub const CLASS: &str = "HTTPSampler_";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "HTTP Request", "HttpTestSampleGui")
        .outside_menu(&["HttpTestSampleGui"])
        .help("Sends an HTTP request; plans of JMeter 2.x have this class.")
        .sections(&[
            http::SERVER,
            http::REQUEST,
            http::CLIENT,
            http::TIMEOUTS,
            http::EMBEDDED,
            http::SOURCE,
            http::PROXY,
            http::OPTIONAL,
        ]);
