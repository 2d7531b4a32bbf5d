//! Addresses of databases (`jdbc:…`).

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    #[cfg(feature = "mysql")]
    MySql,
    #[cfg(feature = "postgres")]
    Postgres,
}

/// When a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// Never.
    Disable,
    /// If the server refuses a plain connection.
    #[cfg(feature = "postgres")]
    Allow,
    /// If the server offers it.
    Prefer,
    /// Always.
    Require,
}

/// How the server's certificate is verified, on a connection that must be encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verification {
    /// Whether an authority that the client knows vouches for it.
    pub chain: bool,
    /// Whether it is for the server's name.
    pub name: bool,
    /// The file with these authorities (`sslrootcert`); `None` is the driver's choice.
    pub authorities: Option<String>,
}

/// The address of a database to which the program can connect without Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseAddress {
    kind: DatabaseKind,
    /// The host name or address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The name of the database.
    pub database: String,
    /// The user, if the address names one.
    pub user: Option<String>,
    /// The password, if the address contains one.
    pub password: Option<String>,
    /// The name by which the server lists this client.
    pub application_name: Option<String>,
    encryption: Encryption,
    verification: Verification,
}

impl DatabaseAddress {
    /// Parses an address for the driver with this class. `None` if it is for another kind of database, or has a setting
    /// that only the driver itself supports.
    pub fn parse(url: &str, driver: &str) -> Option<DatabaseAddress> {
        match driver {
            #[cfg(feature = "mysql")]
            "com.mysql.cj.jdbc.Driver" => DatabaseAddress::mysql(url),
            #[cfg(feature = "postgres")]
            "org.postgresql.Driver" => DatabaseAddress::postgres(url),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> DatabaseKind {
        self.kind
    }

    pub(crate) fn encryption(&self) -> Encryption {
        self.encryption
    }

    pub(crate) fn verification(&self) -> &Verification {
        &self.verification
    }

    #[cfg(feature = "postgres")]
    fn postgres(url: &str) -> Option<DatabaseAddress> {
        let rest = url.strip_prefix("jdbc:postgresql://")?;
        let (mut address, settings) =
            DatabaseAddress::of_server(rest, DatabaseKind::Postgres, 5432)?;
        (address.encryption, address.verification) = postgres_encryption(&settings)?;
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

    #[cfg(feature = "mysql")]
    fn mysql(url: &str) -> Option<DatabaseAddress> {
        let rest = url.strip_prefix("jdbc:mysql://")?;
        let (mut address, settings) = DatabaseAddress::of_server(rest, DatabaseKind::MySql, 3306)?;
        (address.encryption, address.verification) = mysql_encryption(&settings)?;
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

    /// Parses `host[:port]/database[?name=value&…]`.
    fn of_server(
        rest: &str,
        kind: DatabaseKind,
        port: u16,
    ) -> Option<(DatabaseAddress, Vec<(&str, &str)>)> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (server, database) = place.split_once('/')?;
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().ok()?),
            _ => (server, port),
        };
        if host.is_empty() || !plain(place) || !plain(query) {
            return None;
        }
        let settings = query.split('&').filter(|setting| !setting.is_empty());
        let settings: Option<Vec<_>> = settings.map(|setting| setting.split_once('=')).collect();
        let address = DatabaseAddress {
            kind,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            database: database.to_owned(),
            user: None,
            password: None,
            application_name: None,
            encryption: Encryption::Prefer,
            verification: Verification::default(),
        };
        Some((address, settings?))
    }
}

/// `sslmode`; without it, `ssl` means `verify-full` (`SslMode#of`). `sslfactory` may turn off the check of the chain
/// (`NonValidatingFactory`), but not that of the name.
#[cfg(feature = "postgres")]
fn postgres_encryption(settings: &[(&str, &str)]) -> Option<(Encryption, Verification)> {
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

/// `sslMode`, or else the older settings that it replaces (`JdbcPropertySet#postInitialization`).
#[cfg(feature = "mysql")]
fn mysql_encryption(settings: &[(&str, &str)]) -> Option<(Encryption, Verification)> {
    let of = |name: &str| of(settings, name).map(str::to_ascii_uppercase);
    let is = |name: &str, value: &str| of(name).as_deref() == Some(value);
    let mode = match of("sslMode") {
        Some(mode) => mode,
        None if is("useSSL", "FALSE") => "DISABLED".to_owned(),
        // `VERIFY_CA`.
        None if is("verifyServerCertificate", "TRUE") => return None,
        None if is("requireSSL", "TRUE") => "REQUIRED".to_owned(),
        None => "PREFERRED".to_owned(),
    };
    let encryption = match &*mode {
        "DISABLED" => Encryption::Disable,
        "PREFERRED" => Encryption::Prefer,
        "REQUIRED" | "VERIFY_IDENTITY" => Encryption::Require,
        // With this mode the library verifies the name as well, which Connector/J does not.
        _ => return None,
    };
    let is_verified = mode == "VERIFY_IDENTITY";
    let verification = Verification {
        chain: is_verified,
        name: is_verified,
        authorities: None,
    };
    Some((encryption, verification))
}

/// The value of a setting.
fn of<'a>(settings: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    let found = settings.iter().find(|(one, _)| *one == name);
    found.map(|(_, value)| *value)
}

fn plain(text: &str) -> bool {
    !text.contains(['%', ',', '+', '$', '(', '@'])
}

#[cfg(all(test, feature = "mysql", feature = "postgres"))]
mod tests {
    use super::*;

