//! Selects the requests of a recording by the patterns of JMeter's recorder.

use std::sync::Arc;

use drumfire_query::regex::{Dialect, Pattern, RegexOptions};

use crate::exchange::Exchange;

/// Patterns of addresses and of content types, as the HTTP(S) Test Script Recorder reads them (`ProxyControl.filterUrl` and
/// `filterContentType`).
#[derive(Debug, Clone, Default)]
pub struct Filter {
    include: Vec<Arc<Pattern>>,
    exclude: Vec<Arc<Pattern>>,
    content_include: Option<Arc<Pattern>>,
    content_exclude: Option<Arc<Pattern>>,
}

impl Filter {
    /// Compiles the patterns. Invalid ones are skipped, as in JMeter, and reported in `warnings`.
    pub fn new(
        include: &[String],
        exclude: &[String],
        content: [&str; 2],
        warnings: &mut Vec<String>,
    ) -> Filter {
        let mut compiled = |text: &str| {
            let options = RegexOptions {
                single_line: true,
                ..RegexOptions::default()
            };
            match Pattern::compile(text, Dialect::Oro, options) {
                Ok(pattern) => Some(Arc::new(pattern)),
                Err(error) => {
                    warnings.push(format!("the pattern `{text}` was skipped: {error}"));
                    None
                }
            }
        };
        Filter {
            include: all(include, &mut compiled),
            exclude: all(exclude, &mut compiled),
            content_include: Some(content[0])
                .filter(|text| !text.is_empty())
                .and_then(&mut compiled),
            content_exclude: Some(content[1])
                .filter(|text| !text.is_empty())
                .and_then(&mut compiled),
        }
    }

    /// Why a request is left out.
    pub(crate) fn refuses(&self, exchange: &Exchange) -> Option<&'static str> {
        let address = &exchange.request.address;
        let usual = if address.scheme.literal() == Some("https") {
            "443"
        } else {
            "80"
        };
        let port = address
            .port
            .literal()
            .filter(|port| !port.is_empty())
            .unwrap_or(usual);
        let (host, path) = (address.host.template(), address.path.template());
        let url = format!("{host}:{port}{path}");
        let mime = exchange
            .response
            .as_ref()
            .map(|response| response.mime.as_str())
            .unwrap_or("");
        let matches = |pattern: &Arc<Pattern>| pattern.full_match(&url);
        if !self.include.is_empty() && !self.include.iter().any(matches) {
            Some("requests that no pattern of the recorder includes")
        } else if self.exclude.iter().any(matches) {
            Some("requests that the recorder excludes by their address")
        } else if mime.is_empty() {
            None
        } else if self
            .content_include
            .as_ref()
            .is_some_and(|pattern| !pattern.is_match(mime))
            || self
                .content_exclude
                .as_ref()
                .is_some_and(|pattern| pattern.is_match(mime))
        {
            Some("responses whose content type the recorder excludes")
        } else {
            None
        }
    }
}

fn all(
    texts: &[String],
    compiled: &mut dyn FnMut(&str) -> Option<Arc<Pattern>>,
) -> Vec<Arc<Pattern>> {
    texts
        .iter()
        .filter_map(|text| compiled(text))
        .collect::<Vec<_>>()
}
