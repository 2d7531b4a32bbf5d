//! The plan's properties of an HTTP Request, merged with HTTP Request Defaults and managers in scope.

use std::sync::Arc;

use drumfire_elements::items;
use drumfire_elements::samplers::{self as facts, old_http_request, parallel_http_requests};
use drumfire_elements::shared::http;
use drumfire_jmx::{Prop, Value};

use super::embedded::Resources;
use super::merged::Merged;
use super::proxy::ProxyTemplate;
use super::request::RequestBuilder;
use super::response::ResponseReader;
use super::sampler::HttpSampler;
use super::settings::HttpSettings;
use super::source::{SourceTemplate, SourceType};
use super::template::{ArgumentTemplate, FileTemplate, RequestTemplate};
use super::trace::Tracing;
use super::transfer::Transfer;
use super::version::{BLAZEMETER, Versions, of_blazemeter};
use crate::decode::Decoder;
use crate::elements::config::auth_manager::AuthManager;
use crate::elements::config::cache_manager::CacheManager;
use crate::elements::config::cookie_manager::CookieManager;
use crate::elements::config::dns_cache_manager::DnsCacheManager;
use crate::elements::config::header_manager::{HeaderManager, decode as header_managers};
use crate::elements::config::keystore_config::of_plan as keystore;
use crate::elements::config::managers::Manager;
use crate::elements::config::managers::manager;
use crate::elements::samplers::stream::StreamTemplate;
use crate::elements::samplers::stream::rules::{ReadProperty, is_of_events};
use crate::resolve::Element;
use crate::run::needs::Needs;
use crate::run::property::{Flag, WholeNumber};
use drumfire_expr::Template;
use drumfire_web::property::Client;
use drumfire_web::status::unknown_implementation;

/// GUI classes whose elements JMeter merges into an HTTP Request (`HTTPSamplerBase#APPLIABLE_CONFIG_CLASSES`).
const APPLICABLE: [&str; 9] = [
    "LoginConfigGui",
    "HttpDefaultsGui",
    "SimpleConfigGui",
    "HeaderPanel",
    "DNSCachePanel",
    "AuthPanel",
    "CacheManagerGui",
    "CookiePanel",
    "TestBeanGUI",
];

/// A property of Drumfire, which JMeter preserves and ignores.
const BYTES_PER_SECOND: &str = "drumfire.bytes_per_second";
/// A plugin's sampler, whose requests are those of an HTTP Request.
pub const PARALLEL: &str = parallel_http_requests::CLASS;

/// HTTP Request (`HTTPSamplerProxy`, `HTTPSampler_`): one request with its redirects and embedded resources.
///
/// Properties: `HTTPSampler.protocol`, `.domain`, `.port`, `.path` (a whole address wins over them), `.method`,
/// `.contentEncoding`, `HTTPsampler.Arguments` (with `HTTPSampler.postBodyRaw` their values are the body),
/// `HTTPsampler.Files`, `.DO_MULTIPART_POST`, `.BROWSER_COMPATIBLE_MULTIPART`, `.follow_redirects`, `.auto_redirects`,
/// `.use_keepalive`, `.image_parser`, `.embedded_url_re`, `.embedded_url_exclude_re`, `.concurrentDwn`, `.concurrentPool`,
/// `.connect_timeout` and `.response_timeout` in milliseconds, `.proxyHost`, `.proxyPort`, `.proxyUser`, `.proxyPass`,
/// `.ipSource`, `.md5`, and `.implementation` (`HttpClient4` or `Java`). GraphQL requests are HTTP Requests, too.
///
/// `drumfire.bytes_per_second` is a property of Drumfire, which may also be in HTTP Request Defaults. It limits the speed at
/// which the sampler's connections send and receive, as `httpclient.socket.http.cps` does for all samplers.
///
/// Differences: with the property `drumfire.http.version=2` it speaks HTTP/2; with 3, in builds that have it, HTTP/3 over HTTPS
/// (connect time ends with QUIC's handshake; other addresses and those behind a proxy use HTTP/1.1). Times have the resolution of
/// the clock. A failed TLS handshake has the message of this program's TLS library if Java has no counterpart.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<HttpSampler> {
    Some(decode_at(d, configs, needs, None))
}

