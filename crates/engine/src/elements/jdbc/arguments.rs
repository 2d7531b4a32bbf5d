//! Values of parameters (`AbstractJDBCTestElement#setArguments`).

use drumfire_sql::{Argument, ArgumentValue, SqlFailure};

use super::statement::JdbcFailure;
use crate::elements::config::csv_file::{RowFailure, split_header};

/// The fields of `java.sql.Types`.
const TYPES: &[(&str, i32)] = &[
    ("bit", -7),
    ("tinyint", -6),
    ("smallint", 5),
    ("integer", 4),
    ("bigint", -5),
    ("float", 6),
    ("real", 7),
    ("double", 8),
    ("numeric", 2),
    ("decimal", 3),
    ("char", 1),
    ("varchar", 12),
    ("longvarchar", -1),
    ("date", 91),
    ("time", 92),
    ("timestamp", 93),
    ("binary", -2),
    ("varbinary", -3),
    ("longvarbinary", -4),
    ("null", 0),
    ("other", OTHER),
    ("boolean", 16),
];
const OTHER: i32 = 1111;

/// Whether one of the types is one that only the driver itself can handle. An unknown type fails when the statement runs.
pub fn needs_driver(types: &str) -> bool {
    let more = [
        "java_object",
        "distinct",
        "struct",
        "array",
        "blob",
        "clob",
        "ref",
        "datalink",
        "rowid",
        "nchar",
        "nvarchar",
        "longnvarchar",
        "nclob",
        "sqlxml",
        "ref_cursor",
        "time_with_timezone",
        "timestamp_with_timezone",
    ];
    types.split(',').any(|entry| {
        let (direction, name) = parts(entry);
        let name = name.to_ascii_lowercase();
        let is_out =
            direction.eq_ignore_ascii_case("out") || direction.eq_ignore_ascii_case("inout");
        is_out
            || more.contains(&name.as_str())
            || name.contains("${")
            || name.parse::<i32>().is_ok()
    })
}

/// `IN INTEGER`, or just the type.
fn parts(entry: &str) -> (&str, &str) {
    let mut words = entry.split(' ');
    let first = words.next().unwrap_or_default();
    match words.next() {
        Some(second) => (first, second),
        None => ("", first),
    }
}

/// The parameters that two texts give: values, and their types.
///
/// # Errors
/// Java's exception for the first text that is not a value of its type.
pub fn parse(values: &str, types: &str, null_marker: &str) -> Result<Vec<Argument>, JdbcFailure> {
    if values.trim().is_empty() {
        return Ok(Vec::new());
    }
    let values = split_header(values, ',').map_err(|fault| match fault {
        RowFailure::Io(text) | RowFailure::Argument(text) => {
            let message = text
                .split_once(": ")
                .map(|(_, message)| message)
                .unwrap_or("");
            JdbcFailure::exception("java.io.IOException", message)
        }
    })?;
    let mut types: Vec<&str> = types.split(',').collect();
    while types.len() > 1 && types.last().is_some_and(|entry| entry.is_empty()) {
        types.pop(); // String#split
    }
    if values.len() != types.len() {
        return Err(SqlFailure::plain(format!(
            "number of arguments ({}) and number of types ({}) are not equal",
            values.len(),
            types.len()
        ))
        .into());
    }
    let pairs = values.iter().zip(types);
    pairs
        .map(|(value, entry)| {
            let (_, name) = parts(entry);
            let lower = name.to_ascii_lowercase();
            let named_type = TYPES.iter().find(|(known, _)| *known == lower);
            let Some((_, sql_type)) = named_type else {
                return Err(SqlFailure::plain(format!("Invalid data type: {name}")).into());
            };
            let value = if value == null_marker || *sql_type == 0 {
                None
            } else {
                Some(typed(value, *sql_type)?)
            };
            Ok(Argument {
                sql_type: *sql_type,
                value,
            })
        })
        .collect()
}

/// `AbstractJDBCTestElement#setArgument`.
fn typed(text: &str, sql_type: i32) -> Result<ArgumentValue, JdbcFailure> {
    let owned = || text.to_owned();
    Ok(match sql_type {
        4 => ArgumentValue::Int(whole(text)?),
        2 | 3 => ArgumentValue::Decimal(decimal(text)?),
        6 | 8 => ArgumentValue::Double(floating(text)?),
        1 | 12 | -1 => ArgumentValue::Text(owned()),
        -7 | 16 => ArgumentValue::Bool(text.eq_ignore_ascii_case("true")),
        -5 => ArgumentValue::Long(whole(text)?),
        91 => {
            if is_pattern(text, "dddd-dd-dd") {
                ArgumentValue::Date(owned())
            } else {
                return Err(JdbcFailure::silent("java.lang.IllegalArgumentException"));
            }
        }
        7 => ArgumentValue::Real(floating(text)? as f32),
        -6 => ArgumentValue::Byte(small(text)?),
        5 => ArgumentValue::Short(small(text)?),
        93 => {
            let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
            let is_fraction = (1..=9).contains(&fraction.len())
                && fraction.bytes().all(|byte| byte.is_ascii_digit());
            if is_pattern(whole, "dddd-dd-dd dd:dd:dd") && is_fraction {
                ArgumentValue::Timestamp(text.trim().to_owned())
            } else {
                let message = "Timestamp format must be yyyy-mm-dd hh:mm:ss[.fffffffff]";
                return Err(JdbcFailure::exception(
                    "java.lang.IllegalArgumentException",
                    message,
                ));
            }
        }
        92 => {
            if is_pattern(text, "dd:dd:dd") {
                ArgumentValue::Time(owned())
            } else {
                return Err(JdbcFailure::silent("java.lang.IllegalArgumentException"));
            }
        }
        -4..=-2 => ArgumentValue::Bytes(text.as_bytes().to_vec()),
        _ => ArgumentValue::Object(owned()),
    })
}

