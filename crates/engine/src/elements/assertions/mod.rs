//! Assertions.

mod comparison;
mod response_assertion;
mod verdict;

pub use response_assertion::decode as response;

use crate::compile::Decoder;
use crate::elements::Roles;
pub fn duration(_: &mut Decoder) -> Roles { Roles::default() }
pub fn size(_: &mut Decoder) -> Roles { Roles::default() }
pub fn json_path(_: &mut Decoder) -> Roles { Roles::default() }
