//! Settings of PostgreSQL's driver, pgjdbc.

use super::{DatabaseAddress, DatabaseKind, Encryption, Verification, of};

/// Parses an address of pgjdbc.
pub(super) fn parse(url: &str) -> Option<DatabaseAddress> {
    let rest = url.strip_prefix("jdbc:postgresql://")?;
    let (mut address, settings) = DatabaseAddress::of_server(rest, DatabaseKind::Postgres, 5432)?;
    (address.encryption, address.verification) = encryption(&settings)?;
    for (name, value) in settings {
        match name {
            "user" => address.user = Some(value.to_owned()),
            "password" => address.password = Some(value.to_owned()),
            "ApplicationName" => address.application_name = Some(value.to_owned()),
            "ssl" | "sslmode" | "sslrootcert" | "sslfactory" => {}
            _ => return None,
        }
    }
    Some(address)
}

/// `sslmode`; without it, `ssl` means `verify-full` (`SslMode#of`). `sslfactory` may turn off the check of the chain
/// (`NonValidatingFactory`), but not that of the name.
fn encryption(settings: &[(&str, &str)]) -> Option<(Encryption, Verification)> {
    let mut verification = Verification {
        authorities: of(settings, "sslrootcert").map(str::to_owned),
        ..Verification::default()
    };
    let mode = match (of(settings, "sslmode"), of(settings, "ssl")) {
        (Some(mode), _) => mode,
        (None, Some("true" | "")) => "verify-full",
        (None, Some("false") | None) => "prefer",
        (None, Some(_)) => return None,
    };
    let encryption = match mode {
        "disable" => Encryption::Disable,
        "allow" => Encryption::Allow,
        "prefer" => Encryption::Prefer,
        "require" => Encryption::Require,
        "verify-ca" | "verify-full" => {
            verification.chain = true;
            verification.name = mode == "verify-full";
            Encryption::Require
        }
        _ => return None,
    };
    match of(settings, "sslfactory") {
        Some("org.postgresql.ssl.NonValidatingFactory") => verification.chain = false,
        Some("org.postgresql.ssl.LibPQFactory") | None => {}
        Some(_) => return None,
    }
    Some((encryption, verification))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let address =
            parse("jdbc:postgresql://db:6543/shop?user=u&ApplicationName=load").expect("it is one");
        assert_eq!(
            (&*address.host, address.port, &*address.database),
            ("db", 6543, "shop")
        );
        assert_eq!(
            (address.user.as_deref(), address.application_name.as_deref()),
            (Some("u"), Some("load"))
        );
        let address = parse("jdbc:postgresql://[::1]/shop").expect("it is one");
        assert_eq!((&*address.host, address.port), ("::1", 5432));
    }

    #[test]
    fn encryption_is_what_the_settings_say() {
        let postgres = |query: &str| {
            let address = parse(&format!("jdbc:postgresql://db/shop{query}"));
            address.map(|address| address.encryption)
        };
        assert_eq!(postgres(""), Some(Encryption::Prefer));
        assert_eq!(postgres("?sslmode=allow"), Some(Encryption::Allow));
        assert_eq!(postgres("?sslmode=require"), Some(Encryption::Require));
        assert_eq!(postgres("?sslmode=disable"), Some(Encryption::Disable));
        assert_eq!(postgres("?sslmode=verify"), None);
    }

    #[test]
    fn certificates_are_verified_as_the_settings_say() {
        let postgres = |query: &str| {
            let address = parse(&format!("jdbc:postgresql://db/shop{query}")).expect("it is one");
            let must = address.encryption == Encryption::Require;
            let Verification {
                chain,
                name,
                authorities,
            } = address.verification;
            (must, chain, name, authorities)
        };
        assert_eq!(postgres("?sslmode=require"), (true, false, false, None));
        assert_eq!(postgres("?sslmode=verify-ca"), (true, true, false, None));
        assert_eq!(postgres("?ssl=true"), (true, true, true, None));
        let root = Some("/etc/rds.pem".to_owned());
        assert_eq!(
            postgres("?sslrootcert=/etc/rds.pem&ssl=true&sslmode=verify-full"),
            (true, true, true, root)
        );
        let lenient = "?ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory";
        assert_eq!(postgres(lenient), (true, false, true, None));
    }

    #[test]
    fn addresses_that_only_the_driver_understands_go_to_java() {
        for url in [
            "jdbc:postgresql://a,b/shop",
            "jdbc:postgresql://db/shop?ssl=true&sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory",
            "jdbc:postgresql://db/shop?currentSchema=x",
            "jdbc:postgresql:shop",
            "jdbc:oracle:thin:@db:1521:x",
            "jdbc:postgresql://db/${name}",
        ] {
            assert_eq!(parse(url), None, "{url}");
        }
    }
}
