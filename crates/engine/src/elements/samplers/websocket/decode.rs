//! The plan's properties of the WebSocket samplers and their frame filters.

use drumfire_expr::Template;

use super::filter::{self, Filter};
use super::sampler::WebSocketSampler;
use crate::decode::Decoder;
use crate::elements::config::header_managers;
use crate::elements::config::{Manager, manager};
use crate::elements::samplers::http::proxy::GeneralProxy;
use crate::resolve::Element;
use crate::run::needs::Needs;

/// The actions of the samplers.
pub enum WebSocketAction {
    Open,
    RequestResponse(Payload),
    Read {
        wanted: DataType,
        optional: Template,
    },
    Write(Payload),
    PingPong {
        pong_only: bool,
    },
    Close {
        status: Option<Template>,
    },
}

/// The address of a new connection.
pub struct WebSocketAddress {
    /// `createNewConnection`; `None` means always.
    pub when: Option<Template>,
    pub tls: Template,
    pub server: Template,
    pub port: Option<Template>,
    pub path: Template,
}

/// The data that is sent.
pub struct Payload {
    pub kind: PayloadType,
    pub data: Template,
    pub from_file: Template,
    pub file: Template,
}

/// `DataPayloadType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadType {
    Binary,
    Text,
    /// Text in which `^@` stands for a zero byte.
    TextStomp,
}

/// `SingleReadWebSocketSampler.DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    Text,
    Binary,
    Any,
}

/// WebSocket Open Connection (`eu.luminis.jmeter.wssampler.OpenWebSocketSampler`): opens the user's only WebSocket connection,
/// and closes an earlier one.
///
/// Properties: `TLS`, `server`, `port`, `path`, `connectTimeout` (20000) and `readTimeout` (6000) in milliseconds. Header and
/// Cookie Managers in scope apply.
///
/// Differences, of all WebSocket samplers: the timestamp of a sample that sends nothing is the time at which it ran; a user's
/// connection ends with the user, whatever `websocket.thread.stop.policy` says. As in version 1.3 of the plugin, nothing is sent
/// compressed, and messages are inflated if a Header Manager asks for `permessage-deflate`. The system properties
/// `http.proxyHost`, `http.proxyPort` and `http.nonProxyHosts` name a proxy, which is used by CONNECT, with `http.proxyUser` and
/// `http.proxyPass`. The read timeout also limits the wait for the proxy.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> WebSocketSampler {
    let class = d
        .element
        .class
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_owned();
    let deed = match class.as_str() {
        "RequestResponseWebSocketSampler" => request_response(d),
        "SingleReadWebSocketSampler" => single_read(d),
        "SingleWriteWebSocketSampler" => single_write(d),
        "PingPongSampler" => ping_pong(d),
        "CloseWebSocketSampler" => close(d),
        _ => WebSocketAction::Open,
    };
    let address = match deed {
        WebSocketAction::PingPong { .. } | WebSocketAction::Close { .. } => None,
        WebSocketAction::Open => Some(address(d, None)),
        _ => {
            // The only sampler whose default is true.
            let default = matches!(deed, WebSocketAction::RequestResponse(_));
            let when = d
                .optional("createNewConnection")
                .unwrap_or_else(|| Template::raw(if default { "true" } else { "false" }));
            Some(address(d, Some(when)))
        }
    };
    let properties = &d.settings().properties;
    let counts_filtered =
        properties.get_bool("websocket.result.size_includes_filtered_frames", false);
    let disabled = properties.get_bool("subresults.disable_renaming", false);
    let proxy = GeneralProxy::read(properties);
    let cookies = configs
        .iter()
        .rev()
        .find_map(|config| match manager(d, config.id) {
            Some(Manager::Cookies(manager)) => Some(manager),
            _ => None,
        });
    WebSocketSampler {
        deed,
        address,
        connect_timeout: d.optional("connectTimeout"),
        read_timeout: d.optional("readTimeout"),
        headers: header_managers(d, configs),
        cookies,
        proxy,
        client: d.shared_state("websocket client"),
        filters: filters(d, configs),
        counts_filtered,
        rename_children: !disabled && !d.decoding.save_config.functional_mode,
        needs,
    }
}

/// WebSocket Request-Response (`eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler`): sends a message and takes the next
/// frame, which must be of the same type, as the response.
///
/// Properties: those of WebSocket Open Connection, `createNewConnection`, `payloadType` (`Text`, `Binary`, `TextStomp`; or
/// `binaryPayload`), `requestData`, `loadDataFromFile` and `dataFile`.
fn request_response(d: &mut Decoder) -> WebSocketAction {
    WebSocketAction::RequestResponse(payload(d))
}

/// WebSocket Single Read (`eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler`): takes the next frame as the response. The
/// variable `websocket.last_frame_final` tells whether it is the last of its message.
///
/// Properties: those of WebSocket Open Connection, `createNewConnection`, `dataType` (`Text`, `Binary`, `Any`; or
/// `binaryPayload`), `optional` (no frame in time is no failure).
fn single_read(d: &mut Decoder) -> WebSocketAction {
    let wanted = match &*d.text("dataType") {
        "Any" => DataType::Any,
        "Binary" => DataType::Binary,
        "" if d.bool("binaryPayload", false) => DataType::Binary,
        _ => DataType::Text,
    };
    WebSocketAction::Read {
        wanted,
        optional: d.template("optional"),
    }
}

/// WebSocket Single Write (`eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler`): sends a message without waiting for an
/// answer.
///
/// Properties: those of WebSocket Request-Response, without `readTimeout`.
fn single_write(d: &mut Decoder) -> WebSocketAction {
    WebSocketAction::Write(payload(d))
}

/// WebSocket Ping/Pong (`eu.luminis.jmeter.wssampler.PingPongSampler`): sends a ping and waits for the pong, or sends a pong.
///
/// Properties: `type` (`PingPong` or `Pong`), `readTimeout`.
fn ping_pong(d: &mut Decoder) -> WebSocketAction {
    WebSocketAction::PingPong {
        pong_only: d.text("type") == "Pong",
    }
}

/// WebSocket Close (`eu.luminis.jmeter.wssampler.CloseWebSocketSampler`): sends a close frame and waits for the answer, which is
/// the response.
///
/// Properties: `statusCode` (1000), `readTimeout`.
fn close(d: &mut Decoder) -> WebSocketAction {
    WebSocketAction::Close {
        status: d.optional("statusCode"),
    }
}

fn address(d: &mut Decoder, when: Option<Template>) -> WebSocketAddress {
    WebSocketAddress {
        when,
        tls: d.template("TLS"),
        server: d.template("server"),
        port: d.optional("port"),
        path: d.template("path"),
    }
}

/// `WebsocketGeneralSampler#getType`.
fn payload(d: &mut Decoder) -> Payload {
    let kind = match &*d.text("payloadType") {
        "Binary" => PayloadType::Binary,
        "TextStomp" => PayloadType::TextStomp,
        "" if d.bool("binaryPayload", false) => PayloadType::Binary,
        _ => PayloadType::Text,
    };
    Payload {
        kind,
        data: d.template("requestData"),
        from_file: d.template("loadDataFromFile"),
        file: d.template("dataFile"),
    }
}

fn filters(d: &mut Decoder, configs: &[&Element]) -> Vec<Filter> {
    let filters = configs
        .iter()
        .filter_map(|config| filter::decode(d, config));
    filters.collect()
}
