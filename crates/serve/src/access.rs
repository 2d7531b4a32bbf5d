//! Access control by the token, the host and the origin of a request.

use drumfire_platform::words::hex;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use subtle::ConstantTimeEq as _;

/// The number of random bytes in a token: 128 bits cannot be guessed.
const TOKEN_BYTES: usize = 16;
/// The parameter of the URL that carries the token.
pub(crate) const PARAMETER: &str = "token";

/// An address and a port to listen on. Port 0 means any free port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress(pub SocketAddr);

impl Default for ListenAddress {
    fn default() -> ListenAddress {
        ListenAddress(SocketAddr::from(([127, 0, 0, 1], 0)))
    }
}

/// A text that is not an address to serve a page at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write ADDRESS:PORT of this machine with a port from 0 to 65535, such as `127.0.0.1:9280`")]
pub struct AddressError(pub String);

impl FromStr for ListenAddress {
    type Err = AddressError;

    /// Reads `ADDRESS:PORT`, `localhost:PORT` or a port alone, which means the loopback address.
    fn from_str(text: &str) -> Result<ListenAddress, AddressError> {
        let local = text.strip_prefix("localhost:").unwrap_or(text);
        let address = loopback(local).or_else(|| text.parse().ok());
        address
            .map(ListenAddress)
            .ok_or_else(|| AddressError(text.to_owned()))
    }
}

fn loopback(port: &str) -> Option<SocketAddr> {
    let port = port.parse::<u16>().ok();
    port.map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
}

/// The secret in the URL of a page.
#[derive(Clone)]
pub(crate) struct PageToken(String);

impl PageToken {
    /// A new random token.
    pub(crate) fn random() -> std::io::Result<PageToken> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(PageToken(hex(&bytes)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that the duration does not reveal how much of `given` is right.
    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// The checks that a request must pass.
pub(crate) struct AccessRules {
    pub(crate) token: PageToken,
    /// The address on which the server listens.
    pub(crate) address: SocketAddr,
    /// The name of this machine, under which requests arrive if the server listens on all addresses.
    pub(crate) host_name: String,
}

impl AccessRules {
    /// Refuses a request without the token (401), for another host (421), or from another page (403).
    pub(crate) fn check(&self, query: Option<&str>, headers: &HeaderMap) -> Result<(), StatusCode> {
        if !self.has_token(query, headers) {
            return Err(StatusCode::UNAUTHORIZED);
        }
        let host = text(headers, HOST).unwrap_or_default();
        if !self.is_own(host) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let is_own_page = if headers.contains_key(ORIGIN) {
            text(headers, ORIGIN)
                .and_then(|origin| origin.strip_prefix("http://"))
                .is_some_and(|origin| origin == host)
        } else {
            true
        };
        if is_own_page {
            Ok(())
        } else {
            Err(StatusCode::FORBIDDEN)
        }
    }

    fn has_token(&self, query: Option<&str>, headers: &HeaderMap) -> bool {
        let bearer = text(headers, AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let mut pairs = query.unwrap_or_default().split('&');
        let in_query = pairs.find_map(|pair| pair.strip_prefix(PARAMETER)?.strip_prefix('='));
        bearer
            .or(in_query)
            .is_some_and(|given| self.token.is(given))
    }

    /// Whether a `Host` means this server. This prevents DNS rebinding: a foreign page whose name resolves to this machine
    /// could otherwise send requests on behalf of its visitor. A numeric address cannot be redirected like that.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !name.is_empty() && !port.ends_with(']') => (name, port),
            _ => (host, "80"),
        };
        if port.parse() != Ok(self.address.port()) {
            return false;
        }
        let digits = name.trim_start_matches('[').trim_end_matches(']');
        match digits.parse::<IpAddr>() {
            Ok(ip) if self.address.ip().is_unspecified() => !ip.is_unspecified(),
            Ok(ip) => ip == self.address.ip(),
            Err(_) if name.eq_ignore_ascii_case("localhost") => {
                self.address.ip().is_loopback() || self.address.ip().is_unspecified()
            }
            Err(_) => {
                !self.address.ip().is_loopback() && name.eq_ignore_ascii_case(&self.host_name)
            }
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str) -> AccessRules {
        AccessRules {
            token: PageToken("0a1b".to_owned()),
            address: address.parse().expect("an address"),
            host_name: "Box".to_owned(),
        }
    }

    fn ask(gate: &AccessRules, query: &str, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a value"));
        }
        match gate.check(Some(query), &map) {
            Ok(()) => 200,
            Err(status) => status.as_u16(),
        }
    }

    #[test]
    fn the_token_comes_first_then_the_host_then_the_origin() {
        let gate = gate("127.0.0.1:900");
        let host = ("host", "127.0.0.1:900");
        assert_eq!(ask(&gate, "token=0a1b", &[host]), 200);
        assert_eq!(ask(&gate, "a=b&token=0a1b", &[host]), 200);
        for query in [
            "",
            "token=",
            "token=0a1",
            "token=0a1bc",
            "token=0A1B",
            "xtoken=0a1b",
        ] {
            assert_eq!(ask(&gate, query, &[host]), 401, "{query}");
            assert_eq!(ask(&gate, query, &[("host", "evil")]), 401, "{query}");
        }
        assert_eq!(
            ask(&gate, "", &[host, ("authorization", "Bearer 0a1b")]),
            200
        );
        assert_eq!(ask(&gate, "", &[host, ("authorization", "Bearer x")]), 401);
        for foreign in [
            "evil:900",
            "127.0.0.1",
            "127.0.0.1:901",
            "127.0.0.2:900",
            "",
            "box:900",
        ] {
            assert_eq!(
                ask(&gate, "token=0a1b", &[("host", foreign)]),
                421,
                "{foreign}"
            );
        }
        assert_eq!(ask(&gate, "token=0a1b", &[("host", "localhost:900")]), 200);
        let from = |origin| ask(&gate, "token=0a1b", &[host, ("origin", origin)]);
        assert_eq!(from("http://127.0.0.1:900"), 200);
        for foreign in [
            "null",
            "http://evil",
            "https://127.0.0.1:900",
            "http://localhost:900",
        ] {
            assert_eq!(from(foreign), 403, "{foreign}");
        }
    }

    #[test]
    fn a_server_of_all_addresses_knows_its_name_and_digits() {
        let gate = gate("0.0.0.0:900");
        for own in ["10.1.2.3:900", "[::1]:900", "box:900", "localhost:900"] {
            assert_eq!(ask(&gate, "token=0a1b", &[("host", own)]), 200, "{own}");
        }
        for foreign in ["evil:900", "0.0.0.0:900"] {
            assert_eq!(
                ask(&gate, "token=0a1b", &[("host", foreign)]),
                421,
                "{foreign}"
            );
        }
    }

    #[test]
    fn addresses_are_read_in_three_forms() {
        let read = |text: &str| {
            text.parse::<ListenAddress>()
                .map(|address| address.0.to_string())
        };
        assert_eq!(read("9280"), Ok("127.0.0.1:9280".to_owned()));
        assert_eq!(read("localhost:0"), Ok("127.0.0.1:0".to_owned()));
        assert_eq!(read("[::1]:80"), Ok("[::1]:80".to_owned()));
        assert!(read("plan.jmx").is_err() && read("127.0.0.1").is_err());
    }
}
