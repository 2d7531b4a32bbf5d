//! The version of HTTP that a sampler speaks.

use drumfire_elements::samplers::bzm_http2_request as facts;
use drumfire_elements::samplers::bzm_http2_request;
use drumfire_http::HttpVersion;

use super::merged::Merged;
use crate::decode::Decoder;

/// The class of BlazeMeter's HTTP plugin.
pub(super) const BLAZEMETER: &str = bzm_http2_request::CLASS;

/// The newest version to speak, by the address's scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Versions {
    plain: HttpVersion,
    tls: HttpVersion,
}

impl Versions {
    pub fn of(self, secure: bool) -> HttpVersion {
        if secure { self.tls } else { self.plain }
    }

    /// The versions of an HTTP Request, by `drumfire.http.version`: 2 is HTTP/2 over TLS if the server agrees, and over plain
    /// TCP by prior knowledge; 3 is HTTP/3 for HTTPS addresses without a proxy, and HTTP/1.1 for others.
    pub fn of_run(d: &mut Decoder) -> Versions {
        let version = d.settings().properties.get_trimmed("drumfire.http.version");
        let version = match version.as_deref() {
            Some("2" | "2.0") => HttpVersion::Http2,
            Some("3" | "3.0") => HttpVersion::Http3,
            _ => HttpVersion::Http1,
        };
        if !version.is_built() {
            refuse_http3(d);
        }
        Versions {
            plain: version,
            tls: version,
        }
    }
}

/// Reports once that the plan needs HTTP/3, which this build does not have.
fn refuse_http3(d: &mut Decoder) {
    const CODE: &str = "no-http3";
    if d.decoding
        .findings
        .iter()
        .all(|finding| finding.code != CODE)
    {
        let message = "drumfire.http.version is 3, but this build has no HTTP/3";
        let help = "build the program with --features http3, or choose another version";
        d.refuse(CODE, message, help);
    }
}

/// HTTP Sampler of BlazeMeter (`com.blazemeter.jmeter.http2.sampler.HTTP2Sampler`): an HTTP Request over HTTP/2 if the server
/// speaks it, else over HTTP/1.1.
///
/// It has the properties of an HTTP Request (embedded resources are fetched at once unless `HTTPSampler.concurrentDwn` is
/// false), and `HTTP2Sampler.profile` (`legacy` is HTTP/1.1), `HTTP2Sampler.enableHttp1`, `.enableHttp2`, `.alpnEnabled`,
/// `.http2PriorKnowledge` (also for plain addresses; switching HTTP/1.1 off has the same effect).
///
/// Differences from version 3 of the plugin: it has no HTTP/3, so it ignores Alt-Svc; it does not offer `.http1_upgrade`, and
/// sends such a request by HTTP/1.1; it does not remember what a server speaks beyond its connections. Headers and failures are
/// those of an HTTP Request; sizes are those of the heads as text, as in the plugin.
pub(super) fn of_blazemeter(d: &mut Decoder, merged: &Merged<'_>) -> Versions {
    let profile = merged.template(d, facts::PROFILE.name);
    let profile = d.now(&profile).trim().to_ascii_lowercase();
    let upgrades = merged.fixed_flag(d, facts::UPGRADE.name, false);
    let modern = profile != "legacy" && !(profile.is_empty() && upgrades);
    let http1 = merged.fixed_flag(d, facts::HTTP1.name, true);
    let http2 = merged.fixed_flag(d, facts::HTTP2.name, modern);
    let alpn = merged.fixed_flag(d, facts::ALPN.name, modern);
    let has_prior_knowledge = merged.fixed_flag(d, facts::PRIOR_KNOWLEDGE.name, false);
    let version = |is_http2| {
        if is_http2 {
            HttpVersion::Http2
        } else {
            HttpVersion::Http1
        }
    };
    Versions {
        plain: version(http2 && (has_prior_knowledge || !http1)),
        tls: version(http2 && alpn),
    }
}
