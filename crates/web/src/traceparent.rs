//! The header `traceparent` of W3C Trace Context, by which a server continues the trace of a request.

use std::fmt;

/// The header's name.
pub const NAME: &str = "traceparent";
/// The flag of a trace that servers are asked to record.
const SAMPLED: u8 = 1;

/// The value of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace; never 0.
    pub trace_id: u128,
    /// The request within the trace; never 0.
    pub parent_id: u64,
    /// Whether servers are asked to record the trace.
    pub is_sampled: bool,
}

impl TraceParent {
    /// Reads a value of version 00, or of a later version as one of 00 (section 4.3 of the recommendation). `None` if it is malformed.
    pub fn parse(value: &str) -> Option<TraceParent> {
        let mut fields = value.trim().split('-');
        let mut field = |digits: usize| {
            let field = fields.next().filter(|field| field.len() == digits)?;
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let number = || u128::from_str_radix(field, 16).ok();
            field.bytes().all(is_hex).then(number).flatten()
        };
        let (version, trace_id) = (field(2)?, field(32)?);
        let (parent_id, flags) = (field(16)? as u64, field(2)? as u8);
        let has_more = fields.next().is_some();
        let is_version = version != 0xff && (version > 0 || !has_more);
        (is_version && trace_id != 0 && parent_id != 0).then_some(TraceParent {
            trace_id,
            parent_id,
            is_sampled: flags & SAMPLED != 0,
        })
    }

    /// The value that a finished request head already has; `Some(None)` if it is malformed.
    pub fn of_head(head: &[u8]) -> Option<Option<TraceParent>> {
        let value = head.split(|byte| *byte == b'\n').find_map(|line| {
            let (name, value) = line.split_at_checked(NAME.len())?;
            let value = value.strip_prefix(b":")?;
            name.eq_ignore_ascii_case(NAME.as_bytes()).then_some(value)
        })?;
        let value = std::str::from_utf8(value).ok();
        Some(value.and_then(TraceParent::parse))
    }

    /// Adds the header to a finished request head.
    pub fn add_to(self, head: &mut Vec<u8>) {
        const END: &[u8] = b"\r\n";
        debug_assert!(head.ends_with(END), "an empty line ends a head");
        head.truncate(head.len().saturating_sub(END.len()));
        head.extend_from_slice(self.line().as_bytes());
        head.extend_from_slice(b"\r\n\r\n");
    }

    /// The header as a line without its end.
    pub fn line(self) -> String {
        format!("{NAME}: {self}")
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        let (trace_id, parent_id) = (self.trace_id, self.parent_id);
        write!(f, "00-{trace_id:032x}-{parent_id:016x}-{flags:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parsed() -> TraceParent {
        TraceParent::parse(VALUE).expect("the example of the recommendation")
    }

    #[test]
    fn a_value_is_read_and_written() {
        assert_eq!(parsed().trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert!(parsed().is_sampled);
        assert_eq!(parsed().to_string(), VALUE);
        let later = VALUE.replacen("00", "cc", 1) + "-what-comes-later";
        assert_eq!(TraceParent::parse(&later), Some(parsed()));
        let other_flag = VALUE.replace("-01", "-02");
        assert_eq!(
            TraceParent::parse(&other_flag).map(|parent| parent.is_sampled),
            Some(false)
        );
    }

    #[test]
    fn malformed_values_are_none() {
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
        ] {
            assert_eq!(TraceParent::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_head_gets_the_header_once() {
        let mut head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
        assert_eq!(TraceParent::of_head(&head), None);
        parsed().add_to(&mut head);
        let text = format!("GET / HTTP/1.1\r\nHost: a\r\ntraceparent: {VALUE}\r\n\r\n");
        assert_eq!(String::from_utf8_lossy(&head), text);
        assert_eq!(TraceParent::of_head(&head), Some(Some(parsed())));
        let own = b"GET / HTTP/1.1\r\nTraceParent: mine\r\n\r\n";
        assert_eq!(TraceParent::of_head(own), Some(None));
    }
}
