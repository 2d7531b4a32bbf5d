//! JMeter properties that decide how all HTTP Requests of a run behave.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::Properties;
use drumfire_http::{PoolOptions, Proxy};
use drumfire_web::auth::basic_header;
use drumfire_web::cache::CachedMode;

/// Read once per run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `httpsampler.max_redirects`.
    pub max_redirects: u32,
    /// `httpsampler.max_frame_depth`.
    pub max_frame_depth: u32,
    /// `httpsampler.redirect.removeslashdotdot`.
    pub remove_slash_dot_dot: bool,
    /// `httpsampler.separate.container`.
    pub separate_container: bool,
    /// `httpsampler.ignore_failed_embedded_resources`.
    pub ignore_failed_embedded: bool,
    /// `httpsampler.embedded_resources_use_md5`.
    pub embedded_md5: bool,
    /// `httpsampler.max_bytes_to_store_per_request`; 0 keeps all.
    pub max_bytes_to_store: u64,
    /// `httpclient.reset_state_on_thread_group_iteration`.
    pub reset_state: bool,
    /// `http.post_add_content_type_if_missing`.
    pub add_content_type_if_missing: bool,
    /// `httpclient4.auth.preemptive`.
    pub preemptive_auth: bool,
    /// `httpclient4.deflate_relax_mode`.
    pub deflate_relaxed: bool,
    /// `httpclient4.default_user_agent_disabled`.
    pub user_agent: bool,
    /// `httpclient.timeout`, in milliseconds; 0 is none.
    pub default_timeout_ms: i64,
    /// `subresults.disable_renaming`, or functional mode: sub-results keep their own labels.
    pub rename_children: bool,
    /// `jmeter.regex.engine` is not `oro`.
    pub java_regex: bool,
    pub cached_mode: CachedMode,
    pub cookie_check: bool,
    pub cookie_delete_null: bool,
    pub cookie_save: bool,
    pub cookie_variables: bool,
    /// `CookieManager.name.prefix`.
    pub cookie_prefix: String,
    pub cacheable_methods: Vec<String>,
    /// `httpclient.localaddress`: where connections start from, unless the plan says.
    pub local_address: Option<IpAddr>,
    pub proxy: Option<StaticProxy>,
}

impl Settings {
    pub fn read(properties: &Properties) -> Settings {
        let long = |name, default| properties.get_long(name, default).max(0);
        let flag = |name, default| properties.get_bool(name, default);
        let text = |name, default: &str| {
            properties
                .get(name)
                .map_or_else(|| default.to_owned(), |value| value.to_string())
        };
        Settings {
            max_redirects: long("httpsampler.max_redirects", 20) as u32,
            max_frame_depth: long("httpsampler.max_frame_depth", 5) as u32,
            remove_slash_dot_dot: flag("httpsampler.redirect.removeslashdotdot", true),
            separate_container: flag("httpsampler.separate.container", true),
            ignore_failed_embedded: flag("httpsampler.ignore_failed_embedded_resources", false),
            embedded_md5: flag("httpsampler.embedded_resources_use_md5", false),
            max_bytes_to_store: long("httpsampler.max_bytes_to_store_per_request", 0) as u64,
            reset_state: flag("httpclient.reset_state_on_thread_group_iteration", true),
            add_content_type_if_missing: flag("http.post_add_content_type_if_missing", false),
            preemptive_auth: flag("httpclient4.auth.preemptive", true),
            deflate_relaxed: flag("httpclient4.deflate_relax_mode", false),
            user_agent: !flag("httpclient4.default_user_agent_disabled", false),
            default_timeout_ms: long("httpclient.timeout", 0),
            rename_children: !flag("subresults.disable_renaming", false),
            java_regex: !text("jmeter.regex.engine", "oro").eq_ignore_ascii_case("oro"),
            cached_mode: cached_mode(properties),
            cookie_check: flag("CookieManager.check.cookies", true),
            cookie_delete_null: flag("CookieManager.delete_null_cookies", true),
            cookie_save: flag("CookieManager.save.cookies", false),
            cookie_variables: flag("CookieManager.allow_variable_cookies", true),
            cookie_prefix: text("CookieManager.name.prefix", "COOKIE_"),
            cacheable_methods: text("cacheable_methods", "GET")
                .split([' ', ','])
                .map(str::to_owned)
                .collect(),
            local_address: properties
                .get("httpclient.localaddress")
                .and_then(|name| address(name.trim())),
            proxy: StaticProxy::read(properties),
        }
    }
}

