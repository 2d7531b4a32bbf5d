//! Listeners.

mod result_collector;
mod result_saver;
mod summariser;

pub use result_collector::{
    decode as result_collector, decode_corrected as corrected_result_collector,
};
pub use result_saver::{ResultSaver, decode as result_saver};
pub use summariser::decode as summariser;
