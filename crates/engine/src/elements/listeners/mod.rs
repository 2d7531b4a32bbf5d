//! Listeners.

mod result_collector;
mod summariser;

pub use result_collector::decode as result_collector;
pub use summariser::decode as summariser;
