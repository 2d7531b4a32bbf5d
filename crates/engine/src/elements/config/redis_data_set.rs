//! Redis Data Set of jmeter-plugins (`kg.apc.jmeter.config.redis.RedisDataSet`): each iteration of the controller around it
//! reads a row of a list or a set on a Redis server into variables. If there is no row, the user ends.
//!
//! Properties: `redisKey`, `variableNames` (comma separated, not trimmed), `delimiter` (between the row's values, taken
//! literally), all evaluated once per user; `redisDataType` (0 a list, 1 a set) with `recycleDataOnUse`: off, a row is removed
//! (`LPOP`, `SPOP`); on, the last row of the list becomes its first (`LMOVE`) or the set keeps it (`SRANDMEMBER`), or, with
//! `plugins.redis.legacy`, the row is removed and added again. Plans of the plugin's first versions have `getMode` instead: 0
//! removes from a list, 1 keeps in a set. `host`, `port`, `timeout` (milliseconds, 0 is no limit), `password`, `database`,
//! `ssl`: evaluated before the run.
//!
//! Differences: the users of a worker share one connection instead of a pool and pipeline their requests on it, so the pool's
//! settings change nothing; if the server has closed it, the request goes out on a new one. An empty delimiter leaves the row
//! whole, while the plugin fills the memory. With `ssl` the plugin's own class runs it.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use drumfire_elements::config::redis_data_set as facts;
use drumfire_expr::Template;
use drumfire_java::values;

use super::redis_client::{RedisConnection, RedisError, RedisServer};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::StateId;
use crate::run::roles::{Act, PreProcessorRole};
use crate::run::view::PreProcessorView;

/// `Protocol.DEFAULT_PORT` and `Protocol.DEFAULT_TIMEOUT` of Jedis.
const PORT: i64 = 6379;
const TIMEOUT_MS: i64 = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    PopFromList,
    /// Moves the last row to the front.
    TurnList,
    PopAndPushList,
    PopFromSet,
    KeepInSet,
    PopAndAddSet,
}

pub struct RedisDataSet {
    server: RedisServer,
    access: Access,
    key: Template,
    names: Template,
    delimiter: Template,
    state: StateId,
    /// The connections, by worker.
    connections: Mutex<HashMap<ThreadId, RedisConnection>>,
}

/// One user's evaluated settings and connection.
struct RedisUserState {
    key: String,
    names: Arc<[String]>,
    delimiter: String,
    connection: Option<RedisConnection>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    if values::property_bool(&d.text_now(facts::SSL.name)) {
        return Roles::foreign("it connects with TLS");
    }
    let (port, timeout_ms, database) = match (
        number(d, facts::PORT.name, PORT),
        number(d, facts::TIMEOUT.name, TIMEOUT_MS),
        number(d, facts::DATABASE.name, 0),
    ) {
        (Some(port), Some(timeout_ms), Some(database)) => (port, timeout_ms, database),
        _ => return Roles::default(),
    };
    let password = d.text_now(facts::PASSWORD.name);
    let server = RedisServer {
        host: d.text_now(facts::HOST.name),
        port: port as u16,
        password: match password.trim() {
            "" => String::new(),
            _ => password,
        },
        database,
        timeout: (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms as u64)),
    };
    Roles::rows(RedisDataSet {
        server,
        access: access(d),
        key: d.template(facts::KEY.name),
        names: d.template(facts::VARIABLE_NAMES.name),
        delimiter: d.template(facts::DELIMITER.name),
        state: d.new_state(),
        connections: Mutex::default(),
    })
}

/// A number, or the default if the text is blank. In JMeter, a malformed one ends the test (`RedisDataSet#testStarted`).
fn number(d: &mut Decoder, name: &str, default: i64) -> Option<i64> {
    let text = d.text_now(name);
    if text.trim().is_empty() {
        return Some(default);
    }
    let number = values::parse_int(&text).map(i64::from);
    if number.is_none() {
        let message = format!(
            "{name} of Redis Data Set '{}' is not a number: {text}",
            d.element.name
        );
        d.cannot_run("redis-number", message);
    }
    number
}

/// `RedisDataSet#selectPollingStrategy`; the first versions' `getMode`.
fn access(d: &mut Decoder) -> Access {
    if d.element.props.value(facts::OLD_MODE.name).is_some()
        && d.element.props.value(facts::DATA_TYPE.name).is_none()
    {
        return if ordinal(d.text_now(facts::OLD_MODE.name), "RANDOM_KEEP") {
            Access::KeepInSet
        } else {
            Access::PopFromList
        };
    }
    let is_set = ordinal(d.text_now(facts::DATA_TYPE.name), "Set");
    let recycles = values::property_bool(&d.text_now(facts::RECYCLE.name));
    let is_legacy = values::property_bool(&d.text_now("plugins.redis.legacy"));
    match (is_set, recycles, is_legacy) {
        (false, false, _) => Access::PopFromList,
        (false, true, false) => Access::TurnList,
        (false, true, true) => Access::PopAndPushList,
        (true, false, _) => Access::PopFromSet,
        (true, true, false) => Access::KeepInSet,
        (true, true, true) => Access::PopAndAddSet,
    }
}

