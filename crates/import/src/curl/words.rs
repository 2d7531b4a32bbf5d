//! Splits command lines as bash, Windows' cmd and PowerShell do, as far as browsers and documentation use their syntax.

/// The shell whose quoting a text uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Bash,
    Cmd,
    PowerShell,
}

/// One command: its words, and the text that a heredoc gives it as standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub words: Vec<String>,
    pub input: Option<String>,
}

/// The commands of a text, whatever program they call.
pub fn commands(text: &str) -> Vec<CommandLine> {
    let text = text.replace("\r\n", "\n");
    let shell = shell_of(&text);
    let text = match shell {
        Dialect::Cmd => without_carets(&text),
        _ => text,
    };
    let mut reader = ShellReader {
        rest: &text,
        shell,
        commands: Vec::new(),
        current: CommandLine::default(),
        word: None,
        heredoc: None,
        file: None,
        skipping: false,
    };
    reader.read();
    reader.commands
}

fn shell_of(text: &str) -> Dialect {
    let ends_with = |end: char| text.lines().any(|line| line.trim_end().ends_with(end));
    if text.contains("^\"") || ends_with('^') {
        Dialect::Cmd
    } else if ends_with('`') || text.contains("`\"") {
        Dialect::PowerShell
    } else {
        Dialect::Bash
    }
}

/// Resolves cmd's escapes: a caret makes the next character literal, and a caret before a line end removes it. Browsers write
/// a line end within data as a caret, a line end and an empty line.
fn without_carets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '^' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') if chars.peek() == Some(&'\n') => out.push('\n'),
            // It still separates two words.
            Some('\n') => out.push(' '),
            Some(next) => out.push(next),
            None => {}
        }
    }
    out
}

struct ShellReader<'t> {
    rest: &'t str,
    shell: Dialect,
    commands: Vec<CommandLine>,
    current: CommandLine,
    word: Option<String>,
    /// The word that ends this line's heredoc.
    heredoc: Option<String>,
    /// The file that a pipe feeds to this command.
    file: Option<String>,
    /// Set after a pipe: the command that consumes the output sends no request.
    skipping: bool,
}

