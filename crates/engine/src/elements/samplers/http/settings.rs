//! JMeter properties that decide how all HTTP Requests of a run behave.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::Properties;
use drumfire_http::{
    AddressOrder, NameRules, PoolOptions, RelaxedDecoding, SizeLimits, TlsOptions, TlsSessions,
};
use drumfire_java::{Exception, JvmDefaults, values};
use drumfire_web::cache::CachedMode;
use drumfire_web::java_client::USER_AGENT;

use super::proxy::GeneralProxy;
use super::source::LocalAddress;
use super::trace::Tracing;

/// The properties, read once per run.
#[derive(Clone, Debug)]
pub struct HttpSettings {
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
    /// This machine's name, for NTLM.
    pub workstation: Arc<str>,
    /// `httpclient4.gzip_relax_mode` and `httpclient4.deflate_relax_mode`.
    pub relaxed: RelaxedDecoding,
    /// `drumfire.http.decode_unread`: encoded bodies that nothing reads are decoded too, since JMeter fails on damaged ones.
    pub decode_unread: bool,
    /// `httpclient4.retrycount`: how often a request is retried.
    pub retries: u32,
    /// `http.java.sampler.retries`: retries of the implementation Java if no local port is free.
    pub java_retries: u32,
    /// `httpclient4.request_sent_retry_enabled`: retry a request that was sent, whatever its method.
    pub retries_sent: bool,
    /// `httpclient4.default_user_agent_disabled`.
    pub user_agent: bool,
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
    /// `httpclient.localaddress`: where connections start from, unless the plan says otherwise.
    pub local_address: Option<LocalAddress>,
    pub proxy: GeneralProxy,
    pub java: JavaClientSettings,
    /// Redirects with 307 and 308 keep method and body, as in JMeter 6.
    pub keeps_method: bool,
    /// `drumfire.http.allowed_hosts`: requests to other hosts fail unsent; `None` allows all.
    pub allowed_hosts: Option<Arc<[String]>>,
    /// `drumfire.trace` and the properties below it; `None` leaves requests as the plan says.
    pub tracing: Option<Tracing>,
}

/// What Java's own client reads from system properties. HttpClient4 ignores all of them.
#[derive(Clone, Debug)]
pub struct JavaClientSettings {
    /// Limit of consecutive requests of a sample (`http.maxRedirects`).
    pub max_requests: usize,
    /// `http.keepAlive`. Without it every request has a connection of its own, whatever its headers say.
    pub keeps_connections: bool,
    /// `http.agent` and the version of Java.
    pub user_agent: Box<str>,
}

impl JavaClientSettings {
    fn read(properties: &Properties) -> JavaClientSettings {
        let system = |name: &str| properties.get_system(name);
        let limit = system("http.maxRedirects")
            .and_then(|text| values::parse_int(&text))
            .and_then(|limit| usize::try_from(limit).ok());
        let keeps = system("http.keepAlive");
        JavaClientSettings {
            max_requests: limit.filter(|limit| *limit > 0).unwrap_or(20),
            keeps_connections: keeps.is_none_or(|text| text.eq_ignore_ascii_case("true")),
            user_agent: match system("http.agent") {
                None => USER_AGENT.into(),
                Some(agent) => format!("{agent} {USER_AGENT}").into(),
            },
        }
    }
}

impl HttpSettings {
    /// Reads the settings; `workstation` is this machine's name.
    pub fn read(properties: &Properties, workstation: &str) -> HttpSettings {
        let long = |name, default| properties.get_long(name, default).max(0);
        let flag = |name, default| properties.get_bool(name, default);
        let text = |name, default: &str| {
            properties
                .get(name)
                .map(|value| value.to_string())
                .unwrap_or_else(|| default.to_owned())
        };
        HttpSettings {
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
            workstation: workstation.into(),
            relaxed: RelaxedDecoding {
                gzip: flag("httpclient4.gzip_relax_mode", false),
                deflate: flag("httpclient4.deflate_relax_mode", false),
            },
            decode_unread: flag("drumfire.http.decode_unread", true),
            retries: long("httpclient4.retrycount", 0) as u32,
            java_retries: u32::try_from(long("http.java.sampler.retries", 0)).unwrap_or(0),
            retries_sent: flag("httpclient4.request_sent_retry_enabled", false),
            user_agent: !flag("httpclient4.default_user_agent_disabled", false),
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
            local_address: LocalAddress::read(properties),
            proxy: GeneralProxy::read(properties),
            java: JavaClientSettings::read(properties),
            keeps_method: false,
            allowed_hosts: allowed_hosts(&text("drumfire.http.allowed_hosts", "")),
            tracing: None,
        }
    }
}

