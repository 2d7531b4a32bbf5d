//! jp@gc - Parallel HTTP Requests.

use crate::form::{ElementFacts, Property, Role, rows};
use crate::shared::http;

pub const CLASS: &str = "com.blazemeter.jmeter.http.ParallelHTTPSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "jp@gc - Parallel HTTP Requests",
    "com.blazemeter.jmeter.http.ParallelHTTPSamplerGui",
)
.help("Requests a list of addresses at once.")
.fields(&[URLS])
.sections(&[http::REQUEST, http::PARALLEL_EMBEDDED]);

pub const URLS: Property = rows("urls", &["URL"])
    .label("URLs")
    .help("Lists the addresses.");
