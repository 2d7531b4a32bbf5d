//! Numbers of the Java classes that json-smart chooses, and their text in Java.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write;

use drumfire_java::values::double_to_string;

/// A number as json-smart represents it.
#[derive(Clone, Debug)]
pub enum Number<'t> {
    /// `Integer` or `Long`, whichever fits.
    Whole(i64),
    /// `BigInteger`: digits without leading zeros, with a minus sign if negative.
    Big(Cow<'t, str>),
    /// `Double`: a number with a fraction or exponent in at most 18 characters.
    Double(f64),
    /// `Float.NaN`, from the bareword `NaN`.
    NotANumber,
    /// `BigDecimal`: anything longer, as `BigDecimal.toString` prints it.
    Decimal(Cow<'t, str>),
}

impl<'t> Number<'t> {
    /// Limit of a double's length in characters; longer fractions are decimals.
    pub(super) const MAX_DOUBLE_CHARS: usize = 18;

    /// A whole number of any length; the text is digits after an optional minus sign (`JSONParserBase.parseNumber`; a
    /// lone `-` is 0).
    pub(super) fn whole(text: &'t str) -> Number<'t> {
        if text == "-" {
            return Number::Whole(0);
        }
        if let Ok(number) = text.parse() {
            return Number::Whole(number);
        }
        let (sign, digits) = text
            .strip_prefix('-')
            .map(|digits| ("-", digits))
            .unwrap_or(("", text));
        let digits = digits.trim_start_matches('0');
        if sign.len() + digits.len() == text.len() {
            Number::Big(Cow::Borrowed(text))
        } else {
            Number::Big(Cow::Owned(format!("{sign}{digits}")))
        }
    }

    /// A number with a fraction or exponent (`JSONParserBase.extractFloat`).
    pub(super) fn fraction(text: &str) -> Option<Number<'t>> {
        if text.len() > Self::MAX_DOUBLE_CHARS {
            return Decimal::parse(text)
                .map(|decimal| Number::Decimal(Cow::Owned(decimal.to_string())));
        }
        text.parse().ok().map(Number::Double)
    }

    /// The value of `Number.doubleValue`.
    pub fn as_f64(&self) -> f64 {
        match self {
            Number::Whole(number) => *number as f64,
            Number::Big(text) | Number::Decimal(text) => text.parse().unwrap_or(f64::NAN),
            Number::Double(number) => *number,
            Number::NotANumber => f64::NAN,
        }
    }

    pub(crate) fn java_class(&self) -> &'static str {
        match self {
            Number::Whole(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
            Number::Whole(_) => "java.lang.Long",
            Number::Big(_) => "java.math.BigInteger",
            Number::Double(_) => "java.lang.Double",
            Number::NotANumber => "java.lang.Float",
            Number::Decimal(_) => "java.math.BigDecimal",
        }
    }

    pub(crate) fn java_equals(&self, other: &Number<'_>) -> bool {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a == b,
            (Number::Big(a), Number::Big(b)) | (Number::Decimal(a), Number::Decimal(b)) => a == b,
            (Number::Double(a), Number::Double(b)) => a.to_bits() == b.to_bits(),
            (Number::NotANumber, Number::NotANumber) => true,
            _ => false,
        }
    }

    /// `toString`.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Number::Whole(number) => Cow::Owned(number.to_string()),
            Number::Big(text) | Number::Decimal(text) => Cow::Borrowed(text),
            Number::Double(number) => Cow::Owned(double_to_string(*number)),
            Number::NotANumber => Cow::Borrowed("NaN"),
        }
    }
}

/// `BigDecimal`: `digits` times ten to the power of minus `scale`.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    negative: bool,
    /// Without leading zeros; empty for zero.
    digits: String,
    scale: i64,
}

impl Decimal {
    /// `new BigDecimal(text)`.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (negative, unsigned) = match mantissa.as_bytes().first()? {
            b'-' => (true, &mantissa[1..]),
            b'+' => (false, &mantissa[1..]),
            _ => (false, mantissa),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all_digits = whole
            .bytes()
            .chain(fraction.bytes())
            .all(|c| c.is_ascii_digit());
        if !all_digits || whole.len() + fraction.len() == 0 {
            return None;
        }
        let digits = format!("{whole}{fraction}")
            .trim_start_matches('0')
            .to_owned();
        Some(Decimal {
            negative: negative && !digits.is_empty(),
            digits,
            scale: fraction.len() as i64 - exponent,
        })
    }

    /// `compareTo`: 1.0 and 1.00 are equal.
    pub(crate) fn compare(&self, other: &Decimal) -> Ordering {
        let signs = sign(self).cmp(&sign(other));
        if signs != Ordering::Equal || self.digits.is_empty() {
            return signs;
        }
        let size = power(self).cmp(&power(other)).then_with(|| {
            self.digits
                .trim_end_matches('0')
                .cmp(other.digits.trim_end_matches('0'))
        });
        if self.negative { size.reverse() } else { size }
    }

    /// `intValue`, for numbers within its range.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        let keep = self.digits.len() as i64 - self.scale;
        let whole = match usize::try_from(keep) {
            Ok(keep) if keep <= self.digits.len() => self.digits[..keep].to_owned(),
            Ok(keep) if keep < 20 => format!("{:0<keep$}", self.digits),
            Ok(_) => return None,
            Err(_) => String::new(),
        };
        let size: i64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        Some(if self.negative { -size } else { size })
    }
}

