//! Transfers the settings of an HTTP Request and its user's cookies between Rust and Java. Java's side is `Requests.java`
//! and `Cookies.java`.

use std::time::Duration;

use drumfire_engine::java::{Cookie, Request, RequestArgument, RequestFile, SeenCookie};

use crate::wire::{WireReader, WireWriter};

pub fn write(request: &Request) -> Vec<u8> {
    let mut out = WireWriter::default();
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
    out.flag(request.raw_body)
        .flag(request.multipart)
        .flag(request.browser_compatible);
    for limit in [request.connect_timeout, request.response_timeout] {
        out.large(limit.map(|limit| limit.as_millis() as i64).unwrap_or(-1));
    }
    out.number(request.files.len() as i32);
    for file in &request.files {
        out.text(Some(&file.path))
            .text(Some(&file.param_name))
            .text(Some(&file.mime_type));
    }
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
    out.flag(request.has_header_manager);
    out.text(request.cookie_policy.as_deref());
    out.done()
}

/// Java writes the path after the method, and the port after the domain.
pub fn read(bytes: &[u8]) -> Request {
    let mut reader = WireReader::new(bytes);
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
    request.multipart = reader.flag();
    request.browser_compatible = reader.flag();
    let mut limit = || {
        u64::try_from(reader.large())
            .ok()
            .map(Duration::from_millis)
    };
    request.connect_timeout = limit();
    request.response_timeout = limit();
    for _ in 0..reader.number() {
        let mut text = || reader.text().unwrap_or_default().to_owned();
        request.files.push(RequestFile {
            path: text(),
            param_name: text(),
            mime_type: text(),
        });
    }
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
    request.has_header_manager = reader.flag();
    request.cookie_policy = reader.text().map(str::to_owned);
    request
}

pub fn write_cookies(cookies: &[SeenCookie]) -> Vec<u8> {
    let mut out = WireWriter::default();
    out.number(cookies.len() as i32);
    for SeenCookie { cookie, written } in cookies {
        out.text(Some(&cookie.name)).text(Some(&cookie.value));
        out.text(Some(&cookie.domain)).text(Some(&cookie.path));
        out.flag(cookie.secure).large(cookie.expires_s);
        out.flag(cookie.path_specified)
            .flag(cookie.domain_specified);
        out.number(cookie.version);
        out.text(written.as_deref());
    }
    out.done()
}

pub fn read_cookies(bytes: &[u8]) -> Vec<Cookie> {
    let mut reader = WireReader::new(bytes);
    let count = reader.number();
    let cookies = (0..count).map(|_| {
        let mut text = || Box::from(reader.text().unwrap_or_default());
        let cookie = Cookie {
            name: text(),
            value: text(),
            domain: text(),
            path: text(),
            secure: reader.flag(),
            expires_s: reader.large(),
            path_specified: reader.flag(),
            domain_specified: reader.flag(),
            version: reader.number(),
        };
        reader.text();
        cookie
    });
    cookies.collect()
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
            multipart: true,
            response_timeout: Some(Duration::from_millis(500)),
            files: vec![RequestFile {
                path: "f".into(),
                param_name: "up".into(),
                mime_type: "text/plain".into(),
            }],
            arguments: vec![RequestArgument {
                name: "a".into(),
                value: "b".into(),
                metadata: "=".into(),
                content_type: "text/plain".into(),
                always_encode: true,
            }],
            headers: vec![("X".into(), "y".into())],
            has_header_manager: true,
            cookie_policy: Some("standard".into()),
            ..Request::default()
        };
        assert_eq!(read(&write(&request)), request);
    }

    #[test]
    fn cookies_come_back() {
        let cookie = Cookie {
            name: "n".into(),
            value: "v".into(),
            domain: "d".into(),
            path: "/".into(),
            secure: true,
            expires_s: 1 << 40,
            path_specified: false,
            domain_specified: true,
            version: 1,
        };
        let seen = [None, Some("${v}".into())].map(|written| SeenCookie {
            cookie: cookie.clone(),
            written,
        });
        assert_eq!(
            read_cookies(&write_cookies(&seen)),
            [cookie.clone(), cookie]
        );
        assert!(read_cookies(&write_cookies(&[])).is_empty());
    }
}
