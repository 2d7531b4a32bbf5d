//! Post-processors.

mod field;

mod json_post_processor;
mod regex_extractor;
mod variable_names;

pub use json_post_processor::decode as json_post_processor;
pub use field::refuse_document;
pub use regex_extractor::decode as regex_extractor;

use crate::compile::Decoder;
use crate::elements::Roles;
pub fn boundary_extractor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn html_extractor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn debug_post_processor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn result_action(_: &mut Decoder) -> Roles { Roles::default() }
