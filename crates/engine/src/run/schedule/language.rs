//! The schedule language of the Open Model Thread Group: `rate(10/sec) random_arrivals(1 min) pause(5 s) rate(0)` and so on
//! (`ScheduleParser`, `Tokenizer` in `org.apache.jmeter.threads.openmodel`).

use drumfire_platform::message_error;

const HOUR_S: f64 = 3600.0;

message_error! {
    /// The fault of a schedule and its place, in JMeter's words.
    pub struct ScheduleSyntaxError;
}

/// One step of a schedule; the time unit is the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScheduleStep {
    Rate(f64),
    Arrivals { random: bool, duration_s: f64 },
}

#[derive(Clone, Debug, PartialEq)]
enum ScheduleToken<'s> {
    Identifier(&'s str),
    Number(&'s str),
    Open,
    Close,
    Divide,
}

impl std::fmt::Display for ScheduleToken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScheduleToken::Identifier(image) => write!(f, "Identifier({image})"),
            ScheduleToken::Number(image) => write!(f, "Number({image})"),
            ScheduleToken::Open => f.write_str("("),
            ScheduleToken::Close => f.write_str(")"),
            ScheduleToken::Divide => f.write_str("/"),
        }
    }
}

/// Reads a schedule. A whole number alone stands for that many users in the first second, which then have an hour.
///
/// # Errors
/// The unreadable part, in JMeter's words.
pub fn parse(schedule: &str) -> Result<Vec<ScheduleStep>, ScheduleSyntaxError> {
    if let Ok(users) = schedule.parse::<i32>() {
        let arrivals = |duration_s| ScheduleStep::Arrivals {
            random: false,
            duration_s,
        };
        let rate = ScheduleStep::Rate(f64::from(users));
        return Ok(vec![
            rate,
            arrivals(1.0),
            rate,
            ScheduleStep::Rate(0.0),
            arrivals(HOUR_S),
        ]);
    }
    let mut parser = LanguageParser {
        schedule,
        tokens: tokenize(schedule)?,
        at: 0,
        last_rate: 0.0,
    };
    let mut steps = Vec::new();
    while parser.at < parser.tokens.len() {
        parser.step(&mut steps)?;
    }
    Ok(steps)
}

/// The fault, its place, and the next characters.
fn fault(schedule: &str, position: usize, message: &str) -> ScheduleSyntaxError {
    let near: String = schedule[position..].chars().take(20).collect();
    let position = schedule[..position].encode_utf16().count();
    format!("{message} at position {position}: '{near}' in '{schedule}'").into()
}

fn tokenize(schedule: &str) -> Result<Vec<(usize, ScheduleToken<'_>)>, ScheduleSyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = schedule[at..].chars().next() {
        let rest = &schedule[at..];
        let blank = blank_len(rest);
        if blank > 0 {
            at += blank;
            continue;
        }
        let token = match c {
            '(' => ScheduleToken::Open,
            ')' => ScheduleToken::Close,
            '/' => ScheduleToken::Divide,
            _ if c.is_ascii_alphabetic() => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                ScheduleToken::Identifier(&rest[..end])
            }
            _ => match number_len(rest) {
                0 => return Err(fault(schedule, at, "Unexpected input")),
                len => ScheduleToken::Number(&rest[..len]),
            },
        };
        let len = match &token {
            ScheduleToken::Identifier(image) | ScheduleToken::Number(image) => image.len(),
            _ => 1,
        };
        tokens.push((at, token));
        at += len;
    }
    Ok(tokens)
}

