//! Pools of connections (`DataSourceElement`, and the `BasicDataSource` of DBCP 2 below it).

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drumfire_elements::config::jdbc_connection as facts;
use drumfire_sql::{Connection, DatabaseAddress, Expected, Isolation, SqlFailure, Statement};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::decode::Decoder;
use crate::run::context::StateId;
use crate::run::roles::Preparation;
use crate::run::view::{SeesRun, View};

/// All pools of a plan, by the names of their variables.
#[derive(Default)]
pub struct Pools(HashMap<String, Arc<Pool>>);

impl Pools {
    pub fn get(&self, name: &str) -> Option<&Arc<Pool>> {
        self.0.get(name)
    }

    /// Adds a pool. The first pool of a name counts; a further one is returned as the error.
    pub fn add(&mut self, pool: Pool) -> Result<(), Box<Pool>> {
        if self.0.contains_key(&pool.name) {
            return Err(Box::new(pool));
        }
        self.0.insert(pool.name.clone(), Arc::new(pool));
        Ok(())
    }
}

impl Preparation for Pools {
    fn prepare(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(self.open_early())
    }
}

impl Pools {
    /// Opens all connections of the pools that are to have them before the first request (`preinit`).
    async fn open_early(&self) {
        for pool in self
            .0
            .values()
            .filter(|pool| pool.is_prepared && pool.size > 0)
        {
            if let Err(failure) = pool.open_all(0).await {
                tracing::error!(
                    "Error preinitializing the connection pool: {}: {failure}",
                    pool.name
                );
            }
        }
    }
}

/// One pool.
pub struct Pool {
    name: String,
    address: DatabaseAddress,
    user: String,
    password: String,
    /// The maximum number of connections; 0 gives each user its own.
    size: usize,
    /// How long a user waits for a connection; `None` is for ever.
    wait: Option<Duration>,
    auto_commit: bool,
    isolation: Option<Isolation>,
    /// Statements that a new connection runs first.
    init: Vec<String>,
    is_prepared: bool,
    /// How long a connection may be idle before it is replaced.
    idle_limit: Option<Duration>,
    /// `DataSourceElement.DataSourceComponentImpl#getConnectionInfo`.
    info: Arc<str>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Idle>>,
    is_open: tokio::sync::Mutex<bool>,
}

struct Idle {
    connection: Connection,
    /// The worker that used it last. Any other one would have to be woken across threads.
    worker: usize,
    since: Instant,
}

/// A user's own connections, by pool.
#[derive(Default)]
struct Own(HashMap<String, Connection>);

