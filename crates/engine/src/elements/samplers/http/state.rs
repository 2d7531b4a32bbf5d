//! What a user keeps between its HTTP samples, and what a worker keeps for all its users.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_http::{
    HttpVersion, Session, Source, Target, Tls, TlsOptions, Trust, Worker, certificates,
};
use drumfire_web::auth::CredentialStore;

use super::edits::Edits;
use super::proxy::{ProxyAccess, ProxyAccesses};
use super::settings::{pool_options, tls_options};
use super::source::SourceType;
use crate::elements::config::{ChangedHeaders, Jars};

/// One user's connections and credentials.
pub struct UserState {
    pub joint: Rc<Joint>,
    /// What pre-processors change in the next sample.
    pub edits: Edits,
    /// The addresses this user talks to; few, so looked for in line.
    targets: Vec<Rc<Target>>,
    /// Made when it is needed.
    rare: Option<Box<Rare>>,
    /// An HTTP sampler has run: before that there is nothing to reset.
    used: bool,
    /// There was a response since the last reset (`HTTPHC4Impl#extractClientContextAfterSample`).
    has_token: Cell<bool>,
}

/// What the users that run children of a Parallel Controller have together.
pub struct Joint {
    pub session: Session,
    pub jars: Jars,
    /// Connections and TLS sessions are thrown away before the next request
    /// (`HTTPHC4Impl#resetStateOnThreadGroupIteration`).
    reset: Cell<bool>,
}

/// What few users have.
#[derive(Default)]
pub struct Rare {
    pub credentials: CredentialStore,
    /// Headers of the plan that scripts have changed.
    pub changed_headers: ChangedHeaders,
    /// The clients that talk to proxies.
    pub(super) proxies: ProxyAccesses,
    /// What source addresses with variables in them stood for.
    pub(super) sources: Vec<(String, SourceType, Arc<Source>)>,
}

impl UserState {
    pub fn new(worker: &Rc<Worker>) -> UserState {
        UserState {
            joint: Rc::new(Joint {
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

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Headers of the plan that scripts have changed.
    pub fn changed_headers(&self) -> ChangedHeaders {
        let rare = self.rare.as_ref();
        rare.map_or_else(ChangedHeaders::default, |rare| rare.changed_headers.clone())
    }

    pub fn has_changed_headers(&self) -> bool {
        let rare = self.rare.as_ref();
        rare.is_some_and(|rare| !rare.changed_headers.is_empty())
    }

    /// The state of a user that runs a child of a Parallel Controller: the same connections and cookies.
    pub fn branch(&self) -> UserState {
        let rare = self.rare.as_ref().map(|rare| Rare {
            changed_headers: rare.changed_headers.clone(),
            ..Rare::default()
        });
        UserState {
            joint: self.joint.clone(),
            edits: Edits::default(),
            targets: Vec::new(),
            rare: rare.map(Box::new),
            used: self.used,
            has_token: Cell::new(false),
        }
    }

    /// Such a user has ended.
    pub fn rejoin(&mut self, branch: &UserState) {
        self.used |= branch.used;
    }

    /// `HTTPHC4Impl#notifyFirstSampleAfterLoopRestart`.
    pub fn thread_iteration(&mut self, same_user: bool, reset_state: bool) {
        if self.used {
            self.joint.reset.set(reset_state && !same_user);
        }
    }

    pub fn begin_sample(&mut self) {
        self.used = true;
    }

    /// Whether JMeter would keep the user's token among the variables now.
    pub fn has_token(&self) -> bool {
        self.has_token.get()
    }

    pub fn keep_token(&self) {
        self.has_token.set(true);
    }

    /// `HTTPHC4Impl#resetStateIfNeeded`; of what clients know of their proxies, only the one at hand forgets it.
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

    /// The target with these parts, made once.
    pub fn target(&mut self, wanted: Target) -> Rc<Target> {
        if let Some(known) = self.targets.iter().find(|known| ***known == wanted) {
            return known.clone();
        }
        let target = Rc::new(wanted);
        self.targets.push(target.clone());
        target
    }

    /// The target of a plain address, made once.
    pub fn plain_target(
        &mut self,
        host: &str,
        port: u16,
        tls: bool,
        version: HttpVersion,
    ) -> Rc<Target> {
        let is_known = |known: &&Rc<Target>| {
            known.port == port
                && known.tls == tls
                && known.version == version
                && known.proxy.is_none()
                && known.source.is_none()
                && known.identity.is_none()
                && &*known.host == host
        };
        if let Some(known) = self.targets.iter().find(is_known) {
            return known.clone();
        }
        self.target(Target {
            version,
            ..Target::new(host, port, tls)
        })
    }
}

/// The TLS settings of a run, and the sessions that all its users share if `https.sessioncontext.shared` is set.
///
/// # Errors
/// If servers are to be verified and there is nothing to verify them with.
pub fn new_tls(properties: &Properties) -> Result<Arc<Tls>, String> {
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
    Tls::new(&options).or_else(|error| {
        tracing::warn!(
            "Could not set protocol list or cipher list: {error}; the defaults are used"
        );
        let default = TlsOptions {
            sessions: options.sessions,
            trust: options.trust,
            ..TlsOptions::default()
        };
        Tls::new(&default).map_err(|error| format!("servers cannot be verified: {error}"))
    })
}

/// `drumfire.tls_verify`, and `drumfire.tls_ca_file` with the authorities to trust instead of the system's.
fn trust(properties: &Properties) -> Result<Trust, String> {
    if !properties.get_bool("drumfire.tls_verify", false) {
        return Ok(Trust::All);
    }
    match properties.get_trimmed("drumfire.tls_ca_file") {
        None => Ok(Trust::System),
        Some(file) => certificates(&*file)
            .map(Trust::Authorities)
            .map_err(|error| {
                format!("`{file}` has no certificates to verify servers with: {error}")
            }),
    }
}

/// The HTTP side of a worker.
pub fn new_worker(properties: &Properties, tls: &Arc<Tls>) -> Rc<Worker> {
    Worker::new(tls.clone(), pool_options(properties))
}
