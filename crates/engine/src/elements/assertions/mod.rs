//! Assertions.

mod compare_assertion;
mod comparison;
mod duration_assertion;
mod expectation;
mod jmes_path_assertion;
mod json_path_assertion;
mod md5_hex_assertion;
mod plugin_json_path_assertion;
mod response_assertion;
mod size_assertion;
mod verdict;
mod xml_assertion;
mod xpath2_assertion;
mod xpath_assertion;

pub use compare_assertion::decode as compare;
pub use duration_assertion::decode as duration;
pub use jmes_path_assertion::decode as jmes_path;
pub use json_path_assertion::decode as json_path;
pub use md5_hex_assertion::decode as md5_hex;
pub use plugin_json_path_assertion::decode as plugin_json_path;
pub use response_assertion::decode as response;
pub use size_assertion::decode as size;
pub use xml_assertion::decode as xml;
pub use xpath_assertion::decode as xpath;
pub use xpath2_assertion::decode as xpath2;