impl HttpSettings {
    /// Refuses a host that is not allowed. Files have none, and `file:` stands for it.
    pub fn permit(&self, host: &str) -> Result<(), Exception> {
        permit(self.allowed_hosts.as_deref(), host)
    }
}

/// Refuses a host that is not among the allowed ones; `None` allows all.
pub fn permit(allowed: Option<&[String]>, host: &str) -> Result<(), Exception> {
    if allowed.is_none_or(|allowed| allowed.iter().any(|own| own.eq_ignore_ascii_case(host))) {
        return Ok(());
    }
    let message = format!("`{host}` is not among the hosts of drumfire.http.allowed_hosts");
    Err(Exception::new("java.lang.SecurityException", message))
}

pub fn allowed_hosts(list: &str) -> Option<Arc<[String]>> {
    let hosts: Vec<String> = list
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    (!hosts.is_empty()).then(|| hosts.into())
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
            message: properties
                .get("RETURN_200_CACHE.message")
                .map(|message| message.to_string())
                .unwrap_or_else(|| "(ex cache)".to_owned()),
        },
        "RETURN_CUSTOM_STATUS" => CachedMode::Custom {
            code: text("RETURN_CUSTOM_STATUS.code"),
            message: text("RETURN_CUSTOM_STATUS.message"),
        },
        _ => CachedMode::NoSample,
    }
}

/// The options of connection pools: `httpclient4.validate_after_inactivity`, `httpclient4.time_to_live`,
/// `httpclient4.idletimeout`, `httpclient.socket.http.cps`, `httpclient.socket.https.cps`, and
/// `drumfire.http.close_with_reset`, which closes connections without leaving a port in TIME_WAIT.
pub fn pool_options(properties: &Properties) -> PoolOptions {
    let duration = |name, default| {
        let ms = properties.get_long(name, default);
        (ms > 0).then(|| Duration::from_millis(ms as u64))
    };
    let speed = |name| {
        let bytes_per_second = properties.get_long(name, 0);
        NonZeroU32::new(u32::try_from(bytes_per_second).unwrap_or(0))
    };
    PoolOptions {
        validate_after_inactivity: duration("httpclient4.validate_after_inactivity", 4_900),
        max_idle: duration("httpclient4.idletimeout", 0),
        time_to_live: duration("httpclient4.time_to_live", 60_000),
        honour_keep_alive: true,
        close_with_reset: properties.get_bool("drumfire.http.close_with_reset", false),
        bytes_per_second: speed("httpclient.socket.http.cps"),
        tls_bytes_per_second: speed("httpclient.socket.https.cps"),
        sizes: size_limits(properties),
        max_exchange: max_exchange(properties),
    }
}

/// The longest time that an exchange may take in all.
pub const MAX_EXCHANGE_MS: &str = "drumfire.max_exchange_ms";

