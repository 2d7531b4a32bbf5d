//! The settings of a statement, and running it (`AbstractJDBCTestElement#execute`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use drumfire_elements::shared::jdbc;
use drumfire_expr::{Raised, Scope, Template};
use drumfire_sql::{Connection, Expected, SqlFailure, Statement, StatementResult};

use super::choice::pools;
use super::pool::{Lease, Pools};
use super::{arguments, rows};
use crate::decode::Decoder;
use crate::run::context::StateId;
use crate::run::view::{SeesRun, SetsVariables, View};

const SELECT: &str = "Select Statement";
const UPDATE: &str = "Update Statement";
const PREPARED_SELECT: &str = "Prepared Select Statement";
const PREPARED_UPDATE: &str = "Prepared Update Statement";
const COMMIT: &str = "Commit";
const ROLLBACK: &str = "Rollback";
const AUTOCOMMIT_OFF: &str = "AutoCommit(false)";
const AUTOCOMMIT_ON: &str = "AutoCommit(true)";

/// A failure: an SQL exception, or another Java exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JdbcFailure {
    Sql(SqlFailure),
    Exception {
        class: &'static str,
        message: Option<String>,
    },
}

impl JdbcFailure {
    pub fn exception(class: &'static str, message: impl Into<String>) -> JdbcFailure {
        JdbcFailure::Exception {
            class,
            message: Some(message.into()),
        }
    }

    /// An exception without a message.
    pub fn silent(class: &'static str) -> JdbcFailure {
        JdbcFailure::Exception {
            class,
            message: None,
        }
    }
}

impl From<SqlFailure> for JdbcFailure {
    fn from(failure: SqlFailure) -> JdbcFailure {
        JdbcFailure::Sql(failure)
    }
}

/// As `Throwable#toString`.
impl fmt::Display for JdbcFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JdbcFailure::Sql(failure) => failure.fmt(f),
            JdbcFailure::Exception {
                class,
                message: Some(message),
            } => write!(f, "{class}: {message}"),
            JdbcFailure::Exception { class, .. } => f.write_str(class),
        }
    }
}

/// A decoded JDBC Request or processor.
pub struct JdbcStatement {
    pools: Arc<Pools>,
    /// The state with a user's own connections.
    own: StateId,
    name: Template,
    pool: Template,
    query: Template,
    kind: Template,
    values: Template,
    types: Template,
    variables: Template,
    timeout: Template,
    max_rows: Template,
    null_marker: String,
}

/// The evaluated settings of one run.
pub struct StatementSettings {
    pool: String,
    query: String,
    kind: String,
    values: String,
    types: String,
    variables: String,
    timeout: Option<Duration>,
    max_rows: i32,
}

impl StatementSettings {
    /// `AbstractJDBCTestElement#toString`.
    pub fn describe(&self) -> String {
        format!(
            "[{}] {}\n{}\n{}",
            self.kind, self.query, self.values, self.types
        )
    }
}

impl JdbcStatement {
    pub fn decode(d: &mut Decoder) -> JdbcStatement {
        let properties = &d.settings().properties;
        let null_marker = properties
            .get("jdbcsampler.nullmarker")
            .map(|text| text.to_string())
            .unwrap_or_else(|| "]NULL[".to_owned());
        let kind = if d.text(jdbc::QUERY_TYPE.name).is_empty() {
            Template::raw(SELECT)
        } else {
            d.template(jdbc::QUERY_TYPE.name)
        };
        JdbcStatement {
            pools: pools(d.decoding),
            own: d.shared_state("jdbc connections"),
            name: d.name(),
            pool: d.template(jdbc::POOL.name),
            query: d.template(jdbc::QUERY.name),
            kind,
            values: d.template(jdbc::QUERY_ARGUMENTS.name),
            types: d.template(jdbc::QUERY_ARGUMENTS_TYPES.name),
            variables: d.template(jdbc::VARIABLE_NAMES.name),
            timeout: d.template(jdbc::QUERY_TIMEOUT.name),
            max_rows: d.template(jdbc::MAX_ROWS.name),
            null_marker,
        }
    }

    pub fn settings(&self, cx: &mut dyn Scope) -> StatementSettings {
        let timeout_s: u64 = self.timeout.eval(cx).parse().unwrap_or(0);
        StatementSettings {
            pool: self.pool.eval(cx).into_string(),
            query: self.query.eval(cx).into_string(),
            kind: self.kind.eval(cx).into_string(),
            values: self.values.eval(cx).into_string(),
            types: self.types.eval(cx).into_string(),
            variables: self.variables.eval(cx).into_string(),
            timeout: (timeout_s > 0).then(|| Duration::from_secs(timeout_s)),
            max_rows: self.max_rows.eval(cx).parse().unwrap_or(-1),
        }
    }

    /// The element's name now.
    pub fn name(&self, cx: &mut dyn Scope) -> String {
        self.name.eval(cx).into_string()
    }

