//! Converts PostgreSQL's types to and from Java's objects.

use postgres_protocol::message::backend::Field;

use super::zone;
use crate::argument::{Argument, ArgumentValue};
use crate::java_text;

const BOOL: u32 = 16;
const BYTEA: u32 = 17;
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const XML: u32 = 142;
const FLOAT4: u32 = 700;
const FLOAT8: u32 = 701;
const MONEY: u32 = 790;
const BPCHAR: u32 = 1042;
const VARCHAR: u32 = 1043;
const DATE: u32 = 1082;
const TIME: u32 = 1083;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;
const INTERVAL: u32 = 1186;
const TIMETZ: u32 = 1266;
const BIT: u32 = 1560;
const NUMERIC: u32 = 1700;
const UNSPECIFIED: u32 = 0;

/// A column of a result.
pub struct Column {
    pub label: String,
    type_: u32,
}

impl Column {
    pub fn of(field: &Field<'_>) -> Column {
        Column {
            label: field.name().to_owned(),
            type_: field.type_oid(),
        }
    }

    /// Converts a value from the text format to the text of `PgResultSet#getObject`.
    pub fn text(&self, value: &[u8]) -> String {
        let text = String::from_utf8_lossy(value);
        match self.type_ {
            BOOL => if &*text == "t" { "true" } else { "false" }.to_owned(),
            BIT if text.len() == 1 => if &*text == "1" { "true" } else { "false" }.to_owned(),
            FLOAT4 => text
                .parse()
                .map_or_else(|_| text.to_string(), java_text::float),
            FLOAT8 => text
                .parse()
                .map_or_else(|_| text.to_string(), java_text::double),
            MONEY => money(&text),
            NUMERIC => java_text::decimal(&text),
            TIME => text.split('.').next().unwrap_or_default().to_owned(),
            TIMETZ => zone::local_time(&text).unwrap_or_else(|| text.into_owned()),
            TIMESTAMP => java_text::timestamp(&text),
            TIMESTAMPTZ => java_text::timestamp(without_offset(&text)),
            INTERVAL => interval(&text),
            BYTEA => bytes(&text),
            _ => text.into_owned(),
        }
    }
}

/// A time in the session's zone, which is this machine's, without its offset.
fn without_offset(text: &str) -> &str {
    let time = text.find(' ').unwrap_or(0);
    let offset = text[time..].find(['+', '-']);
    offset.map(|offset| &text[..time + offset]).unwrap_or(text)
}

fn money(text: &str) -> String {
    let digits: String = text
        .chars()
        .filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))
        .collect();
    digits
        .parse()
        .map_or_else(|_| text.to_owned(), java_text::double)
}

/// Decodes `\x…` to the text that the bytes represent.
fn bytes(text: &str) -> String {
    let Some(hex) = text.strip_prefix("\\x") else {
        return text.to_owned();
    };
    let pairs = hex.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    bytes
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_else(|| text.to_owned())
}

/// `PGInterval#toString`.
fn interval(text: &str) -> String {
    let (mut years, mut months, mut days) = (0i64, 0i64, 0i64);
    let (mut hours, mut minutes, mut seconds) = (0i64, 0i64, 0f64);
    let mut words = text.split(' ');
    while let Some(word) = words.next() {
        if word.contains(':') {
            let sign = if word.starts_with('-') { -1 } else { 1 };
            let mut parts = word.trim_start_matches(['-', '+']).split(':');
            let mut next = || parts.next().unwrap_or("0");
            hours = sign * next().parse().unwrap_or(0);
            minutes = sign * next().parse().unwrap_or(0);
            seconds = sign as f64 * next().parse().unwrap_or(0.0);
            continue;
        }
        let number = word.parse().unwrap_or(0);
        match words.next().unwrap_or_default() {
            "year" | "years" => years = number,
            "mon" | "mons" => months = number,
            _ => days = number,
        }
    }
    format!(
        "{years} years {months} mons {days} days {hours} hours {minutes} mins {} secs",
        java_text::double(seconds)
    )
}

