//! Connections through an HTTP proxy, as the plugin makes them (`WebSocketClient#setupProxyConnection`): by CONNECT even
//! without TLS, and with credentials from the start.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_http::{Failure, FailureKind, Incoming, Phase, Proxy, Target, Tunnel};

use super::stop::WebSocketFailure;
use crate::elements::samplers::http::proxy::ProxyChoice;

/// Asks a proxy for a tunnel.
pub(super) struct Connect<'a> {
    pub choice: &'a ProxyChoice,
}

impl Connect<'_> {
    /// The proxy, to which the plugin speaks without TLS.
    pub fn proxy(&self) -> Arc<Proxy> {
        let mut proxy = Proxy::clone(&self.choice.proxy);
        proxy.tls = false;
        Arc::new(proxy)
    }

    /// The plugin's message for a tunnel that fails; `None` if the proxy is not the cause.
    pub fn failed(failure: &Failure) -> Option<WebSocketFailure> {
        match &failure.kind {
            FailureKind::ProxyRefused(refusal) => {
                let status = refusal.status.to_string();
                let message = format!("Connecting proxy failed with status code {status}");
                Some(WebSocketFailure::Upgrade(status, message))
            }
            FailureKind::NoValidResponse(_) | FailureKind::BadStatusLine { .. }
                if failure.phase == Phase::Proxy =>
            {
                Some(WebSocketFailure::Io("Invalid status line".to_owned()))
            }
            FailureKind::Refused => {
                let text = "Proxy connection setup error: Connection refused";
                Some(WebSocketFailure::Io(text.to_owned()))
            }
            _ => None,
        }
    }
}

impl Tunnel for Connect<'_> {
    fn head(&self, target: &Target) -> Vec<u8> {
        let (host, port) = (&target.host, target.port);
        let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}\r\n");
        let ProxyChoice { user, password, .. } = self.choice;
        if !user.is_empty() && !password.is_empty() {
            let credentials = STANDARD.encode(format!("{user}:{password}"));
            head.push_str("Proxy-Authorization: Basic ");
            head.push_str(&credentials);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn challenged(&self, _refusal: &Incoming, _target: &Target) -> bool {
        false
    }
}
