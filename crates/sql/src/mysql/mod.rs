//! A connection to MySQL or MariaDB that behaves like MySQL's or MariaDB's driver, over the `mysql_async` crate.

mod connector_j;
mod literal;
mod mariadb;
mod open;
mod types;

use std::time::Duration;

use mysql_async::consts::StatusFlags;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts, OptsBuilder};
use tokio::time::timeout;

use crate::address::DatabaseKind;
use crate::{DatabaseAddress, Expected, Isolation, Rows, SqlFailure, Statement, StatementResult};

/// `jdbcCompliantTruncation`.
const STRICT: &str = "SET sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')";

/// The driver whose behaviour a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JdbcDriver {
    /// MySQL's.
    ConnectorJ,
    MariaDb,
}

impl JdbcDriver {
    fn of(address: &DatabaseAddress) -> JdbcDriver {
        match address.kind() {
            DatabaseKind::MariaDb => JdbcDriver::MariaDb,
            _ => JdbcDriver::ConnectorJ,
        }
    }
}

pub struct MySqlConnection {
    driver: JdbcDriver,
    connection: Conn,
    opts: Opts,
    auto_commit: bool,
    is_broken: bool,
    /// The current `SQL_SELECT_LIMIT` on the server.
    limit: i32,
}

impl MySqlConnection {
    pub async fn open(
        address: &DatabaseAddress,
        user: &str,
        password: &str,
    ) -> Result<MySqlConnection, SqlFailure> {
        let user = address.user.as_deref().unwrap_or(user);
        let password = address.password.as_deref().unwrap_or(password);
        let database = Some(address.database.clone()).filter(|name| !name.is_empty());
        let opts = OptsBuilder::default()
            .ip_or_hostname(address.host.clone())
            .tcp_port(address.port)
            .user(Some(user))
            .pass(Some(password))
            .db_name(database)
            .client_found_rows(true)
            .prefer_socket(false)
            .stmt_cache_size(0)
            .setup(vec![STRICT]);
        let driver = JdbcDriver::of(address);
        let (connection, opts) = open::open(address, driver, opts).await?;
        Ok(MySqlConnection {
            driver,
            connection,
            opts,
            auto_commit: true,
            is_broken: false,
            limit: 0,
        })
    }

    pub async fn run(
        &mut self,
        statement: Statement<'_>,
        expected: Expected,
    ) -> Result<StatementResult, SqlFailure> {
        let text = match self.driver {
            JdbcDriver::ConnectorJ => connector_j::text(statement, expected)?,
            JdbcDriver::MariaDb => mariadb::text(statement, self.connection.id())?,
        };
        if self.limit != statement.max_rows {
            let limit = match statement.max_rows {
                0 => "DEFAULT".to_owned(),
                rows => rows.to_string(),
            };
            self.command(&format!("SET SQL_SELECT_LIMIT={limit}"))
                .await?;
            self.limit = statement.max_rows;
        }
        let outcome = match (self.driver, statement.timeout) {
            (JdbcDriver::ConnectorJ, Some(limit)) => self.ask_in_time(&text, limit).await?,
            _ => self.ask(&text).await,
        };
        let (rows, counts) = outcome.map_err(|error| self.note(error))?;
        match (expected, rows) {
            (Expected::Rows, Some(rows)) => Ok(StatementResult::Rows(rows)),
            (Expected::Rows, None) => match self.driver {
                JdbcDriver::ConnectorJ => Err(connector_j::no_rows()),
                // `permitNoResults`
                JdbcDriver::MariaDb => Ok(StatementResult::Rows(Rows::default())),
            },
            (Expected::Counts, Some(_)) => Err(match self.driver {
                JdbcDriver::ConnectorJ => connector_j::has_rows(),
                JdbcDriver::MariaDb => mariadb::has_rows(self.connection.id()),
            }),
            (Expected::Counts | Expected::Anything, _) => Ok(StatementResult::Counts(counts)),
        }
    }

