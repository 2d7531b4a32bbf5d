//! Stands in for `java.rs` in programs that cannot load a Java virtual machine.

use drumfire_commands::engine::JvmOrder;
use drumfire_engine::java::Java;
use drumfire_expr::Properties;

/// Whether missing jars may be fetched.
pub enum Network {
    Allowed,
    Never,
}

/// No host: a plan that needs Java is refused.
pub fn host(_: &Properties, _: &[(String, String)], _: Network) -> Java {
    Java::default()
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn report(_: Properties, _: &JvmOrder) -> Result<String, String> {
    Err("this build has no Java bridge".to_owned())
}

/// `None`: there is no Java.
pub fn version() -> Option<String> {
    None
}

/// Returns at once.
pub fn await_threads() {}
