//! Converts MySQL's types to Java's objects (`getObject` of the drivers' results).

use mysql_async::consts::ColumnType;
use mysql_async::{Column, Value};

use super::JdbcDriver;
use crate::{SqlFailure, java_text};

/// Converts a value from the text format; `None` is NULL.
///
/// # Errors
/// Java has no such value.
pub fn text(
    driver: JdbcDriver,
    column: &Column,
    value: &Value,
) -> Result<Option<Box<str>>, SqlFailure> {
    let bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::NULL => return Ok(None),
        other => return Ok(Some(other.as_sql(true).into())),
    };
    let text = String::from_utf8_lossy(bytes);
    let text = match column.column_type() {
        // `tinyInt1isBit`
        ColumnType::MYSQL_TYPE_TINY if column.column_length() == 1 => boolean(match driver {
            JdbcDriver::ConnectorJ => &*text == "-1" || text.parse().is_ok_and(|n: i64| n > 0),
            JdbcDriver::MariaDb => text != "0",
        }),
        ColumnType::MYSQL_TYPE_BIT if column.column_length() == 1 => {
            boolean(bytes.iter().any(|byte| *byte != 0))
        }
        ColumnType::MYSQL_TYPE_FLOAT => text
            .parse()
            .map_or_else(|_| text.to_string(), java_text::float),
        ColumnType::MYSQL_TYPE_DOUBLE => text
            .parse()
            .map_or_else(|_| text.to_string(), java_text::double),
        ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            java_text::decimal(&text)
        }
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP
            if driver == JdbcDriver::MariaDb && text.starts_with("0000-00-00") =>
        {
            return Ok(None);
        }
        ColumnType::MYSQL_TYPE_TIMESTAMP => java_text::timestamp(&text),
        ColumnType::MYSQL_TYPE_DATETIME => match driver {
            JdbcDriver::ConnectorJ => java_text::local_date_time(&text),
            JdbcDriver::MariaDb => java_text::timestamp(&text),
        },
        ColumnType::MYSQL_TYPE_TIME => match driver {
            JdbcDriver::ConnectorJ => time(&text)?,
            JdbcDriver::MariaDb => time_of_day(&text).unwrap_or_else(|| text.into_owned()),
        },
        // `yearIsDateType`
        ColumnType::MYSQL_TYPE_YEAR => format!("{text}-01-01"),
        _ => text.into_owned(),
    };
    Ok(Some(text.into()))
}

fn boolean(on: bool) -> String {
    if on { "true" } else { "false" }.to_owned()
}

/// `SqlTimeValueFactory`: a time of day, without fractions.
fn time(text: &str) -> Result<String, SqlFailure> {
    let whole = text.split('.').next().unwrap_or_default();
    let (hours, rest) = whole.split_once(':').unwrap_or((whole, ""));
    match hours.parse::<i32>() {
        Ok(0..24) if !hours.starts_with('-') => Ok(whole.to_owned()),
        Ok(hours) => {
            let message = format!(
                "The value '{hours}:{rest}' is an invalid TIME value. JDBC Time objects represent a wall-clock time and not a duration as MySQL treats them. If you are treating this type as a duration, consider retrieving this value as a string and dealing with it according to your requirements."
            );
            Err(SqlFailure::new(
                "java.sql.SQLException",
                message,
                Some("S1009"),
            ))
        }
        Err(_) => Ok(whole.to_owned()),
    }
}

/// `TimeColumn#getDefaultText` of MariaDB's driver: the time of day of a duration that began at midnight.
fn time_of_day(text: &str) -> Option<String> {
    const DAY_S: i64 = 24 * 60 * 60;
    let (unsigned, sign) = match text.strip_prefix('-') {
        Some(rest) => (rest, -1),
        None => (text, 1),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut seconds = 0;
    for part in whole.split(':') {
        seconds = seconds * 60 + part.parse::<i64>().ok()?;
    }
    let is_past = sign < 0 && fraction.bytes().any(|digit| digit != b'0');
    let second = (sign * seconds - i64::from(is_past)).rem_euclid(DAY_S);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{hour:02}:{minute:02}:{second:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_becomes_a_time_of_day() {
        for (text, expected) in [
            ("12:34:56", "12:34:56"),
            ("-01:00:00", "23:00:00"),
            ("100:00:00", "04:00:00"),
            ("01:02:03.45", "01:02:03"),
            ("-00:00:00.50", "23:59:59"),
        ] {
            assert_eq!(time_of_day(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_time_is_one_of_day() {
        assert_eq!(time("12:34:56.7").as_deref(), Ok("12:34:56"));
        let failure = time("-01:00:00").expect_err("it is a duration");
        assert!(
            failure
                .message
                .starts_with("The value '-1:00:00' is an invalid TIME value. ")
        );
        assert_eq!(failure.state.as_deref(), Some("S1009"));
    }
}
