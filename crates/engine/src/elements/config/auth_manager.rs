//! HTTP Authorization Manager (`AuthManager`): credentials by address. Basic, Digest and NTLM are native; Java answers for
//! Kerberos.
//!
//! Properties: `AuthManager.auth_list` with `Authorization.url`, `.username`, `.password`, `.domain`, `.realm`,
//! `.mechanism`; for Kerberos only `AuthManager.clearEachIteration` and `AuthManager.controlledByThreadGroup`. JMeter's and
//! Java's own classes log in and fetch tickets, so the files that `java.security.krb5.conf` and `java.security.auth.login.config`
//! name apply.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drumfire_elements::config::auth_manager as facts;
use drumfire_elements::items;
use drumfire_expr::Template;
use drumfire_jmx::Value;
use drumfire_web::auth::{Authorization, Mechanism, TicketRequest};

use super::managers::{ClearPolicy, Manager, register};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::{Context, StateId};
use crate::run::java::host::{JavaFailure, JavaHost, TicketAsk};
use crate::run::roles::ThreadIterationListener;

pub struct AuthManager {
    rows: Vec<AuthorizationRow>,
    kerberos: Option<Kerberos>,
}

/// Access to Kerberos tickets.
struct Kerberos {
    java: Arc<dyn JavaHost>,
    clearing: ClearPolicy,
    login: StateId,
}

/// A user's Kerberos login. Dropping it makes Java forget the login.
struct Login {
    number: u64,
    java: Arc<dyn JavaHost>,
}

impl Login {
    fn new(java: Arc<dyn JavaHost>) -> Login {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Login {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            java,
        }
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        self.java.forget_login(self.number);
    }
}

struct AuthorizationRow {
    url: Template,
    user: Template,
    password: Template,
    domain: Template,
    realm: Template,
    mechanism: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let props = d.element.props.clone();
    let mut rows = Vec::new();
    let mut asks_kerberos = false;
    for prop in props.list(facts::AUTHORIZATIONS.name) {
        let Value::Element(element) = &prop.value else {
            continue;
        };
        let props = &element.props;
        let mechanism = if props.has(items::AUTHORIZATION_MECHANISM.name) {
            d.compile(&props.str(items::AUTHORIZATION_MECHANISM.name))
        } else {
            Template::raw("BASIC")
        };
        let named = Mechanism::from_name(&d.now(&mechanism));
        if named.is_err() && mechanism.literal().is_some() {
            let message = format!(
                "Authorization Manager '{}' has the unknown mechanism `{}`, so requests to addresses that it applies to fail, as in JMeter; use BASIC, DIGEST, BASIC_DIGEST or KERBEROS",
                d.element.name,
                mechanism.source()
            );
            d.warn("auth-mechanism", message);
        }
        asks_kerberos |= named == Ok(Mechanism::Kerberos);
        let mut field = |name: &str| d.compile(&props.str(name));
        rows.push(AuthorizationRow {
            url: field(items::AUTHORIZATION_URL.name),
            user: field(items::AUTHORIZATION_USER.name),
            password: field(items::AUTHORIZATION_PASSWORD.name),
            domain: field(items::AUTHORIZATION_DOMAIN.name),
            realm: field(items::AUTHORIZATION_REALM.name),
            mechanism,
        });
    }
    let kerberos = if asks_kerberos { kerberos(d) } else { None };
    let manager = Arc::new(AuthManager { rows, kerberos });
    register(d, Manager::Auth(manager.clone()));
    Roles {
        each_thread_iteration: manager.kerberos.is_some().then_some(manager as _),
        ..Roles::default()
    }
}

fn kerberos(d: &mut Decoder) -> Option<Kerberos> {
    let what = format!("Kerberos of the Authorization Manager '{}'", d.element.name);
    let java = d.java_host(&what)?;
    d.decoding.java.has_scripts = true;
    let by_group = facts::CONTROLLED_BY_THREAD_GROUP.name;
    Some(Kerberos {
        java,
        clearing: ClearPolicy::decode(d, facts::CLEAR_EACH_ITERATION.name, by_group),
        login: d.new_state(),
    })
}

impl AuthManager {
    /// The rows, evaluated.
    pub fn rows(&self, cx: &mut Context) -> Vec<Authorization> {
        let evaluated = self.rows.iter().map(|row| Authorization {
            url: row.url.eval(cx).into_string(),
            user: row.user.eval(cx).into_string(),
            password: row.password.eval(cx).into_string(),
            domain: row.domain.eval(cx).into_string(),
            realm: row.realm.eval(cx).into_string(),
            mechanism: Mechanism::from_name(&row.mechanism.eval(cx)),
        });
        evaluated.collect()
    }

    /// Lets Java, on a separate thread, make the header value that answers a challenge of the server at `address`.
    ///
    /// # Errors
    /// Why there is no ticket.
    pub async fn answer_by_ticket(
        &self,
        cx: &mut Context,
        ticket: TicketRequest<'_>,
        address: String,
    ) -> Result<String, JavaFailure> {
        let Some(kerberos) = &self.kerberos else {
            return Err("no row asks for Kerberos".into());
        };
        let java = kerberos.java.clone();
        let login = cx.state(kerberos.login, || Login::new(java.clone()));
        let ask = TicketAsk {
            login: login.number,
            user: ticket.user.to_owned(),
            password: ticket.password.to_owned(),
            address,
            challenge: ticket.challenge.to_owned(),
        };
        let asked = tokio::task::spawn_blocking(move || java.answer_by_ticket(&ask));
        asked
            .await
            .unwrap_or_else(|error| Err(error.to_string().into()))
    }
}

impl ThreadIterationListener for AuthManager {
    fn thread_iteration_start(&self, cx: &mut Context) {
        if let Some(kerberos) = self
            .kerberos
            .as_ref()
            .filter(|kerberos| kerberos.clearing.is_due(cx))
        {
            cx.take_state::<Login>(kerberos.login);
        }
    }
}
