//! HTTP Cookie Manager (`CookieManager`): each user's cookies.
//!
//! Properties: `CookieManager.cookies`, `CookieManager.clearEachIteration`, `CookieManager.controlledByThreadGroup`,
//! `CookieManager.policy`. JMeter's properties `CookieManager.*` apply as in JMeter.

use std::borrow::Cow;
use std::sync::Arc;

use drumfire_elements::config::cookie_manager as facts;
use drumfire_elements::items;
use drumfire_expr::{Scope, Template};
use drumfire_java::Exception;
use drumfire_jmx::Value;
use drumfire_web::cookies::{Cookie, CookieSettings, CookieStore, Policy, TooManyCookies};
use drumfire_web::url::Url;

use super::jars::Jar;
use super::managers::{ClearPolicy, Manager, register};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::samplers::http::state::user;
use crate::run::context::{Context, StateId};
use crate::run::request::SeenCookie;
use crate::run::roles::ThreadIterationListener;

/// The limit on a user's cookies.
const MAX_COOKIES: &str = "drumfire.http.max_cookies";

pub struct CookieManager {
    state: StateId,
    initial: Vec<PlannedCookie>,
    /// `CookieManager.policy`.
    policy: String,
    settings: CookieSettings,
    clearing: ClearPolicy,
    /// `CookieManager.save.cookies`: received cookies become variables with this prefix.
    saved_prefix: Option<String>,
}

struct PlannedCookie {
    cookie: Cookie,
    /// Present if the value has variables (`CookieManager.allow_variable_cookies`).
    value: Option<Template>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let properties = &d.settings().properties;
    let variables = properties.get_bool("CookieManager.allow_variable_cookies", true);
    let policy_name = match d.text(facts::POLICY.name).as_ref() {
        "" => "standard".to_owned(),
        name => name.to_owned(),
    };
    let Some(policy) = Policy::from_name(&policy_name) else {
        let message = format!(
            "Cookie Manager '{}' has the unknown policy '{policy_name}'",
            d.element.name
        );
        d.refuse(
            "cookie-policy",
            message,
            "choose one of the policies that JMeter offers",
        );
        return Roles::default();
    };
    let settings = CookieSettings {
        policy,
        check: properties.get_bool("CookieManager.check.cookies", true),
        delete_empty: properties.get_bool("CookieManager.delete_null_cookies", true),
        most: match properties.get_long(MAX_COOKIES, CookieSettings::default().most as i64) {
            0 => usize::MAX,
            most => usize::try_from(most).unwrap_or(CookieSettings::default().most),
        },
    };
    let saved_prefix = properties
        .get_bool("CookieManager.save.cookies", false)
        .then(|| {
            properties
                .get("CookieManager.name.prefix")
                .map(|prefix| prefix.to_string())
                .unwrap_or_else(|| "COOKIE_".to_owned())
        });
    let props = d.element.props.clone();
    let initial = props
        .list(facts::COOKIES.name)
        .iter()
        .filter_map(|prop| planned(d, &prop.value, variables))
        .collect();
    let manager = Arc::new(CookieManager {
        state: d.new_state(),
        initial,
        policy: policy_name,
        settings,
        clearing: ClearPolicy::decode(
            d,
            facts::CLEAR_EACH_ITERATION.name,
            facts::CONTROLLED_BY_THREAD_GROUP.name,
        ),
        saved_prefix,
    });
    register(d, Manager::Cookies(manager.clone()));
    Roles {
        each_thread_iteration: Some(manager),
        ..Roles::default()
    }
}

fn planned(d: &mut Decoder, value: &Value, variables: bool) -> Option<PlannedCookie> {
    let Value::Element(element) = value else {
        return None;
    };
    let props = &element.props;
    let text = props.str(items::COOKIE_VALUE.name).into_owned();
    let template = (variables && text.contains("${")).then(|| d.compile(&text));
    let field = |d: &mut Decoder, name: &str| {
        let template = d.compile(&props.str(name));
        d.now(&template).into_boxed_str()
    };
    let cookie = Cookie {
        name: element.name.as_str().into(),
        value: text.into(),
        domain: field(d, items::COOKIE_DOMAIN.name),
        path: field(d, items::COOKIE_PATH.name),
        secure: props.bool(items::COOKIE_SECURE.name, false),
        expires_s: props.long(items::COOKIE_EXPIRES.name, 0),
        path_specified: props.bool(items::COOKIE_PATH_SPECIFIED.name, true),
        domain_specified: props.bool(items::COOKIE_DOMAIN_SPECIFIED.name, true),
        version: 1,
    };
    Some(PlannedCookie {
        cookie,
        value: template,
    })
}

impl Jar {
    fn is_void(&self, cx: &Context) -> bool {
        let cleared = self.cleared_in;
        cleared.is_some_and(|sample| sample != cx.sample_number)
    }
}

impl PlannedCookie {
    /// Whether `cookie`, found in the jar, is this planned one, unchanged since `value` was put in.
    fn is(&self, cookie: &Cookie, value: &str) -> bool {
        cookie.name == self.cookie.name
            && cookie.domain == self.cookie.domain
            && *cookie.value == *value
    }
}

