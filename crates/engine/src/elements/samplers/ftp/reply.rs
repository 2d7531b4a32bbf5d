//! A reply of an FTP server (RFC 959 section 4.2).

use drumfire_java::values::parse_int;

use super::failure::FtpFailure;

const CODE_LEN: usize = 3;
const MALFORMED: &str = "org.apache.commons.net.MalformedServerReplyException";

/// The last reply of a server.
#[derive(Debug, Default)]
pub struct Reply {
    pub code: i32,
    /// All lines, each with its end.
    pub text: String,
    /// The length of the first line.
    first_len: usize,
}

impl Reply {
    /// Begins a reply with its first line. True if more lines follow (`FTP#getReply`).
    ///
    /// # Errors
    /// The line does not begin a reply.
    pub fn begin(&mut self, line: &str) -> Result<bool, FtpFailure> {
        let malformed = |message: String| Err(FtpFailure::io(MALFORMED, message));
        self.text.clear();
        if line.len() < CODE_LEN {
            return malformed(format!("Truncated server reply: {line}"));
        }
        let Some(code) = line.get(..CODE_LEN).and_then(parse_int) else {
            let message = format!("Could not parse response code.\nServer Reply: {line}");
            return malformed(message);
        };
        self.code = code;
        self.add(line);
        self.first_len = line.len();
        match line.as_bytes().get(CODE_LEN..).unwrap_or_default() {
            [b'-', ..] => Ok(true),
            [] | [_] => malformed(format!("Truncated server reply: '{line}'")),
            [b' ', ..] => Ok(false),
            _ => malformed(format!("Invalid server reply: '{line}'")),
        }
    }

    /// Adds a further line. True if it is not the last one: that one begins with any digit, and has no hyphen after the code
    /// (`FTP#lenientCheck`).
    pub fn go_on(&mut self, line: &str) -> bool {
        self.add(line);
        let chars: Vec<char> = line.chars().take(CODE_LEN + 1).collect();
        let is_last = chars.len() > CODE_LEN && chars[CODE_LEN] != '-' && chars[0].is_ascii_digit();
        !is_last
    }

    fn add(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str("\r\n");
    }

    pub fn is_preliminary(&self) -> bool {
        (100..200).contains(&self.code)
    }

    pub fn is_completion(&self) -> bool {
        (200..300).contains(&self.code)
    }

    pub fn is_intermediate(&self) -> bool {
        (300..400).contains(&self.code)
    }

    fn first_line(&self) -> &str {
        &self.text[..self.first_len]
    }

    /// The port in a reply to PASV: the last two of the first six numbers with commas between them
    /// (`FTPClient#_parsePassiveModeReply`). The address is ignored, as Commons Net has done since version 3.9.
    ///
    /// # Errors
    /// There is no port, or it is above 65535.
    pub fn passive_port(&self) -> Result<u16, FtpFailure> {
        let line = self.first_line();
        let bytes = line.as_bytes();
        let Some(numbers) = (0..bytes.len()).find_map(|at| six_numbers(&bytes[at..])) else {
            let message =
                format!("Could not parse passive host information.\nServer Reply: {line}");
            return Err(FtpFailure::io(MALFORMED, message));
        };
        port((numbers[4] << 8) | numbers[5])
    }

    /// The port in a reply to EPSV, such as `(|||6446|)` (`FTPClient#_parseExtendedPassiveModeReply`).
    ///
    /// # Errors
    /// There is no port, or it is above 65535.
    pub fn extended_port(&self) -> Result<u16, FtpFailure> {
        let line = self.first_line();
        let start = line.find('(').map_or(0, |at| at + 1);
        let shown = line.find(')').and_then(|end| line.get(start..end));
        let Some(shown) = shown.map(str::trim).filter(|shown| shown.len() > CODE_LEN) else {
            let message = format!("java.lang.StringIndexOutOfBoundsException: {line}");
            return Err(FtpFailure::Uncaught(message));
        };
        let mark = shown.chars().next().unwrap_or_default();
        let number = shown
            .strip_prefix(&String::from_iter([mark; 3]))
            .and_then(|rest| rest.strip_suffix(mark))
            .and_then(parse_int);
        match number {
            Some(number) => port(number),
            None => {
                let message = format!(
                    "Could not parse extended passive host information.\nServer Reply: {shown}"
                );
                Err(FtpFailure::io(MALFORMED, message))
            }
        }
    }
}

