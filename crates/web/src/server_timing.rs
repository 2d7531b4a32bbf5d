//! The response header `Server-Timing` (W3C Server Timing): the parts of a response time that the server names.

/// The header's name.
pub const NAME: &str = "Server-Timing";

/// A metric with a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerMetric<'v> {
    /// The metric's name.
    pub name: &'v str,
    /// How long it took, in microseconds.
    pub us: u64,
}

/// The metrics of a header's value that have a duration, in their order. Malformed ones are left out.
pub fn metrics(value: &[u8]) -> impl Iterator<Item = ServerMetric<'_>> {
    Pieces(Some(value), b',').filter_map(metric)
}

fn metric(text: &[u8]) -> Option<ServerMetric<'_>> {
    let mut pieces = Pieces(Some(text), b';');
    let name = pieces.next()?.trim_ascii();
    let is_token = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    let name = std::str::from_utf8(name).ok().filter(|_| is_token)?;
    // Only the first duration counts (section 3.1).
    let ms = pieces.find_map(|piece| {
        let at = piece.iter().position(|byte| *byte == b'=')?;
        let (key, value) = (piece[..at].trim_ascii(), piece[at + 1..].trim_ascii());
        key.eq_ignore_ascii_case(b"dur").then_some(value)
    })?;
    let quoted = ms.strip_prefix(b"\"").and_then(|ms| ms.strip_suffix(b"\""));
    let ms: f64 = std::str::from_utf8(quoted.unwrap_or(ms))
        .ok()?
        .parse()
        .ok()?;
    (ms.is_finite() && ms >= 0.0).then(|| ServerMetric {
        name,
        us: (ms * 1000.0).round() as u64,
    })
}

/// The pieces of a text between separators that are not in quotes.
struct Pieces<'t>(Option<&'t [u8]>, u8);

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let text = self.0?;
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = text.iter().position(|&byte| {
            if is_escaped {
                is_escaped = false;
                return false;
            }
            is_escaped = is_quoted && byte == b'\\';
            is_quoted ^= byte == b'"';
            byte == self.1 && !is_quoted
        });
        self.0 = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Vec<(&str, u64)> {
        let metrics = metrics(value.as_bytes());
        metrics.map(|metric| (metric.name, metric.us)).collect()
    }

    #[test]
    fn durations_are_read_by_name() {
        assert_eq!(
            read("miss, db;dur=53, app;dur=47.2, cache;desc=\"Cache Read\";dur=23.2"),
            [("db", 53_000), ("app", 47_200), ("cache", 23_200)]
        );
        assert_eq!(
            read("a;desc=\"x, y; dur=9, \\\"z\";dur=1 , b ; DUR = \"2.5\";dur=7"),
            [("a", 1_000), ("b", 2_500)]
        );
    }

    #[test]
    fn malformed_metrics_are_left_out() {
        assert_eq!(read(""), []);
        assert_eq!(
            read(",;dur=1,a b;dur=1,c;dur=,d;dur=-1,e;dur=NaN,f;dur=inf,ok;dur=0"),
            [("ok", 0)]
        );
        assert_eq!(read("a;desc=\"never ends, b;dur=3"), []);
        assert_eq!(read("huge;dur=1e300"), [("huge", u64::MAX)]);
    }
}
