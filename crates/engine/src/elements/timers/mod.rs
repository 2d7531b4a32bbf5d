//! Timers.
use crate::compile::Decoder; use crate::elements::Roles;
pub fn constant(_: &mut Decoder) -> Roles { Roles::default() }
pub fn uniform_random(_: &mut Decoder) -> Roles { Roles::default() }
pub fn gaussian_random(_: &mut Decoder) -> Roles { Roles::default() }
pub fn poisson_random(_: &mut Decoder) -> Roles { Roles::default() }