fn ordinal(text: String, second: &str) -> bool {
    text == second || text.trim() == "1"
}

impl PreProcessorRole for RedisDataSet {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        Act::wait(self.iteration_start(cx))
    }
}

impl RedisDataSet {
    /// `RedisDataSet#iterationStart`.
    async fn iteration_start(&self, cx: &mut PreProcessorView) {
        if !cx.alive {
            return;
        }
        let Some(mut bound) = cx.bound_once(self.state, |cx| Ok(self.bind(cx))) else {
            return;
        };
        if let Some(row) = cx.attend(self.next_row(&mut bound)).await {
            match row {
                Ok(Some(row)) => bound.set(&row, cx),
                Ok(None) => cx.stop_thread("End of redis data detected"),
                Err(error) => cx.test_failed(&format!("Redis: {error}")),
            }
        }
        cx.put_state(self.state, bound);
    }

    fn bind(&self, cx: &mut PreProcessorView) -> RedisUserState {
        let names = self.names.eval(cx).into_string();
        RedisUserState {
            key: self.key.eval(cx).into_string(),
            names: split_names(&names),
            delimiter: self.delimiter.eval(cx).into_string(),
            connection: None,
        }
    }

    /// The next row; `None` at the end. An error reply of the server counts as the end (`JedisDataException`).
    async fn next_row(&self, bound: &mut RedisUserState) -> Result<Option<String>, RedisError> {
        let mut connection = match bound.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let mut row = self.ask(&connection, &bound.key).await;
        if let Err(RedisError::Closed) = row {
            self.forget();
            connection = self.connect().await?;
            row = self.ask(&connection, &bound.key).await;
        }
        match row {
            Ok(row) => {
                bound.connection = Some(connection);
                Ok(row.map(|row| String::from_utf8_lossy(&row).into_owned()))
            }
            Err(RedisError::Refused(reply)) => {
                tracing::error!(
                    "Failed to retrieve data from redis key {}: {reply}",
                    bound.key
                );
                Ok(None)
            }
            Err(error) => {
                self.forget();
                Err(error)
            }
        }
    }

    /// This worker's connection.
    async fn connect(&self) -> Result<RedisConnection, RedisError> {
        let worker = std::thread::current().id();
        if let Some(connection) = self.connections().get(&worker) {
            return Ok(connection.clone());
        }
        let connection = self.server.connect().await?;
        let mut connections = self.connections();
        Ok(connections.entry(worker).or_insert(connection).clone())
    }

    fn forget(&self) {
        self.connections().remove(&std::thread::current().id());
    }

    fn connections(&self) -> std::sync::MutexGuard<'_, HashMap<ThreadId, RedisConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(
        &self,
        connection: &RedisConnection,
        key: &str,
    ) -> Result<Option<Vec<u8>>, RedisError> {
        let key = key.as_bytes();
        let take: &[&[u8]] = match self.access {
            Access::PopFromList | Access::PopAndPushList => &[b"LPOP", key],
            Access::TurnList => &[b"LMOVE", key, key, b"RIGHT", b"LEFT"],
            Access::PopFromSet | Access::PopAndAddSet => &[b"SPOP", key],
            Access::KeepInSet => &[b"SRANDMEMBER", key],
        };
        let row = connection.command(take).await?;
        let put_back: &[u8] = match self.access {
            Access::PopAndPushList => b"RPUSH",
            Access::PopAndAddSet => b"SADD",
            _ => return Ok(row),
        };
        if let Some(row) = &row {
            connection.command(&[put_back, key, row]).await?;
        }
        Ok(row)
    }
}

impl RedisUserState {
    fn set(&self, row: &str, cx: &mut PreProcessorView) {
        for (name, value) in self.names.iter().zip(split_row(row, &self.delimiter)) {
            cx.vars_mut().set_named(name, Rc::from(value));
        }
    }
}

/// `JOrphanUtils#split` with its truncation.
fn split_names(names: &str) -> Arc<[String]> {
    names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `JOrphanUtils#split` without truncation: an empty row has no values.
fn split_row<'r>(row: &'r str, delimiter: &'r str) -> Vec<&'r str> {
    match (row, delimiter) {
        ("", _) => Vec::new(),
        (row, "") => vec![row],
        (row, delimiter) => row.split(delimiter).collect(),
    }
}
