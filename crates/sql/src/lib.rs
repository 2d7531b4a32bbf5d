//! Connects to databases with the behaviour of their JDBC drivers: results as text, and failures with the drivers' messages.
//!
//! `postgres` speaks PostgreSQL's protocol as pgjdbc does, with the messages of the `postgres-protocol` crate. Results use the
//! text format, so every value is what the server wrote; parameters have the types that pgjdbc gives them. `mysql` does the same
//! for MySQL and MariaDB, as Connector/J or as MariaDB's driver, with the `mysql_async` crate.

#![warn(missing_docs)]
#![cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused))]

mod address;
mod argument;
mod failure;
mod java_text;
#[cfg(feature = "postgres")]
mod marker;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

pub use address::DatabaseAddress;
use address::DatabaseKind;
pub use argument::{Argument, ArgumentValue};
pub use failure::SqlFailure;

use std::time::Duration;

/// The rows of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Row by row; `None` is NULL.
    pub cells: Vec<Option<Box<str>>>,
}

impl Rows {
    /// The rows' cells.
    pub fn iter(&self) -> impl Iterator<Item = &[Option<Box<str>>]> {
        self.cells.chunks(self.columns.len().max(1))
    }
}

/// The result of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementResult {
    /// The rows of a query.
    Rows(Rows),
    /// How many rows each part of the statement changed.
    Counts(Vec<i64>),
}

/// One statement to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement<'s> {
    /// The SQL text.
    pub text: &'s str,
    /// The values of its `?`, if it is a prepared statement.
    pub arguments: Option<&'s [Argument]>,
    /// `Statement#setMaxRows`; 0 means unlimited.
    pub max_rows: i32,
    /// `Statement#setQueryTimeout`.
    pub timeout: Option<Duration>,
}

/// The kind of result that the caller expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `executeQuery`.
    Rows,
    /// `executeUpdate`.
    Counts,
    /// `execute`; the result is ignored.
    Anything,
}

/// `java.sql.Connection.TRANSACTION_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// `TRANSACTION_NONE`.
    None,
    /// `TRANSACTION_READ_UNCOMMITTED`.
    ReadUncommitted,
    /// `TRANSACTION_READ_COMMITTED`.
    ReadCommitted,
    /// `TRANSACTION_REPEATABLE_READ`.
    RepeatableRead,
    /// `TRANSACTION_SERIALIZABLE`.
    Serializable,
}

/// An open connection.
pub struct Connection(Driver);

enum Driver {
    #[cfg(feature = "mysql")]
    MySql(Box<mysql::MySqlConnection>),
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::PostgresConnection>),
}

/// Makes the same call on the connection of either driver.
macro_rules! with {
    ($driver:expr, mut $connection:ident => $call:expr) => {
        match $driver {
            #[cfg(feature = "mysql")]
            Driver::MySql(ref mut $connection) => $call,
            #[cfg(feature = "postgres")]
            Driver::Postgres(ref mut $connection) => $call,
        }
    };
    ($driver:expr, $connection:ident => $call:expr) => {
        match $driver {
            #[cfg(feature = "mysql")]
            Driver::MySql(ref $connection) => $call,
            #[cfg(feature = "postgres")]
            Driver::Postgres(ref $connection) => $call,
        }
    };
}

impl Connection {
    /// Opens a connection (`Driver#connect`).
    ///
    /// # Errors
    /// The driver's failure.
    pub async fn open(
        address: &DatabaseAddress,
        user: &str,
        password: &str,
    ) -> Result<Connection, SqlFailure> {
        match address.kind() {
            #[cfg(feature = "mysql")]
            DatabaseKind::MySql | DatabaseKind::MariaDb => {
                let connection = mysql::MySqlConnection::open(address, user, password).await?;
                Ok(Connection(Driver::MySql(Box::new(connection))))
            }
            #[cfg(feature = "postgres")]
            DatabaseKind::Postgres => {
                let connection =
                    postgres::PostgresConnection::open(address, user, password).await?;
                Ok(Connection(Driver::Postgres(Box::new(connection))))
            }
        }
    }

    /// Runs a statement. Returns rows if rows are expected, or else how many rows each part of it changed.
    ///
    /// # Errors
    /// The driver's failure, or its message that the result is not of the expected kind.
    pub async fn run(
        &mut self,
        statement: Statement<'_>,
        expected: Expected,
    ) -> Result<StatementResult, SqlFailure> {
        with!(self.0, mut connection => connection.run(statement, expected).await)
    }

    /// Whether each statement is its own transaction.
    pub fn auto_commit(&self) -> bool {
        with!(self.0, connection => connection.auto_commit())
    }

    /// `Connection#setAutoCommit`; ends an open transaction.
    ///
    /// # Errors
    /// The driver's failure.
    pub async fn set_auto_commit(&mut self, on: bool) -> Result<(), SqlFailure> {
        with!(self.0, mut connection => connection.set_auto_commit(on).await)
    }

    /// `Connection#commit`, `Connection#rollback`.
    ///
    /// # Errors
    /// The driver's failure.
    pub async fn end_transaction(&mut self, commit: bool) -> Result<(), SqlFailure> {
        with!(self.0, mut connection => connection.end_transaction(commit).await)
    }

    /// `Connection#setTransactionIsolation`.
    ///
    /// # Errors
    /// The driver's failure.
    pub async fn set_isolation(&mut self, isolation: Isolation) -> Result<(), SqlFailure> {
        with!(self.0, mut connection => connection.set_isolation(isolation).await)
    }

    /// Marks that the caller stopped waiting in the middle of an operation.
    pub fn abandon(&mut self) {
        with!(self.0, mut connection => connection.abandon());
    }

    /// Whether the connection can no longer be used.
    pub fn is_broken(&self) -> bool {
        with!(self.0, connection => connection.is_broken())
    }
}
