//! SMTP (RFC 5321) as `SMTPTransport` speaks it: replies, extensions, logins, and the bytes of a mail.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_java::values::parse_int;

use crate::latin::{low_bytes, one_char_each};

/// A reply of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The code; -1 if there is none, or if the server has ended the connection.
    pub code: i32,
    /// All lines, each with a line feed at its end.
    pub text: String,
}

impl Reply {
    /// Appends a line. True if it is the last one of the reply.
    pub fn push(&mut self, line: &[u8]) -> bool {
        self.text.push_str(&one_char_each(line));
        self.text.push('\n');
        let is_last = line.get(3) != Some(&b'-');
        if is_last {
            let code = self.text.get(..3).and_then(parse_int);
            self.code = code.unwrap_or(-1);
        }
        is_last
    }

    /// Ends the reply because the server has closed the connection.
    pub fn end(&mut self) {
        self.code = -1;
        if self.text.is_empty() {
            self.text.push_str("[EOF]");
        }
    }

    /// The extensions that the reply to EHLO names.
    pub fn extensions(&self) -> Extensions {
        let lines = self.text.lines().skip(1);
        let named = lines.filter_map(|line| {
            let line = line.get(4..).filter(|line| !line.is_empty())?;
            let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
            Some((name.to_ascii_uppercase(), arguments.to_owned()))
        });
        Extensions(named.collect())
    }
}

/// The extensions of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extensions(Vec<(String, String)>);

/// A mechanism of authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// User and password in answers to questions.
    Login,
    /// User and password in one text (RFC 4616).
    Plain,
}

impl Extensions {
    /// Whether the server offers an extension, which is given in capitals.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// The first mechanism that the server offers, too. JavaMail prefers LOGIN.
    pub fn mechanism(&self) -> Option<Mechanism> {
        let extension = self.0.iter().rev().find(|(name, _)| name == "AUTH");
        let offers = |mechanism: &str| {
            extension.is_some_and(|(_, offered)| {
                offered
                    .split_ascii_whitespace()
                    .any(|offered| offered.eq_ignore_ascii_case(mechanism))
            })
        };
        if offers("LOGIN") || (extension.is_some() && self.has("AUTH=LOGIN")) {
            return Some(Mechanism::Login);
        }
        offers("PLAIN").then_some(Mechanism::Plain)
    }
}

/// The command that begins a login.
pub fn auth_command(mechanism: Mechanism, user: &str, password: &str) -> String {
    match mechanism {
        Mechanism::Login => "AUTH LOGIN".to_owned(),
        Mechanism::Plain => {
            let text = [user, user, password].map(low_bytes).join(&0);
            format!("AUTH PLAIN {}", STANDARD.encode(text))
        }
    }
}

/// A user or a password as the answer to a question of `AUTH LOGIN`.
pub fn auth_answer(text: &str) -> String {
    STANDARD.encode(low_bytes(text))
}

/// A path of an envelope, in angle brackets (`SMTPTransport#normalizeAddress`).
pub fn path(address: &str) -> String {
    if address.starts_with('<') || address.ends_with('>') {
        address.to_owned()
    } else {
        format!("<{address}>")
    }
}

/// The bytes after DATA: every line ends with CR LF, a dot at the begin of a line is doubled, and a line with a dot ends the mail
/// (`SMTPOutputStream`).
pub fn data(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len() + mail.len() / 32 + 5);
    let mut at = 0;
    while at < mail.len() {
        let (line, next) = crate::headers::take_line(mail, at);
        if line.starts_with(b".") {
            out.push(b'.');
        }
        out.extend_from_slice(line);
        out.extend_from_slice(b"\r\n");
        at = next;
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(lines: &[&str]) -> Reply {
        let mut reply = Reply::default();
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(reply.push(line.as_bytes()), index + 1 == lines.len());
        }
        reply
    }

    #[test]
    fn replies_have_lines_and_a_code() {
        let hello = reply(&["250-mail.test", "250-AUTH plain LOGIN", "250 starttls"]);
        assert_eq!(hello.code, 250);
        assert_eq!(
            hello.text,
            "250-mail.test\n250-AUTH plain LOGIN\n250 starttls\n"
        );
        let extensions = hello.extensions();
        assert!(extensions.has("STARTTLS") && !extensions.has("DSN"));
        assert_eq!(extensions.mechanism(), Some(Mechanism::Login));
        assert_eq!(reply(&["ab"]).code, -1);
        assert_eq!(reply(&["nonsense"]).code, -1);
        let mut cut = Reply::default();
        cut.end();
        assert_eq!((cut.code, cut.text.as_str()), (-1, "[EOF]"));
        let plain = reply(&["250-x", "250 AUTH PLAIN CRAM-MD5"]).extensions();
        assert_eq!(plain.mechanism(), Some(Mechanism::Plain));
        assert_eq!(Extensions::default().mechanism(), None);
    }

    #[test]
    fn logins_are_base64() {
        assert_eq!(
            auth_command(Mechanism::Plain, "u", "p"),
            "AUTH PLAIN dQB1AHA="
        );
        assert_eq!(auth_command(Mechanism::Login, "u", "p"), "AUTH LOGIN");
        assert_eq!(auth_answer("user"), "dXNlcg==");
        assert_eq!(path("a@b"), "<a@b>");
        assert_eq!(path("<a@b>"), "<a@b>");
    }

    #[test]
    fn mails_end_with_a_dot_and_other_dots_are_doubled() {
        for (mail, sent) in [
            (
                &b"a\n.\n..b\r\nc"[..],
                &b"a\r\n..\r\n...b\r\nc\r\n.\r\n"[..],
            ),
            (b"a\r\rb\r\n", b"a\r\n\r\nb\r\n.\r\n"),
            (b"", b".\r\n"),
        ] {
            assert_eq!(data(mail), sent);
        }
    }
}