/// The server of an Access Log Sampler's requests; its own properties name it, not the configuration around it.
pub struct AccessLogServer {
    pub protocol: Template,
    pub domain: Template,
    pub port: Template,
    pub image_parser: Flag,
}

/// The server that the sampler itself names.
fn server_of(d: &mut Decoder, merged: &Merged<'_>, is_parallel: bool) -> AccessLogServer {
    AccessLogServer {
        protocol: merged.template(d, http::PROTOCOL.name),
        domain: merged.template(d, http::DOMAIN.name),
        port: merged.template(d, http::PORT.name),
        image_parser: merged.flag_or(d, http::EMBEDDED_RESOURCES.name, is_parallel),
    }
}

/// Decodes an HTTP Request; `server`, if given, replaces the address that the configuration in scope names.
pub fn decode_at(
    d: &mut Decoder,
    configs: &[&Element],
    needs: Needs,
    server: Option<AccessLogServer>,
) -> HttpSampler {
    let applicable = configs.iter().filter(|config| is_applicable(config));
    let applicable: Vec<&Element> = applicable.copied().collect();
    let merged = Merged::new(d.element, &applicable);
    let (client, unknown_client) = match client(d, &merged) {
        Ok(client) => (client, None),
        Err(name) => (Client::HttpClient, Some(unknown_implementation(&name))),
    };
    let is_blazemeter = d.element.class == BLAZEMETER;
    let is_parallel = d.element.class == PARALLEL;
    let is_plugin = is_blazemeter || is_parallel;
    let versions = match client {
        Client::HttpClient if is_blazemeter => of_blazemeter(d, &merged),
        Client::HttpClient => Versions::of_run(d),
        Client::Java | Client::OldJava | Client::AccessLog | Client::File => Versions::default(),
    };
    let settings = settings(d);
    let AccessLogServer {
        protocol,
        domain,
        port,
        image_parser: are_wanted,
    } = server.unwrap_or_else(|| server_of(d, &merged, is_parallel));
    let may_be_wanted = are_wanted.may_hold();
    let managers = managers(d, &applicable, client);
    let md5 = merged.flag(d, http::MD5.name);
    let server = [protocol, domain, port];
    let template = request_template(d, &merged, &applicable, client, server, &settings);
    let read: ReadProperty<'_> = &|d, name, default| merged.or(d, name, default);
    let stream = StreamTemplate::decode(d, read, may_accept_events(&template.headers));
    HttpSampler {
        template,
        unknown_client,
        request: RequestBuilder {
            client,
            versions,
            cookies: managers.cookies.clone(),
            cache: managers.cache.clone(),
            auth: managers.auth,
            keystore: keystore(d.decoding),
            needs,
            shows_request: needs.request || managers.cache.is_some() || may_be_wanted,
            settings: settings.clone(),
        },
        transfer: Transfer::new(client, &settings, &md5, needs.body || may_be_wanted),
        reader: ResponseReader {
            client,
            follow_redirects: merged.flag(d, http::FOLLOW_REDIRECTS.name),
            md5,
            cookies: managers.cookies,
            cache: managers.cache,
            needs,
            settings: settings.clone(),
        },
        resources: Resources {
            are_wanted,
            is_concurrent: merged.flag_or(d, http::PARALLEL.name, is_plugin),
            pool_size: merged.or(d, http::PARALLEL_NUMBER.name, "6"),
            allow: merged.template(d, http::EMBEDDED_MATCH.name),
            exclude: merged.template(d, http::EMBEDDED_EXCLUDE.name),
            needs,
            settings,
        },
        stream,
        dns: managers.dns,
        needs,
    }
}