fn sign(d: &Decimal) -> i32 {
    i32::from(!d.digits.is_empty()) * if d.negative { -1 } else { 1 }
}

/// Compares the power of ten of the first digit, then the digits.
fn power(d: &Decimal) -> i64 {
    d.digits.len() as i64 - d.scale
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())).then_some(())?;
    text.strip_prefix('+')
        .unwrap_or(text)
        .parse()
        .ok()
        .filter(|exponent: &i64| exponent.abs() < 1 << 31)
}

/// `BigDecimal.toString`.
impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.digits.is_empty() {
            "0"
        } else {
            &self.digits
        };
        if self.negative {
            f.write_char('-')?;
        }
        let exponent = digits.len() as i64 - 1 - self.scale;
        if self.scale == 0 {
            return f.write_str(digits);
        }
        if self.scale > 0 && exponent >= -6 {
            let scale = self.scale as usize;
            return match digits.len().checked_sub(scale) {
                Some(whole @ 1..) => write!(f, "{}.{}", &digits[..whole], &digits[whole..]),
                // Without a width, which may be 65,535 at most.
                _ => write!(f, "0.{}{digits}", "0".repeat(scale - digits.len())),
            };
        }
        f.write_str(&digits[..1])?;
        if digits.len() > 1 {
            write!(f, ".{}", &digits[1..])?;
        }
        if exponent != 0 {
            write!(f, "E{exponent:+}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        let golden = [
            (10.5, "10.5"),
            (1e10, "1.0E10"),
            (1.25e-5, "1.25E-5"),
            (0.001, "0.001"),
            (0.00012, "1.2E-4"),
            (3.0000001, "3.0000001"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (1.7976931348623157e308, "1.7976931348623157E308"),
            (4.9e-324, "4.9E-324"),
        ];
        for (number, text) in golden {
            assert_eq!(double_to_string(number), text);
        }
    }

    #[test]
    fn decimals_print_as_in_java() {
        let golden = [
            ("1.0E10", "1.0E+10"),
            ("1234567890123456789.50", "1234567890123456789.50"),
            ("0.000000", "0.000000"),
            ("0.0000000", "0E-7"),
            ("-0.00000012", "-1.2E-7"),
            ("12e3", "1.2E+4"),
            ("-.5", "-0.5"),
            ("1.", "1"),
            ("007", "7"),
        ];
        for (text, printed) in golden {
            assert_eq!(Decimal::parse(text).expect(text).to_string(), printed);
        }
        for text in ["", "-", ".", "1e", "1e+", "a", "1.2.3", " 1"] {
            assert!(Decimal::parse(text).is_none(), "{text:?}");
        }
        // Longer than any width of the formatter.
        for zeros in ["", "00000"] {
            let long = format!("0.{zeros}{}", "1".repeat(70_000));
            assert_eq!(Decimal::parse(&long).expect("a number").to_string(), long);
        }
    }

    #[test]
    fn decimals_compare_by_value() {
        let compare = |a, b| {
            Decimal::parse(a)
                .expect(a)
                .compare(&Decimal::parse(b).expect(b))
        };
        assert_eq!(compare("1.0", "1.00"), Ordering::Equal);
        assert_eq!(compare("1e2", "100"), Ordering::Equal);
        assert_eq!(compare("0", "-0.0"), Ordering::Equal);
        assert_eq!(compare("-2", "-1"), Ordering::Less);
        assert_eq!(compare("9", "10"), Ordering::Less);
        assert_eq!(compare("0.12", "0.1"), Ordering::Greater);
        assert_eq!(compare("-1", "0"), Ordering::Less);
    }

    #[test]
    fn whole_part_of_decimals() {
        let whole = |text| Decimal::parse(text).expect(text).to_i64();
        assert_eq!(whole("3"), Some(3));
        assert_eq!(whole("3.9"), Some(3));
        assert_eq!(whole("-3e2"), Some(-300));
        assert_eq!(whole("0.9"), Some(0));
        assert_eq!(whole("1e99"), None);
    }
}
