//! The options of cURL: which of them take a value, and what each means for a plan.

/// The effect of an option on the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Url,
    Method,
    Header,
    Agent,
    Referer,
    Cookie,
    Bearer,
    User,
    Digest,
    Data,
    Binary,
    Raw,
    Encoded,
    Json,
    Query,
    Form,
    FormText,
    AsQuery,
    Head,
    Follow,
    GlobOff,
    PathAsIs,
    Range,
    Upload,
    ConnectTimeout,
    Timeout,
    /// Any certificate is accepted.
    Insecure,
    /// It does not change the request.
    Ignored,
    /// It would change what is sent or how, so a warning names it.
    Told,
}

/// One option or argument of a command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Given<'w> {
    Option(&'w str, Action, &'w str),
    Argument(&'w str),
    Unknown(&'w str),
}

/// Short letter (or a blank), long name, whether it takes a value, and its effect.
const OPTIONS: &[(char, &str, bool, Action)] = &[
    ('X', "request", true, Action::Method),
    ('H', "header", true, Action::Header),
    ('d', "data", true, Action::Data),
    (' ', "data-ascii", true, Action::Data),
    (' ', "data-binary", true, Action::Binary),
    (' ', "data-raw", true, Action::Raw),
    (' ', "data-urlencode", true, Action::Encoded),
    (' ', "url-query", true, Action::Query),
    (' ', "json", true, Action::Json),
    ('F', "form", true, Action::Form),
    (' ', "form-string", true, Action::FormText),
    ('A', "user-agent", true, Action::Agent),
    ('e', "referer", true, Action::Referer),
    ('b', "cookie", true, Action::Cookie),
    ('u', "user", true, Action::User),
    (' ', "oauth2-bearer", true, Action::Bearer),
    (' ', "digest", false, Action::Digest),
    ('G', "get", false, Action::AsQuery),
    ('I', "head", false, Action::Head),
    ('L', "location", false, Action::Follow),
    (' ', "location-trusted", false, Action::Follow),
    ('T', "upload-file", true, Action::Upload),
    ('m', "max-time", true, Action::Timeout),
    (' ', "connect-timeout", true, Action::ConnectTimeout),
    (' ', "url", true, Action::Url),
    ('k', "insecure", false, Action::Insecure),
    // How the response is shown, stored or judged, and what JMeter does anyway.
    (' ', "basic", false, Action::Ignored),
    (' ', "compressed", false, Action::Ignored),
    ('i', "include", false, Action::Ignored),
    ('s', "silent", false, Action::Ignored),
    ('S', "show-error", false, Action::Ignored),
    ('v', "verbose", false, Action::Ignored),
    ('#', "progress-bar", false, Action::Ignored),
    ('f', "fail", false, Action::Ignored),
    (' ', "fail-with-body", false, Action::Ignored),
    (' ', "fail-early", false, Action::Ignored),
    ('N', "no-buffer", false, Action::Ignored),
    ('O', "remote-name", false, Action::Ignored),
    ('J', "remote-header-name", false, Action::Ignored),
    ('o', "output", true, Action::Ignored),
    (' ', "output-dir", true, Action::Ignored),
    (' ', "create-dirs", false, Action::Ignored),
    ('D', "dump-header", true, Action::Ignored),
    ('w', "write-out", true, Action::Ignored),
    ('c', "cookie-jar", true, Action::Ignored),
    ('j', "junk-session-cookies", false, Action::Ignored),
    (' ', "raw", false, Action::Ignored),
    (' ', "trace", true, Action::Ignored),
    (' ', "trace-ascii", true, Action::Ignored),
    (' ', "trace-time", false, Action::Ignored),
    (' ', "stderr", true, Action::Ignored),
    (' ', "no-progress-meter", false, Action::Ignored),
    (' ', "styled-output", false, Action::Ignored),
    (' ', "keepalive", false, Action::Ignored),
    (' ', "keepalive-time", true, Action::Ignored),
    (' ', "tcp-nodelay", false, Action::Ignored),
    (' ', "ssl", false, Action::Ignored),
    (' ', "ssl-reqd", false, Action::Ignored),
    (' ', "ssl-no-revoke", false, Action::Ignored),
    (' ', "no-alpn", false, Action::Ignored),
    ('Z', "parallel", false, Action::Ignored),
    (' ', "parallel-max", true, Action::Ignored),
    ('q', "disable", false, Action::Ignored),
    (' ', "globoff", false, Action::GlobOff),
    ('g', "globoff", false, Action::GlobOff),
    // Settings that a plan has elsewhere or not at all.
    (' ', "http1.0", false, Action::Told),
    ('0', "http1.0", false, Action::Told),
    (' ', "http1.1", false, Action::Ignored),
    (' ', "http2", false, Action::Told),
    (' ', "http2-prior-knowledge", false, Action::Told),
    (' ', "http3", false, Action::Told),
    (' ', "http3-only", false, Action::Told),
    ('4', "ipv4", false, Action::Told),
    ('6', "ipv6", false, Action::Told),
    (' ', "retry", true, Action::Told),
    (' ', "retry-delay", true, Action::Told),
    (' ', "retry-max-time", true, Action::Told),
    (' ', "retry-all-errors", false, Action::Told),
    (' ', "retry-connrefused", false, Action::Told),
    ('x', "proxy", true, Action::Told),
    ('U', "proxy-user", true, Action::Told),
    (' ', "proxy-basic", false, Action::Told),
    (' ', "proxy-digest", false, Action::Told),
    (' ', "proxy-ntlm", false, Action::Told),
    (' ', "proxy-negotiate", false, Action::Told),
    (' ', "proxy-header", true, Action::Told),
    (' ', "noproxy", true, Action::Told),
    (' ', "socks5", true, Action::Told),
    (' ', "ntlm", false, Action::Told),
    (' ', "negotiate", false, Action::Told),
    (' ', "anyauth", false, Action::Told),
    (' ', "aws-sigv4", true, Action::Told),
    ('E', "cert", true, Action::Told),
    (' ', "cert-type", true, Action::Told),
    (' ', "cert-status", false, Action::Told),
    (' ', "key", true, Action::Told),
    (' ', "key-type", true, Action::Told),
    (' ', "pass", true, Action::Told),
    (' ', "cacert", true, Action::Told),
    (' ', "capath", true, Action::Told),
    (' ', "ciphers", true, Action::Told),
    (' ', "tls-max", true, Action::Told),
    (' ', "tlsv1.2", false, Action::Told),
    (' ', "tlsv1.3", false, Action::Told),
    (' ', "resolve", true, Action::Told),
    (' ', "connect-to", true, Action::Told),
    (' ', "dns-servers", true, Action::Told),
    (' ', "doh-url", true, Action::Told),
    (' ', "interface", true, Action::Told),
    (' ', "local-port", true, Action::Told),
    (' ', "limit-rate", true, Action::Told),
    (' ', "rate", true, Action::Told),
    (' ', "max-redirs", true, Action::Told),
    (' ', "max-filesize", true, Action::Told),
    (' ', "no-keepalive", false, Action::Told),
    (' ', "unix-socket", true, Action::Told),
    (' ', "post301", false, Action::Told),
    (' ', "post302", false, Action::Told),
    (' ', "post303", false, Action::Told),
    (' ', "request-target", true, Action::Told),
    (' ', "path-as-is", false, Action::PathAsIs),
    ('r', "range", true, Action::Range),
    ('z', "time-cond", true, Action::Told),
    ('K', "config", true, Action::Told),
    (' ', "netrc", false, Action::Told),
    ('n', "netrc", false, Action::Told),
    (' ', "tr-encoding", false, Action::Told),
    (' ', "expect100-timeout", true, Action::Told),
    ('y', "speed-time", true, Action::Told),
    ('Y', "speed-limit", true, Action::Told),
];

/// The options and arguments of a command, in their order.
pub fn given<'w>(words: &[&'w str]) -> Vec<Given<'w>> {
    let mut all = Vec::new();
    let mut words = words.iter().copied();
    let mut only_arguments = false;
    while let Some(word) = words.next() {
        if only_arguments || !word.starts_with('-') || word == "-" {
            all.push(Given::Argument(word));
        } else if word == "--" {
            only_arguments = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let positive = long.strip_prefix("no-").unwrap_or(long);
            match named(long).or_else(|| named(positive)) {
                Some((_, _, true, action)) => {
                    all.push(Given::Option(word, *action, words.next().unwrap_or("")));
                }
                Some((_, _, false, action)) => all.push(Given::Option(word, *action, "")),
                None => all.push(Given::Unknown(word)),
            }
        } else {
            short(word, &mut words, &mut all);
        }
    }
    all
}

fn named(name: &str) -> Option<&(char, &str, bool, Action)> {
    OPTIONS.iter().find(|(_, own, _, _)| *own == name)
}

/// Parses short options. Several letters may be combined, and a value may follow its letter
/// directly.
fn short<'w>(word: &'w str, words: &mut impl Iterator<Item = &'w str>, all: &mut Vec<Given<'w>>) {
    for (at, letter) in word.char_indices().skip(1) {
        match OPTIONS.iter().find(|(own, _, _, _)| *own == letter) {
            Some((_, _, true, action)) => {
                let attached = &word[at + letter.len_utf8()..];
                let value = if attached.is_empty() {
                    words.next().unwrap_or("")
                } else {
                    attached
                };
                all.push(Given::Option(word, *action, value));
                return;
            }
            Some((_, _, false, action)) => all.push(Given::Option(word, *action, "")),
            None => {
                all.push(Given::Unknown(word));
                return;
            }
        }
    }
}
