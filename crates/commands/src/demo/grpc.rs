//! The gRPC service of the demo site, `drumfire.demo.Greeter`, with reflection. It has the port of HTTP: a connection that begins
//! with HTTP/2 is one of gRPC.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use drumfire_grpc::{
    Method, PrintStyle, Schema, compile_texts, descriptors, messages_of, put_frame,
};
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Request, Response};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::shop::Shop;

/// How HTTP/2 connections begin.
const PREFACE: &[u8] = b"PRI ";
/// The highest number to which the service counts.
const MOST_NUMBERS: i64 = 1000;
/// The largest request, in bytes.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// The descriptors of the service, and the schema of it and of reflection.
static SERVICE: LazyLock<Option<(Vec<String>, Schema)>> = LazyLock::new(|| {
    const GREETER: (&str, &str) = ("greeter.proto", include_str!("greeter.proto"));
    const REFLECTION: (&str, &str) = ("reflection.proto", include_str!("reflection.proto"));
    let greeter = compile_texts(&[GREETER]).ok()?;
    let both = compile_texts(&[GREETER, REFLECTION]).ok()?;
    let files = descriptors(&greeter);
    let encoded = files.iter().map(|file| BASE64_STANDARD.encode(file));
    Some((encoded.collect(), Schema::of(&both).ok()?))
});

/// Whether a connection speaks HTTP/2 from its first byte.
pub(super) async fn is_asked(stream: &TcpStream) -> bool {
    let mut start = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut start).await {
            Ok(0) | Err(_) => return false,
            Ok(count) if start[..count] != PREFACE[..count] => return false,
            Ok(count) if count == PREFACE.len() => return true,
            // The rest of the preface is on its way.
            Ok(_) => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
        }
    }
}

/// Serves a connection.
pub(super) async fn serve(stream: TcpStream, shop: &Shop) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        shop.requests.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // A client that goes away ends its call.
            let _ = answer(request, respond).await;
        });
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let (head, mut body) = request.into_parts();
    let mut frames = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        frames.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len())?;
        if frames.len() > MAX_REQUEST_BYTES {
            respond.send_reset(h2::Reason::REFUSED_STREAM);
            return Ok(());
        }
    }
    let replies = replies(head.uri.path(), &frames);
    let mut response = Response::new(());
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/grpc"));
    let Some(replies) = replies else {
        headers.insert("grpc-status", HeaderValue::from_static("12"));
        headers.insert(
            "grpc-message",
            HeaderValue::from_static("the demo site has no such method"),
        );
        return respond.send_response(response, true).map(drop);
    };
    let mut stream = respond.send_response(response, false)?;
    if !replies.is_empty() {
        stream.send_data(replies.into(), false)?;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    stream.send_trailers(trailers)
}

/// The frames that answer those of a request; `None` if there is no such method.
fn replies(path: &str, frames: &[u8]) -> Option<Vec<u8>> {
    let (files, schema) = SERVICE.as_ref()?;
    let method = schema.method(path.strip_prefix('/')?).ok()?;
    let mut out = Vec::new();
    for message in messages_of(frames) {
        let mut text = String::new();
        let style = PrintStyle {
            defaults: true,
            own_names: true,
        };
        schema.print(message, method.input, style, &mut text).ok()?;
        let asked: Value = serde_json::from_str(&text).ok()?;
        for reply in spoken(method, &asked, files) {
            let encoded = schema.encode(&reply.to_string(), method.output).ok()?;
            put_frame(&mut out, &encoded);
        }
    }
    Some(out)
}

/// The messages that answer one.
fn spoken(method: &Method, asked: &Value, files: &[String]) -> Vec<Value> {
    match &*method.name {
        "Hello" => {
            let name = asked["name"].as_str().filter(|name| !name.is_empty());
            vec![json!({ "message": format!("Hello, {}!", name.unwrap_or("world")) })]
        }
        "Count" => {
            let to = asked["to"].as_i64().unwrap_or(0).min(MOST_NUMBERS);
            (1..=to).map(|value| json!({ "value": value })).collect()
        }
        _ if asked["file_containing_symbol"] != "" => {
            vec![json!({ "file_descriptor_response": { "file_descriptor_proto": files } })]
        }
        _ => vec![
            json!({ "list_services_response": { "service": [{ "name": "drumfire.demo.Greeter" }] } }),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_answer_with_their_messages() {
        let (_, schema) = SERVICE.as_ref().expect("its files are sound");
        let ask = |name: &str, json: &str| -> Vec<String> {
            let method = schema.method(name).expect("it is there");
            let mut frames = Vec::new();
            put_frame(
                &mut frames,
                &schema.encode(json, method.input).expect("it fits"),
            );
            let replies = replies(&method.path(), &frames).expect("an answer");
            let style = PrintStyle {
                defaults: true,
                own_names: true,
            };
            let print = |message| {
                let mut text = String::new();
                schema
                    .print(message, method.output, style, &mut text)
                    .expect("a message");
                text.replace([' ', '\n'], "")
            };
            messages_of(&replies).map(print).collect()
        };
        assert_eq!(
            ask("drumfire.demo.Greeter/Hello", "{name: Ann}"),
            [r#"{"message":"Hello,Ann!"}"#]
        );
        assert_eq!(
            ask("drumfire.demo.Greeter/Count", "{to: 2}"),
            [r#"{"value":1}"#, r#"{"value":2}"#]
        );
        let files = ask(
            "ServerReflection/ServerReflectionInfo",
            "{file_containing_symbol: x}",
        );
        assert!(files[0].contains("file_descriptor_proto"), "{files:?}");
        assert_eq!(replies("/a/b", &[]), None);
    }
}
