//! Random parts of mails: boundaries and message identifiers.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// A boundary, or a message identifier of JavaMail.
static STAMP: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"----=_Part_[0-9]+_[0-9]+\.[0-9]+|[0-9]+\.[0-9]+\.[0-9]+\.JavaMail\.[^&>]*";
    Regex::new(pattern).expect("the pattern is right")
});

/// Replaces boundaries and message identifiers.
pub fn without_stamps(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for found in STAMP.find_iter(text) {
        out.push_str(&text[at..found.start()]);
        out.push_str(if text[found.range()].starts_with('-') {
            "----=_Part"
        } else {
            "ID"
        });
        at = found.end();
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_replaced() {
        let text = "Message-Id: &lt;1343441044.1.1795803256296.JavaMail.root@vm&gt;\n------=_Part_0_381259350.1795803256123--";
        let plain = "Message-Id: &lt;ID&gt;\n------=_Part--";
        assert_eq!(without_stamps(text), plain);
    }
}
