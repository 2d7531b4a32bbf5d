//! MySQL's types as Java's objects (`ResultSetImpl#getObject`).

use mysql_async::consts::ColumnType;
use mysql_async::{Column, Value};

use crate::java_text;

/// The text of a value in text form; `None` is NULL.
pub fn text(column: &Column, value: &Value) -> Option<Box<str>> {
    let bytes = match value {
        Value::Bytes(bytes) => bytes,
        Value::NULL => return None,
        other => return Some(other.as_sql(true).into()),
    };
    let text = String::from_utf8_lossy(bytes);
    let boolean = |on: bool| if on { "true" } else { "false" }.to_owned();
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
        ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => {
            text.split('.').next().unwrap_or_default().to_owned()
        }
        // `yearIsDateType`
        ColumnType::MYSQL_TYPE_YEAR => format!("{text}-01-01"),
        _ => text.into_owned(),
    };
    Some(text.into())
}
