//! Assertions.
use crate::compile::Decoder; use crate::elements::Roles;
pub fn response(_: &mut Decoder) -> Roles { Roles::default() }
pub fn duration(_: &mut Decoder) -> Roles { Roles::default() }
pub fn size(_: &mut Decoder) -> Roles { Roles::default() }
pub fn json_path(_: &mut Decoder) -> Roles { Roles::default() }