    /// Borrows a connection from the pool that the settings name (`DataSourceElement#getConnection`).
    pub async fn connect<R: SeesRun>(
        &self,
        cx: &mut View<R>,
        settings: &StatementSettings,
    ) -> Result<Lease, JdbcFailure> {
        if settings.pool.trim().is_empty() {
            let name = self.name(cx);
            let message = format!("Name for DataSoure must not be empty in {name}");
            return Err(JdbcFailure::exception(
                "java.lang.IllegalArgumentException",
                message,
            ));
        }
        let Some(pool) = self.pools.get(&settings.pool) else {
            return Err(SqlFailure::plain(format!(
                "No pool found named: '{}', ensure Variable Name matches Variable Name of JDBC Connection Configuration",
                settings.pool
            ))
            .into());
        };
        Ok(pool.lease(cx, self.own).await?)
    }

    /// Runs the statement before or after a sample (`AbstractJDBCProcessor#process`).
    pub async fn process<R: SeesRun + SetsVariables>(&self, cx: &mut View<R>) {
        let settings = self.settings(cx);
        let outcome = match self.connect(cx, &settings).await {
            Ok(mut lease) => {
                let outcome = self
                    .execute(cx, &settings, &mut lease.connection, &mut None)
                    .await;
                self.give_back(cx, lease);
                outcome
            }
            Err(fault) => Err(fault),
        };
        let Err(fault) = outcome else { return };
        let name = self.name(cx);
        match &fault {
            JdbcFailure::Sql(_) => tracing::warn!("SQL Problem in {name}: {fault}"),
            JdbcFailure::Exception { class, .. } if *class == "java.io.IOException" => {
                tracing::warn!("IO Problem in {name}: {fault}");
            }
            JdbcFailure::Exception { class, .. }
                if class.ends_with("UnsupportedOperationException") =>
            {
                tracing::warn!("Execution Problem in {name}: {fault}");
            }
            JdbcFailure::Exception { .. } => cx.raise(Raised::exception(fault.to_string())),
        }
    }

    /// Gives a borrowed connection back.
    pub fn give_back<R: SeesRun>(&self, cx: &mut View<R>, lease: Lease) {
        lease.give_back(cx, self.own);
    }

    /// Runs the statement and returns the response text. Sets `answered` to the time at which the server has
    /// answered.
    pub async fn execute<R: SeesRun + SetsVariables>(
        &self,
        cx: &mut View<R>,
        settings: &StatementSettings,
        connection: &mut Connection,
        answered: &mut Option<i64>,
    ) -> Result<String, JdbcFailure> {
        let arguments = match settings.kind.as_str() {
            PREPARED_SELECT | PREPARED_UPDATE => Some(arguments::parse(
                &settings.values,
                &settings.types,
                &self.null_marker,
            )?),
            _ => None,
        };
        let statement = Statement {
            text: &settings.query,
            arguments: arguments.as_deref(),
            max_rows: settings.max_rows.max(0),
            timeout: settings.timeout,
        };
        let kind = settings.kind.as_str();
        let outcome = match kind {
            SELECT | PREPARED_SELECT => {
                Some(attend(cx, connection, statement, Expected::Rows).await?)
            }
            UPDATE | PREPARED_UPDATE => {
                let statement = Statement {
                    max_rows: 0,
                    ..statement
                };
                Some(attend(cx, connection, statement, Expected::Counts).await?)
            }
            COMMIT | ROLLBACK => {
                connection.end_transaction(kind == COMMIT).await?;
                None
            }
            AUTOCOMMIT_OFF | AUTOCOMMIT_ON => {
                connection.set_auto_commit(kind == AUTOCOMMIT_ON).await?;
                None
            }
            other => {
                let message = format!("Unexpected query type: {other}");
                return Err(JdbcFailure::exception(
                    "java.lang.UnsupportedOperationException",
                    message,
                ));
            }
        };
        *answered = Some(cx.clock().now_ms());
        Ok(match outcome {
            None => kind.to_owned(),
            Some(StatementResult::Rows(found)) => {
                let limit = usize::try_from(settings.max_rows).ok();
                rows::read(&found, &settings.variables, limit, cx.vars_mut())
            }
            Some(StatementResult::Counts(counts)) if kind == UPDATE => {
                format!("{} updates", counts.first().copied().unwrap_or(0))
            }
            Some(StatementResult::Counts(counts)) => counts
                .iter()
                .map(|count| format!("{count} updates.\n"))
                .collect(),
        })
    }
}

/// Runs a statement. If the run is told to stop now, the statement is abandoned and the connection becomes
/// useless.
async fn attend<R: SeesRun>(
    cx: &View<R>,
    connection: &mut Connection,
    statement: Statement<'_>,
    expected: Expected,
) -> Result<StatementResult, JdbcFailure> {
    match cx.attend(connection.run(statement, expected)).await {
        Some(outcome) => Ok(outcome?),
        None => {
            connection.abandon();
            Err(SqlFailure::plain("the run was told to stop").into())
        }
    }
}
