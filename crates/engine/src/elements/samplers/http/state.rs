//! The HTTP state of a run, a worker and a user between samples.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use drumfire_expr::Properties;
use drumfire_http::{
    ClientRules, HttpVersion, PoolOptions, Resolver, Session, SystemResolver, Target, Tls,
    TlsOptions, Trust, Worker, certificates,
};
use drumfire_java::JvmDefaults;
use drumfire_web::auth::CredentialStore;

use super::cache::SettingsCache;
use super::edits::Edits;
use super::hints::Hints;
use super::key::Key;
use super::media_type::MediaType;
use super::proxy::{ProxyAccess, ProxyAccesses};
use super::settings::{name_rules, pool_options, tls_options};
use super::source::KnownSources;
use super::trace::{CurrentTrace, TraceIds};
use crate::elements::config::header_manager::ChangedHeaders;
use crate::elements::config::jars::Jars;
use crate::run::context::Context;
use crate::run::slots::{RunSlot, Traffic, TrustError, UserSlot, WorkerSlot};
use crate::run::view::PreProcessorView;

/// One user's connections and credentials.
pub struct UserState {
    pub joint: Rc<JointState>,
    /// The changes of pre-processors in the next sample.
    pub edits: Edits,
    /// The addresses this user talks to. They are few, so a linear search finds them.
    targets: Vec<Rc<Target>>,
    /// Created on demand.
    rare: Option<Box<RareState>>,
    /// Whether an HTTP sampler has run: before that there is nothing to reset.
    used: bool,
    /// Whether there was a response since the last reset (`HTTPHC4Impl#extractClientContextAfterSample`).
    has_token: Cell<bool>,
}

/// The shared state of the users that run children of a Parallel Controller.
pub struct JointState {
    pub session: Session,
    pub jars: Jars,
    /// Whether to drop connections and TLS sessions before the next request
    /// (`HTTPHC4Impl#resetStateOnThreadGroupIteration`).
    reset: Cell<bool>,
}

/// State that few users have.
#[derive(Default)]
pub struct RareState {
    pub credentials: CredentialStore,
    /// Headers of the plan that scripts have changed.
    pub changed_headers: ChangedHeaders,
    /// The clients of HttpClient that JMeter has made, while that can be noticed.
    pub clients: HashSet<String>,
    /// The samplers that have chosen their implementation, while that can be noticed.
    pub chosen: HashSet<Key>,
    /// The clients that talk to proxies.
    pub(super) proxies: ProxyAccesses,
    /// The addresses of source texts with variables.
    pub(super) sources: KnownSources,
    /// The trace of the sample that is under way, if requests are traced.
    pub(super) trace: Option<CurrentTrace>,
}

impl UserState {
    fn new(worker: &Rc<Worker>) -> UserState {
        UserState {
            joint: Rc::new(JointState {
                session: Session::new(worker.clone()),
                jars: Jars::default(),
                reset: Cell::new(false),
            }),
            edits: Edits::default(),
            targets: Vec::new(),
            rare: None,
            used: false,
            has_token: Cell::new(false),
        }
    }

    pub fn rare(&mut self) -> &mut RareState {
        self.rare.get_or_insert_default()
    }

    /// Headers of the plan that scripts have changed.
    pub fn changed_headers(&self) -> ChangedHeaders {
        let rare = self.rare.as_ref();
        rare.map(|rare| rare.changed_headers.clone())
            .unwrap_or_default()
    }

    /// The trace of the sample that is under way, if requests are traced.
    pub(super) fn trace(&self) -> Option<CurrentTrace> {
        self.rare.as_ref()?.trace
    }

    pub fn has_changed_headers(&self) -> bool {
        let rare = self.rare.as_ref();
        rare.is_some_and(|rare| !rare.changed_headers.is_empty())
    }

    /// Records that a request is about to be sent.
    pub fn note_use(&mut self) {
        self.used = true;
    }

    pub fn keep_token(&self) {
        self.has_token.set(true);
    }

    /// `HTTPHC4Impl#resetStateIfNeeded`. Of the user's proxy clients, only `access` forgets what it knows of its
    /// proxy.
    pub(super) fn reset_if_needed(&self, access: Option<&ProxyAccess>) {
        if self.joint.reset.replace(false) {
            self.joint.session.close_connections();
            self.joint.session.forget_tls_sessions();
            self.has_token.set(false);
            if let Some(access) = access {
                access.forget();
            }
        }
    }

    /// The target with these parts, which is created once.
    pub fn target(&mut self, wanted: Target) -> Rc<Target> {
        if let Some(same) = self.targets.iter().find(|known| ***known == wanted) {
            return same.clone();
        }
        let target = Rc::new(wanted);
        self.targets.push(target.clone());
        target
    }

