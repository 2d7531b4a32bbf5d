//! The plan's properties of an HTTP Request, merged with HTTP Request Defaults and managers in scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use drumfire_jmx::{Prop, Value};

use super::proxy::ProxyTemplate;
use super::source::{SourceTemplate, SourceType};
use super::version::{BLAZEMETER, Versions, of_blazemeter};
use super::{ArgumentTemplate, FileTemplate, HttpSampler, Settings};
use crate::decode::Decoder;
use crate::elements::config::header_managers;
use crate::elements::config::{Manager, keystore, manager};
use crate::elements::samplers::defaults::is_defaults;
use crate::resolve::Element;
use crate::run::needs::Needs;
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

/// A property of ours that JMeter keeps and passes over.
const BYTES_PER_SECOND: &str = "drumfire.bytes_per_second";
/// A plugin's sampler, whose requests are those of an HTTP Request.
pub const PARALLEL: &str = "com.blazemeter.jmeter.http.ParallelHTTPSampler";
const ARGUMENTS: &str = "HTTPsampler.Arguments";

/// Request Defaults (`ConfigTestElement`): settings for the samplers in its scope that have none of their own (HTTP Request
/// Defaults, Login Config Element, Simple Config Element).
///
/// Its properties are the sampler's; arguments and files are added to the sampler's.
pub(super) struct Merged<'p> {
    props: BTreeMap<&'p str, &'p Prop>,
    arguments: Vec<&'p Prop>,
    files: Vec<&'p Prop>,
}

impl<'p> Merged<'p> {
    /// `AbstractTestElement#addProperty`: a property counts as missing when it is an empty text; collections are added to.
    fn new(sampler: &'p Element, configs: &[&'p Element]) -> Merged<'p> {
        let mut merged = Merged {
            props: BTreeMap::new(),
            arguments: Vec::new(),
            files: Vec::new(),
        };
        merged.add(sampler);
        for config in configs.iter().filter(|config| is_defaults(config)) {
            merged.add(config);
        }
        merged
    }

    fn add(&mut self, element: &'p Element) {
        for prop in &element.props {
            match (&*prop.name, &prop.value) {
                (ARGUMENTS, Value::Element(arguments)) => self
                    .arguments
                    .extend(arguments.props.list("Arguments.arguments")),
                ("HTTPsampler.Files", Value::Element(files)) => {
                    self.files.extend(files.props.list("HTTPFileArgs.files"))
                }
                (name, _) => {
                    let missing = self.props.get(name).is_none_or(
                        |known| matches!(&known.value, Value::Str(text) if text.is_empty()),
                    );
                    if missing {
                        self.props.insert(name, prop);
                    }
                }
            }
        }
    }

    pub fn template(&self, d: &mut Decoder, name: &str) -> Template {
        match self.props.get(name) {
            Some(prop) => d.compile(&prop.value.as_str()),
            None => Template::raw(""),
        }
    }

    fn or(&self, d: &mut Decoder, name: &str, default: &str) -> Template {
        let template = self.template(d, name);
        if template.is_empty_literal() {
            Template::raw(default)
        } else {
            template
        }
    }

    /// The value of a property that has a default only where it is missing altogether.
    fn if_missing(&self, d: &mut Decoder, name: &str, default: &str) -> Template {
        match self.props.contains_key(name) {
            true => self.template(d, name),
            false => Template::raw(default),
        }
    }

    fn flag(&self, d: &mut Decoder, name: &str) -> bool {
        match self.props.get(name).map(|prop| &prop.value) {
            Some(Value::Str(text)) if text.contains("${") => {
                let template = d.compile(text);
                d.now(&template).eq_ignore_ascii_case("true")
            }
            Some(value) => value.as_bool(),
            None => false,
        }
    }

    /// A flag that may be missing.
    pub fn flag_or(&self, d: &mut Decoder, name: &str, default: bool) -> bool {
        match self.props.contains_key(name) {
            true => self.flag(d, name),
            false => default,
        }
    }
}

