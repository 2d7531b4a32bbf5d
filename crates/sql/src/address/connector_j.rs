//! Settings of MySQL's driver, Connector/J.

use super::{DatabaseAddress, DatabaseKind, Encryption, Verification, of};

/// Parses an address of Connector/J.
pub(super) fn parse(url: &str) -> Option<DatabaseAddress> {
    let rest = url.strip_prefix("jdbc:mysql://")?;
    let (mut address, settings) = DatabaseAddress::of_server(rest, DatabaseKind::MySql, 3306)?;
    (address.encryption, address.verification) = encryption(&settings)?;
    for (name, value) in settings {
        match (name, value) {
            ("user", value) => address.user = Some(value.to_owned()),
            ("password", value) => address.password = Some(value.to_owned()),
            ("useSSL" | "requireSSL" | "sslMode" | "verifyServerCertificate", _) => {}
            ("useUnicode", "true") | ("characterEncoding", "utf8" | "UTF-8" | "utf-8") => {}
            ("allowPublicKeyRetrieval", _) => {}
            _ => return None,
        }
    }
    Some(address)
}

/// `sslMode`, or else the older settings that it replaces (`DefaultPropertySet#postInitialization`).
fn encryption(settings: &[(&str, &str)]) -> Option<(Encryption, Verification)> {
    let of = |name: &str| of(settings, name).map(str::to_ascii_uppercase);
    let is = |name: &str, value: &str| of(name).as_deref() == Some(value);
    let mode = match of("sslMode") {
        Some(mode) => mode,
        None if is("useSSL", "FALSE") => "DISABLED".to_owned(),
        None if is("verifyServerCertificate", "TRUE") => "VERIFY_CA".to_owned(),
        None if is("requireSSL", "TRUE") => "REQUIRED".to_owned(),
        None => "PREFERRED".to_owned(),
    };
    let verification = Verification {
        chain: mode.starts_with("VERIFY_"),
        name: mode == "VERIFY_IDENTITY",
        authorities: None,
    };
    let encryption = match &*mode {
        "DISABLED" => Encryption::Disable,
        "PREFERRED" => Encryption::Prefer,
        "REQUIRED" | "VERIFY_CA" | "VERIFY_IDENTITY" => Encryption::Require,
        _ => return None,
    };
    Some((encryption, verification))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mysql(query: &str) -> Option<DatabaseAddress> {
        parse(&format!("jdbc:mysql://db/shop{query}"))
    }

    #[test]
    fn addresses() {
        let address = mysql("?useSSL=false&characterEncoding=UTF-8").expect("it is one");
        let parts = (&*address.host, address.port, &*address.database);
        assert_eq!(parts, ("db", 3306, "shop"));
        assert_eq!(mysql("?serverTimezone=UTC"), None);
        assert_eq!(parse("jdbc:mysql://a,b/shop"), None);
        assert_eq!(parse("jdbc:mariadb://db/shop"), None);
    }

    #[test]
    fn encryption_and_verification_are_what_the_settings_say() {
        let seen = |query: &str| {
            let address = mysql(query)?;
            let Verification { chain, name, .. } = address.verification;
            Some((address.encryption, chain, name))
        };
        let (prefer, require) = (Encryption::Prefer, Encryption::Require);
        for (query, expected) in [
            ("", Some((prefer, false, false))),
            ("?useSSL=true", Some((prefer, false, false))),
            ("?useSSL=false", Some((Encryption::Disable, false, false))),
            ("?requireSSL=true", Some((require, false, false))),
            ("?sslMode=required", Some((require, false, false))),
            (
                "?useSSL=false&sslMode=PREFERRED",
                Some((prefer, false, false)),
            ),
            ("?sslMode=VERIFY_CA", Some((require, true, false))),
            (
                "?useSSL=true&verifyServerCertificate=true",
                Some((require, true, false)),
            ),
            ("?sslMode=VERIFY_IDENTITY", Some((require, true, true))),
            ("?sslMode=STRICT", None),
        ] {
            assert_eq!(seen(query), expected, "{query}");
        }
    }
}
