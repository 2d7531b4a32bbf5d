//! The sampler of HTTP: one sample, with its redirects and embedded resources (`HTTPSamplerBase#sample`, `HTTPHC4Impl`).
//!
//! | file | its part |
//! |---|---|
//! | `decode.rs`, `merged.rs` | the plan's properties, merged with HTTP Request Defaults and managers in scope |
//! | `sampler.rs` | `HttpSampler`: the settings of each sample, evaluated or from the cache, then fetched |
//! | `template.rs` | `RequestTemplate`: the settings as the plan has them |
//! | `call.rs` | `HttpCall`: the settings of one sample, evaluated |
//! | `cache/` | `SettingsCache`: settings, address and header fields that each sampler had last |
//! | `body_flags.rs` | `BodyFlags`: the flags that decide about the body, and how often JMeter reads its parts |
//! | `key.rs` | the key of a sampler in the cache |
//! | `reader.rs` | reads properties in JMeter's order, until a function throws |
//! | `edits.rs` | the changes that pre-processors make for one sample |
//! | `fetch.rs` | `Fetch`: all requests of one sample |
//! | `request.rs` | `RequestBuilder`: one request with address, head, cookies, cache, body |
//! | `java.rs` | the same for the implementation `Java` |
//! | `file.rs` | files, for the protocol `file` |
//! | `transfer.rs` | `Transfer`: the exchange, with its retries |
//! | `settle.rs` | `Settlement`: challenges, and redirects that HttpClient follows |
//! | `response.rs` | `ResponseReader`: the sample of one response |
//! | `redirects.rs` | redirects that JMeter follows |
//! | `embedded.rs` | `Resources`: the resources of a page |
//! | `proxy.rs`, `source.rs` | through which proxy and from which address |
//! | `trace.rs` | `Tracing`: the `traceparent` of requests, `Server-Timing` of responses |
//! | `version.rs` | HTTP/1.1, HTTP/2 or HTTP/3 |
//! | `failure.rs`, `hints.rs` | failures as JMeter reports them, and hints about their causes |
//! | `state.rs` | the state of runs, workers and users between samples |

pub mod body_flags;
pub mod cache;
pub mod call;
pub mod decode;
pub mod edits;
pub mod embedded;
pub mod failure;
pub mod fetch;
pub mod file;
pub mod hints;
pub mod java;
pub mod key;
pub mod media_type;
pub mod merged;
pub mod proxy;
pub mod reader;
pub mod redirects;
pub mod request;
pub mod response;
pub mod sampler;
pub mod settings;
pub mod settle;
pub mod source;
pub mod state;
pub mod template;
pub mod trace;
pub mod transfer;
pub mod version;

pub use decode::{AccessLogServer, PARALLEL, decode, decode_at, is_applicable};
pub use proxy::{GeneralProxy, ProxyChoice};
pub use sampler::HttpSampler;
pub use settings::HttpSettings;
pub use state::{open_slot, user, user_mut, worker};
