//! The connection to NATS, with the buckets and the stream that all runs use. Every call has a deadline.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::{self, kv, object_store, stream};
use async_nats::{Client, ConnectOptions, Event};
use bytes::Bytes;
use drumfire_expr::Random;
use drumfire_platform::causes::cause;
use futures_util::StreamExt as _;

use crate::error::{FleetError, within};
use crate::keys;
use crate::wire::{ENDS, FILES, RUNS, STREAM, STREAM_SUBJECTS};

/// The pause before another attempt to subscribe.
const PAUSE: Duration = Duration::from_millis(200);
/// How long the first connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long NATS may take for any other call, except transfers of files.
pub const CALL: Duration = Duration::from_secs(10);
/// How often an agent checks whether the stores exist.
const STORES: Duration = Duration::from_secs(2);
/// The name of a connection that may create stores.
pub const COORDINATOR: &str = "coordinator";
/// How often the connection is probed.
const PING: Duration = Duration::from_secs(5);
/// How long runs and files are stored.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long seconds are stored.
const SECONDS_KEPT: Duration = Duration::from_secs(24 * 3600);
/// The storage to reserve for seconds, in bytes. NATS reserves it in full, so smaller sizes are tried if it lacks room. Then
/// the oldest seconds are dropped earlier.
const ROOM_FOR_SECONDS: [i64; 3] = [2 << 30, 256 << 20, 32 << 20];
/// NATS drops duplicates of a message within this time.
const DUPLICATES: Duration = Duration::from_secs(120);

/// How to reach NATS and authenticate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkOptions {
    /// `nats://host:port` or `tls://host:port`; several are separated by commas.
    pub url: String,
    /// A file with a JWT and an nkey, or an nkey's seed.
    pub credentials: Option<PathBuf>,
    /// Certificates with which to verify the server, in addition to the system's.
    pub ca: Option<PathBuf>,
    /// The key with which a coordinator signs manifests, as `drumfire fleet init` writes it.
    pub sign: Option<PathBuf>,
    /// Credentials as text, instead of a file.
    pub inline: Option<String>,
    /// The user's name, which is part of its inbox prefix.
    pub user: Option<String>,
}

impl LinkOptions {
    /// Whether all servers are on this machine.
    pub fn is_loopback(&self) -> bool {
        let mut servers = self.url.split(',').map(str::trim);
        !self.url.is_empty() && servers.all(is_loopback)
    }

    fn has_credentials(&self) -> bool {
        self.credentials.is_some() || self.inline.is_some()
    }
}

fn is_loopback(server: &str) -> bool {
    let rest = server
        .split_once("://")
        .map(|(_, rest)| rest)
        .unwrap_or(server);
    let host = rest.rsplit_once('@').map(|(_, host)| host).unwrap_or(rest);
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => host.split(':').next().unwrap_or(host),
    };
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A connection.
#[derive(Clone)]
pub struct Link {
    pub client: Client,
    pub jetstream: jetstream::Context,
    pub runs: kv::Store,
    pub files: object_store::ObjectStore,
    pub ends: object_store::ObjectStore,
    pub url: String,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("url", &self.url).finish()
    }
}

