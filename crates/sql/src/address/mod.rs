//! Addresses of databases (`jdbc:…`).

#[cfg(feature = "mysql")]
mod connector_j;
#[cfg(feature = "mysql")]
mod mariadb;
#[cfg(feature = "postgres")]
mod postgres;

/// The protocol of a connection, and the driver whose behaviour it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    /// Connector/J.
    #[cfg(feature = "mysql")]
    MySql,
    /// MariaDB's driver.
    #[cfg(feature = "mysql")]
    MariaDb,
    /// pgjdbc.
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
    /// The file with these authorities (`sslrootcert`, `serverSslCert`); `None` is the driver's choice.
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
            "com.mysql.cj.jdbc.Driver" => connector_j::parse(url),
            #[cfg(feature = "mysql")]
            "org.mariadb.jdbc.Driver" => mariadb::parse(url),
            #[cfg(feature = "postgres")]
            "org.postgresql.Driver" => postgres::parse(url),
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

    #[test]
    fn an_address_belongs_to_a_driver() {
        let kind = |url: &str, driver: &str| {
            let address = DatabaseAddress::parse(url, driver);
            address.map(|address| address.kind())
        };
        for (url, driver, expected) in [
            (
                "jdbc:postgresql://db/shop",
                "org.postgresql.Driver",
                Some(DatabaseKind::Postgres),
            ),
            (
                "jdbc:mysql://db/shop",
                "com.mysql.cj.jdbc.Driver",
                Some(DatabaseKind::MySql),
            ),
            (
                "jdbc:mariadb://db/shop",
                "org.mariadb.jdbc.Driver",
                Some(DatabaseKind::MariaDb),
            ),
            ("jdbc:mysql://db/shop", "org.mariadb.jdbc.Driver", None),
            ("jdbc:postgresql://db/shop", "com.example.Driver", None),
        ] {
            assert_eq!(kind(url, driver), expected, "{url} {driver}");
        }
    }
}