/// Whether a header of the managers may say that the request accepts server-sent events.
fn may_accept_events(managers: &[HeaderManager]) -> bool {
    managers
        .iter()
        .flat_map(HeaderManager::rows)
        .any(|(name, value)| {
            name.literal()
                .is_none_or(|name| name.eq_ignore_ascii_case("Accept"))
                && value.literal().is_none_or(is_of_events)
        })
}

fn request_template(
    d: &mut Decoder,
    merged: &Merged<'_>,
    applicable: &[&Element],
    client: Client,
    [protocol, domain, port]: [Template; 3],
    settings: &Arc<HttpSettings>,
) -> RequestTemplate {
    RequestTemplate {
        client,
        protocol,
        domain,
        port,
        path: merged.template(d, http::PATH.name),
        method: merged.if_missing(d, http::METHOD.name, "GET"),
        content_encoding: merged.template(d, http::CONTENT_ENCODING.name),
        arguments: merged
            .arguments
            .iter()
            .filter_map(|prop| argument(d, prop))
            .collect(),
        files: files(d, merged),
        headers: header_managers(d, applicable),
        multipart: merged.flag(d, http::MULTIPART.name),
        browser_compatible: merged.flag(d, http::BROWSER_MULTIPART.name),
        raw_body: merged.flag(d, http::BODY_RAW.name),
        keep_alive: merged.flag(d, http::USE_KEEPALIVE.name),
        auto_redirects: merged.flag(d, http::AUTO_REDIRECTS.name),
        parallel: merged.flag(d, http::PARALLEL.name),
        pool_size: merged.template(d, http::PARALLEL_NUMBER.name),
        connect_timeout: merged.template(d, http::CONNECT_TIMEOUT.name),
        response_timeout: merged.template(d, http::RESPONSE_TIMEOUT.name),
        bytes_per_second: merged.template(d, BYTES_PER_SECOND),
        proxy: proxy(d, merged),
        source: source(d, merged, client),
        implementation: merged.template(d, http::IMPLEMENTATION.name),
        settings: settings.clone(),
    }
}

/// The managers in a sampler's scope.
#[derive(Default)]
struct Managers {
    cookies: Option<Arc<CookieManager>>,
    cache: Option<Arc<CacheManager>>,
    auth: Option<Arc<AuthManager>>,
    dns: Option<Arc<DnsCacheManager>>,
}

/// The outermost manager of a kind wins (`HTTPSamplerBase#setCookieManager` and its siblings).
fn managers(d: &mut Decoder, configs: &[&Element], client: Client) -> Managers {
    let mut managers = Managers::default();
    for config in configs {
        match manager(d, config.id) {
            Some(Manager::Cookies(manager)) => managers.cookies = Some(manager),
            Some(Manager::Cache(manager)) => managers.cache = Some(manager),
            Some(Manager::Auth(manager)) => managers.auth = Some(manager),
            Some(Manager::Dns(manager)) if client == Client::HttpClient => {
                managers.dns = Some(manager);
            }
            Some(Manager::Dns(_)) | None => {}
        }
    }
    managers
}

/// The settings that all HTTP Requests of a plan share.
pub fn settings(d: &mut Decoder) -> Arc<HttpSettings> {
    let tracing = Tracing::of_run(d);
    let (properties, hostname) = (&d.settings().properties, &d.settings().hostname);
    let unit = &mut *d.decoding;
    let settings = unit.kept.of::<Option<Arc<HttpSettings>>>();
    let settings = settings.get_or_insert_with(|| {
        let mut settings = HttpSettings::read(properties, hostname);
        settings.rename_children &= !unit.save_config.functional_mode;
        settings.keeps_method = unit.follows_jmeter6;
        settings.tracing = tracing;
        Arc::new(settings)
    });
    settings.clone()
}