impl ShellReader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn read(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\'' if self.shell != Dialect::Cmd => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' if self.rest.starts_with('\'') => self.ansi_quoted(),
                '\\' if self.shell == Dialect::Bash => self.escaped(),
                '`' if self.shell == Dialect::PowerShell => {
                    if self.rest.starts_with('\n') {
                        self.next();
                    } else if let Some(c) = self.next() {
                        self.push(c);
                    }
                }
                '\n' => self.line_end(),
                '#' if self.word.is_none() && self.shell != Dialect::Cmd => self.skip_line(),
                ';' | '&' | '|' if self.word.is_none() || self.shell == Dialect::Bash => {
                    self.separator(c)
                }
                '<' | '>' if self.shell == Dialect::Bash && self.at_redirection() => {
                    self.redirection(c)
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !self.skipping
        {
            self.current.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.skipping = false;
        if let Some(file) = self.file.take() {
            for word in &mut self.current.words {
                if let Some(option) = word.strip_suffix("@-") {
                    *word = format!("{option}@{file}");
                }
            }
        }
        if !self.current.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.current));
        }
    }

    fn escaped(&mut self) {
        match self.next() {
            // A backslash at the end of the line continues the command.
            Some('\n') => {}
            // Blanks after the backslash are a frequent mistake.
            Some(c)
                if c.is_whitespace()
                    && self.rest.trim_start_matches([' ', '\t']).starts_with('\n') =>
            {
                while self.next().is_some_and(|c| c != '\n') {}
                self.end_word();
            }
            Some(c) => self.push(c),
            None => {}
        }
    }

    /// Handles a line end. It ends the command unless the next line starts with an option, which means that a backslash was
    /// forgotten.
    fn line_end(&mut self) {
        if let Some(end) = self.heredoc.take() {
            self.end_word();
            self.read_heredoc(&end);
            self.end_command();
            return;
        }
        let next = self.rest.trim_start_matches([' ', '\t']);
        if next.starts_with('-') && !self.current.words.is_empty() {
            self.end_word();
        } else {
            self.end_command();
        }
    }

    fn skip_line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    fn separator(&mut self, c: char) {
        self.end_word();
        if c == '|' && !self.rest.starts_with('|') {
            self.skipping = !self.feeds_next();
            return;
        }
        while self.rest.starts_with(['&', '|', ';']) {
            self.next();
        }
        let skipping = self.skipping;
        self.end_command();
        self.skipping = skipping && c != ';' && c != '&';
    }

    /// Before a pipe: whether this command only supplies a text or a file to the next one, which then receives it.
    fn feeds_next(&mut self) -> bool {
        let words = &self.current.words;
        let text = match words.first().map(String::as_str) {
            Some("echo") => {
                let said = words[1..]
                    .iter()
                    .skip_while(|word| matches!(word.as_str(), "-n" | "-e" | "-E"));
                Some(said.cloned().collect::<Vec<_>>().join(" "))
            }
            Some("printf") if words.len() == 2 => Some(words[1].replace("\\n", "\n")),
            Some("cat") if words.len() == 1 => self.current.input.take(),
            Some("cat") if words.len() == 2 => {
                self.file = Some(words[1].clone());
                None
            }
            _ => return false,
        };
        self.current = CommandLine {
            words: Vec::new(),
            input: text,
        };
        true
    }

    /// Whether a redirection may start here: at the start of a word, or after the number of a stream.
    fn at_redirection(&self) -> bool {
        self.word
            .as_ref()
            .is_none_or(|word| word == "2" || word == "1")
    }

    fn redirection(&mut self, c: char) {
        self.word = None;
        if c == '<' && self.rest.starts_with("<<") {
            // The next word is a here-string.
            self.rest = &self.rest[2..];
            let text = self.whole_word();
            self.current.input = Some(text);
            return;
        }
        if c == '<' && self.rest.starts_with('<') {
            self.rest = self.rest[1..].trim_start_matches('-');
            self.heredoc = Some(self.whole_word());
            return;
        }
        self.rest = self.rest.trim_start_matches(['>', '&', '|']);
        self.whole_word();
    }

    /// Reads the next word without adding it to the list.
    fn whole_word(&mut self) -> String {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let outer = self.word.take();
        while let Some(c) = self.rest.chars().next() {
            if c.is_whitespace() || matches!(c, ';' | '|' | '&') {
                break;
            }
            self.next();
            match c {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                c => self.push(c),
            }
        }
        std::mem::replace(&mut self.word, outer).unwrap_or_default()
    }

    fn read_heredoc(&mut self, end: &str) {
        let mut lines = Vec::new();
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            if line.trim_start_matches('\t') == end {
                break;
            }
            lines.push(line);
        }
        self.current.input = Some(lines.join("\n"));
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next() {
            match c {
                // PowerShell doubles a quote inside quotes.
                '\'' if self.shell == Dialect::PowerShell && self.rest.starts_with('\'') => {
                    self.next();
                    self.push('\'');
                }
                '\'' => return,
                c => self.push(c),
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next() {
            match (c, self.shell) {
                ('"', Dialect::PowerShell | Dialect::Cmd) if self.rest.starts_with('"') => {
                    self.next();
                    self.push('"');
                }
                ('"', _) => return,
                ('`', Dialect::PowerShell) => match self.next() {
                    Some('n') => self.push('\n'),
                    Some('r') => self.push('\r'),
                    Some('t') => self.push('\t'),
                    Some(c) => self.push(c),
                    None => {}
                },
                ('\\', _) => match self.rest.chars().next() {
                    Some('\n') if self.shell == Dialect::Bash => {
                        self.next();
                    }
                    Some(next @ ('"' | '\\')) => {
                        self.next();
                        self.push(next);
                    }
                    Some(next @ ('$' | '`')) if self.shell == Dialect::Bash => {
                        self.next();
                        self.push(next);
                    }
                    _ => self.push('\\'),
                },
                (c, _) => self.push(c),
            }
        }
    }

    /// Reads `$'…'`, with escapes as in C. Browsers use it for quotes and line ends in data.
    fn ansi_quoted(&mut self) {
        self.next();
        self.word.get_or_insert_default();
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => self.ansi_escape(),
                c => self.push(c),
            }
        }
    }

    fn ansi_escape(&mut self) {
        let Some(c) = self.next() else { return };
        let code = match c {
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'a' => Some(7),
            'b' => Some(8),
            'e' => Some(27),
            'f' => Some(12),
            'v' => Some(11),
            'x' => self.digits(2, 16),
            'u' => self.surrogates(),
            'U' => self.digits(8, 16),
            '0'..='7' => self.octal(c),
            other => Some(u32::from(other)),
        };
        if let Some(c) = code.and_then(char::from_u32) {
            self.push(c);
        }
    }

    /// Reads up to three octal digits, the first of which was already consumed.
    fn octal(&mut self, first: char) -> Option<u32> {
        let mut value = first.to_digit(8)?;
        for _ in 0..2 {
            let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)) else {
                break;
            };
            value = value * 8 + digit;
            self.next();
        }
        Some(value)
    }

    fn digits(&mut self, most: usize, radix: u32) -> Option<u32> {
        let end = self
            .rest
            .char_indices()
            .take(most)
            .take_while(|(_, c)| c.is_digit(radix))
            .map(|(at, c)| at + c.len_utf8())
            .last()?;
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        u32::from_str_radix(digits, radix).ok()
    }

    /// Reads `\uXXXX`. Characters beyond the Basic Multilingual Plane are written as two of them.
    fn surrogates(&mut self) -> Option<u32> {
        let high = self.digits(4, 16)?;
        if !(0xd800..0xdc00).contains(&high) || !self.rest.starts_with("\\u") {
            return Some(high);
        }
        self.rest = &self.rest[2..];
        let low = self.digits(4, 16)?;
        Some(0x10000 + ((high - 0xd800) << 10) + (low.checked_sub(0xdc00)? & 0x3ff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        commands(text)
            .into_iter()
            .map(|command| command.words)
            .collect()
    }

    #[test]
    fn bash() {
        let text = "curl 'http://a/' \\\n  -H \"x: \\\"y\\\" \\$z\" --data-raw $'a\\'b\\n\\u00e9\\ud83d\\ude00\\x41'\ncurl b -d a\\ b";
        assert_eq!(
            words(text),
            [
                vec![
                    "curl",
                    "http://a/",
                    "-H",
                    "x: \"y\" $z",
                    "--data-raw",
                    "a'b\né😀A"
                ],
                vec!["curl", "b", "-d", "a b"]
            ]
        );
    }

    #[test]
    fn pipes_comments_redirections_and_forgotten_backslashes() {
        let text = "# first\ncurl -s a 2>/dev/null | jq . > out.json\ncurl b\n  -H 'x: 1'\ncurl c && curl 'd;e'; curl f > g";
        assert_eq!(
            words(text),
            [
                vec!["curl", "-s", "a"],
                vec!["curl", "b", "-H", "x: 1"],
                vec!["curl", "c"],
                vec!["curl", "d;e"],
                vec!["curl", "f"]
            ]
        );
    }

    #[test]
    fn a_heredoc_is_standard_input() {
        let read = commands("curl a -d @- <<'EOF'\n{\"x\":\n1}\nEOF\ncurl b");
        assert_eq!(read[0].input.as_deref(), Some("{\"x\":\n1}"));
        assert_eq!(read[0].words, ["curl", "a", "-d", "@-"]);
        assert_eq!(read[1].words, ["curl", "b"]);
    }

    #[test]
    fn piped_text_becomes_the_commands_input() {
        let text = "echo -n '{\"a\": 1}' | curl a -d @-\nprintf 'x\\n' | curl b -d @-\ncat body.json | curl c --data-binary @-\n\
                    cat <<EOF | curl d -d @-\nhello\nEOF\necho x | tr x y | curl e\ncurl f";
        let read = commands(text);
        let inputs: Vec<Option<&str>> = read.iter().map(|one| one.input.as_deref()).collect();
        assert_eq!(
            inputs[..4],
            [Some("{\"a\": 1}"), Some("x\n"), None, Some("hello")]
        );
        assert_eq!(read[0].words, ["curl", "a", "-d", "@-"]);
        assert_eq!(read[2].words, ["curl", "c", "--data-binary", "@body.json"]);
        assert_eq!(read[3].words, ["curl", "d", "-d", "@-"]);
        // The output of another program is unknown.
        assert_eq!(read[4].words, ["tr", "x", "y"]);
        assert_eq!(read[5].words, ["curl", "f"]);
    }

    #[test]
    fn windows() {
        let cmd = "curl ^\"http://a/?x=1^&y=2^\" ^\r\n  -H ^\"x: y^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"";
        assert_eq!(
            words(cmd),
            [[
                "curl",
                "http://a/?x=1&y=2",
                "-H",
                "x: y",
                "--data-raw",
                "{\"a\":1}"
            ]]
        );
        let power = "curl.exe \"http://a/\" `\n  -H 'it''s: y' `\n  -d \"{`\"a`\":1}\"";
        assert_eq!(
            words(power),
            [["curl.exe", "http://a/", "-H", "it's: y", "-d", "{\"a\":1}"]]
        );
    }
}
