//! The protocol: JSON-RPC 2.0 over standard input and output, or over HTTP.

pub mod described;
mod dispatch;
mod findings;
pub mod function_messages;
mod functions;
mod host;
mod jar_forms;
mod loads;
mod marks;
pub mod methods;
pub mod record_messages;
mod records;
mod reference;
mod review;
mod runs;
mod shown;
mod sides;
mod stdio;
pub mod template_messages;
mod templates;
pub mod types;

pub use dispatch::{NOTIFICATIONS, Notification, notification};
pub use host::{Host, Listener};
pub use reference::reference;
pub use stdio::stdio;
