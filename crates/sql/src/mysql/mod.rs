//! A connection to MySQL or MariaDB that behaves like Connector/J, over the `mysql_async` crate.

mod literal;
mod types;

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, ServerError, SslOpts};
use tokio::time::timeout;
use tokio_rustls::rustls::RootCertStore;

use crate::address::{Encryption, Verification};
use crate::{DatabaseAddress, Expected, Isolation, Rows, SqlFailure, Statement, StatementResult};

const PLAIN: &str = "java.sql.SQLException";
/// `jdbcCompliantTruncation`.
const STRICT: &str = "SET sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')";

pub struct MySqlConnection {
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
        let (connection, opts) = connect(address, opts).await?;
        Ok(MySqlConnection {
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
        let text = match statement.arguments {
            Some(arguments) => literal::fill(statement.text, arguments)?,
            None => statement.text.to_owned(),
        };
        refuse(&text, expected)?;
        if self.limit != statement.max_rows {
            let limit = match statement.max_rows {
                0 => "DEFAULT".to_owned(),
                rows => rows.to_string(),
            };
            self.command(&format!("SET SQL_SELECT_LIMIT={limit}"))
                .await?;
            self.limit = statement.max_rows;
        }
        let outcome = match statement.timeout {
            None => self.ask(&text).await,
            Some(limit) => self.ask_in_time(&text, limit).await?,
        };
        let (rows, counts) = outcome.map_err(|error| self.note(error))?;
        match (expected, rows) {
            (Expected::Rows, Some(rows)) => Ok(StatementResult::Rows(rows)),
            (Expected::Rows, None) => Err(no_rows()),
            (Expected::Counts, Some(_)) => Err(has_rows()),
            (Expected::Counts | Expected::Anything, _) => Ok(StatementResult::Counts(counts)),
        }
    }

    /// Runs a statement; returns the rows of its first result set, and how many rows each other result
    /// changed.
    async fn ask(&mut self, text: &str) -> Result<(Option<Rows>, Vec<i64>), Error> {
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
                        .map_or(Ok(None), |value| types::text(column, value));
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
        Err(SqlFailure::new(
            "com.mysql.cj.jdbc.exceptions.MySQLTimeoutException",
            "Statement cancelled due to timeout or client request",
            None,
        ))
    }

    async fn command(&mut self, text: &str) -> Result<(), SqlFailure> {
        let done = self.connection.query_drop(text).await;
        done.map_err(|error| self.note(error))
    }

    fn note(&mut self, error: Error) -> SqlFailure {
        self.is_broken |= !matches!(error, Error::Server(_) | Error::Other(_));
        failure(error)
    }

    pub fn auto_commit(&self) -> bool {
        self.auto_commit
    }

    /// `ConnectionImpl#setAutoCommit`.
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

    /// `ConnectionImpl#commit`, `ConnectionImpl#rollback`.
    pub async fn end_transaction(&mut self, commit: bool) -> Result<(), SqlFailure> {
        match (commit, self.auto_commit) {
            (true, true) => Err(SqlFailure::plain("Can't call commit when autocommit=true")),
            (false, true) => Err(SqlFailure::new(
                "java.sql.SQLNonTransientConnectionException",
                "Can't call rollback when autocommit=true",
                Some("08003"),
            )),
            (true, false) => self.command("commit").await,
            (false, false) => self.command("rollback").await,
        }
    }

    /// `ConnectionImpl#setTransactionIsolation`.
    pub async fn set_isolation(&mut self, isolation: Isolation) -> Result<(), SqlFailure> {
        let level = match isolation {
            Isolation::None => {
                let message = "Transaction isolation level NONE not supported by MySQL";
                return Err(SqlFailure::plain(message));
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

/// Connects with encryption, unless the address forbids it, or the server lacks it and the address does not insist
/// (`NativeProtocol#negotiateSSLConnection`). Certificates are not checked.
async fn connect(
    address: &DatabaseAddress,
    builder: OptsBuilder,
) -> Result<(Conn, Opts), SqlFailure> {
    /// Servers that do not offer encryption.
    static PLAIN_SERVERS: Mutex<Vec<(String, u16)>> = Mutex::new(Vec::new());

    let server = (address.host.clone(), address.port);
    let plain_servers = || PLAIN_SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let encryption = address.encryption();
    let is_plain = match encryption {
        Encryption::Disable => true,
        Encryption::Require => false,
        _ => plain_servers().contains(&server),
    };
    let plain: Opts = builder.clone().into();
    if !is_plain {
        let opts: Opts = builder.ssl_opts(tls(address.verification())).into();
        match Conn::new(opts.clone()).await {
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) => {
                if encryption == Encryption::Require {
                    return Err(no_encryption());
                }
                plain_servers().push(server);
            }
            connected => return Ok((connected.map_err(failure)?, opts)),
        }
    }
    let connection = Conn::new(plain.clone()).await.map_err(failure)?;
    Ok((connection, plain))
}

/// Without verification any certificate will do; with it, its chain must lead to an authority of the system, as Java's own
/// authorities usually are, and its name must fit.
fn tls(verification: &Verification) -> SslOpts {
    static AUTHORITIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let system = rustls_native_certs::load_native_certs().certs;
        let usable = system
            .into_iter()
            .filter(|one| RootCertStore::empty().add(one.clone()).is_ok());
        usable.map(|one| one.to_vec()).collect()
    });
    if verification.chain {
        let authorities = AUTHORITIES.iter().map(|one| one.clone().into());
        SslOpts::default().with_root_certs(authorities.collect())
    } else {
        SslOpts::default()
            .with_danger_accept_invalid_certs(true)
            .with_danger_skip_domain_validation(true)
    }
}

fn no_encryption() -> SqlFailure {
    let message = "SSL Connection required, but not supported by server.";
    SqlFailure::new(
        "java.sql.SQLNonTransientConnectionException",
        message,
        Some("08001"),
    )
}

fn no_rows() -> SqlFailure {
    let message =
        "Statement.executeQuery() cannot issue statements that do not produce result sets.";
    SqlFailure::new(PLAIN, message, Some("S1009"))
}

fn has_rows() -> SqlFailure {
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
fn failure(error: Error) -> SqlFailure {
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