/// The value of [`MAX_EXCHANGE_MS`]; JMeter has no such limit.
pub fn max_exchange(properties: &Properties) -> Option<Duration> {
    let ms = u64::try_from(properties.get_long(MAX_EXCHANGE_MS, 0)).ok()?;
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// The message of an exchange that took longer. It names the property.
pub fn took_too_long(limit: Duration) -> String {
    format!(
        "the exchange took longer than {} ms ({MAX_EXCHANGE_MS})",
        limit.as_millis()
    )
}

/// A JVM's rules for host names: `java.net.preferIPv4Stack`, `java.net.preferIPv6Addresses` and `sun.net.inetaddr.ttl`, in
/// seconds.
pub fn name_rules(properties: &Properties, jvm: &JvmDefaults) -> NameRules {
    let default = NameRules::default();
    let ttl = properties.get_system("sun.net.inetaddr.ttl");
    NameRules {
        order: match &*jvm.prefers_ipv6 {
            _ if jvm.only_ipv4 => AddressOrder::V4Only,
            text if text.eq_ignore_ascii_case("true") => AddressOrder::V6First,
            text if text.eq_ignore_ascii_case("system") => AddressOrder::System,
            _ => default.order,
        },
        found: match ttl.and_then(|ttl| values::parse_int(&ttl)) {
            None => default.found,
            // Java never forgets a name if the number is negative.
            Some(seconds) => u64::try_from(seconds).ok().map(Duration::from_secs),
        },
    }
}

/// Limits on the size of a response.
pub const MAX_HEAD_BYTES: &str = "drumfire.http.max_head_bytes";
pub const MAX_BODY_BYTES: &str = "drumfire.http.max_body_bytes";
pub const MAX_DECODED_BYTES: &str = "drumfire.http.max_decoded_bytes";
pub const MAX_INTERIM_HEADS: &str = "drumfire.http.max_interim_heads";
pub const MAX_CONTENT_CODINGS: &str = "drumfire.http.max_content_codings";

/// The value of a limit; 0 is none, and a negative number is the default.
pub fn size_limit(properties: &Properties, name: &str, default: u64) -> u64 {
    let bytes = properties.get_long(name, default as i64);
    match u64::try_from(bytes) {
        Ok(0) => u64::MAX,
        Ok(bytes) => bytes,
        Err(_) => default,
    }
}

/// How large responses may be.
pub fn size_limits(properties: &Properties) -> SizeLimits {
    let default = SizeLimits::default();
    let limit = |name, default| size_limit(properties, name, default);
    let count =
        |name, default: usize| usize::try_from(limit(name, default as u64)).unwrap_or(usize::MAX);
    SizeLimits {
        head_bytes: count(MAX_HEAD_BYTES, default.head_bytes),
        interim_heads: count(MAX_INTERIM_HEADS, default.interim_heads),
        content_codings: count(MAX_CONTENT_CODINGS, default.content_codings),
        body_bytes: limit(MAX_BODY_BYTES, default.body_bytes),
        decoded_bytes: limit(MAX_DECODED_BYTES, default.decoded_bytes),
    }
}

/// The TLS options: `https.sessioncontext.shared`, `https.default.protocol`, `https.socket.protocols` (names separated by
/// spaces), `jdk.tls.client.protocols`, `jsse.enableSNIExtension`, `https.cipherSuites` and, if that is not set, `https.socket.ciphers` (`JsseSSLManager`,
/// `LazyLayeredConnectionSocketFactory`). Versions before TLS 1.2 and cipher suites that rustls does not have are ignored.
pub fn tls_options(properties: &Properties) -> TlsOptions {
    let names = |name: &str| -> Vec<String> {
        let value = properties.get_trimmed(name).unwrap_or_default();
        let names = value.split([' ', ',']).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let mut protocols = names("https.socket.protocols");
    let default = properties.get_trimmed("https.default.protocol");
    // The context `TLS` offers what this system property says.
    let is_general = default.as_deref().is_none_or(|name| name == "TLS");
    if protocols.is_empty()
        && is_general
        && let Some(offered) = properties.get_system("jdk.tls.client.protocols")
    {
        let offered = offered.split(',').map(|name| name.trim().to_owned());
        protocols = offered.filter(|name| !name.is_empty()).collect();
    }
    let sends_names = properties.get_system("jsse.enableSNIExtension");
    let speaks = |name: &str| protocols.is_empty() || protocols.iter().any(|own| own == name);
    // An SSLContext for an older version does not speak TLS 1.3 unless told to.
    let default_is_old =
        default.is_some_and(|name| name.starts_with("TLSv1") && &*name != "TLSv1.3");
    let mut cipher_suites = names("https.cipherSuites");
    if cipher_suites.is_empty() {
        cipher_suites = names("https.socket.ciphers");
    }
    TlsOptions {
        tls12: speaks("TLSv1.2"),
        tls13: speaks("TLSv1.3") && !(default_is_old && protocols.is_empty()),
        sessions: if properties.get_bool("https.sessioncontext.shared", false) {
            TlsSessions::Shared
        } else {
            TlsSessions::PerUser
        },
        cipher_suites,
        names_server: sends_names.is_none_or(|text| text.eq_ignore_ascii_case("true")),
        ..TlsOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> TlsOptions {
        let properties = Properties::default();
        for (name, value) in pairs {
            properties.set(name, *value);
        }
        tls_options(&properties)
    }

    #[test]
    fn system_properties_of_java_decide_about_names_tls_and_its_own_client() {
        let with = |pairs: &[(&str, &str)]| {
            let properties = Properties::default();
            for (name, value) in pairs {
                properties.set_system(name, *value);
            }
            properties
        };
        let order = |options: &str| {
            name_rules(&Properties::default(), &JvmDefaults::from_options(options)).order
        };
        let (only, prefer) = (
            "-Djava.net.preferIPv4Stack=true",
            "-Djava.net.preferIPv6Addresses",
        );
        assert_eq!(order(""), AddressOrder::V4First);
        assert_eq!(order(&format!("{prefer}=true")), AddressOrder::V6First);
        assert_eq!(order(&format!("{prefer}=system")), AddressOrder::System);
        assert_eq!(
            order(&format!("{prefer}=true {only}")),
            AddressOrder::V4Only
        );
        let found = |ttl: &str| {
            let properties = with(&[("sun.net.inetaddr.ttl", ttl)]);
            name_rules(&properties, &JvmDefaults::from_options("")).found
        };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            ["-1", "0", "5", "x"].map(found),
            [None, seconds(0), seconds(5), seconds(30)]
        );

        let tls = |pairs: &[(&str, &str)], own: &[(&str, &str)]| {
            let properties = with(pairs);
            for (name, value) in own {
                properties.set(name, *value);
            }
            let options = tls_options(&properties);
            (options.tls12, options.tls13, options.names_server)
        };
        let client = ("jdk.tls.client.protocols", "TLSv1.2");
        assert_eq!(tls(&[], &[]), (true, true, true));
        assert_eq!(tls(&[client], &[]), (true, false, true));
        let own = ("https.socket.protocols", "TLSv1.3");
        assert_eq!(tls(&[client], &[own]), (false, true, true));
        assert!(!tls(&[("jsse.enableSNIExtension", "false")], &[]).2);

        let java = |pairs: &[(&str, &str)]| {
            let java = JavaClientSettings::read(&with(pairs));
            (
                java.max_requests,
                java.keeps_connections,
                java.user_agent.into_string(),
            )
        };
        assert_eq!(java(&[]), (20, true, USER_AGENT.to_owned()));
        let own = [
            ("http.maxRedirects", "3"),
            ("http.keepAlive", "false"),
            ("http.agent", "me/1"),
        ];
        assert_eq!(java(&own), (3, false, format!("me/1 {USER_AGENT}")));
        assert_eq!(java(&[("http.maxRedirects", "0")]).0, 20);
    }

    #[test]
    fn tls_versions_and_cipher_suites() {
        let versions = |pairs: &[(&str, &str)]| {
            let options = options(pairs);
            (options.tls12, options.tls13)
        };
        assert_eq!(versions(&[]), (true, true));
        assert_eq!(versions(&[("https.default.protocol", "TLS")]), (true, true));
        assert_eq!(
            versions(&[("https.default.protocol", "TLSv1.2")]),
            (true, false)
        );
        assert_eq!(
            versions(&[("https.default.protocol", "TLSv1.3")]),
            (true, true)
        );
        assert_eq!(
            versions(&[("https.socket.protocols", "TLSv1.1 TLSv1.2")]),
            (true, false)
        );
        assert_eq!(
            versions(&[("https.socket.protocols", "TLSv1.3")]),
            (false, true)
        );
        let suites = options(&[("https.socket.ciphers", "A, B"), ("https.cipherSuites", "")]);
        assert_eq!(suites.cipher_suites, ["A", "B"]);
        assert_eq!(options(&[]).sessions, TlsSessions::PerUser);
        let shared = options(&[("https.sessioncontext.shared", "true")]);
        assert_eq!(shared.sessions, TlsSessions::Shared);
    }

    #[test]
    fn pools_as_the_properties_say() {
        let properties = Properties::default();
        let before = pool_options(&properties);
        assert_eq!(before.time_to_live, Some(Duration::from_secs(60)));
        assert_eq!(
            before.validate_after_inactivity,
            Some(Duration::from_millis(4900))
        );
        assert_eq!((before.max_idle, before.bytes_per_second), (None, None));
        for (name, value) in [
            ("httpclient4.time_to_live", "0"),
            ("httpclient4.idletimeout", "250"),
            ("httpclient.socket.http.cps", "9600"),
            ("drumfire.http.close_with_reset", "true"),
        ] {
            properties.set(name, value);
        }
        let after = pool_options(&properties);
        assert_eq!(after.time_to_live, None);
        assert_eq!(after.max_idle, Some(Duration::from_millis(250)));
        assert_eq!(after.bytes_per_second.map(NonZeroU32::get), Some(9600));
        assert!(after.close_with_reset && after.tls_bytes_per_second.is_none());
    }
}
