//! Converts MySQL's types to Java's objects (`ResultSetImpl#getObject`).

use mysql_async::consts::ColumnType;
use mysql_async::{Column, Value};

use crate::{SqlFailure, java_text};

/// Converts a value from the text format; `None` is NULL.
///
/// # Errors
/// Java has no such value.
pub fn text(column: &Column, value: &Value) -> Result<Option<Box<str>>, SqlFailure> {
    let bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::NULL => return Ok(None),
        other => return Ok(Some(other.as_sql(true).into())),
    };
    let text = String::from_utf8_lossy(bytes);
    let text = match column.column_type() {
        // `tinyInt1isBit`
        ColumnType::MYSQL_TYPE_TINY if column.column_length() == 1 => {
            boolean(&*text == "-1" || text.parse().is_ok_and(|number: i64| number > 0))
        }
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
        ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => {
            java_text::timestamp(&text)
        }
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => {
            java_text::local_date_time(&text)
        }
        ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => time(&text)?,
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

#[cfg(test)]
mod tests {
    use super::*;

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