/// Length of the white space or comment at the start. A comment of several lines does not count, because the dot in JMeter's
/// pattern does not match the end of a line.
fn blank_len(text: &str) -> usize {
    let spaces = text.len() - text.trim_start_matches(is_space).len();
    if spaces > 0 {
        return spaces;
    }
    if let Some(comment) = text.strip_prefix("//") {
        let body = comment.find(is_line_end).unwrap_or(comment.len());
        let ends = comment[body..].len() - comment[body..].trim_start_matches(is_line_end).len();
        return 2 + body + ends;
    }
    let Some(comment) = text.strip_prefix("/*") else {
        return 0;
    };
    match comment.find("*/") {
        Some(end) if !comment[..end].contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) => {
            end + 4
        }
        _ => 0,
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r')
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// Length of `12`, `1.5` or `.5` at the start.
fn number_len(text: &str) -> usize {
    let whole = digits(text);
    let fraction = text[whole..].strip_prefix('.').map(digits).unwrap_or(0);
    if fraction > 0 {
        whole + 1 + fraction
    } else {
        whole
    }
}

fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

struct LanguageParser<'s> {
    schedule: &'s str,
    tokens: Vec<(usize, ScheduleToken<'s>)>,
    at: usize,
    last_rate: f64,
}

impl<'s> LanguageParser<'s> {
    fn token(&self) -> Option<&ScheduleToken<'s>> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn fault<T>(&self, message: &str) -> Result<T, ScheduleSyntaxError> {
        let position = self
            .tokens
            .get(self.at)
            .map_or(0, |(position, _)| *position);
        Err(fault(self.schedule, position, message))
    }

    fn step(&mut self, steps: &mut Vec<ScheduleStep>) -> Result<(), ScheduleSyntaxError> {
        let name = match self.token() {
            Some(ScheduleToken::Identifier(name)) => name.to_ascii_lowercase(),
            _ => String::new(),
        };
        match name.as_str() {
            "pause" => self.pause(steps),
            "rate" => {
                self.last_rate = self.rate()?;
                steps.push(ScheduleStep::Rate(self.last_rate));
                Ok(())
            }
            "random_arrivals" | "even_arrivals" => {
                let duration_s = self.duration()?;
                steps.push(ScheduleStep::Arrivals {
                    random: name == "random_arrivals",
                    duration_s,
                });
                Ok(())
            }
            _ => self.fault(
                "Unexpected input (expecting rate, random_arrivals, even_arrivals, or pause)",
            ),
        }
    }

    /// A pause is a stretch at rate 0, after which the rate is what it was.
    fn pause(&mut self, steps: &mut Vec<ScheduleStep>) -> Result<(), ScheduleSyntaxError> {
        let pause = ScheduleStep::Arrivals {
            random: false,
            duration_s: self.duration()?,
        };
        let (rate, zero) = (ScheduleStep::Rate(self.last_rate), ScheduleStep::Rate(0.0));
        if self.last_rate == 0.0 {
            steps.extend([pause, rate]);
        } else {
            steps.extend([rate, zero, pause, zero, rate]);
        }
        Ok(())
    }

    fn expect(&mut self, expected: &[ScheduleToken<'_>]) -> Result<(), ScheduleSyntaxError> {
        let is_expected = self.token().is_some_and(|token| {
            expected.iter().any(|expected| match (expected, token) {
                (ScheduleToken::Identifier(a), ScheduleToken::Identifier(b)) => {
                    a.eq_ignore_ascii_case(b)
                }
                (a, b) => a == b,
            })
        });
        if !is_expected {
            let expected: Vec<_> = expected.iter().map(ScheduleToken::to_string).collect();
            let message = format!(
                "Unexpected input. Expected {} got {}",
                expected.join(", "),
                self.current_token_text()
            );
            return self.fault(&message);
        }
        self.at += 1;
        Ok(())
    }

    fn current_token_text(&self) -> String {
        self.token()
            .map_or_else(|| "null".to_owned(), ScheduleToken::to_string)
    }

    /// Reads a number; `what` describes it in a message.
    fn number(&mut self, what: &str) -> Result<f64, ScheduleSyntaxError> {
        let number = match self.token() {
            Some(ScheduleToken::Number(image)) => Some(*image),
            _ => None,
        };
        self.at += 1;
        let found = self.current_token_text(); // JMeter shows the token after the wrong one
        match number.and_then(|image| image.parse().ok()) {
            Some(number) => Ok(number),
            None => self.fault(&format!("Unexpected input. Expected {what} got {found}")),
        }
    }

    /// Arrivals per second.
    fn rate(&mut self) -> Result<f64, ScheduleSyntaxError> {
        self.at += 1;
        self.expect(&[ScheduleToken::Open])?;
        let number = self.number("float number for rate")?;
        let unit_s = if number == 0.0 && self.token() == Some(&ScheduleToken::Close) {
            1.0
        } else {
            self.expect(&[ScheduleToken::Divide, ScheduleToken::Identifier("per")])?;
            self.unit_s()?
        };
        self.expect(&[ScheduleToken::Close])?;
        Ok(number / unit_s)
    }

    /// Seconds of a parenthesis such as `(1 min 30 s)`.
    fn duration(&mut self) -> Result<f64, ScheduleSyntaxError> {
        self.at += 1;
        self.expect(&[ScheduleToken::Open])?;
        let mut duration_s = 0.0;
        loop {
            let number = self.number("float number for duration")?;
            if number == 0.0 && self.token() == Some(&ScheduleToken::Close) {
                break;
            }
            duration_s += number * self.unit_s()?;
            if !matches!(self.token(), Some(ScheduleToken::Number(_))) {
                break;
            }
        }
        self.expect(&[ScheduleToken::Close])?;
        Ok(duration_s)
    }

    /// Seconds in a unit.
    fn unit_s(&mut self) -> Result<f64, ScheduleSyntaxError> {
        let Some(ScheduleToken::Identifier(image)) = self.token() else {
            self.at += 1;
            let found = self.current_token_text();
            return self.fault(&format!(
                "Unexpected input. Expected unit for duration: sec, min, hour, day got {found}"
            ));
        };
        let unit = image.to_ascii_lowercase();
        self.at += 1;
        match unit.as_str() {
            "ms" => Ok(0.001),
            "s" => Ok(1.0),
            "m" => Ok(60.0),
            "h" => Ok(HOUR_S),
            "d" => Ok(24.0 * HOUR_S),
            unit if unit.starts_with("sec") => Ok(1.0),
            unit if unit.starts_with("min") => Ok(60.0),
            unit if unit.starts_with("hour") => Ok(HOUR_S),
            unit if unit.starts_with("day") => Ok(24.0 * HOUR_S),
            unit => self.fault(&format!("Unexpected time unit {unit}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(duration_s: f64) -> ScheduleStep {
        ScheduleStep::Arrivals {
            random: false,
            duration_s,
        }
    }

    fn random(duration_s: f64) -> ScheduleStep {
        ScheduleStep::Arrivals {
            random: true,
            duration_s,
        }
    }

    #[test]
    fn schedules_are_read_as_jmeter_reads_them() {
        let rate = ScheduleStep::Rate;
        let cases: &[(&str, &[ScheduleStep])] = &[
            (
                "rate(10/sec) random_arrivals(3 s) pause(2 s) rate(0/min) even_arrivals(1 min 30 s)",
                &[
                    rate(10.0),
                    random(3.0),
                    rate(10.0),
                    rate(0.0),
                    even(2.0),
                    rate(0.0),
                    rate(10.0),
                    rate(0.0),
                    even(90.0),
                ],
            ),
            (
                "rate(6 per min) even_arrivals(1h)",
                &[rate(0.1), even(3600.0)],
            ),
            (
                "rate(0) random_arrivals(2 s) rate(4/s)",
                &[rate(0.0), random(2.0), rate(4.0)],
            ),
            (
                "// c\nrate(1/ms) /* x */ even_arrivals(.5 s)",
                &[rate(1000.0), even(0.5)],
            ),
            (
                "7",
                &[rate(7.0), even(1.0), rate(7.0), rate(0.0), even(3600.0)],
            ),
            ("", &[]),
            ("rate(5/sec) even_arrivals(0)", &[rate(5.0), even(0.0)]),
            (
                "RATE(1/SEC) Pause(1 days)",
                &[
                    rate(1.0),
                    rate(1.0),
                    rate(0.0),
                    even(86_400.0),
                    rate(0.0),
                    rate(1.0),
                ],
            ),
        ];
        for (schedule, steps) in cases {
            assert_eq!(parse(schedule).as_deref(), Ok(*steps), "{schedule}");
        }
    }

    #[test]
    fn wrong_schedules_are_refused_in_jmeters_words() {
        // Recorded from JMeter 5.6.3.
        let cases = [
            (
                "rate(5)",
                "Unexpected input. Expected /, Identifier(per) got ) at position 6: ')' in 'rate(5)'",
            ),
            (
                "rate(5/year)",
                "Unexpected time unit year at position 11: ')' in 'rate(5/year)'",
            ),
            (
                "foo(1)",
                "Unexpected input (expecting rate, random_arrivals, even_arrivals, or pause) at position 0: 'foo(1)' in 'foo(1)'",
            ),
            (
                "rate(5/sec",
                "Unexpected input. Expected ) got null at position 0: 'rate(5/sec' in 'rate(5/sec'",
            ),
            (
                "rate(5/sec) even_arrivals(x)",
                "Unexpected input. Expected float number for duration got ) at position 27: ')' in 'rate(5/sec) even_arrivals(x)'",
            ),
            (
                "rate(1/sec) $",
                "Unexpected input at position 12: '$' in 'rate(1/sec) $'",
            ),
            (
                "rate(2/sec) /* a\n b */ even_arrivals(1 s)",
                "Unexpected input at position 13: '* a\n b */ even_arriv' in 'rate(2/sec) /* a\n b */ even_arrivals(1 s)'",
            ),
            (
                "rate(a/sec)",
                "Unexpected input. Expected float number for rate got / at position 6: '/sec)' in 'rate(a/sec)'",
            ),
        ];
        for (schedule, message) in cases {
            assert_eq!(parse(schedule), Err(message.into()));
        }
    }
}
