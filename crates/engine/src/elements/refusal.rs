//! Elements that cannot run.

use crate::decode::Decoder;
use crate::decode::roles::Roles;

/// Makes a finding of an element that cannot run; it plays no role.
pub fn cannot_run(d: &mut Decoder, class: &str, why: &str) -> Roles {
    let message = format!("{class} '{}' cannot be run: {why}", d.element.name);
    d.cannot_run("element-not-built", message);
    Roles::default()
}
