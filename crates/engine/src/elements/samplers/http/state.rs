//! What a user keeps between its HTTP samples, and what a worker keeps for all its users.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_http::{Session, Target, Tls, TlsOptions, TlsSessions, Worker};
use drumfire_web::auth::CredentialStore;

use super::edits::Edits;
use super::settings::pool_options;

/// One user's connections and credentials.
pub struct UserState {
    pub session: Rc<Session>,
    pub credentials: CredentialStore,
    /// What pre-processors change in the next sample.
    pub edits: Edits,
    /// The addresses this user talks to; few, so looked for in line.
    targets: Vec<Rc<Target>>,
    /// Connections and TLS sessions are thrown away before the next request
    /// (`HTTPHC4Impl#resetStateOnThreadGroupIteration`).
    reset: Cell<bool>,
    /// An HTTP sampler has run: before that there is nothing to reset.
    used: bool,
}

impl UserState {
    pub fn new(worker: &Rc<Worker>) -> UserState {
        UserState {
            session: Rc::new(Session::new(worker.clone())),
            credentials: CredentialStore::default(),
            edits: Edits::default(),
            targets: Vec::new(),
            reset: Cell::new(false),
            used: false,
        }
    }

    /// `HTTPHC4Impl#notifyFirstSampleAfterLoopRestart`.
    pub fn thread_iteration(&mut self, same_user: bool, reset_state: bool) {
        if self.used {
            self.reset.set(reset_state && !same_user);
        }
    }

    pub fn begin_sample(&mut self) {
        self.used = true;
    }

    /// `HTTPHC4Impl#resetStateIfNeeded`.
    pub fn reset_if_needed(&self) {
        if self.reset.replace(false) {
            self.session.close_connections();
            self.session.forget_tls_sessions();
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
    pub fn plain_target(&mut self, host: &str, port: u16, tls: bool) -> Rc<Target> {
        let is_known = |known: &&Rc<Target>| {
            known.port == port
                && known.tls == tls
                && known.proxy.is_none()
                && known.source.is_none()
                && known.identity.is_none()
                && &*known.host == host
        };
        if let Some(known) = self.targets.iter().find(is_known) {
            return known.clone();
        }
        self.target(Target::new(host, port, tls))
    }
}

/// The HTTP side of a worker. TLS sessions are each user's own unless `https.sessioncontext.shared` is set.
pub fn new_worker(properties: &Properties) -> Rc<Worker> {
    let shared = properties.get_bool("https.sessioncontext.shared", false);
    let options = TlsOptions {
        sessions: if shared {
            TlsSessions::Shared
        } else {
            TlsSessions::PerUser
        },
        ..TlsOptions::default()
    };
    let tls: Arc<Tls> = Tls::new(&options).expect("these TLS settings are valid together");
    Worker::new(tls, pool_options(properties))
}
