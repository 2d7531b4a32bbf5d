//! Guesses the meaning of a malformed threshold: `p95 >> 300` means `p95 > 300ms`.

use drumfire_platform::spelling::did_you_mean;

/// Other words for the metrics, as other tools and people write them.
const METRICS: [(&str, &[&str]); 7] = [
    (
        "errors",
        &[
            "error",
            "err",
            "errs",
            "failed",
            "failures",
            "fails",
            "fail",
            "http_req_failed",
        ],
    ),
    (
        "samples",
        &[
            "sample",
            "count",
            "requests",
            "hits",
            "http_reqs",
            "iterations",
        ],
    ),
    ("rate", &["rps", "tps", "throughput", "req/s", "qps"]),
    (
        "avg",
        &[
            "average",
            "latency",
            "time",
            "elapsed",
            "avg-rt",
            "http_req_duration",
        ],
    ),
    ("min", &["minimum", "fastest"]),
    ("max", &["maximum", "slowest", "longest"]),
    ("median", &["med"]),
];

/// Other words for units, by the unit as thresholds write it.
const TIME_UNITS: [(&str, &[&str]); 4] = [
    (
        "ms",
        &["", "msec", "msecs", "millis", "millisecond", "milliseconds"],
    ),
    ("us", &["µs", "μs", "usec", "micros", "microseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
];
const RATE_UNITS: [(&str, &[&str]); 3] = [
    (
        "/s",
        &["", "s", "/sec", "/second", "rps", "tps", "req/s", "ps"],
    ),
    ("/min", &["/m", "/minute", "rpm"]),
    ("/h", &["/hour", "/hr", "rph"]),
];
const SHARE_UNITS: [(&str, &[&str]); 2] = [("%", &["percent", "pct", "per cent"]), ("", &[])];
const SPAN_UNITS: [(&str, &[&str]); 3] = [
    ("s", &["", "sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hour", "hours", "hr"]),
];

/// The threshold that a malformed text probably means, if its parts can be guessed. The caller checks that it is one.
pub fn meant(text: &str) -> Option<String> {
    let end = text.rfind(is_sign)?;
    let end = end + text[end..].chars().next()?.len_utf8();
    let before = text[..end].trim_end_matches(|sign: char| is_sign(sign) || sign == ' ');
    let (sign, limit) = (text[before.len()..end].trim(), &text[end..]);
    let (metric, label) = subject(before.trim())?;
    let limit = bound(&metric, limit)?;
    let comparison = comparison(sign, &metric)?;
    let label = match label {
        Some(label) => format!(" of {label}"),
        None => String::new(),
    };
    Some(format!("{metric}{label} {comparison} {limit}"))
}

fn is_sign(sign: char) -> bool {
    matches!(sign, '<' | '>' | '=' | '≤' | '≥')
}

/// The comparison that a run of signs means. A single `=` becomes the side on which the metric is usually bad.
fn comparison(signs: &str, metric: &str) -> Option<&'static str> {
    let is_more = signs.contains(['>', '≥']);
    let is_less = signs.contains(['<', '≤']);
    let has_equal = signs.contains(['=', '≥', '≤']);
    let is_better_high = matches!(metric, "rate" | "samples");
    Some(match (is_more, is_less, has_equal) {
        (true, true, _) => return None,
        (true, false, true) => ">=",
        (true, false, false) => ">",
        (false, true, true) => "<=",
        (false, true, false) => "<",
        (false, false, _) if is_better_high => "<",
        (false, false, _) => ">",
    })
}

/// The metric, and the label if there is one.
fn subject(text: &str) -> Option<(String, Option<&str>)> {
    if let Some((name, label)) = text.split_once(" of ") {
        return Some((metric(name.trim())?, Some(label.trim())));
    }
    let labelled = text.strip_prefix("label:").unwrap_or(text);
    match labelled.rsplit_once(char::is_whitespace) {
        None => Some((metric(labelled)?, None)),
        Some((label, name)) => Some((metric(name)?, Some(label.trim()))),
    }
}

fn metric(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    let of_alias = METRICS
        .iter()
        .find(|(metric, aliases)| *metric == word || aliases.contains(&word.as_str()));
    if let Some((metric, _)) = of_alias {
        return Some((*metric).to_owned());
    }
    let digits: String = word.chars().filter(|sign| is_digit(*sign)).collect();
    let around = word.replace(is_digit, "");
    let is_percentile = [
        "",
        "p",
        "pp",
        "p()",
        "()",
        "th",
        "pth",
        "%",
        "p%",
        "pct",
        "perc",
        "percentile",
    ];
    if !digits.is_empty() {
        return is_percentile
            .contains(&around.as_str())
            .then(|| format!("p{digits}"));
    }
    let metrics = METRICS.iter().map(|(metric, _)| *metric);
    did_you_mean(&word, metrics).map(str::to_owned)
}

/// `p(95)`, `95th`, `pp95`, `p95%`
fn is_digit(sign: char) -> bool {
    sign.is_ascii_digit() || sign == '.'
}

/// The limit with its unit, and the spans of time after it.
fn bound(metric: &str, text: &str) -> Option<String> {
    let mut words = text.split_whitespace().peekable();
    let mut limit = String::new();
    while let Some(word) = words.next_if(|word| !matches!(*word, "over" | "for")) {
        limit.push_str(word);
    }
    let mut bound = match metric {
        "samples" => amount(&limit, &[("", &[])])?,
        "errors" => amount(&limit, &SHARE_UNITS)?,
        "rate" => amount(&limit, &RATE_UNITS)?,
        _ => amount(&limit, &TIME_UNITS)?,
    };
    while let Some(word) = words.next() {
        let mut span = String::new();
        while let Some(part) = words.next_if(|word| !matches!(*word, "over" | "for")) {
            span.push_str(part);
        }
        let span = amount(&span, &SPAN_UNITS)?;
        bound.push_str(&format!(" {word} {span}"));
    }
    Some(bound)
}

/// A number with the unit that is meant.
fn amount(text: &str, units: &[(&str, &[&str])]) -> Option<String> {
    let end = text.find(|sign: char| !(sign.is_ascii_digit() || matches!(sign, '.' | ',')));
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.to_lowercase();
    let (suffix, _) = units
        .iter()
        .find(|(suffix, words)| *suffix == unit || words.contains(&unit.as_str()))?;
    Some(format!("{}{suffix}", digits.replace(',', ".")))
}

#[cfg(test)]
mod tests {
    use crate::Threshold;

    #[test]
    fn a_malformed_threshold_is_refused_with_the_one_that_is_meant() {
        for (written, meant) in [
            ("p95 >> 300ms", "p95 > 300ms"),
            ("p95 => 300ms", "p95 >= 300ms"),
            ("p95 = 300ms", "p95 > 300ms"),
            ("p95 == 300ms", "p95 > 300ms"),
            ("rate = 10/s", "rate < 10/s"),
            ("p95 ≥ 300ms", "p95 >= 300ms"),
            ("p95 > = 300ms", "p95 >= 300ms"),
            ("p95>300", "p95 > 300ms"),
            ("p95 > 300 msec", "p95 > 300ms"),
            ("p95 > 1,5s", "p95 > 1.5s"),
            ("p95 > 2 seconds", "p95 > 2s"),
            ("pp95 > 300ms", "p95 > 300ms"),
            ("p(95) > 300", "p95 > 300ms"),
            ("95th > 300ms", "p95 > 300ms"),
            ("P95 > 300MS", "p95 > 300ms"),
            ("error > 1%", "errors > 1%"),
            ("erors > 1 percent", "errors > 1%"),
            ("rps < 10", "rate < 10/s"),
            ("rate < 600/m", "rate < 600/min"),
            ("Login p95 > 300", "p95 of Login > 300ms"),
            ("p95 of Login >> 300", "p95 of Login > 300ms"),
            ("label:Log in p95 >> 300ms", "p95 of Log in > 300ms"),
            ("p95 > 300 over 10 for 1m", "p95 > 300ms over 10s for 1min"),
            ("p95 > 300ms for 30sec", "p95 > 300ms for 30s"),
        ] {
            let error = written.parse::<Threshold>().expect_err(written).to_string();
            let hint = format!("\nhint: write `{meant}`");
            assert!(error.ends_with(&hint), "{written}: {error}");
            assert!(meant.parse::<Threshold>().is_ok(), "{meant}");
        }
    }

    #[test]
    fn a_text_that_means_nothing_gets_no_proposal() {
        for written in [
            "nonsense",
            "p95 <> 300ms",
            "colour > 3",
            "samples > 5%",
            "p95 >",
            "",
        ] {
            let error = written.parse::<Threshold>().expect_err(written).to_string();
            assert!(!error.contains("hint"), "{error}");
        }
    }
}
