//! Embedded resources of a page (`HTTPSamplerBase#downloadPageResources`).

use std::collections::VecDeque;
use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_java::Exception;
use drumfire_java::url as java_url;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_query::resources::{css_urls, embedded};
use drumfire_results::Sample;
use drumfire_web::response::media_type;
use drumfire_web::url::Url;

use super::failure;
use super::settings::HttpSettings;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::property::Flag;

/// The pool size of `httpsampler.parallel_download` if the plan gives no number (`CONCURRENT_POOL_SIZE`).
const DEFAULT_POOL: usize = 6;

/// The embedded resources of a sampler's pages.
pub(super) struct Resources {
    /// Whether to fetch them (`HTTPSampler.image_parser`).
    pub are_wanted: Flag,
    pub is_concurrent: Flag,
    pub pool_size: Template,
    /// Addresses have to match this.
    pub allow: Template,
    /// Addresses must not match this.
    pub exclude: Template,
    pub needs: Needs,
    pub settings: Arc<HttpSettings>,
}

impl Resources {
    /// The addresses of the page's resources. A page that cannot be parsed gets a sub-result with the error.
    pub fn addresses_or_error(&self, cx: &mut Context, page: &mut Sample) -> Vec<java_url::Url> {
        self.addresses(cx, page).unwrap_or_else(|message| {
            let mut error = page.clone();
            let class = "org.apache.jmeter.protocol.http.parser.HTMLParseException";
            failure::apply(&mut error, &Exception::new(class, message), self.needs);
            page.add_child(error, self.settings.rename_children);
            self.settle_success(page, false);
            Vec::new()
        })
    }

    /// The resources of the page, in order.
    fn addresses(&self, cx: &Context, page: &Sample) -> Result<Vec<java_url::Url>, String> {
        if page
            .response_data
            .as_ref()
            .is_none_or(|data| data.is_empty())
        {
            return Ok(Vec::new());
        }
        let content_type = page.content_type.as_deref().unwrap_or_default();
        let Ok(base) = java_url::Url::parse(page.url.as_deref().unwrap_or_default()) else {
            return Ok(Vec::new());
        };
        let text = crate::base::body::text(page, cx.parsed.default_charset.as_deref());
        match media_type(content_type).as_str() {
            "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => {
                let agent = page.request_headers.as_deref().and_then(user_agent);
                embedded(&text, &base, agent).map_err(|error| error.0)
            }
            "text/css" => css_urls(&text, &base).map_err(|error| error.0),
            _ => Ok(Vec::new()),
        }
    }

    /// The addresses that pass both filters, in normal form; failures become sub-results.
    pub fn filter(
        &self,
        cx: &mut Context,
        addresses: Vec<java_url::Url>,
        whole: &mut Sample,
    ) -> VecDeque<Url> {
        let allow = self.pattern(&self.allow.eval(cx));
        let exclude = self.pattern(&self.exclude.eval(cx));
        let mut wanted = VecDeque::new();
        for address in addresses {
            let address = Url::from(address);
            let url = address.sanitized().unwrap_or(address);
            if allow
                .as_ref()
                .is_some_and(|allow| !allow.full_match(url.as_str()))
                || exclude
                    .as_ref()
                    .is_some_and(|exclude| exclude.full_match(url.as_str()))
            {
                continue;
            }
            match url.normalized() {
                Ok(url) => wanted.push_back(url),
                Err(_) => {
                    self.add_error(whole, format!("{} URI can not be normalized", url.as_str()))
                }
            }
        }
        wanted
    }

    fn pattern(&self, text: &str) -> Option<Pattern> {
        if text.is_empty() {
            return None;
        }
        let dialect = if self.settings.java_regex {
            Dialect::Java
        } else {
            Dialect::Oro
        };
        match Pattern::compile(text, dialect, RegexOptions::default()) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                tracing::warn!("Ignoring embedded URL string: {}", error.message);
                None
            }
        }
    }

    /// How many resources to fetch at once.
    pub fn pool(&self, cx: &mut Context) -> usize {
        if !self.is_concurrent.get(cx) {
            return 1;
        }
        self.pool_size.eval(cx).parse().unwrap_or(DEFAULT_POOL)
    }

    pub fn add(&self, whole: &mut Sample, sample: Option<Box<Sample>>) {
        let ok = whole.success && sample.as_ref().is_none_or(|sample| sample.success);
        if let Some(sample) = sample {
            whole.add_child(*sample, self.settings.rename_children);
        }
        self.settle_success(whole, ok);
    }

    fn add_error(&self, whole: &mut Sample, message: String) {
        // `new HTTPSampleResult(res)` copies the sub-results too.
        let mut error = whole.clone();
        failure::apply(
            &mut error,
            &Exception::new("java.lang.Exception", message),
            self.needs,
        );
        whole.add_child(error, self.settings.rename_children);
        self.settle_success(whole, false);
    }

    /// `HTTPSamplerBase#setParentSampleSuccess`.
    fn settle_success(&self, whole: &mut Sample, success: bool) {
        if self.settings.ignore_failed_embedded {
            return;
        }
        whole.success = success;
        if success {
            return;
        }
        let mut message = String::from("Embedded resource download error:");
        for child in whole.children.iter().filter(|child| !child.success) {
            message.push_str(child.url.as_deref().unwrap_or("null"));
            message.push_str(" code:");
            message.push_str(&child.code);
            message.push_str(" message:");
            message.push_str(&child.message);
            message.push_str(", ");
        }
        whole.message = message.into();
    }
}

/// `HTTPSamplerBase#getUserAgent`: from the request headers as the sample shows them.
fn user_agent(headers: &str) -> Option<&str> {
    let start = headers.find("User-Agent: ")? + "User-Agent: ".len();
    headers[start..].lines().next().map(str::trim)
}
