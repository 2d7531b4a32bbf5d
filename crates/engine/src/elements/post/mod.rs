//! Post-processors.

mod boundary_extractor;
mod field;
mod html_extractor;
mod json_post_processor;
mod regex_extractor;
mod result_action;
mod variable_names;

pub use boundary_extractor::decode as boundary_extractor;
pub use field::refuse_document;
pub use html_extractor::decode as html_extractor;
pub use json_post_processor::decode as json_post_processor;
pub use regex_extractor::decode as regex_extractor;
pub use result_action::decode as result_action;

use crate::compile::Decoder;
use crate::elements::Roles;
pub fn debug_post_processor(_: &mut Decoder) -> Roles { Roles::default() }