/// HTTP Request (`HTTPSamplerProxy`, `HTTPSampler_`): one request with its redirects and embedded resources.
///
/// Properties: `HTTPSampler.protocol`, `.domain`, `.port`, `.path` (a whole address wins over them), `.method`,
/// `.contentEncoding`, `HTTPsampler.Arguments` (with `HTTPSampler.postBodyRaw` their values are the body),
/// `HTTPsampler.Files`, `.DO_MULTIPART_POST`, `.BROWSER_COMPATIBLE_MULTIPART`, `.follow_redirects`, `.auto_redirects`,
/// `.use_keepalive`, `.image_parser`, `.embedded_url_re`, `.embedded_url_exclude_re`, `.concurrentDwn`, `.concurrentPool`,
/// `.connect_timeout` and `.response_timeout` in milliseconds, `.proxyHost`, `.proxyPort`, `.proxyUser`, `.proxyPass`,
/// `.ipSource`, `.md5`, and `.implementation` (`HttpClient4` or `Java`). GraphQL requests are HTTP Requests, too.
///
/// `drumfire.bytes_per_second` is a property of ours, which may be in HTTP Request Defaults: the sampler's connections send and
/// receive no faster, as those of all samplers with `httpclient.socket.http.cps`.
///
/// Differences: with the property `drumfire.http.version=2` it speaks HTTP/2; with 3 HTTP/3 over HTTPS (connect time ends with
/// QUIC's handshake; other addresses and those behind a proxy by HTTP/1.1) in builds that have it; times have the resolution of the clock; a refused TLS handshake has the words of
/// this program's TLS library where they have no counterpart in Java.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<HttpSampler> {
    let applicable: Vec<&Element> = configs
        .iter()
        .copied()
        .filter(|config| is_applicable(config))
        .collect();
    let merged = Merged::new(d.element, &applicable);
    let (client, unknown_client) = match client(d, &merged) {
        Ok(client) => (client, None),
        Err(name) => (Client::HttpClient, Some(unknown_implementation(&name))),
    };
    let is_blazemeter = d.element.class == BLAZEMETER;
    let is_parallel = d.element.class == PARALLEL;
    let versions = match client {
        Client::HttpClient if is_blazemeter => of_blazemeter(d, &merged),
        Client::HttpClient => Versions::of_run(d),
        Client::Java | Client::OldJava | Client::AccessLog | Client::File => Versions::default(),
    };
    let settings = settings(d);
    let mut sampler = HttpSampler {
        client,
        unknown_client,
        versions,
        protocol: merged.template(d, "HTTPSampler.protocol"),
        domain: merged.template(d, "HTTPSampler.domain"),
        port: merged.template(d, "HTTPSampler.port"),
        path: merged.template(d, "HTTPSampler.path"),
        method: merged.if_missing(d, "HTTPSampler.method", "GET"),
        content_encoding: merged.template(d, "HTTPSampler.contentEncoding"),
        arguments: merged
            .arguments
            .iter()
            .filter_map(|prop| argument(d, prop))
            .collect(),
        files: files(d, &merged),
        headers: header_managers(d, &applicable),
        follow_redirects: merged.flag(d, "HTTPSampler.follow_redirects"),
        auto_redirects: merged.flag(d, "HTTPSampler.auto_redirects"),
        keep_alive: merged.flag(d, "HTTPSampler.use_keepalive"),
        multipart: merged.flag(d, "HTTPSampler.DO_MULTIPART_POST"),
        browser_compatible: merged.flag(d, "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART"),
        raw_body: merged.flag(d, "HTTPSampler.postBodyRaw"),
        image_parser: merged.flag_or(d, "HTTPSampler.image_parser", is_parallel),
        concurrent: merged.flag_or(d, "HTTPSampler.concurrentDwn", is_blazemeter || is_parallel),
        md5: merged.flag(d, "HTTPSampler.md5"),
        pool_size: merged.or(d, "HTTPSampler.concurrentPool", "6"),
        embedded_allow: merged.template(d, "HTTPSampler.embedded_url_re"),
        embedded_exclude: merged.template(d, "HTTPSampler.embedded_url_exclude_re"),
        connect_timeout: merged.template(d, "HTTPSampler.connect_timeout"),
        response_timeout: merged.template(d, "HTTPSampler.response_timeout"),
        bytes_per_second: merged.template(d, BYTES_PER_SECOND),
        proxy: proxy(d, &merged),
        source: source(d, &merged, client),
        cookies: None,
        cache: None,
        auth: None,
        dns: None,
        keystore: keystore(d.unit),
        needs,
        settings,
    };
    take_managers(d, &applicable, &mut sampler);
    Some(sampler)
}