fn no_number(text: &str) -> JdbcFailure {
    let message = format!("For input string: \"{text}\"");
    JdbcFailure::exception("java.lang.NumberFormatException", message)
}

/// `Integer#parseInt`, `Long#parseLong`.
fn whole<N: std::str::FromStr>(text: &str) -> Result<N, JdbcFailure> {
    text.parse().map_err(|_| no_number(text))
}

/// `Byte#parseByte`, `Short#parseShort`.
fn small<N: TryFrom<i32>>(text: &str) -> Result<N, JdbcFailure> {
    let number: i32 = whole(text)?;
    N::try_from(number).map_err(|_| {
        let message = format!("ArgumentValue out of range. ArgumentValue:\"{text}\" Radix:10");
        JdbcFailure::exception("java.lang.NumberFormatException", message)
    })
}

/// `Double#parseDouble`.
fn floating(text: &str) -> Result<f64, JdbcFailure> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(JdbcFailure::exception(
            "java.lang.NumberFormatException",
            "empty String",
        ));
    }
    let number = trimmed
        .strip_suffix(['d', 'D', 'f', 'F'])
        .unwrap_or(trimmed);
    number.parse().map_err(|_| no_number(text))
}

/// `new BigDecimal`.
fn decimal(text: &str) -> Result<String, JdbcFailure> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_plain = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && unsigned.bytes().any(|byte| byte.is_ascii_digit())
        && unsigned.matches('.').count() <= 1;
    if is_plain {
        return Ok(text.trim_start_matches('+').to_owned());
    }
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number {
        return Ok(text.to_owned());
    }
    let odd = unsigned
        .chars()
        .find(|c| !c.is_ascii_digit() && !matches!(c, '.' | 'e' | 'E'));
    match odd {
        Some(odd) => {
            let message = format!(
                "Character {odd} is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."
            );
            Err(JdbcFailure::exception(
                "java.lang.NumberFormatException",
                message,
            ))
        }
        None => Err(JdbcFailure::silent("java.lang.NumberFormatException")),
    }
}

/// Whether the text has a digit wherever the pattern has `d`, and otherwise equals it.
fn is_pattern(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(matches)
}

fn matches((byte, wanted): (u8, u8)) -> bool {
    match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => byte == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(values: &str, types: &str) -> String {
        match parse(values, types, "]NULL[") {
            Ok(arguments) => format!("{arguments:?}"),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn values_have_the_types_that_the_plan_gives_them() {
        let arguments = parse(
            r#"1,"a,b",1.50,]NULL[,TRUE,2024-01-02"#,
            "INTEGER,IN VARCHAR,decimal,Date,BIT,DATE",
            "]NULL[",
        )
        .expect("all are values");
        let values: Vec<_> = arguments
            .into_iter()
            .map(|argument| argument.value)
            .collect();
        assert_eq!(
            values,
            [
                Some(ArgumentValue::Int(1)),
                Some(ArgumentValue::Text("a,b".to_owned())),
                Some(ArgumentValue::Decimal("1.50".to_owned())),
                None,
                Some(ArgumentValue::Bool(true)),
                Some(ArgumentValue::Date("2024-01-02".to_owned()))
            ]
        );
        assert_eq!(parse(" ", "INTEGER", ""), Ok(Vec::new()));
    }

    #[test]
    fn wrong_argument_values_fail_in_javas_words() {
        // As JMeter 5.6.3 on OpenJDK 17 says.
        assert_eq!(
            fault("1", "INTEGER,INTEGER"),
            "java.sql.SQLException: number of arguments (1) and number of types (2) are not equal"
        );
        assert_eq!(
            fault("1", "FOO"),
            "java.sql.SQLException: Invalid data type: FOO"
        );
        assert_eq!(
            fault("x", "INTEGER"),
            "java.lang.NumberFormatException: For input string: \"x\""
        );
        assert_eq!(
            fault("300", "TINYINT"),
            "java.lang.NumberFormatException: ArgumentValue out of range. ArgumentValue:\"300\" Radix:10"
        );
        assert_eq!(
            fault("a", "NUMERIC"),
            "java.lang.NumberFormatException: Character a is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."
        );
        assert_eq!(fault("x", "DATE"), "java.lang.IllegalArgumentException");
        assert_eq!(
            fault("x", "TIMESTAMP"),
            "java.lang.IllegalArgumentException: Timestamp format must be yyyy-mm-dd hh:mm:ss[.fffffffff]"
        );
    }

    #[test]
    fn some_types_are_the_drivers_own() {
        assert!(!needs_driver("INTEGER,in varchar,FOO,"));
        for types in [
            "OUT INTEGER",
            "INOUT VARCHAR",
            "VARCHAR,CLOB",
            "${types}",
            "12",
        ] {
            assert!(needs_driver(types), "{types}");
        }
    }
}
