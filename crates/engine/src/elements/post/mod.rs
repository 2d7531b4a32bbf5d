//! Post-processors.

mod boundary_extractor;
mod debug_post_processor;
pub mod field;
mod fifo_put_post_processor;
mod html_extractor;
mod jdbc_post_processor;
mod jmes_path_extractor;
mod json_path_extractor;
mod json_post_processor;
mod most_matches;
mod regex_extractor;
mod result_action;
mod variable_names;
mod xpath2_extractor;
mod xpath_extractor;

pub use boundary_extractor::decode as boundary_extractor;
pub use debug_post_processor::decode as debug_post_processor;
pub use field::DOCUMENT;
pub use fifo_put_post_processor::decode as fifo_put;
pub use html_extractor::decode as html_extractor;
pub use jdbc_post_processor::decode as jdbc_post_processor;
pub use jmes_path_extractor::decode as jmes_path_extractor;
pub use json_path_extractor::decode as json_path_extractor;
pub use json_post_processor::decode as json_post_processor;
pub use regex_extractor::decode as regex_extractor;
pub use result_action::decode as result_action;
pub use xpath_extractor::decode as xpath_extractor;
pub use xpath2_extractor::decode as xpath2_extractor;