impl Link {
    /// Connects and creates missing stores.
    ///
    /// # Errors
    /// If NATS cannot be reached, refuses, or has no JetStream.
    pub async fn connect(options: &LinkOptions, name: &str) -> Result<Link, FleetError> {
        let failed = |why: String| FleetError::Nats {
            url: without_secrets(&options.url),
            why,
        };
        let connecting = connect_options(options, name).map_err(failed)?;
        let servers: Vec<&str> = options.url.split(',').map(str::trim).collect();
        let client = tokio::time::timeout(CONNECT, connecting.connect(servers));
        let client = match client.await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(failed(connection_cause(&error))),
            Err(_) => return Err(failed(format!("no answer for {} s", CONNECT.as_secs()))),
        };
        let context = jetstream::ContextBuilder::new()
            .timeout(CALL)
            .ack_timeout(CALL)
            .build(client.clone());
        let described = |error: FleetError| match error {
            full @ FleetError::Full { .. } => full,
            other => failed(other.to_string()),
        };
        // An agent with restricted rights may not create stores; the first coordinator does.
        let makes = name == COORDINATOR || !options.has_credentials();
        if !makes {
            wait_for_stores(&context).await;
        }
        let runs = bucket(&context).await.map_err(described)?;
        let files = store(&context, FILES).await.map_err(described)?;
        let ends = store(&context, ENDS).await.map_err(described)?;
        if makes {
            make_stream(&context).await.map_err(described)?;
        }
        Ok(Link {
            client,
            jetstream: context,
            runs,
            files,
            ends,
            url: without_secrets(&options.url),
        })
    }

    /// Answers all questions about a subject until the task is dropped. An agent that misses an answer asks again.
    pub async fn answer_all(&self, subject: String, mut answer: impl FnMut(&[u8]) -> Bytes) {
        loop {
            let Ok(mut questions) = self.client.subscribe(subject.clone()).await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            while let Some(question) = questions.next().await {
                if let Some(reply) = question.reply {
                    let _ = self.client.publish(reply, answer(&question.payload)).await;
                }
            }
        }
    }
}

/// The cause of a failed connection in words. The client keeps the system's error as a source.
fn connection_cause(error: &async_nats::ConnectError) -> String {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return cause(error);
        }
        source = error.source();
    }
    error.kind().to_string()
}

/// Waits until a coordinator has created the stores. The stream is the last of them.
async fn wait_for_stores(context: &jetstream::Context) {
    let mut is_told = false;
    loop {
        if has_stream(context, STREAM).await {
            return;
        }
        if !std::mem::replace(&mut is_told, true) {
            tracing::info!("NATS has no stores for runs yet; the first run creates them");
        }
        tokio::time::sleep(STORES).await;
    }
}