/// A borrowed connection. Dropping it without giving it back closes it.
pub struct Lease {
    pub connection: Connection,
    pool: Arc<Pool>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Pool {
    /// Decodes the element, as JMeter does when the test starts; `None` if there is no native driver for its address.
    pub fn decode(d: &mut Decoder) -> Option<Pool> {
        let (url, driver) = (d.text_now(facts::URL.name), d.text_now(facts::DRIVER.name));
        let address = DatabaseAddress::parse(&url, &driver)?;
        let size = d.text_now(facts::SIZE.name).trim().parse().unwrap_or(0);
        let wait_ms = milliseconds(d.text_now(facts::MAX_WAIT.name)).unwrap_or(-1);
        let user = d.text_now(facts::USERNAME.name);
        let shown = if user.is_empty() { "null" } else { &user };
        let info = format!(
            "shared:{}, driver:{driver}, url:{url}, user:{shown}",
            size > 0
        );
        let keeps = d.bool(facts::TEST_IDLE.name, false);
        let age = milliseconds(d.text_now(facts::MIN_IDLE.name)).unwrap_or(0);
        let interval = milliseconds(d.text_now(facts::TRIM_INTERVAL.name)).unwrap_or(0);
        let idle_ms = u64::try_from(age.max(interval)).unwrap_or(0);
        let init = d.text_now(facts::INIT_QUERY.name);
        Some(Pool {
            name: d.text_now(facts::POOL.name),
            address,
            password: d.text_now(facts::PASSWORD.name),
            user,
            size,
            wait: u64::try_from(wait_ms).ok().map(Duration::from_millis),
            auto_commit: d.bool(facts::AUTOCOMMIT.name, true),
            isolation: isolation(&d.text_now(facts::ISOLATION.name)),
            init: init
                .split('\n')
                .map(str::to_owned)
                .filter(|statement| !statement.is_empty())
                .collect(),
            is_prepared: d.bool(facts::PREINIT.name, false),
            idle_limit: (keeps && interval > 0).then(|| Duration::from_millis(idle_ms)),
            info: info.into(),
            permits: Arc::new(Semaphore::new(size.max(1))),
            idle: Mutex::default(),
            is_open: tokio::sync::Mutex::new(false),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn info(&self) -> &str {
        &self.info
    }

    /// Lends a connection to a user (`BasicDataSource#getConnection`). `own` is the state with the user's own connections.
    pub async fn lease<R: SeesRun>(
        self: &Arc<Pool>,
        cx: &mut View<R>,
        own: StateId,
    ) -> Result<Lease, SqlFailure> {
        let worker = cx.worker_id();
        let reserved = match self.size {
            0 => cx.state(own, Own::default).0.remove(&self.name),
            _ => None,
        };
        let leased = cx.attend(self.obtain(reserved, worker)).await;
        leased.unwrap_or_else(|| Err(SqlFailure::plain("Cannot get a connection, general error")))
    }

    async fn obtain(
        self: &Arc<Pool>,
        kept: Option<Connection>,
        worker: usize,
    ) -> Result<Lease, SqlFailure> {
        let lease = |connection, permit| Lease {
            connection,
            pool: self.clone(),
            permit,
        };
        let mut lease = match self.size {
            0 => match kept.filter(|kept| !kept.is_broken()) {
                Some(kept) => lease(kept, None),
                None => lease(self.open().await.map_err(cannot_create)?, None),
            },
            _ => {
                self.open_all(worker).await?;
                let permit = self.permit().await?;
                let connection = match self.take_idle(worker) {
                    Some(connection) => connection,
                    None => self.open().await?,
                };
                lease(connection, Some(permit))
            }
        };
        if lease.connection.auto_commit() != self.auto_commit {
            lease.connection.set_auto_commit(self.auto_commit).await?;
        }
        Ok(lease)
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, SqlFailure> {
        let asked = self.permits.clone().acquire_owned();
        let permit = match self.wait {
            None => asked.await,
            Some(wait) => timeout(wait, asked).await.map_err(|_| {
                SqlFailure::plain(format!(
                    "Cannot get a connection, pool error Timeout waiting for idle object, borrowMaxWaitDuration={}",
                    java_duration(wait)
                ))
            })?,
        };
        permit.map_err(|_| SqlFailure::plain("Cannot get a connection, pool error Pool not open"))
    }

    /// Opens all connections, as the first request for one does (`BasicDataSource#setInitialSize`).
    async fn open_all(&self, worker: usize) -> Result<(), SqlFailure> {
        let mut is_open = self.is_open.lock().await;
        if *is_open {
            return Ok(());
        }
        let mut connections = Vec::new();
        for _ in 0..self.size {
            connections.push(self.open().await.map_err(cannot_create)?);
        }
        let since = Instant::now();
        self.idle()
            .extend(connections.into_iter().map(|connection| Idle {
                connection,
                worker,
                since,
            }));
        *is_open = true;
        Ok(())
    }

    async fn open(&self) -> Result<Connection, SqlFailure> {
        let mut connection = Connection::open(&self.address, &self.user, &self.password).await?;
        for text in &self.init {
            let statement = Statement {
                text,
                ..Statement::default()
            };
            connection.run(statement, Expected::Anything).await?;
        }
        if let Some(isolation) = self.isolation {
            connection.set_isolation(isolation).await?;
        }
        connection.set_auto_commit(self.auto_commit).await?;
        Ok(connection)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the connection that was given back last, preferably one that this worker used.
    fn take_idle(&self, worker: usize) -> Option<Connection> {
        let mut idle = self.idle();
        if let Some(limit) = self.idle_limit {
            idle.retain(|idle| idle.since.elapsed() < limit);
        }
        let of_worker = idle.iter().rposition(|idle| idle.worker == worker);
        let at = of_worker.or_else(|| idle.len().checked_sub(1))?;
        Some(idle.remove(at).connection)
    }
}

fn milliseconds(text: String) -> Option<i64> {
    text.trim().parse::<i64>().ok()
}

impl Lease {
    /// The pool from which it was borrowed.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Gives the connection back (`PoolableConnection#close`). An open transaction stays open.
    pub fn give_back<R: SeesRun>(self, cx: &mut View<R>, own: StateId) {
        if self.connection.is_broken() {
            return;
        }
        if self.pool.size == 0 {
            let reserved = cx.state(own, Own::default);
            reserved.0.insert(self.pool.name.clone(), self.connection);
            return;
        }
        self.pool.idle().push(Idle {
            connection: self.connection,
            worker: cx.worker_id(),
            since: Instant::now(),
        });
        drop(self.permit); // only now may another user look for it
    }
}

/// `DataSourceElementBeanInfo#getTransactionIsolationMode`.
fn isolation(text: &str) -> Option<Isolation> {
    match text {
        "TRANSACTION_NONE" | "0" => Some(Isolation::None),
        "TRANSACTION_READ_UNCOMMITTED" | "1" => Some(Isolation::ReadUncommitted),
        "TRANSACTION_READ_COMMITTED" | "2" => Some(Isolation::ReadCommitted),
        "TRANSACTION_REPEATABLE_READ" | "4" => Some(Isolation::RepeatableRead),
        "TRANSACTION_SERIALIZABLE" | "8" => Some(Isolation::Serializable),
        _ => None,
    }
}

/// `BasicDataSource#createPoolableConnectionFactory`.
fn cannot_create(failure: SqlFailure) -> SqlFailure {
    SqlFailure::plain(format!(
        "Cannot create PoolableConnectionFactory ({})",
        failure.message
    ))
}

/// `java.time.Duration#toString`.
fn java_duration(duration: Duration) -> String {
    let (seconds, ms) = (duration.as_secs(), duration.subsec_millis());
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = "PT".to_owned();
    if hours > 0 {
        text.push_str(&format!("{hours}H"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}M"));
    }
    match (seconds, ms) {
        (0, 0) if text.len() > 2 => {}
        (_, 0) => text.push_str(&format!("{seconds}S")),
        _ => {
            let fraction = format!("{ms:03}");
            text.push_str(&format!("{seconds}.{}S", fraction.trim_end_matches('0')));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_javas() {
        let texts = [0, 100, 10_000, 100_000, 60_000, 3_600_010]
            .map(|ms| java_duration(Duration::from_millis(ms)));
        assert_eq!(
            texts,
            ["PT0S", "PT0.1S", "PT10S", "PT1M40S", "PT1M", "PT1H0.01S"]
        );
    }

    #[test]
    fn isolations_have_names_and_numbers() {
        assert_eq!(isolation("DEFAULT"), None);
        assert_eq!(
            isolation("TRANSACTION_SERIALIZABLE"),
            Some(Isolation::Serializable)
        );
        assert_eq!(isolation("2"), Some(Isolation::ReadCommitted));
    }
}