    /// Runs a statement; returns the rows of its first result set, and how many rows each other result
    /// changed.
    async fn ask(&mut self, text: &str) -> Result<(Option<Rows>, Vec<i64>), Error> {
        let driver = self.driver;
        let mut result = self.connection.query_iter(text).await?;
        let mut found = None;
        let mut counts = Vec::new();
        while !result.is_empty() || counts.is_empty() && found.is_none() {
            let columns = result.columns();
            let columns = columns.as_deref().unwrap_or_default();
            if columns.is_empty() {
                counts.push(i64::try_from(result.affected_rows()).unwrap_or(i64::MAX));
            }
            let mut rows = Rows {
                columns: columns
                    .iter()
                    .map(|column| column.name_str().into_owned())
                    .collect(),
                cells: Vec::new(),
            };
            let has_columns = !columns.is_empty();
            while let Some(row) = result.next().await? {
                for (index, column) in row.columns().iter().enumerate() {
                    let cell = row
                        .as_ref(index)
                        .map_or(Ok(None), |value| types::text(driver, column, value));
                    rows.cells
                        .push(cell.map_err(|failure| Error::Other(failure.into()))?);
                }
            }
            if has_columns && found.is_none() {
                found = Some(rows);
            }
        }
        Ok((found, counts))
    }

    /// Like [`MySqlConnection::ask`]. If the statement exceeds the limit, a second connection kills it
    /// (`CancelQueryTaskImpl`).
    async fn ask_in_time(
        &mut self,
        text: &str,
        limit: Duration,
    ) -> Result<Result<(Option<Rows>, Vec<i64>), Error>, SqlFailure> {
        let kill = format!("KILL QUERY {}", self.connection.id());
        let opts = self.opts.clone();
        let mut work = std::pin::pin!(self.ask(text));
        if let Ok(outcome) = timeout(limit, work.as_mut()).await {
            return Ok(outcome);
        }
        match Conn::new(opts).await {
            Ok(mut other) => {
                if let Err(error) = other.query_drop(kill).await {
                    tracing::debug!("a statement was not cancelled: {error}");
                }
            }
            Err(error) => tracing::debug!("no connection to cancel a statement: {error}"),
        }
        // The result no longer matters, because the limit has passed.
        let _ = work.await;
        Err(connector_j::timed_out())
    }

    async fn command(&mut self, text: &str) -> Result<(), SqlFailure> {
        let done = self.connection.query_drop(text).await;
        done.map_err(|error| self.note(error))
    }

    fn note(&mut self, error: Error) -> SqlFailure {
        self.is_broken |= !matches!(error, Error::Server(_) | Error::Other(_));
        match self.driver {
            JdbcDriver::ConnectorJ => connector_j::failure(error),
            JdbcDriver::MariaDb => mariadb::failure(error, self.connection.id()),
        }
    }

    pub fn auto_commit(&self) -> bool {
        self.auto_commit
    }

    /// `Connection#setAutoCommit`.
    pub async fn set_auto_commit(&mut self, on: bool) -> Result<(), SqlFailure> {
        if on != self.auto_commit {
            self.command(if on {
                "SET autocommit=1"
            } else {
                "SET autocommit=0"
            })
            .await?;
            self.auto_commit = on;
        }
        Ok(())
    }

    /// `Connection#commit`, `Connection#rollback`.
    pub async fn end_transaction(&mut self, commit: bool) -> Result<(), SqlFailure> {
        if self.driver == JdbcDriver::ConnectorJ && self.auto_commit {
            return Err(connector_j::no_transaction(commit));
        }
        if self.driver == JdbcDriver::MariaDb && !self.is_in_transaction() {
            return Ok(());
        }
        self.command(if commit { "commit" } else { "rollback" })
            .await
    }

    /// Whether a transaction is open, as far as the last answer says; an error does not.
    fn is_in_transaction(&self) -> bool {
        let last = self.connection.last_ok_packet();
        last.is_none_or(|ok| {
            ok.status_flags()
                .contains(StatusFlags::SERVER_STATUS_IN_TRANS)
        })
    }

    /// `Connection#setTransactionIsolation`.
    pub async fn set_isolation(&mut self, isolation: Isolation) -> Result<(), SqlFailure> {
        let level = match isolation {
            Isolation::None => {
                return Err(SqlFailure::plain(match self.driver {
                    JdbcDriver::ConnectorJ => {
                        "Transaction isolation level NONE not supported by MySQL"
                    }
                    JdbcDriver::MariaDb => "Unsupported transaction isolation level",
                }));
            }
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        };
        self.command(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))
            .await
    }

    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    pub fn abandon(&mut self) {
        self.is_broken = true;
    }
}
