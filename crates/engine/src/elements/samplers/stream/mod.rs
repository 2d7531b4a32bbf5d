//! Responses that are read as streams: when their events arrive, and when a sample has seen enough of them.
//!
//! | file | what |
//! |---|---|
//! | `rules.rs` | how an HTTP Request reads a stream, and where it stops |
//! | `watch.rs` | the observer of one response |
//! | `tally.rs` | the events of one response, and their times |
//! | `completion.rs` | chunks of chat completions: text and tokens |
//! | `sse_sampler.rs` | the SSE Sampler, a plugin's element |
//! | `okhttp.rs` | what that plugin's HTTP client sends, follows and says |

mod completion;
mod okhttp;
pub mod rules;
pub mod sse_sampler;
mod tally;
mod watch;

pub use rules::{StreamRules, StreamTemplate};
pub use watch::StreamWatch;
