//! The words of MariaDB's driver (`ExceptionFactory`), recorded from version 3.5.6. Failures name the connection by its number.

use std::io;

use mysql_async::{DriverError, Error, IoError, ServerError};
use tokio_rustls::rustls::{CertificateError, Error as TlsError};

use super::literal::{self, Filled};
use crate::{DatabaseAddress, SqlFailure, Statement};

const NO_CONNECTION: &str = "java.sql.SQLNonTransientConnectionException";
/// The code of failures that are not the server's.
const OWN_CODE: i32 = -1;

/// The text to send. The server itself ends a statement that exceeds its limit; values without a marker are ignored.
///
/// # Errors
/// A marker has no value.
pub fn text(statement: Statement<'_>, connection: u32) -> Result<String, SqlFailure> {
    let text = match statement.arguments {
        None => statement.text.to_owned(),
        Some(arguments) => {
            let Filled { text, markers } = literal::fill(statement.text, arguments);
            if arguments.len() < markers {
                let position = arguments.len() + 1;
                let message = format!("Parameter at position {position} is not set");
                return Err(own("07004", &message, connection));
            }
            text
        }
    };
    Ok(match statement.timeout {
        None => text,
        Some(limit) => {
            let seconds = limit.as_secs();
            format!("SET STATEMENT max_statement_time={seconds} FOR {text}")
        }
    })
}

/// The failure of an update that gives rows.
pub fn has_rows(connection: u32) -> SqlFailure {
    let message = "the given SQL statement produces an unexpected ResultSet object";
    own("HY000", message, connection)
}

/// The failure of a statement or command.
pub fn failure(error: Error, connection: u32) -> SqlFailure {
    match error {
        Error::Server(error) => SqlFailure {
            message: numbered(&error.message, connection),
            ..of_server(error)
        },
        Error::Other(error) if error.is::<SqlFailure>() => match error.downcast() {
            Ok(failure) => *failure,
            Err(error) => SqlFailure::plain(error.to_string()),
        },
        other => {
            tracing::debug!("{other}");
            own("08000", "Socket error", connection)
        }
    }
}

/// The failure to connect. The driver puts the connection's number in front of most of these messages, which is not known here.
pub fn not_connected(error: Error, address: &DatabaseAddress) -> SqlFailure {
    let at = match address.port {
        3306 => address.host.clone(),
        port => format!("{}:{port}", address.host),
    };
    let message = match error {
        Error::Server(error) => return of_server(error),
        Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            "Trying to connect with ssl, but ssl not enabled in the server".to_owned()
        }
        Error::Io(IoError::Io(error)) => {
            match error.get_ref().and_then(|cause| cause.downcast_ref()) {
                Some(TlsError::InvalidCertificate(cause)) => untrusted(cause, &address.host),
                Some(other) => format!("Could not connect to {at} : {other}"),
                None => format!(
                    "Socket fail to connect to {at}. {}",
                    words(&error, &address.host)
                ),
            }
        }
        other => format!("Could not connect to {at} : {other}"),
    };
    SqlFailure::new(NO_CONNECTION, message, Some("08000"))
}

/// The failure to read the file with the authorities.
pub fn no_authorities() -> SqlFailure {
    SqlFailure::new(NO_CONNECTION, "Failed load keyStore", Some("08000"))
}

fn untrusted(cause: &CertificateError, host: &str) -> String {
    match cause {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let kind = match host.parse() {
                Ok(std::net::IpAddr::V4(_)) => "IPv4",
                Ok(std::net::IpAddr::V6(_)) => "IPv6",
                Err(_) => "DNS",
            };
            format!(
                "SSL hostname verification failed : {kind} host \"{host}\" doesn't correspond to certificate\nThis verification can be disabled using the sslMode to VERIFY_CA but won't prevent man-in-the-middle attacks anymore"
            )
        }
        _ => "Self signed certificates. Either set sslMode=trust, use password with a MitM-Proof authentication plugin or provide server certificate to client".to_owned(),
    }
}

/// The message of Java's exception.
fn words(error: &io::Error, host: &str) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "Connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
        io::ErrorKind::HostUnreachable => "No route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "Network is unreachable".to_owned(),
        io::ErrorKind::TimedOut => "Connection timed out".to_owned(),
        _ if error.raw_os_error().is_none() => host.to_owned(),
        _ => error.to_string(),
    }
}

fn own(state: &str, message: &str, connection: u32) -> SqlFailure {
    SqlFailure {
        code: OWN_CODE,
        ..SqlFailure::new(class(state), numbered(message, connection), Some(state))
    }
}

fn numbered(message: &str, connection: u32) -> String {
    format!("(conn={connection}) {message}")
}

fn of_server(error: ServerError) -> SqlFailure {
    SqlFailure {
        code: error.code.into(),
        ..SqlFailure::new(class(&error.state), error.message, Some(&error.state))
    }
}

/// The exception of an SQL state (`ExceptionFactory#createException`).
fn class(state: &str) -> &'static str {
    if state == "70100" {
        return "java.sql.SQLTimeoutException";
    }
    match state.get(..2).unwrap_or_default() {
        "0A" => "java.sql.SQLFeatureNotSupportedException",
        "22" | "26" | "2F" | "20" | "42" | "XA" => "java.sql.SQLSyntaxErrorException",
        "25" | "28" => "java.sql.SQLInvalidAuthorizationSpecException",
        "21" | "23" => "java.sql.SQLIntegrityConstraintViolationException",
        "08" => NO_CONNECTION,
        "40" => "java.sql.SQLTransactionRollbackException",
        "HY" => "java.sql.SQLException",
        _ => "java.sql.SQLTransientConnectionException",
    }
}