    /// The target of a plain address, which is created once.
    pub fn plain_target(
        &mut self,
        host: &str,
        port: u16,
        tls: bool,
        version: HttpVersion,
        rules: ClientRules,
    ) -> Rc<Target> {
        let is_known = |known: &&Rc<Target>| {
            known.port == port
                && known.tls == tls
                && known.version == version
                && known.rules == rules
                && known.proxy.is_none()
                && known.source.is_none()
                && known.identity.is_none()
                && &*known.host == host
        };
        if let Some(target) = self.targets.iter().find(is_known) {
            return target.clone();
        }
        self.target(Target {
            version,
            rules,
            ..Target::new(host, port, tls)
        })
    }
}

impl UserSlot for UserState {
    fn begin_sample(&mut self, is_request: bool) {
        self.edits.begin(is_request);
    }

    /// `HTTPHC4Impl#notifyFirstSampleAfterLoopRestart`.
    fn begin_iteration(&mut self, is_same_user: bool, resets_state: bool) {
        if self.used {
            self.joint.reset.set(resets_state && !is_same_user);
        }
    }

    /// The state of a user that runs a child of a Parallel Controller, with the same connections and cookies.
    fn branch(&self) -> Box<dyn UserSlot> {
        let rare = self.rare.as_ref().map(|rare| RareState {
            changed_headers: rare.changed_headers.clone(),
            ..RareState::default()
        });
        Box::new(UserState {
            joint: self.joint.clone(),
            edits: Edits::default(),
            targets: Vec::new(),
            rare: rare.map(Box::new),
            used: self.used,
            has_token: Cell::new(false),
        })
    }

    fn rejoin(&mut self, branch: &dyn UserSlot) {
        self.used |= own_user(branch).used;
    }

    fn has_token(&self) -> bool {
        self.has_token.get()
    }
}

/// A worker's state for all its users.
pub struct WorkerState {
    pub http: Rc<Worker>,
    /// The last settings, addresses and heads of the samplers.
    pub cache: SettingsCache,
    /// The media type of the last response.
    pub media_type: MediaType,
    pub(super) trace_ids: TraceIds,
    run: Arc<RunState>,
    /// Those of other protocols: with servers verified, and without.
    lasting: [OnceCell<Rc<Worker>>; 2],
}

impl WorkerState {
    /// The workers in use.
    fn workers(&self) -> impl Iterator<Item = &Rc<Worker>> {
        let lasting = self.lasting.iter().filter_map(OnceCell::get);
        std::iter::once(&self.http).chain(lasting)
    }
}

impl WorkerSlot for WorkerState {
    fn user(&self) -> Box<dyn UserSlot> {
        Box::new(UserState::new(&self.http))
    }

    fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for worker in self.workers() {
            let more = worker.statistics();
            let connections = &mut traffic.connections;
            connections.opened += more.connections_opened;
            connections.reused += more.connections_reused;
            connections.handshakes_full += more.handshakes_full;
            connections.handshakes_resumed += more.handshakes_resumed;
            connections.closed_by_us += more.closed_by_us;
            connections.closed_by_peer += more.closed_by_peer;
            traffic.segments.sent += more.segments_sent;
            traffic.segments.sent_again += more.segments_sent_again;
        }
        traffic
    }

    fn targets(&self) -> Vec<String> {
        self.workers().flat_map(|worker| worker.targets()).collect()
    }

    fn local_ports(&self) -> Vec<u16> {
        self.workers()
            .flat_map(|worker| worker.local_ports())
            .collect()
    }
}

/// A run's state for all its workers.
struct RunState {
    properties: Properties,
    /// The TLS settings, and the sessions that users share.
    tls: Arc<Tls>,
    /// Those of other protocols: with servers verified, and without.
    lasting: [OnceLock<Result<Arc<Tls>, TrustError>>; 2],
    hints: Hints,
}

impl RunState {
    fn resolver(&self) -> Rc<dyn Resolver> {
        let rules = name_rules(&self.properties, JvmDefaults::of_process());
        Rc::new(SystemResolver::new(rules))
    }

    /// The TLS settings of other protocols, made on first use.
    fn lasting_tls(&self, trusts_all: bool) -> Result<Arc<Tls>, TrustError> {
        let tls = self.lasting[usize::from(trusts_all)].get_or_init(|| {
            let trust = if trusts_all {
                Trust::All
            } else {
                authorities(&self.properties)?
            };
            verified_tls(TlsOptions {
                trust,
                ..tls_options(&self.properties)
            })
        });
        tls.clone()
    }
}