/// The type that pgjdbc gives to a parameter.
pub fn of_argument(argument: &Argument) -> u32 {
    match &argument.value {
        Some(ArgumentValue::Int(_)) => INT4,
        Some(ArgumentValue::Decimal(_)) => NUMERIC,
        Some(ArgumentValue::Double(_)) => FLOAT8,
        Some(ArgumentValue::Text(_)) => VARCHAR,
        Some(ArgumentValue::Bool(_)) => BOOL,
        Some(ArgumentValue::Long(_)) => INT8,
        Some(ArgumentValue::Real(_)) => FLOAT4,
        Some(ArgumentValue::Byte(_) | ArgumentValue::Short(_)) => INT2,
        Some(
            ArgumentValue::Date(_)
            | ArgumentValue::Timestamp(_)
            | ArgumentValue::Time(_)
            | ArgumentValue::Object(_),
        ) => UNSPECIFIED,
        Some(ArgumentValue::Bytes(_)) => BYTEA,
        None => of_null(argument.sql_type),
    }
}

/// `PgPreparedStatement#setNull`, by the numbers of `java.sql.Types`.
fn of_null(sql_type: i32) -> u32 {
    match sql_type {
        4 => INT4,
        -6 | 5 => INT2,
        -5 => INT8,
        7 => FLOAT4,
        6 | 8 => FLOAT8,
        2 | 3 => NUMERIC,
        1 => BPCHAR,
        12 | -1 => VARCHAR,
        91 => DATE,
        -7 | 16 => BOOL,
        -4..=-2 => BYTEA,
        2009 => XML,
        _ => UNSPECIFIED,
    }
}

/// A parameter in the text format; `None` is NULL.
pub fn text_of(argument: &Argument) -> Option<String> {
    Some(match argument.value.as_ref()? {
        ArgumentValue::Int(number) => number.to_string(),
        ArgumentValue::Long(number) => number.to_string(),
        ArgumentValue::Byte(number) => number.to_string(),
        ArgumentValue::Short(number) => number.to_string(),
        ArgumentValue::Double(number) => java_text::double(*number),
        ArgumentValue::Real(number) => java_text::float(*number),
        ArgumentValue::Bool(on) => if *on { "t" } else { "f" }.to_owned(),
        ArgumentValue::Decimal(text) | ArgumentValue::Text(text) | ArgumentValue::Object(text) => {
            text.clone()
        }
        ArgumentValue::Date(text) => zone::with_offset(text, &format!("{text} 00:00:00"), " "),
        ArgumentValue::Timestamp(text) => zone::with_offset(text, text, ""),
        ArgumentValue::Time(text) => zone::with_offset(text, &format!("1970-01-01 {text}"), ""),
        ArgumentValue::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("\\x{hex}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(type_: u32, value: &str) -> String {
        let column = Column {
            label: String::new(),
            type_,
        };
        column.text(value.as_bytes())
    }

    #[test]
    fn values_are_pgjdbcs() {
        // The texts that pgjdbc 42.7.4 gives to JMeter.
        assert_eq!(text(BOOL, "t"), "true");
        assert_eq!(text(BIT, "1"), "true");
        assert_eq!(text(BIT, "101"), "101");
        assert_eq!(text(FLOAT8, "123456789"), "1.23456789E8");
        assert_eq!(text(FLOAT4, "1.5"), "1.5");
        assert_eq!(text(NUMERIC, "0.0000001"), "1E-7");
        assert_eq!(text(NUMERIC, "NaN"), "NaN");
        assert_eq!(text(TIME, "12:34:56.789"), "12:34:56");
        assert_eq!(
            text(TIMESTAMP, "2024-01-02 03:04:05.678"),
            "2024-01-02 03:04:05.678"
        );
        assert_eq!(
            text(TIMESTAMPTZ, "2024-06-01 10:00:00+00"),
            "2024-06-01 10:00:00.0"
        );
        assert_eq!(
            text(INTERVAL, "1 day 02:00:00"),
            "0 years 0 mons 1 days 2 hours 0 mins 0.0 secs"
        );
        assert_eq!(text(MONEY, "$1,012.50"), "1012.5");
        assert_eq!(text(BYTEA, "\\x4142c3bc"), "ABü");
        assert_eq!(text(1007, "{1,2}"), "{1,2}");
    }
}
