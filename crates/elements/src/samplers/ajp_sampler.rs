//! AJP/1.3 Sampler.

use crate::form::{ElementFacts, Role};
use crate::shared::http;

pub const CLASS: &str = "AjpSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "AJP/1.3 Sampler", "AjpSamplerGui")
        .help("Sends an HTTP request over AJP/1.3, as a web server does to Tomcat.")
        .sections(&[http::SERVER, http::REQUEST, http::EMBEDDED, http::OPTIONAL]);