    fn parse(url: &str) -> Option<DatabaseAddress> {
        DatabaseAddress::parse(url, "org.postgresql.Driver")
    }

    #[test]
    fn an_address_of_postgresql() {
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
    fn an_address_of_mysql() {
        let url = "jdbc:mysql://db/shop?useSSL=false&characterEncoding=UTF-8";
        let address = DatabaseAddress::parse(url, "com.mysql.cj.jdbc.Driver").expect("it is one");
        assert_eq!(
            (&*address.host, address.port, &*address.database),
            ("db", 3306, "shop")
        );
        for url in [
            "jdbc:mysql://db/shop?serverTimezone=UTC",
            "jdbc:mysql://a,b/shop",
            "jdbc:mariadb://db/shop",
        ] {
            assert_eq!(
                DatabaseAddress::parse(url, "com.mysql.cj.jdbc.Driver"),
                None,
                "{url}"
            );
        }
    }

    #[test]
    fn encryption_is_what_the_settings_say() {
        let postgres = |query: &str| {
            let address = parse(&format!("jdbc:postgresql://db/shop{query}"));
            address.map(|address| address.encryption())
        };
        assert_eq!(postgres(""), Some(Encryption::Prefer));
        assert_eq!(postgres("?sslmode=allow"), Some(Encryption::Allow));
        assert_eq!(postgres("?sslmode=require"), Some(Encryption::Require));
        assert_eq!(postgres("?sslmode=disable"), Some(Encryption::Disable));
        assert_eq!(postgres("?sslmode=verify"), None);
        let mysql = |query: &str| {
            let url = format!("jdbc:mysql://db/shop{query}");
            let address = DatabaseAddress::parse(&url, "com.mysql.cj.jdbc.Driver");
            address.map(|address| address.encryption())
        };
        assert_eq!(mysql(""), Some(Encryption::Prefer));
        assert_eq!(mysql("?useSSL=true"), Some(Encryption::Prefer));
        assert_eq!(mysql("?useSSL=false"), Some(Encryption::Disable));
        assert_eq!(mysql("?requireSSL=true"), Some(Encryption::Require));
        assert_eq!(mysql("?sslMode=required"), Some(Encryption::Require));
        assert_eq!(
            mysql("?useSSL=false&sslMode=PREFERRED"),
            Some(Encryption::Prefer)
        );
        assert_eq!(mysql("?sslMode=VERIFY_CA"), None);
        assert_eq!(mysql("?useSSL=true&verifyServerCertificate=true"), None);
    }

    #[test]
    fn certificates_are_verified_as_the_settings_say() {
        let verified = |url: &str, driver: &str| {
            let address = DatabaseAddress::parse(url, driver).expect("it is one");
            let Verification {
                chain,
                name,
                authorities,
            } = address.verification().clone();
            let must = address.encryption() == Encryption::Require;
            (must, chain, name, authorities)
        };
        let postgres = |query: &str| {
            let url = format!("jdbc:postgresql://db/shop{query}");
            verified(&url, "org.postgresql.Driver")
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
        let mysql = |query: &str| {
            let url = format!("jdbc:mysql://db/shop{query}");
            verified(&url, "com.mysql.cj.jdbc.Driver")
        };
        assert_eq!(mysql("?sslMode=VERIFY_IDENTITY"), (true, true, true, None));
        assert_eq!(mysql("?sslMode=REQUIRED"), (true, false, false, None));
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
        assert_eq!(
            DatabaseAddress::parse("jdbc:postgresql://db/shop", "com.example.Driver"),
            None
        );
    }
}