fn connect_options(options: &LinkOptions, name: &str) -> Result<ConnectOptions, String> {
    let mut connecting = ConnectOptions::new()
        .name(format!("drumfire {name}"))
        .ping_interval(PING)
        .connection_timeout(PING)
        .max_reconnects(None)
        .reconnect_delay_callback(delay)
        .event_callback(|event| async move { note(&event) });
    if let Some((user, password)) = password(&options.url) {
        connecting = connecting.user_and_password(user, password);
    }
    if let Some(ca) = &options.ca {
        connecting = connecting
            .add_root_certificates(ca.clone())
            .require_tls(true);
    }
    if let Some(user) = &options.user {
        connecting = connecting.custom_inbox_prefix(keys::inbox(user));
    }
    if let Some(text) = &options.inline {
        let with = connecting.credentials(text);
        connecting = with.map_err(|error| format!("the credentials of the run: {error}"))?;
    } else if let Some(file) = &options.credentials {
        let cannot = |why: String| format!("the credentials {}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| cannot(cause(&error)))?;
        connecting = if text.trim().starts_with("SU") {
            connecting.nkey(text.trim().to_owned())
        } else {
            connecting
                .credentials(&text)
                .map_err(|error| cannot(error.to_string()))?
        };
    }
    Ok(connecting)
}

/// The user name and the password in a URL.
fn password(url: &str) -> Option<(String, String)> {
    let first = url.split(',').next()?;
    let (_, rest) = first.split_once("://")?;
    let (user, password) = rest.rsplit_once('@')?.0.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The delay before the next attempt: exponential, with jitter so that agents do not reconnect all at once.
fn delay(attempts: usize) -> Duration {
    let most_ms = 100_u64 << attempts.min(5);
    let spread = Random::from_entropy().unit();
    Duration::from_millis((most_ms as f64 * (0.5 + spread / 2.0)) as u64)
}

fn note(event: &Event) {
    match event {
        Event::Connected => tracing::info!("NATS: connected"),
        Event::Disconnected => tracing::warn!("NATS: the connection is lost; trying again"),
        event => tracing::warn!("NATS: {event}"),
    }
}

async fn bucket(context: &jetstream::Context) -> Result<kv::Store, FleetError> {
    if let Ok(Ok(store)) = tokio::time::timeout(CALL, context.get_key_value(RUNS)).await {
        return Ok(store);
    }
    let config = stream::Config {
        name: format!("KV_{RUNS}"),
        subjects: vec![format!("$KV.{RUNS}.>")],
        max_messages_per_subject: 1,
        deny_delete: true,
        ..bucket_config()
    };
    make(context, "JetStream", config).await?;
    within(CALL, "JetStream", context.get_key_value(RUNS)).await
}

/// The configuration that the streams behind all buckets share. The buckets are created as streams, since the client's own
/// calls for that require more information than a server of version 2.9 sends.
fn bucket_config() -> stream::Config {
    stream::Config {
        max_age: KEPT,
        discard: stream::DiscardPolicy::New,
        allow_rollup: true,
        allow_direct: true,
        ..stream::Config::default()
    }
}

async fn store(
    context: &jetstream::Context,
    name: &str,
) -> Result<object_store::ObjectStore, FleetError> {
    if let Ok(Ok(store)) = tokio::time::timeout(CALL, context.get_object_store(name)).await {
        return Ok(store);
    }
    let config = stream::Config {
        name: format!("OBJ_{name}"),
        subjects: vec![format!("$O.{name}.C.>"), format!("$O.{name}.M.>")],
        ..bucket_config()
    };
    make(context, "JetStream", config).await?;
    within(CALL, "JetStream", context.get_object_store(name)).await
}

async fn make_stream(context: &jetstream::Context) -> Result<(), FleetError> {
    if has_stream(context, STREAM).await {
        return Ok(());
    }
    let mut made = Ok(());
    for max_bytes in ROOM_FOR_SECONDS {
        let config = stream::Config {
            name: STREAM.to_owned(),
            subjects: vec![STREAM_SUBJECTS.to_owned()],
            max_age: SECONDS_KEPT,
            max_bytes,
            duplicate_window: DUPLICATES,
            discard: stream::DiscardPolicy::Old,
            ..stream::Config::default()
        };
        let what = format!("{} MiB of results", max_bytes >> 20);
        made = make(context, &what, config).await;
        if !matches!(made, Err(FleetError::Full { .. })) {
            break;
        }
    }
    made
}

/// Creates a stream, unless another process has created it in the meantime, perhaps with another size. NATS reports then that
/// its name or its subjects are taken.
async fn make(
    context: &jetstream::Context,
    what: &str,
    config: stream::Config,
) -> Result<(), FleetError> {
    let name = config.name.clone();
    match within(CALL, what, context.create_stream(config)).await {
        Err(_) if has_stream(context, &name).await => Ok(()),
        made => made.map(|_| ()),
    }
}

async fn has_stream(context: &jetstream::Context, name: &str) -> bool {
    let looking = tokio::time::timeout(CALL, context.get_stream(name));
    matches!(looking.await, Ok(Ok(_)))
}

/// A URL without its user name and password, for display.
pub fn without_secrets(url: &str) -> String {
    url.split(',').map(part).collect::<Vec<_>>().join(",")
}

fn part(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_secrets("nats://a:b@h:4222"), "nats://h:4222");
        let both = Some(("a".to_owned(), "b".to_owned()));
        assert_eq!(password("nats://a:b@h:4222"), both);
        assert_eq!(password("nats://h:4222"), None);
        assert_eq!(without_secrets("t@h:1,nats://i:2"), "h:1,nats://i:2");
    }

    #[test]
    fn servers_on_this_machine_are_known_by_their_addresses() {
        let is_loopback = |url: &str| {
            let options = LinkOptions {
                url: url.to_owned(),
                ..LinkOptions::default()
            };
            options.is_loopback()
        };
        for own in [
            "nats://127.0.0.1:4222",
            "localhost",
            "nats://a:b@127.0.0.5",
            "nats://[::1]:4222",
        ] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "",
            "nats://10.0.0.1",
            "nats://127.0.0.1,nats://h",
            "nats://localhost.example.org",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    #[test]
    fn attempts_become_rarer_but_not_without_end() {
        assert!(delay(0) <= Duration::from_millis(100));
        assert!(delay(50) <= Duration::from_millis(3_200));
        assert!(delay(50) >= Duration::from_millis(1_600));
    }
}