/// A worker for connections of another protocol, which last as long as their users, whatever the properties of HTTP's pool say.
///
/// # Errors
/// If servers are to be verified, but there are no certificates to verify them with.
pub fn lasting_worker(cx: &Context, trusts_all: bool) -> Result<Rc<Worker>, TrustError> {
    let state = worker(cx);
    let cell = &state.lasting[usize::from(trusts_all)];
    if let Some(worker) = cell.get() {
        return Ok(worker.clone());
    }
    let tls = state.run.lasting_tls(trusts_all)?;
    let pool = PoolOptions {
        validate_after_inactivity: None,
        max_idle: None,
        time_to_live: None,
        ..pool_options(&state.run.properties)
    };
    Ok(cell
        .get_or_init(|| Worker::with_resolver(tls, pool, state.run.resolver()))
        .clone())
}

impl RunSlot for RunState {
    fn worker(self: Arc<Self>) -> Rc<dyn WorkerSlot> {
        Rc::new(WorkerState {
            http: Worker::with_resolver(
                self.tls.clone(),
                pool_options(&self.properties),
                self.resolver(),
            ),
            cache: SettingsCache::default(),
            media_type: MediaType::default(),
            trace_ids: TraceIds::default(),
            lasting: Default::default(),
            run: self,
        })
    }

    fn take_news(&self) -> Vec<String> {
        self.hints.take_news()
    }

    fn ports_ran_out(&self) -> bool {
        self.hints.ports_ran_out()
    }
}

/// Opens the slot of a run for HTTP.
///
/// # Errors
/// If servers are to be verified, but there are no certificates to verify them with.
pub fn open_slot(properties: &Properties) -> Result<Arc<dyn RunSlot>, TrustError> {
    Ok(Arc::new(RunState {
        properties: properties.clone(),
        tls: new_tls(properties)?,
        lasting: Default::default(),
        hints: Hints::default(),
    }))
}

/// Why every slot is one of HTTP.
const ONLY_HTTP: &str = "programs open the slot with `open_slot`";

fn own_user(slot: &dyn UserSlot) -> &UserState {
    let slot: &dyn Any = slot;
    slot.downcast_ref().expect(ONLY_HTTP)
}

/// The HTTP state of a user.
pub fn user(cx: &Context) -> &UserState {
    own_user(cx.slot())
}

/// The HTTP state of a user.
pub fn user_mut(cx: &mut Context) -> &mut UserState {
    let slot: &mut dyn Any = cx.slot_mut();
    slot.downcast_mut().expect(ONLY_HTTP)
}

/// The changes that pre-processors make to the HTTP Request at hand.
pub fn edits(cx: &mut PreProcessorView) -> &mut Edits {
    let slot: &mut dyn Any = cx.slot_mut();
    let user: &mut UserState = slot.downcast_mut().expect(ONLY_HTTP);
    &mut user.edits
}

/// The HTTP state of the user's worker.
pub fn worker(cx: &Context) -> &WorkerState {
    let slot: &dyn Any = &*cx.worker.slot;
    slot.downcast_ref().expect(ONLY_HTTP)
}

/// The hints of this run.
pub fn hints(cx: &Context) -> &Hints {
    let slot: &dyn Any = &*cx.shared.slot;
    let run: &RunState = slot.downcast_ref().expect(ONLY_HTTP);
    &run.hints
}

/// The TLS settings of a run, and the sessions that all its users share if `https.sessioncontext.shared` is set.
///
/// # Errors
/// If servers are to be verified, but there are no certificates to verify them with.
fn new_tls(properties: &Properties) -> Result<Arc<Tls>, TrustError> {
    let options = TlsOptions {
        trust: trust(properties)?,
        ..tls_options(properties)
    };
    match options.trust {
        Trust::All => tracing::info!(
            "Servers' certificates are not verified, as in JMeter (drumfire.tls_verify)"
        ),
        _ => tracing::info!("Servers' certificates are verified"),
    }
    verified_tls(options)
}

fn verified_tls(options: TlsOptions) -> Result<Arc<Tls>, TrustError> {
    Tls::new(&options).or_else(|error| {
        tracing::warn!(
            "Could not set protocol list or cipher list: {error}; the defaults are used"
        );
        let default = TlsOptions {
            sessions: options.sessions,
            trust: options.trust,
            ..TlsOptions::default()
        };
        Tls::new(&default).map_err(|error| format!("servers cannot be verified: {error}").into())
    })
}

/// `drumfire.tls_verify`, and `drumfire.tls_ca_file` with the authorities to trust instead of the system's.
fn trust(properties: &Properties) -> Result<Trust, TrustError> {
    if !properties.get_bool("drumfire.tls_verify", false) {
        return Ok(Trust::All);
    }
    authorities(properties)
}

/// The authorities that verify servers.
pub fn authorities(properties: &Properties) -> Result<Trust, TrustError> {
    match properties.get_trimmed("drumfire.tls_ca_file") {
        None => Ok(Trust::System),
        Some(file) => certificates(&*file)
            .map(Trust::Authorities)
            .map_err(|error| {
                format!("`{file}` has no certificates to verify servers with: {error}").into()
            }),
    }
}
