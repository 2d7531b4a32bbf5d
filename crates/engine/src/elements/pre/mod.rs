//! Pre-processors.
use crate::compile::Decoder; use crate::elements::Roles;
pub fn user_parameters(_: &mut Decoder) -> Roles { Roles::default() }
