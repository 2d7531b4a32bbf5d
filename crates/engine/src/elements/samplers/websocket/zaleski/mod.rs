//! The WebSocket sampler of Maciej Zaleski, in its release 1.0.2.
//!
//! | file | what |
//! |---|---|
//! | `address.rs` | the address of a new connection |
//! | `link.rs` | a connection with its patterns, its latest messages and its log |
//! | `sampler.rs` | one sample (`WebSocketSampler#sample`) |

mod address;
mod link;
mod sampler;

use drumfire_elements::items;
use drumfire_elements::samplers::websocket_sampler as facts;
use drumfire_jmx::Value;

use self::address::{AddressTemplate, QueryArgument};
use self::sampler::ZaleskiSampler;
use crate::decode::Decoder;
use crate::elements::config::header_managers;
use crate::resolve::Element;
use crate::run::needs::Needs;

/// WebSocket Sampler (`JMeter.plugins.functional.samplers.websocket.WebSocketSampler`): connects, sends `requestPayload` if it
/// is not empty, and waits until `responsePattern` or `closeConncectionPattern` is found in a message, the server closes the
/// connection, or `responseTimeout` is over, which is no failure. The response holds the last `messageBacklog` (3) messages; the
/// response message tells the course of the sample. Bytes are ignored.
///
/// Properties: `serverAddress`, `serverPort`, `protocol` (`ws`, `wss`), `contextPath` (or a whole address),
/// `queryStringParameters`, `contentEncoding` (UTF-8), `connectionTimeout` (5000) and `responseTimeout` (20000) in milliseconds,
/// `streamingConnection`, `connectionId`. A streaming connection stays open for the user's next samplers with its id. It keeps the
/// patterns and the backlog of the sampler that opened it, and its messages are numbered on.
///
/// As in release 1.0.2 of the plugin, a connection that cannot be opened takes the whole connection timeout. Then a sample without
/// a payload succeeds after the response timeout; the program's log tells why there is no connection. The messages of a sample may take
/// `drumfire.http.max_body_bytes` of memory; if they take more, the connection is closed with the status 1009.
///
/// Differences: Header Managers in scope apply, as in later sources of the plugin. A failure shows its cause in place of Java's
/// stack trace. Between samples nothing is read from a streaming connection: messages that arrived are read, and pings answered,
/// by its next sample. A close pattern never delays a sample; in the plugin it takes 30 seconds more without a streaming connection.
/// A backlog of 0 keeps no message; the plugin hangs. A streaming connection ends with its user.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> ZaleskiSampler {
    if !d.text(facts::PROXY_ADDRESS.name).trim().is_empty() {
        let message = format!(
            "`{}` has no effect: the plugin connects without a proxy; clear the fields of the proxy",
            facts::PROXY_ADDRESS.name
        );
        d.warn("websocket-proxy", message);
    }
    ZaleskiSampler {
        address: AddressTemplate {
            server: d.template(facts::SERVER.name),
            port: d.template(facts::PORT.name),
            protocol: d.template(facts::PROTOCOL.name),
            path: d.template(facts::PATH.name),
            arguments: arguments(d),
        },
        encoding: d.optional(facts::ENCODING.name),
        payload: d.template(facts::PAYLOAD.name),
        connect_timeout: d.optional(facts::CONNECT_TIMEOUT.name),
        response_timeout: d.optional(facts::RESPONSE_TIMEOUT.name),
        streams: d.template(facts::STREAMING.name),
        connection_id: d.template(facts::CONNECTION_ID.name),
        response_pattern: d.template(facts::RESPONSE_PATTERN.name),
        close_pattern: d.template(facts::CLOSE_PATTERN.name),
        backlog: d.optional(facts::BACKLOG.name),
        headers: header_managers(d, configs),
        links: d.shared_state("websocket connections by id"),
        needs,
    }
}

fn arguments(d: &mut Decoder) -> Vec<QueryArgument> {
    let element = d.element;
    let Some(table) = element.props.element(facts::ARGUMENTS.name) else {
        return Vec::new();
    };
    let mut arguments = Vec::new();
    for row in table.props.list("Arguments.arguments") {
        let Value::Element(row) = &row.value else {
            continue;
        };
        // A plain `Argument` becomes an HTTPArgument that is encoded.
        let encode = if row.class == items::HTTP_ARGUMENT.class {
            row.props.str_or(items::ENCODE.name, "false")
        } else {
            "true".into()
        };
        arguments.push(QueryArgument {
            name: d.compile(&row.props.str(items::NAME.name)),
            value: d.compile(&row.props.str(items::VALUE.name)),
            metadata: d.compile(&row.props.str(items::METADATA.name)),
            encode: d.compile(&encode),
        });
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_proxy_that_the_plugin_does_not_use_is_told() {
        let findings = |proxy: &str| {
            let class = facts::CLASS;
            let xml = format!(
                r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="s"><stringProp name="proxyAddress">{proxy}</stringProp></{class}>"#
            );
            let decode = |d: &mut Decoder| decode(d, &[], Needs::default());
            let (_, _, findings) = fixture::decode_with_findings(&[], &xml, decode);
            findings
        };
        assert!(findings("").is_empty());
        let told = findings("proxy.test");
        assert_eq!(told.len(), 1);
        assert!(told[0].message.contains("`proxyAddress` has no effect"));
    }
}
