//! Addresses of databases (`jdbc:…`).

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    #[cfg(feature = "mysql")]
    MySql,
    #[cfg(feature = "postgres")]
    Postgres,
}

/// When a connection is encrypted. Certificates are not checked in any of these cases; the drivers do that in others.
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

    #[cfg(feature = "postgres")]
    fn postgres(url: &str) -> Option<DatabaseAddress> {
        let rest = url.strip_prefix("jdbc:postgresql://")?;
        let (mut address, settings) =
            DatabaseAddress::of_server(rest, DatabaseKind::Postgres, 5432)?;
        for (name, value) in settings {
            match (name, value) {
                ("user", value) => address.user = Some(value.to_owned()),
                ("password", value) => address.password = Some(value.to_owned()),
                ("ApplicationName", value) => address.application_name = Some(value.to_owned()),
                ("sslmode", "disable") => address.encryption = Encryption::Disable,
                ("sslmode", "allow") => address.encryption = Encryption::Allow,
                ("sslmode", "prefer") => address.encryption = Encryption::Prefer,
                ("sslmode", "require") => address.encryption = Encryption::Require,
                ("ssl", "false") => {}
                _ => return None,
            }
        }
        Some(address)
    }

    #[cfg(feature = "mysql")]
    fn mysql(url: &str) -> Option<DatabaseAddress> {
        let rest = url.strip_prefix("jdbc:mysql://")?;
        let (mut address, settings) = DatabaseAddress::of_server(rest, DatabaseKind::MySql, 3306)?;
        address.encryption = mysql_encryption(&settings)?;
        for (name, value) in settings {
            match (name, value) {
                ("user", value) => address.user = Some(value.to_owned()),
                ("password", value) => address.password = Some(value.to_owned()),
                ("useSSL" | "requireSSL" | "sslMode", _) => {}
                ("verifyServerCertificate", "false") => {}
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
        };
        Some((address, settings?))
    }
}

/// `sslMode`, or else the older settings that it replaces (`JdbcPropertySet#postInitialization`).
#[cfg(feature = "mysql")]
fn mysql_encryption(settings: &[(&str, &str)]) -> Option<Encryption> {
    let of = |name: &str| {
        let found = settings.iter().find(|(one, _)| *one == name);
        found.map(|(_, value)| value.to_ascii_uppercase())
    };
    match of("sslMode").as_deref() {
        Some("DISABLED") => Some(Encryption::Disable),
        Some("PREFERRED") => Some(Encryption::Prefer),
        Some("REQUIRED") => Some(Encryption::Require),
        Some(_) => None,
        None if of("useSSL").as_deref() == Some("FALSE") => Some(Encryption::Disable),
        None if of("requireSSL").as_deref() == Some("TRUE") => Some(Encryption::Require),
        None => Some(Encryption::Prefer),
    }
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
        assert_eq!(postgres("?sslmode=verify-ca"), None);
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
    fn addresses_that_only_the_driver_understands_go_to_java() {
        for url in [
            "jdbc:postgresql://a,b/shop",
            "jdbc:postgresql://db/shop?ssl=true",
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
