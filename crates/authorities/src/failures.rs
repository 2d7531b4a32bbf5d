//! The failures of the program's own requests, in words.

use std::io::ErrorKind;

use drumfire_certificates::{fault_in, is_unknown, reason};
use drumfire_platform::causes::cause;
use ureq::Error;

/// Why a request failed, without codes of the system and terms of the libraries.
#[must_use]
pub fn told(error: &Error) -> String {
    match error {
        Error::Rustls(error) => tls(error),
        Error::Io(error) => io(error),
        Error::HostNotFound => "its name has no address".to_owned(),
        Error::Timeout(_) => "it does not answer in time".to_owned(),
        Error::ConnectionFailed => "it cannot be reached".to_owned(),
        Error::BadUri(_) => "the address is not a URL".to_owned(),
        other => other.to_string(),
    }
}

fn tls(error: &(dyn std::error::Error + 'static)) -> String {
    let Some(fault) = fault_in(error) else {
        return error.to_string();
    };
    if is_unknown(fault) {
        format!(
            "{}; name that authority with `--tls-ca FILE.pem`",
            reason(fault)
        )
    } else {
        reason(fault)
    }
}

fn io(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "it refuses the connection".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::UnexpectedEof => {
            "it broke the connection off".to_owned()
        }
        ErrorKind::TimedOut => "it does not answer in time".to_owned(),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "there is no route to it".to_owned()
        }
        _ if fault_in(error).is_some() => tls(error),
        _ => cause(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_in_words() {
        let of = |kind: ErrorKind| told(&Error::Io(kind.into()));
        assert_eq!(
            of(ErrorKind::ConnectionRefused),
            "it refuses the connection"
        );
        assert_eq!(of(ErrorKind::TimedOut), "it does not answer in time");
        let certificate =
            rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        for error in [
            Error::Rustls(certificate.clone()),
            Error::Io(std::io::Error::other(certificate)),
        ] {
            let text = told(&error);
            assert!(
                text.starts_with("no trusted authority") && text.contains("--tls-ca"),
                "{text}"
            );
        }
    }
}
