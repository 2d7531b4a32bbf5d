//! Says why a server's certificate is not trusted: with dates and names, and without the terms of the TLS library.

#![warn(missing_docs)]

use std::error::Error;
use std::net::IpAddr;

use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::{ServerName, UnixTime};

/// The reason in a sentence without a full stop, such as `the server's certificate expired on 2024-05-01; renew
/// it`.
#[must_use]
pub fn reason(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!(
                "the server's certificate expired on {}; renew it",
                date(*not_after)
            )
        }
        CertificateError::Expired => "the server's certificate has expired; renew it".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the server's certificate is not yet valid, but from {} on; check the clock of this machine",
            date(*not_before)
        ),
        CertificateError::NotValidYet => {
            "the server's certificate is not yet valid; check the clock of this machine".to_owned()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => not_for(expected, presented),
        CertificateError::NotValidForName => {
            "the server's certificate is for another name".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "no trusted authority has signed the server's certificate".to_owned()
        }
        CertificateError::BadSignature => {
            "the signature of the server's certificate is wrong".to_owned()
        }
        CertificateError::Revoked => "the server's certificate is revoked".to_owned(),
        CertificateError::BadEncoding | CertificateError::UnhandledCriticalExtension => {
            "the server's certificate cannot be read".to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not for servers".to_owned()
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "the server's certificate is signed with an algorithm that is not supported".to_owned()
        }
        _ if is_own_authority(error) => "the server's certificate is self-signed".to_owned(),
        _ => "the server's certificate is not valid".to_owned(),
    }
}

/// The certificate's fault in an error of a library that uses TLS, if that is the cause.
#[must_use]
pub fn fault_in<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e CertificateError> {
    if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
        return Some(why);
    }
    // An I/O error is not the source of the error that it carries.
    let carried = error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref);
    match carried {
        Some(carried) => fault_in(carried),
        None => error.source().and_then(fault_in),
    }
}

/// Whether a certificate is refused because nobody whom the client trusts vouches for it.
#[must_use]
pub fn is_unknown(error: &CertificateError) -> bool {
    matches!(error, CertificateError::UnknownIssuer) || is_own_authority(error)
}

/// Whether a certificate is refused only because it may sign others, as self-signed ones of `openssl req -x509` may. Its dates
/// have been checked by then.
#[must_use]
pub fn is_own_authority(error: &CertificateError) -> bool {
    let CertificateError::Other(other) = error else {
        return false;
    };
    let why = other.0.downcast_ref::<webpki::Error>();
    matches!(why, Some(webpki::Error::CaUsedAsEndEntity))
}

/// Whether a certificate in DER has this common name. Only certificates without alternative names are still matched by it.
#[must_use]
pub fn has_common_name(certificate: &[u8], name: &ServerName<'_>) -> bool {
    /// The object identifier 2.5.4.3 in DER.
    const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
    let expected = shown(name);
    let is_it = |(at, window): (usize, &[u8])| {
        // Behind the identifier stand the string's type, its length in one byte, and the string.
        let text = &certificate[at + COMMON_NAME.len()..];
        let length = text.get(1).map(|length| usize::from(*length)).unwrap_or(0);
        let text = text.get(2..2 + length).unwrap_or_default();
        window == COMMON_NAME && text.eq_ignore_ascii_case(expected.as_bytes())
    };
    certificate
        .windows(COMMON_NAME.len())
        .enumerate()
        .any(is_it)
}

fn date(time: UnixTime) -> String {
    let second = i64::try_from(time.as_secs()).ok();
    let time = second.and_then(|second| Timestamp::from_second(second).ok());
    time.map(|time| time.strftime("%Y-%m-%d").to_string())
        .unwrap_or_else(|| "a day after the year 9999".to_owned())
}

fn shown(name: &ServerName<'_>) -> String {
    match name {
        ServerName::IpAddress(address) => IpAddr::from(*address).to_string(),
        name => name.to_str().into_owned(),
    }
}

/// Names as the library writes them: `DnsName("shop.test")`, `IpAddress(127.0.0.1)`.
fn not_for(expected: &ServerName<'_>, presented: &[String]) -> String {
    let expected = shown(expected);
    let names: Vec<&str> = presented
        .iter()
        .filter_map(|name| name.split_once('(')?.1.strip_suffix(')'))
        .map(|name| name.trim_matches('"'))
        .collect();
    match names.split_last() {
        None => format!(
            "the server's certificate is not for {expected}: it lists no name (subjectAltName)"
        ),
        Some((last, [])) => format!(
            "the server's certificate is for {last}, not for {expected}; request it by that name"
        ),
        Some((last, others)) => format!(
            "the server's certificate is for {} and {last}, not for {expected}; request it by one of these names",
            others.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn time(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    fn name(text: &str) -> ServerName<'static> {
        ServerName::try_from(text.to_owned()).expect("a name")
    }

    #[test]
    fn reasons_tell_dates_and_names() {
        let names = |presented: &[&str]| CertificateError::NotValidForNameContext {
            expected: name("127.0.0.1"),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (error, expected) in [
            (
                CertificateError::ExpiredContext {
                    time: time(1_800_000_000),
                    not_after: time(1_714_521_600),
                },
                "expired on 2024-05-01",
            ),
            (
                CertificateError::NotValidYetContext {
                    time: time(0),
                    not_before: time(1_893_456_000),
                },
                "from 2030-01-01 on",
            ),
            (
                names(&["DnsName(\"a.test\")"]),
                "is for a.test, not for 127.0.0.1",
            ),
            (
                names(&[
                    "DnsName(\"a.test\")",
                    "DnsName(\"*.b.test\")",
                    "IpAddress(::1)",
                ]),
                "is for a.test, *.b.test and ::1, not for 127.0.0.1",
            ),
            (names(&[]), "lists no name"),
        ] {
            let reason = reason(&error);
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn no_reason_has_the_terms_of_the_library() {
        let other = CertificateError::Other(rustls::OtherError(std::sync::Arc::new(
            webpki::Error::CaUsedAsEndEntity,
        )));
        assert!(is_own_authority(&other));
        for error in [
            other,
            CertificateError::UnknownIssuer,
            CertificateError::BadEncoding,
            CertificateError::ApplicationVerificationFailure,
            CertificateError::InvalidPurpose,
            CertificateError::Revoked,
        ] {
            let reason = reason(&error);
            let name = format!("{error:?}");
            assert!(
                reason.starts_with("the ") || reason.starts_with("no "),
                "{reason}"
            );
            assert!(
                !reason.contains(&name) && !reason.contains("Other"),
                "{reason}"
            );
        }
    }

    #[test]
    fn a_certificate_is_found_inside_other_errors() {
        let inner = rustls::Error::InvalidCertificate(CertificateError::Revoked);
        let outer = std::io::Error::other(std::io::Error::other(inner));
        assert_eq!(fault_in(&outer), Some(&CertificateError::Revoked));
        assert_eq!(fault_in(&std::io::Error::other("x")), None);
    }

    #[test]
    fn the_common_name_is_compared_as_a_whole() {
        let certificate = b"\x31\x14\x06\x03\x55\x04\x03\x0c\x09Shop.Test\x30";
        assert!(has_common_name(certificate, &name("shop.test")));
        assert!(!has_common_name(certificate, &name("shop.tes")));
        assert!(!has_common_name(b"\x06\x03\x55\x04\x03", &name("a")));
    }
}