/// `new InetSocketAddress(host, port)`.
pub fn port(number: i32) -> Result<u16, FtpFailure> {
    u16::try_from(number).map_err(|_| {
        let message = format!("java.lang.IllegalArgumentException: port out of range:{number}");
        FtpFailure::Uncaught(message)
    })
}

/// Six numbers of one to three digits with commas between them, if the bytes begin with them.
fn six_numbers(bytes: &[u8]) -> Option<[i32; 6]> {
    let mut numbers = [0; 6];
    let mut rest = bytes;
    for (index, number) in numbers.iter_mut().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b",")?;
        }
        let digits = rest.iter().take(CODE_LEN);
        let count = digits.take_while(|byte| byte.is_ascii_digit()).count();
        *number = parse_int(str::from_utf8(rest.get(..count)?).ok()?)?;
        rest = &rest[count..];
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(line: &str) -> Result<(i32, bool), FtpFailure> {
        let mut reply = Reply::default();
        let goes_on = reply.begin(line)?;
        Ok((reply.code, goes_on))
    }

    #[test]
    fn a_reply_begins_with_a_code_and_a_text() {
        assert_eq!(begun("220 ready"), Ok((220, false)));
        assert_eq!(begun("220-ready"), Ok((220, true)));
        assert_eq!(begun("220-"), Ok((220, true)));
        for (line, message) in [
            ("22", "Truncated server reply: 22"),
            ("220", "Truncated server reply: '220'"),
            ("220 ", "Truncated server reply: '220 '"),
            ("220ready", "Invalid server reply: '220ready'"),
            (
                "what?",
                "Could not parse response code.\nServer Reply: what?",
            ),
        ] {
            assert_eq!(begun(line), Err(FtpFailure::io(MALFORMED, message)));
        }
    }

    #[test]
    fn any_code_ends_a_reply_of_several_lines() {
        let mut reply = Reply::default();
        assert_eq!(reply.begin("220-a"), Ok(true));
        for line in [" b", "220-c", "2", "no end", ""] {
            assert!(reply.go_on(line), "{line}");
        }
        assert!(!reply.go_on("230 d"));
        assert_eq!(reply.code, 220);
        assert_eq!(
            reply.text,
            "220-a\r\n b\r\n220-c\r\n2\r\nno end\r\n\r\n230 d\r\n"
        );
    }

    fn passive(line: &str) -> Result<u16, FtpFailure> {
        let mut reply = Reply::default();
        reply.begin(line)?;
        reply.passive_port()
    }

    #[test]
    fn the_port_of_passive_mode_is_in_six_numbers() {
        assert_eq!(passive("227 here (127,0,0,1,4,2)"), Ok(1026));
        assert_eq!(passive("227 =127,0,0,1,4,2"), Ok(1026));
        assert_eq!(passive("227 x 5 10127,0,0,1,4,2567"), Ok(1280));
        let out = "java.lang.IllegalArgumentException: port out of range:255744";
        assert_eq!(
            passive("227 (127,0,0,1,999,256)"),
            Err(FtpFailure::Uncaught(out.to_owned()))
        );
        let message = "Could not parse passive host information.\nServer Reply: 227 (1,2,3)";
        assert_eq!(
            passive("227 (1,2,3)"),
            Err(FtpFailure::io(MALFORMED, message))
        );
    }

    #[test]
    fn the_port_of_extended_passive_mode_is_between_marks() {
        let extended = |line: &str| {
            let mut reply = Reply::default();
            reply.begin(line)?;
            reply.extended_port()
        };
        assert_eq!(extended("229 Entering (|||6446|)"), Ok(6446));
        assert_eq!(extended("229 ( !!!6446! )"), Ok(6446));
        for line in ["229 (|||x|)", "229 (||6446|)", "229 (1234)"] {
            assert!(matches!(extended(line), Err(FtpFailure::Io(_))), "{line}");
        }
        for line in ["229 nothing", "229 ()", ")229 ("] {
            assert!(extended(line).is_err(), "{line}");
        }
    }
}