/// The outermost manager of a kind wins (`HTTPSamplerBase#setCookieManager` and its siblings).
fn take_managers(d: &mut Decoder, configs: &[&Element], sampler: &mut HttpSampler) {
    for config in configs {
        match manager(d, config.id) {
            Some(Manager::Cookies(manager)) => sampler.cookies = Some(manager),
            Some(Manager::Cache(manager)) => sampler.cache = Some(manager),
            Some(Manager::Auth(manager)) => sampler.auth = Some(manager),
            Some(Manager::Dns(manager)) if sampler.client == Client::HttpClient => {
                sampler.dns = Some(manager);
            }
            Some(Manager::Dns(_)) | None => {}
        }
    }
}

/// The same for all HTTP Requests of a plan.
fn settings(d: &mut Decoder) -> Arc<Settings> {
    let properties = &d.settings().properties;
    let unit = &mut *d.unit;
    let settings = unit.kept.of::<Option<Arc<Settings>>>();
    let settings = settings.get_or_insert_with(|| {
        let mut settings = Settings::read(properties);
        settings.rename_children &= !unit.save_config.functional_mode;
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
/// The name of an implementation that there is not.
fn client(d: &mut Decoder, merged: &Merged<'_>) -> Result<Client, String> {
    if d.element.class == BLAZEMETER || d.element.class == PARALLEL {
        return Ok(Client::HttpClient);
    }
    if d.element.class == "HTTPSampler_" {
        return Ok(Client::OldJava);
    }
    if d.element.class == "AccessLogSampler" {
        return Ok(Client::AccessLog);
    }
    let implementation = merged.template(d, "HTTPSampler.implementation");
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
        name: d.compile(&props.str("Argument.name")),
        value: d.compile(&props.str("Argument.value")),
        metadata: d.compile(&props.str("Argument.metadata")),
        content_type: d.compile(&props.str_or("HTTPArgument.content_type", "text/plain")),
        always_encode: props.bool("HTTPArgument.always_encode", false),
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
            path: d.compile(&props.str("File.path")),
            param_name: d.compile(&props.str("File.paramname")),
            mime_type: d.compile(&props.str("File.mimetype")),
        });
    }
    files
}

fn proxy(d: &mut Decoder, merged: &Merged<'_>) -> Option<ProxyTemplate> {
    let host = merged.template(d, "HTTPSampler.proxyHost");
    if host.is_empty_literal() {
        return None;
    }
    Some(ProxyTemplate {
        scheme: merged.template(d, "HTTPSampler.proxyScheme"),
        host,
        port: merged.template(d, "HTTPSampler.proxyPort"),
        user: merged.template(d, "HTTPSampler.proxyUser"),
        password: merged.template(d, "HTTPSampler.proxyPass"),
    })
}

/// Only the implementation HttpClient4 has source addresses.
fn source(d: &mut Decoder, merged: &Merged<'_>, client: Client) -> Option<SourceTemplate> {
    let text = merged.template(d, "HTTPSampler.ipSource");
    if text.is_empty_literal() || client != Client::HttpClient {
        return None;
    }
    let kind = merged.template(d, "HTTPSampler.ipSourceType");
    let number = crate::base::number::int(&d.now(&kind));
    let kind = SourceType::from_number(number).unwrap_or_else(|| {
        d.unit.findings.push(d.element.warning(
            "source-type-unknown",
            format!("there is no source address type {number}; IP/Hostname is used"),
        ));
        SourceType::Hostname
    });
    Some(SourceTemplate::new(text, kind))
}
