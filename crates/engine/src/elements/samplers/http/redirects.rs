//! Redirects that JMeter follows itself (`HTTPSamplerBase#followRedirects`).

use drumfire_java::Exception;
use drumfire_results::Sample;
use drumfire_web::redirect::{method_after_redirect, redirect_url};
use drumfire_web::url::Url;

use super::settings::HttpSettings;

/// The purpose of a request within its sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// Whether the request follows a redirect.
    pub is_redirect: bool,
    /// How many pages enclose the request (`frameDepth`).
    pub depth: u32,
}

impl Nesting {
    /// A request to follow the redirect of this one.
    pub fn redirected(self) -> Nesting {
        Nesting {
            is_redirect: true,
            ..self
        }
    }

    /// A request for a resource of this one's page.
    pub fn inner(self) -> Nesting {
        Nesting {
            is_redirect: false,
            depth: self.depth + 1,
        }
    }
}

/// The address and the method of the request that follows a redirect.
pub(super) fn next_address(
    last: &Sample,
    settings: &HttpSettings,
) -> Result<(Url, String), Exception> {
    let base = Url::parse(last.url.as_deref().unwrap_or_default())?;
    let location = last.redirect_location.as_deref().unwrap_or_default();
    let url = redirect_url(&base, location, settings.remove_slash_dot_dot)?;
    let method = last.method.as_deref().unwrap_or("GET");
    let is_kept = settings.keeps_method && matches!(&*last.code, "307" | "308");
    let method = if is_kept {
        method
    } else {
        method_after_redirect(method)
    };
    Ok((url, method.to_owned()))
}

/// Copies the outcome of the last response into the enclosing sample.
pub(super) fn take_outcome(total: &mut Sample, last: Sample) {
    total.label = format!("{}->{}", total.label, last.label).into();
    total.url = last.url;
    total.method = last.method;
    total.query_string = last.query_string;
    total.request_headers = last.request_headers;
    total.response_data = last.response_data;
    total.code = last.code;
    total.success = last.success;
    total.message = last.message;
    total.data_type = last.data_type;
    total.response_headers = last.response_headers;
    total.content_type = last.content_type;
    total.encoding = last.encoding;
    total.stream = last.stream;
}
