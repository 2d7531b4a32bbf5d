//! How this machine and its user are called, for greetings and identifiers.

use std::sync::LazyLock;

use drumfire_expr::Properties;

/// The name of this machine.
static HOST: LazyLock<String> =
    LazyLock::new(|| gethostname::gethostname().to_string_lossy().into_owned());

/// The name of this machine (`InetAddress#getLocalHost`).
pub fn host() -> &'static str {
    &HOST
}

/// The address of the user on this machine (`InternetAddress#getLocalAddress`).
pub fn local_address(properties: &Properties) -> String {
    let user = properties.get_system("user.name");
    let user = user.map_or_else(system_user, |user| user.to_string());
    format!("{}@{}", user.trim(), host())
}

/// The user of this process, as Java's property `user.name` gives it.
fn system_user() -> String {
    passwd_user()
        .or_else(|| std::env::var("USER").ok())
        .or_else(|| std::env::var("USERNAME").ok())
        .unwrap_or_else(|| "user".to_owned())
}

#[cfg(unix)]
fn passwd_user() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let own = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let known = std::fs::read_to_string("/etc/passwd").ok()?;
    known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next()?, fields.nth(1)?);
        (id == own).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn passwd_user() -> Option<String> {
    None
}
