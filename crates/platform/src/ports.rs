//! Ports in addresses and in settings.

/// The remedy for a port that is none.
pub const PORT: &str = "write a port from 1 to 65535";

/// The text in the port's place of `HOST:PORT` or of a URL, if it is a number that is too high for a port.
pub fn bad_port(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let (_, port) = host.rsplit_once(':')?;
    (is_too_high(port) && !port.contains(']')).then_some(port)
}

/// Whether an address is `HOST:PORT`.
pub fn is_host_and_port(address: &str) -> bool {
    address
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// Whether a text is a whole number above the highest port.
pub fn is_too_high(port: &str) -> bool {
    let is_number = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    is_number && port.parse::<u16>().is_err()
}

/// Whether a setting's name is that of a port: `HTTPSampler.port`, `http.proxyPort`, `server_port`.
pub fn is_port(name: &str) -> bool {
    let last = name.rsplit(['.', '_', '-']).next().unwrap_or(name);
    matches!(last, "port" | "PORT" | "Port" | "maxport") || last.ends_with("Port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_above_65535_is_not_a_port() {
        for (address, port) in [
            ("http://h:70000/x", Some("70000")),
            ("u:1@h:99999999999?a", Some("99999999999")),
            ("h:65536", Some("65536")),
            ("http://h:65535/", None),
            ("http://[::70000]/", None),
            ("http://h/a:70000", None),
            ("${host}:${port}", None),
        ] {
            assert_eq!(bad_port(address), port, "{address}");
        }
    }

    #[test]
    fn names_of_ports_end_with_the_word() {
        for name in [
            "HTTPSampler.port",
            "http.proxyPort",
            "server_port",
            "port",
            "jmeterengine.nongui.maxport",
        ] {
            assert!(is_port(name), "{name}");
        }
        for name in ["report", "transport", "HTTPSampler.path", "ports"] {
            assert!(!is_port(name), "{name}");
        }
    }
}
