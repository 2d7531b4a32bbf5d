//! Configuration elements.
use crate::compile::Decoder; use crate::elements::Roles;
pub fn cookie_manager(_: &mut Decoder) -> Roles { Roles::default() }
pub fn cache_manager(_: &mut Decoder) -> Roles { Roles::default() }
pub fn auth_manager(_: &mut Decoder) -> Roles { Roles::default() }
pub fn csv_data_set(_: &mut Decoder) -> Roles { Roles::default() }
pub fn counter(_: &mut Decoder) -> Roles { Roles::default() }
pub fn random_variable(_: &mut Decoder) -> Roles { Roles::default() }
