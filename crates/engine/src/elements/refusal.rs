//! Elements that cannot run.

use crate::decode::Decoder;
use crate::decode::roles::Roles;

/// Reports a finding about an element that cannot run, and gives it no role.
pub fn cannot_run(d: &mut Decoder, class: &str, why: &str) -> Roles {
    let message = format!("{class} '{}' cannot be run: {why}", d.element.name);
    d.cannot_run("element-not-built", message);
    Roles::default()
}
