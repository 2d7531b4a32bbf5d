//! Settings of MariaDB's driver, Connector/J of MariaDB 3.

use super::{DatabaseAddress, DatabaseKind, Encryption, Verification, of};

/// Parses an address of MariaDB's driver.
pub(super) fn parse(url: &str) -> Option<DatabaseAddress> {
    let rest = url.strip_prefix("jdbc:mariadb://")?;
    let (mut address, settings) = DatabaseAddress::of_server(rest, DatabaseKind::MariaDb, 3306)?;
    (address.encryption, address.verification) = encryption(&settings)?;
    for (name, value) in settings {
        match name {
            "user" => address.user = Some(value.to_owned()),
            "password" => address.password = Some(value.to_owned()),
            "sslMode" | "serverSslCert" => {}
            _ => return None,
        }
    }
    Some(address)
}

/// `sslMode` with its aliases (`SslMode`). Without `serverSslCert`, the driver also trusts a server that proves that it knows the
/// user's password, which only the driver itself can do.
fn encryption(settings: &[(&str, &str)]) -> Option<(Encryption, Verification)> {
    let mode = of(settings, "sslMode").unwrap_or("disable");
    let verification = |name: bool| {
        let file = of(settings, "serverSslCert").filter(|file| is_file(file))?;
        let verification = Verification {
            chain: true,
            name,
            authorities: Some(file.to_owned()),
        };
        Some((Encryption::Require, verification))
    };
    match &*mode.to_ascii_lowercase() {
        "disable" | "disabled" | "0" | "false" => {
            Some((Encryption::Disable, Verification::default()))
        }
        "trust" | "required" => Some((Encryption::Require, Verification::default())),
        "verify-ca" | "verify_ca" => verification(false),
        "verify-full" | "verify_full" | "verify_identity" | "1" | "true" => verification(true),
        _ => None,
    }
}

/// Whether it is a path, and not a URL or the certificate itself.
fn is_file(text: &str) -> bool {
    !text.is_empty()
        && !text.contains("://")
        && !text.contains("-----")
        && !text.starts_with("classpath:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mariadb(query: &str) -> Option<DatabaseAddress> {
        parse(&format!("jdbc:mariadb://db:3307/shop{query}"))
    }

    #[test]
    fn addresses() {
        let address = mariadb("?user=u&password=p").expect("it is one");
        let parts = (&*address.host, address.port, &*address.database);
        assert_eq!(parts, ("db", 3307, "shop"));
        assert_eq!(address.user.as_deref(), Some("u"));
        assert_eq!(mariadb("?useServerPrepStmts=true"), None);
        assert_eq!(parse("jdbc:mariadb:replication://a/shop"), None);
        assert_eq!(parse("jdbc:mysql://db/shop"), None);
    }

    #[test]
    fn encryption_and_verification_are_what_the_settings_say() {
        let seen = |query: &str| {
            let address = mariadb(query)?;
            let Verification { chain, name, .. } = address.verification;
            Some((address.encryption, chain, name))
        };
        let (disable, require) = (Encryption::Disable, Encryption::Require);
        for (query, expected) in [
            ("", Some((disable, false, false))),
            ("?sslMode=DISABLE", Some((disable, false, false))),
            ("?sslMode=trust", Some((require, false, false))),
            ("?sslMode=verify-ca", None),
            (
                "?sslMode=verify-ca&serverSslCert=/etc/ca.pem",
                Some((require, true, false)),
            ),
            (
                "?sslMode=VERIFY_FULL&serverSslCert=/etc/ca.pem",
                Some((require, true, true)),
            ),
            ("?sslMode=verify-full&serverSslCert=classpath:ca.pem", None),
            ("?sslMode=prefer", None),
        ] {
            assert_eq!(seen(query), expected, "{query}");
        }
    }
}