/// The address that a name or an address in text stands for.
pub fn address(name: &str) -> Option<IpAddr> {
    if name.is_empty() {
        return None;
    }
    name.parse().ok().or_else(|| {
        (name, 0)
            .to_socket_addrs()
            .ok()?
            .next()
            .map(|found| found.ip())
    })
}

/// A proxy for all requests whose sampler names none: the system properties `http.proxyHost`, `http.proxyPort`,
/// `http.nonProxyHosts`, and `http.proxyUser`, `http.proxyPass` (`HTTPHCAbstractImpl`).
#[derive(Clone, Debug)]
pub struct StaticProxy {
    proxy: Arc<Proxy>,
    except: Vec<String>,
}

impl StaticProxy {
    fn read(properties: &Properties) -> Option<StaticProxy> {
        let text = |name| {
            properties
                .get(name)
                .map(|value| value.to_string())
                .unwrap_or_default()
        };
        let (host, port) = (
            text("http.proxyHost"),
            text("http.proxyPort").parse().unwrap_or(0),
        );
        if host.is_empty() || port == 0 {
            return None;
        }
        let user = text("http.proxyUser");
        let authorization = (!user.is_empty())
            .then(|| basic_header(&user, &text("http.proxyPass")).into_boxed_str());
        let except = text("http.nonProxyHosts")
            .split('|')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        Some(StaticProxy {
            proxy: Arc::new(Proxy {
                host: host.into(),
                port,
                connect_headers: Box::default(),
                authorization,
            }),
            except,
        })
    }

    /// The proxy for a host, unless it is excepted by its name or by `*` and the end of its name.
    pub fn for_host(&self, host: &str) -> Option<Arc<Proxy>> {
        let excepted = self.except.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => host == name,
        });
        (!excepted).then(|| self.proxy.clone())
    }
}

/// `cache_manager.cached_resource_mode` and its texts.
fn cached_mode(properties: &Properties) -> CachedMode {
    let text = |name| {
        properties
            .get(name)
            .map(|value| value.to_string())
            .unwrap_or_default()
    };
    match text("cache_manager.cached_resource_mode").as_str() {
        "RETURN_200_CACHE" => CachedMode::Ok {
            message: text("RETURN_200_CACHE.message"),
        },
        "RETURN_CUSTOM_STATUS" => CachedMode::Custom {
            code: text("RETURN_CUSTOM_STATUS.code"),
            message: text("RETURN_CUSTOM_STATUS.message"),
        },
        _ => CachedMode::NoSample,
    }
}

/// How connections are kept: `httpclient4.validate_after_inactivity`, `httpclient4.time_to_live`, `httpclient4.idletimeout`.
pub fn pool_options(properties: &Properties) -> PoolOptions {
    let duration = |name, default| {
        let ms = properties.get_long(name, default);
        (ms > 0).then(|| Duration::from_millis(ms as u64))
    };
    PoolOptions {
        validate_after_inactivity: duration("httpclient4.validate_after_inactivity", 4_900),
        max_idle: duration("httpclient4.idletimeout", 0),
        time_to_live: duration("httpclient4.time_to_live", 60_000),
        honour_keep_alive: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excepted_hosts_are_reached_without_the_proxy() {
        let properties = Properties::default();
        for (name, value) in [
            ("http.proxyHost", "proxy"),
            ("http.proxyPort", "3128"),
            ("http.nonProxyHosts", "localhost|*.example.org"),
        ] {
            properties.set_system(name, value);
        }
        let proxy = Settings::read(&properties)
            .proxy
            .expect("host and port are set");
        assert_eq!(
            proxy.for_host("example.org").map(|proxy| proxy.port),
            Some(3128)
        );
        assert!(proxy.for_host("localhost").is_none() && proxy.for_host("a.example.org").is_none());
    }

    #[test]
    fn a_local_address_may_be_a_name() {
        assert_eq!(address("127.0.0.2"), Some(IpAddr::from([127, 0, 0, 2])));
        assert_eq!(address(""), None);
        assert!(address("localhost").is_some_and(|found| found.is_loopback()));
    }
}
