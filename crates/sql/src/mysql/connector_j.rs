//! The words of MySQL's driver, Connector/J 8 and 9.

use mysql_async::{Error, ServerError};

use super::literal::{self, Filled};
use crate::{Expected, SqlFailure, Statement};

const PLAIN: &str = "java.sql.SQLException";

/// The text to send.
///
/// # Errors
/// There are too many or too few values, or the statement is of the wrong kind.
pub fn text(statement: Statement<'_>, expected: Expected) -> Result<String, SqlFailure> {
    let Some(arguments) = statement.arguments else {
        refuse(statement.text, expected)?;
        return Ok(statement.text.to_owned());
    };
    let Filled { text, markers } = literal::fill(statement.text, arguments);
    if arguments.len() > markers {
        let message = format!(
            "Parameter index out of range ({} > number of parameters, which is {markers}).",
            markers + 1
        );
        return Err(SqlFailure::new(PLAIN, message, Some("S1009")));
    }
    if arguments.len() < markers {
        let message = format!("No value specified for parameter {}", arguments.len() + 1);
        return Err(SqlFailure::new(PLAIN, message, Some("07001")));
    }
    refuse(&text, expected)?;
    Ok(text)
}

/// The failure of a statement that exceeds its limit.
pub fn timed_out() -> SqlFailure {
    SqlFailure::new(
        "com.mysql.cj.jdbc.exceptions.MySQLTimeoutException",
        "Statement cancelled due to timeout or client request",
        None,
    )
}

/// The failure to end a transaction while each statement is one of its own.
pub fn no_transaction(commit: bool) -> SqlFailure {
    match commit {
        true => SqlFailure::plain("Can't call commit when autocommit=true"),
        false => SqlFailure::new(
            "java.sql.SQLNonTransientConnectionException",
            "Can't call rollback when autocommit=true",
            Some("08003"),
        ),
    }
}

/// The failure of a server without encryption.
pub fn no_encryption() -> SqlFailure {
    SqlFailure::new(
        "java.sql.SQLNonTransientConnectionException",
        "SSL Connection required, but not supported by server.",
        Some("08001"),
    )
}

pub fn no_rows() -> SqlFailure {
    let message =
        "Statement.executeQuery() cannot issue statements that do not produce result sets.";
    SqlFailure::new(PLAIN, message, Some("S1009"))
}

pub fn has_rows() -> SqlFailure {
    let message = "Statement.executeUpdate() or Statement.executeLargeUpdate() cannot issue statements that produce result sets.";
    SqlFailure::new(PLAIN, message, Some("01S03"))
}

/// Refuses a statement whose kind does not fit, judged by its first word as in Connector/J (`QueryInfo`).
fn refuse(text: &str, expected: Expected) -> Result<(), SqlFailure> {
    let start = literal::without_comments(text);
    if start.is_empty() {
        return Err(SqlFailure::new(
            PLAIN,
            "Can not issue empty query.",
            Some("S1009"),
        ));
    }
    let end = start
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(start.len());
    let word = start[..end].to_ascii_uppercase();
    let gives_rows = [
        "SELECT", "SHOW", "DESC", "DESCRIBE", "EXPLAIN", "HELP", "TABLE", "VALUES", "WITH",
        "CHECK", "CHECKSUM",
    ];
    let may_give_rows = [
        "", "CALL", "EXECUTE", "ANALYZE", "OPTIMIZE", "REPAIR", "XA", "CACHE", "DELETE", "INSERT",
        "REPLACE",
    ];
    match expected {
        Expected::Rows
            if !gives_rows.contains(&&*word) && !may_give_rows[..8].contains(&&*word) =>
        {
            Err(no_rows())
        }
        Expected::Counts if gives_rows.contains(&&*word) && word != "WITH" => Err(has_rows()),
        _ => Ok(()),
    }
}

/// `NativeProtocol#checkErrorMessage` and `SQLError#createSQLException`.
pub fn failure(error: Error) -> SqlFailure {
    let ServerError {
        code,
        message,
        state,
    } = match error {
        Error::Server(error) => error,
        Error::Other(error) if error.is::<SqlFailure>() => match error.downcast() {
            Ok(failure) => return *failure,
            Err(error) => return SqlFailure::plain(error.to_string()),
        },
        other => {
            tracing::debug!("{other}");
            let message = "Communications link failure\n\nThe last packet sent successfully to the server was 0 milliseconds ago. The driver has not received any packets from the server.";
            let class = "com.mysql.cj.jdbc.exceptions.CommunicationsException";
            return SqlFailure::new(class, message, Some("08S01"));
        }
    };
    let (class, message, state) = match state.get(..2).unwrap_or_default() {
        "22" => (
            "com.mysql.cj.jdbc.exceptions.MysqlDataTruncation",
            format!("Data truncation: {message}"),
            "22001".to_owned(),
        ),
        "08" => (
            "java.sql.SQLNonTransientConnectionException",
            message,
            state,
        ),
        "23" => (
            "java.sql.SQLIntegrityConstraintViolationException",
            message,
            state,
        ),
        "42" => ("java.sql.SQLSyntaxErrorException", message, state),
        "40" => (
            "com.mysql.cj.jdbc.exceptions.MySQLTransactionRollbackException",
            message,
            state,
        ),
        _ => (PLAIN, message, state),
    };
    SqlFailure {
        code: code.into(),
        ..SqlFailure::new(class, message, Some(&state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::{Argument, ArgumentValue};

    #[test]
    fn each_marker_needs_a_value() {
        let one = Argument {
            sql_type: 0,
            value: Some(ArgumentValue::Int(3)),
        };
        let message = |sql: &str, arguments: &[Argument]| {
            let statement = Statement {
                text: sql,
                arguments: Some(arguments),
                ..Statement::default()
            };
            text(statement, Expected::Rows).map_err(|failure| failure.message)
        };
        let two = [one.clone(), one.clone()];
        assert_eq!(message("select ?", &two[..1]).as_deref(), Ok("select 3"));
        let few = "No value specified for parameter 2".to_owned();
        assert_eq!(message("select ?, ?", &two[..1]), Err(few));
        let many = "Parameter index out of range (2 > number of parameters, which is 1).";
        assert_eq!(message("select ?", &two), Err(many.to_owned()));
    }
}