impl CookieManager {
    fn with_jar<R>(&self, cx: &mut Context, work: impl FnOnce(&mut Jar, &mut Context) -> R) -> R {
        let mut jar = match user(cx).joint.jars.take(self.state) {
            Some(jar) => jar,
            None => Box::new(self.fresh(cx)),
        };
        let result = work(&mut jar, cx);
        user(cx).joint.jars.put(self.state, jar);
        result
    }

    fn fresh(&self, cx: &mut Context) -> Jar {
        let mut evaluated = Vec::new();
        let cookies: Vec<Cookie> = self
            .initial
            .iter()
            .map(|planned| {
                let mut cookie = planned.cookie.clone();
                if let Some(value) = &planned.value {
                    cookie.value = value.eval(cx).into_string().into();
                }
                evaluated.push(cookie.value.to_string());
                cookie
            })
            .collect();
        Jar {
            store: CookieStore::new(cookies),
            evaluated,
            cleared_in: None,
        }
    }

    /// Planned cookies with variables follow their variables until the server replaces them.
    fn refresh(&self, jar: &mut Jar, cx: &mut Context) {
        for (planned, last) in self.initial.iter().zip(&mut jar.evaluated) {
            let Some(value) = &planned.value else {
                continue;
            };
            let value = value.eval(cx).into_string();
            if *last == value {
                continue;
            }
            if let Some(cookie) = jar
                .store
                .cookies_mut()
                .iter_mut()
                .find(|cookie| planned.is(cookie, last))
            {
                cookie.value = value.as_str().into();
            }
            *last = value;
        }
    }

    /// The `Cookie` header for an address, if any cookie is for it.
    pub fn header(&self, cx: &mut Context, url: &Url) -> Option<String> {
        self.with_jar(cx, |jar, cx| {
            self.refresh(jar, cx);
            jar.store.header(&self.settings, url)
        })
    }

    /// `CookieManager#clear`: removes all cookies, including the plan's.
    pub fn clear(&self, cx: &mut Context) {
        self.with_jar(cx, |jar, _| jar.store = Default::default());
    }

    /// The policy's name, or `None` once the manager is in no sampler's scope any longer.
    pub fn policy(&self, cx: &mut Context) -> Option<&str> {
        let is_void = self.with_jar(cx, |jar, cx| jar.is_void(cx));
        (!is_void).then_some(&*self.policy)
    }

    /// All cookies, in their order.
    pub fn cookies(&self, cx: &mut Context) -> Vec<SeenCookie> {
        self.with_jar(cx, |jar, cx| {
            self.refresh(jar, cx);
            let all = jar.store.cookies().iter();
            all.map(|cookie| SeenCookie {
                cookie: cookie.clone(),
                written: self.written(cookie, &jar.evaluated),
            })
            .collect()
        })
    }

    /// The text that the plan has for a cookie with variables.
    fn written(&self, cookie: &Cookie, evaluated: &[String]) -> Option<Box<str>> {
        let mut planned = self.initial.iter().zip(evaluated);
        let planned_cookie = planned
            .find(|(planned, value)| planned.is(cookie, value))?
            .0;
        planned_cookie
            .value
            .is_some()
            .then(|| planned_cookie.cookie.value.clone())
    }

    /// Replaces all cookies. `None` means that a script has cleared the manager itself.
    pub fn replace(&self, cx: &mut Context, cookies: Option<Vec<Cookie>>) {
        self.with_jar(cx, |jar, cx| {
            if cookies.is_none() {
                jar.cleared_in.get_or_insert(cx.sample_number);
            }
            jar.store = CookieStore::new(cookies.unwrap_or_default());
        });
    }

    /// Stores the cookies of a response's `Set-Cookie` headers. Fails if the user has too many, and names the property.
    pub fn receive<'h>(
        &self,
        cx: &mut Context,
        headers: impl Iterator<Item = Cow<'h, str>>,
        url: &Url,
    ) -> Result<(), Exception> {
        let now_ms = cx.clock().now_ms();
        let added = self.with_jar(cx, |jar, cx| {
            let prefix = self.saved_prefix.as_deref();
            if jar.is_void(cx) {
                return Ok(());
            }
            jar.store
                .add_from_headers(&self.settings, headers, url, now_ms, |cookie| {
                    if let Some(prefix) = prefix {
                        cx.vars_mut().set_named(
                            &format!("{prefix}{}", cookie.name),
                            (&*cookie.value).into(),
                        );
                    }
                })
        });
        added.map_err(|TooManyCookies| {
            let most = self.settings.most;
            let message = format!("the user has more than {most} cookies ({MAX_COOKIES})");
            Exception::new("java.io.IOException", message)
        })
    }
}

impl ThreadIterationListener for CookieManager {
    fn thread_iteration_start(&self, cx: &mut Context) {
        if self.clearing.is_due(cx) {
            let fresh = self.fresh(cx);
            self.with_jar(cx, |jar, _| {
                if jar.cleared_in.is_none() {
                    *jar = fresh;
                }
            });
        }
    }
}
