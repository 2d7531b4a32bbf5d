//! The sampler of HTTP: one sample, with its redirects and embedded resources (`HTTPSamplerBase#sample`, `HTTPHC4Impl`).
//!
//! | file | its part |
//! |---|---|
//! | `decode.rs`, `merged.rs` | the plan's properties, merged with HTTP Request Defaults and managers in scope |
//! | `sampler.rs` | `HttpSampler`: the settings of each sample, evaluated or from the cache, then fetched |
//! | `template.rs` | `RequestTemplate`: the settings as the plan has them |
//! | `call.rs` | `Call`: the settings of one sample, evaluated |
//! | `cache/` | `SettingsCache`: settings, address and header fields that each sampler had last |
//! | `key.rs` | the name of a sampler in the cache |
//! | `reader.rs` | properties in the order of JMeter's reading, until a function throws |
//! | `edits.rs` | the changes that pre-processors make for one sample |
//! | `fetch.rs` | `Fetch`: all requests of one sample |
//! | `request.rs` | `RequestBuilder`: one request with address, head, cookies, cache, body |
//! | `java.rs` | the same for the implementation `Java` |
//! | `file.rs` | files, for the protocol `file` |
//! | `transfer.rs` | `Transfer`: the exchange, tried again if need be |
//! | `settle.rs` | `Settling`: challenges, and redirects that HttpClient follows |
//! | `response.rs` | `ResponseReader`: the sample of one response |
//! | `redirects.rs` | redirects that JMeter follows |
//! | `embedded.rs` | `Resources`: the resources of a page |
//! | `proxy.rs`, `source.rs` | through which proxy and from which address |
//! | `version.rs` | HTTP/1.1, HTTP/2 or HTTP/3 |
//! | `failure.rs`, `hints.rs` | failures in JMeter's words, and what they say of this machine |
//! | `state.rs` | the state of runs, workers and users between samples |

mod cache;
mod call;
mod decode;
pub mod edits;
mod embedded;
mod failure;
mod fetch;
mod file;
pub mod hints;
mod java;
mod key;
mod media_type;
mod merged;
mod proxy;
mod reader;
mod redirects;
mod request;
mod response;
mod sampler;
mod settings;
mod settle;
pub mod source;
mod state;
mod template;
mod transfer;
mod version;

pub use decode::{PARALLEL, Server, decode, decode_at, is_applicable};
pub use proxy::{GeneralProxy, ProxyChoice};
pub use sampler::HttpSampler;
pub use settings::Settings;
pub use state::{open_slot, user, user_mut, worker};
