//! Java's `DecimalFormat` for integers: file names of `StringFromFile`, counters, random variables. Exponents and separate
//! patterns for negative numbers are not supported.

use drumfire_java::Exception;

/// Formats `number` by the first half of the pattern, as Java's `DecimalFormat` does.
///
/// # Errors
/// The exception that Java throws for the pattern.
pub fn format(pattern: &str, number: i64) -> Result<String, Exception> {
    let mut parsed = Pattern::default();
    let mut quoted = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            if chars.next_if_eq(&'\'').is_some() {
                parsed.affix('\'');
            } else {
                quoted = !quoted;
                parsed.close_number();
            }
        } else if quoted {
            parsed.affix(c);
        } else if c == ';' && parsed.stage != PatternStage::Prefix {
            break;
        } else {
            parsed.take(c, pattern)?;
        }
    }
    if quoted {
        return Err(malformed(pattern));
    }
    Ok(parsed.render(number))
}

fn malformed(pattern: &str) -> Exception {
    refused("Malformed pattern", pattern)
}

fn refused(why: &str, pattern: &str) -> Exception {
    let message = format!("{why} \"{pattern}\"");
    Exception::new("java.lang.IllegalArgumentException", message)
}

#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum PatternStage {
    #[default]
    Prefix,
    Number,
    Suffix,
}

#[derive(Debug, Default)]
struct Pattern {
    stage: PatternStage,
    prefix: String,
    suffix: String,
    /// Digits before the point that are always shown.
    zeros: usize,
    /// Digits after the point that are always shown.
    fraction: usize,
    point: bool,
    /// Whether anything followed the point.
    after_point: bool,
    grouping: Option<usize>,
    multiplier: i64,
}

impl Pattern {
    fn affix(&mut self, c: char) {
        self.close_number();
        match self.stage {
            PatternStage::Prefix => self.prefix.push(c),
            _ => self.suffix.push(c),
        }
    }

    fn close_number(&mut self) {
        if self.stage == PatternStage::Number {
            self.stage = PatternStage::Suffix;
        }
    }

    fn take(&mut self, c: char, pattern: &str) -> Result<(), Exception> {
        let special = matches!(c, '#' | '0' | ',' | '.');
        match self.stage {
            PatternStage::Prefix if special => self.stage = PatternStage::Number,
            PatternStage::Suffix if special => {
                let why = format!("Unquoted special character '{c}' in pattern");
                return Err(refused(&why, pattern));
            }
            _ => {}
        }
        match c {
            '#' if self.point => self.after_point = true,
            '#' if self.zeros > 0 => return Err(malformed(pattern)),
            '#' => self.grouping = self.grouping.map(|digits| digits + 1),
            '0' if self.point => {
                self.after_point = true;
                self.fraction += 1;
            }
            '0' => {
                self.zeros += 1;
                self.grouping = self.grouping.map(|digits| digits + 1);
            }
            ',' => self.grouping = Some(0),
            '.' if self.point => return Err(malformed(pattern)),
            '.' => self.point = true,
            '%' if self.multiplier != 0 => {
                let why = "Too many percent/per mille characters in pattern";
                return Err(refused(why, pattern));
            }
            '%' => {
                self.multiplier = 100;
                self.affix(c);
            }
            _ => self.affix(c),
        }
        Ok(())
    }

    fn render(&self, number: i64) -> String {
        let number = number.wrapping_mul(self.multiplier.max(1));
        let mut digits = number.unsigned_abs().to_string();
        if number == 0 && self.zeros == 0 && self.fraction > 0 {
            digits.clear();
        }
        let mut whole = format!(
            "{}{digits}",
            "0".repeat(self.zeros.saturating_sub(digits.len()))
        );
        if let Some(size) = self.grouping.filter(|size| *size > 0) {
            let mut at = whole.len();
            while at > size {
                at -= size;
                whole.insert(at, ',');
            }
        }
        let sign = if number < 0 { "-" } else { "" };
        let point = if self.fraction > 0 || (self.point && !self.after_point) {
            "."
        } else {
            ""
        };
        let fraction = "0".repeat(self.fraction);
        format!(
            "{sign}{}{whole}{point}{fraction}{}",
            self.prefix, self.suffix
        )
    }
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn file_names_take_a_number_as_in_java() {
        for (pattern, number, expected) in [
            ("data#.txt", 7, "data7.txt"),
            ("data000.txt", 7, "data007.txt"),
            ("data#'.'dat", 12, "data12.dat"),
            ("'./data/'00'.csv'", 3, "./data/03.csv"),
            ("plain", 5, "plain5"),
            ("it''s0", 5, "it's5"),
            ("0000", 12345, "12345"),
            ("n#,##0", 1234567, "n1,234,567"),
            ("x0.00y", 5, "x5.00y"),
            ("a0", -5, "-a5"),
            ("a0%", 5, "a500%"),
        ] {
            assert_eq!(
                format(pattern, number).as_deref(),
                Ok(expected),
                "{pattern}"
            );
        }
    }

    #[test]
    fn counters_are_padded_as_in_java() {
        for (pattern, expected) in [
            ("000", ["005", "-005", "000", "1234567"]),
            (
                "user_000",
                ["user_005", "-user_005", "user_000", "user_1234567"],
            ),
            ("#", ["5", "-5", "0", "1234567"]),
            ("0,000", ["0,005", "-0,005", "0,000", "1,234,567"]),
            ("##0%", ["500%", "-500%", "0%", "123456700%"]),
            ("000x", ["005x", "-005x", "000x", "1234567x"]),
            ("#.##", ["5", "-5", "0", "1234567"]),
        ] {
            let formatted = [5, -5, 0, 1_234_567].map(|number| format(pattern, number).unwrap());
            assert_eq!(formatted, expected, "{pattern}");
        }
    }

    #[test]
    fn some_file_names_are_no_patterns() {
        for pattern in ["./data#.txt", "data0#", "a'b", "a1.b.c"] {
            assert!(format(pattern, 1).is_err(), "{pattern}");
        }
    }
}
