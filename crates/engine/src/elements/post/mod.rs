//! Post-processors.
use crate::compile::Decoder; use crate::elements::Roles;
pub fn regex_extractor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn boundary_extractor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn json_post_processor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn html_extractor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn debug_post_processor(_: &mut Decoder) -> Roles { Roles::default() }
pub fn result_action(_: &mut Decoder) -> Roles { Roles::default() }
