//! The addresses in brackets of `java.net.URI.Parser`, with its failures.

/// A failure: the reason, and the position in the address.
pub struct Malformed {
    pub reason: &'static str,
    pub at: usize,
}

/// The number of bytes in an IPv6 address.
const BYTES: usize = 16;

const POST_EXPECTED: &str = "Expected hex digits or IPv4 address";

/// Checks an address without brackets and scope (`parseIPv6Reference`).
pub fn check(address: &str) -> Result<(), Malformed> {
    let mut scanner = Scanner {
        bytes: address.as_bytes(),
        address_bytes: 0,
    };
    let malformed = |reason| Err(Malformed { reason, at: 0 });
    let (end, is_compressed) = scanner.reference()?;
    match scanner.address_bytes {
        _ if end < address.len() => malformed("Malformed IPv6 address"),
        bytes if bytes > BYTES => malformed("IPv6 address too long"),
        bytes if !is_compressed && bytes < BYTES => malformed("IPv6 address too short"),
        bytes if is_compressed && bytes == BYTES => malformed("Malformed IPv6 address"),
        _ => Ok(()),
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    /// How many bytes of the address were scanned.
    address_bytes: usize,
}

impl Scanner<'_> {
    fn starts(&self, at: usize, text: &[u8]) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(text))
    }

    /// The end of the run of bytes that `is_part` accepts.
    fn run(&self, at: usize, is_part: impl Fn(&u8) -> bool) -> usize {
        at + self.bytes[at..].iter().take_while(|b| is_part(b)).count()
    }

    /// Returns the end, and whether zeros are left out.
    fn reference(&mut self) -> Result<(usize, bool), Malformed> {
        let at = self.hex_sequence(0)?.unwrap_or(0);
        if self.starts(at, b"::") {
            return Ok((self.after_zeros(at + 2)?, true));
        }
        if at > 0 && self.starts(at, b":") {
            return Ok((self.ipv4(at + 1, "Expected IPv4 address")?, false));
        }
        Ok((at, false))
    }

    fn after_zeros(&mut self, start: usize) -> Result<usize, Malformed> {
        if start == self.bytes.len() {
            return Ok(start);
        }
        match self.hex_sequence(start)? {
            Some(end) if self.starts(end, b":") => self.ipv4(end + 1, POST_EXPECTED),
            Some(end) => Ok(end),
            None => self.ipv4(start, POST_EXPECTED),
        }
    }

    /// Groups of hexadecimal digits with colons between them; `None` if there is none.
    fn hex_sequence(&mut self, start: usize) -> Result<Option<usize>, Malformed> {
        let mut at = start;
        loop {
            let end = self.run(at, u8::is_ascii_hexdigit);
            if end == at && at > start {
                return Err(Malformed {
                    reason: "Expected digits for an IPv6 address",
                    at,
                });
            }
            if end == at || self.starts(end, b".") {
                // An IPv4 address begins here.
                return Ok((at > start).then(|| at - 1));
            }
            if end > at + 4 {
                return Err(Malformed {
                    reason: "IPv6 hexadecimal digit sequence too long",
                    at,
                });
            }
            self.address_bytes += 2;
            if !self.starts(end, b":") || self.starts(end, b"::") {
                return Ok(Some(end));
            }
            at = end + 1;
        }
    }

    /// An IPv4 address up to the end.
    fn ipv4(&mut self, start: usize, expected: &'static str) -> Result<usize, Malformed> {
        let end = self.run(start, |b| b.is_ascii_digit() || *b == b'.');
        if end == start || end < self.bytes.len() {
            return Err(Malformed {
                reason: expected,
                at: start,
            });
        }
        let mut at = start;
        for number in 0..4 {
            let malformed = |at| Malformed {
                reason: "Malformed IPv4 address",
                at,
            };
            if number > 0 {
                if !self.starts(at, b".") {
                    return Err(malformed(at));
                }
                at += 1;
            }
            let digits_end = self.run(at, u8::is_ascii_digit);
            let digits = &self.bytes[at..digits_end];
            let value = digits.iter().fold(0u32, |value, b| {
                value.saturating_mul(10).saturating_add(u32::from(b - b'0'))
            });
            if digits.is_empty() || value > 255 {
                return Err(malformed(at));
            }
            at = digits_end;
        }
        if at < end {
            return Err(Malformed {
                reason: "Malformed IPv4 address",
                at,
            });
        }
        self.address_bytes += 4;
        Ok(at)
    }
}
