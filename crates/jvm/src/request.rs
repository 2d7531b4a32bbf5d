//! The settings of an HTTP Request on their way between Rust and Java. Java's side is `Requests.java`.

use drumfire_engine::java::{Request, RequestArgument};

use crate::wire::{Reader, Writer};

pub fn write(request: &Request) -> Vec<u8> {
    let mut out = Writer::default();
    for text in [
        &request.name,
        &request.protocol,
        &request.domain,
        &request.port,
        &request.method,
        &request.path,
        &request.content_encoding,
    ] {
        out.text(Some(text));
    }
    out.flag(request.raw_body);
    out.number(request.arguments.len() as i32);
    for argument in &request.arguments {
        out.text(Some(&argument.name)).text(Some(&argument.value));
        out.text(Some(&argument.metadata))
            .text(Some(&argument.content_type));
        out.flag(argument.always_encode);
    }
    out.number(request.headers.len() as i32);
    for (name, value) in &request.headers {
        out.text(Some(name)).text(Some(value));
    }
    out.done()
}

/// Java writes the path after the method, and the port after the domain.
pub fn read(bytes: &[u8]) -> Request {
    let mut reader = Reader::new(bytes);
    let mut text = || reader.text().unwrap_or_default().to_owned();
    let mut request = Request {
        name: text(),
        protocol: text(),
        domain: text(),
        port: text(),
        method: text(),
        path: text(),
        content_encoding: text(),
        ..Request::default()
    };
    request.raw_body = reader.flag();
    for _ in 0..reader.number() {
        let mut text = || reader.text().unwrap_or_default().to_owned();
        request.arguments.push(RequestArgument {
            name: text(),
            value: text(),
            metadata: text(),
            content_type: text(),
            always_encode: reader.flag(),
        });
    }
    for _ in 0..reader.number() {
        let mut text = || reader.text().unwrap_or_default().to_owned();
        request.headers.push((text(), text()));
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back() {
        let request = Request {
            name: "n".into(),
            domain: "h".into(),
            port: "80".into(),
            method: "POST".into(),
            path: "/p".into(),
            raw_body: true,
            arguments: vec![RequestArgument {
                name: "a".into(),
                value: "b".into(),
                metadata: "=".into(),
                content_type: "text/plain".into(),
                always_encode: true,
            }],
            headers: vec![("X".into(), "y".into())],
            ..Request::default()
        };
        assert_eq!(read(&write(&request)), request);
    }
}