/// Whether HTTP Requests take settings from an element (`HTTPSamplerBase#applies`).
pub fn is_applicable(config: &Element) -> bool {
    let gui_class = config.gui_class.rsplit('.').next().unwrap_or_default();
    APPLICABLE.contains(&gui_class)
}

/// Which implementation runs (`HTTPSamplerFactory#getImplementation`).
///
/// # Errors
/// The name of an unknown implementation.
fn client(d: &mut Decoder, merged: &Merged<'_>) -> Result<Client, String> {
    if d.element.class == BLAZEMETER || d.element.class == PARALLEL {
        return Ok(Client::HttpClient);
    }
    if d.element.class == old_http_request::CLASS {
        return Ok(Client::OldJava);
    }
    if d.element.class == facts::access_log_sampler::CLASS {
        return Ok(Client::AccessLog);
    }
    let implementation = merged.template(d, http::IMPLEMENTATION.name);
    let mut name = d.now(&implementation).to_string();
    if name.trim().is_empty() {
        name = d
            .settings()
            .properties
            .get("jmeter.httpsampler")
            .map(|value| value.to_string())
            .unwrap_or_default();
    }
    match name.as_str() {
        "Java" | "HTTPSampler" => Ok(Client::Java),
        "" | "HttpClient4" | "HttpClient3.1" => Ok(Client::HttpClient),
        _ => Err(name),
    }
}

fn argument(d: &mut Decoder, prop: &Prop) -> Option<ArgumentTemplate> {
    let Value::Element(element) = &prop.value else {
        return None;
    };
    let props = &element.props;
    Some(ArgumentTemplate {
        name: d.compile(&props.str(items::NAME.name)),
        value: d.compile(&props.str(items::VALUE.name)),
        metadata: d.compile(&props.str(items::METADATA.name)),
        content_type: d.compile(&props.str_or(items::CONTENT_TYPE.name, "text/plain")),
        always_encode: Flag::of(d.compile(&props.str_or(items::ENCODE.name, "false"))),
    })
}

/// Files of the table, and one of the old single-file properties (`HTTPSamplerBase#mergeFileProperties`).
fn files(d: &mut Decoder, merged: &Merged<'_>) -> Vec<FileTemplate> {
    let mut files = Vec::new();
    for prop in &merged.files {
        let Value::Element(element) = &prop.value else {
            continue;
        };
        let props = &element.props;
        files.push(FileTemplate {
            path: d.compile(&props.str(items::FILE_PATH.name)),
            param_name: d.compile(&props.str(items::FILE_PARAMETER.name)),
            mime_type: d.compile(&props.str(items::FILE_TYPE.name)),
        });
    }
    files
}

fn proxy(d: &mut Decoder, merged: &Merged<'_>) -> Option<ProxyTemplate> {
    let proxy = ProxyTemplate {
        scheme: merged.present(d, http::PROXY_SCHEME.name),
        host: merged.template(d, http::PROXY_HOST.name),
        port: merged.template(d, http::PROXY_PORT.name),
        user: merged.template(d, http::PROXY_USER.name),
        password: merged.template(d, http::PROXY_PASSWORD.name),
    };
    let is_used = !proxy.host.is_empty_literal();
    let has_effects = proxy.texts().any(Template::is_stateful);
    (is_used || has_effects).then_some(proxy)
}

/// The source address. Only the implementation HttpClient4 has one.
fn source(d: &mut Decoder, merged: &Merged<'_>, client: Client) -> Option<SourceTemplate> {
    let text = merged.template(d, http::IP_SOURCE.name);
    if text.is_empty_literal() || client != Client::HttpClient {
        return None;
    }
    let kind = WholeNumber::of(merged.template(d, http::IP_SOURCE_TYPE.name));
    if let WholeNumber::Fixed(number) = kind
        && SourceType::from_number(number).is_none()
    {
        d.decoding.findings.push(d.element.warning(
            "source-type-unknown",
            format!("there is no source address type {number}; IP/Hostname is used"),
        ));
    }
    Some(SourceTemplate::new(text, kind))
}
