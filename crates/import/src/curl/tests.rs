use super::*;

fn one(command: &str) -> Request {
    let draft = import(command).expect("a request");
    let steps: Vec<DraftStep> = draft.steps().cloned().collect();
    assert_eq!(steps.len(), 1, "{command}");
    steps[0].request.clone()
}

fn path(request: &Request) -> String {
    request.address.path.template()
}

#[test]
fn methods_and_bodies_as_curl_chooses_them() {
    assert_eq!(one("curl shop.example/x").method, "GET");
    let form = one("curl http://h/ -d a=1 --data-urlencode 'b=x y&z'");
    assert_eq!(form.method, "POST");
    assert_eq!(
        form.body,
        RequestBody::Form(vec![("a".into(), "1".into()), ("b".into(), "x y&z".into())])
    );
    let json = one("curl http://h/ --json '{\"a\":1}'");
    assert_eq!(json.body, RequestBody::Raw("{\"a\":1}".into()));
    assert_eq!(json.header("content-type"), Some("application/json"));
    let get = one("curl -G http://h/p?x=1 -d a=1 --url-query 'b=c d'");
    assert_eq!(
        (get.method.as_str(), path(&get)),
        ("GET", "/p?x=1&b=c%20d&a=1".to_owned())
    );
    assert_eq!(one("curl -I h").method, "HEAD");
    assert_eq!(one("curl -XDELETE h").method, "DELETE");
    assert_eq!(one("curl -T file.bin h").method, "PUT");
    assert_eq!(
        one("curl -sSLk -XPOST h -d @body.json").body,
        RequestBody::File {
            path: "body.json".into(),
            mime: String::new()
        }
    );
}

#[test]
fn fields_that_would_not_survive_a_form_are_sent_raw() {
    let raw = one("curl h -H 'Content-Type: application/json' -d '{\"a\":\"b=c\"}'");
    assert_eq!(raw.body, RequestBody::Raw("{\"a\":\"b=c\"}".into()));
    assert_eq!(
        one("curl h -d plain").body,
        RequestBody::Raw("plain".into())
    );
    assert_eq!(
        one("curl h -d 'a=%zz'").body,
        RequestBody::Raw("a=%zz".into())
    );
}

#[test]
fn addresses_and_headers_as_curl_makes_them() {
    for (command, sent) in [
        ("curl -T a/b.txt http://h/d/", "/d/b.txt"),
        ("curl -T b.txt 'http://h/d/?x=1'", "/d/b.txt?x=1"),
        ("curl -T b.txt http://h/d", "/d"),
        ("curl -T - http://h/", "/"),
        ("curl -G -d a=b 'http://h/?'", "/?a=b"),
        ("curl --url-query a=b 'http://h/?c=d&'", "/?c=d&a=b"),
        ("curl http://h/a/../b", "/b"),
        ("curl --path-as-is http://h/a/../b", "/a/../b"),
    ] {
        assert_eq!(path(&one(command)), sent, "{command}");
    }
    for range in ["600-", "600"] {
        let part = one(&format!("curl -r {range} http://h/"));
        assert_eq!(part.header("range"), Some("bytes=600-"));
    }
    // JMeter would put these fields into the address.
    for method in ["GET", "DELETE"] {
        let request = one(&format!("curl -X {method} -d a=b http://h/"));
        assert_eq!(request.body, RequestBody::Raw("a=b".into()), "{method}");
        let kind = request.header("content-type");
        assert_eq!(kind, Some("application/x-www-form-urlencoded"));
    }
    for (file, kind) in [
        ("a.JPG", "image/jpeg"),
        ("b.bin", "application/octet-stream"),
    ] {
        let request = one(&format!("curl -F f=@{file} http://h/"));
        let RequestBody::Multipart(parts) = request.body else {
            panic!("parts")
        };
        let [FormPart::File { mime, .. }] = &parts[..] else {
            panic!("a file: {parts:?}")
        };
        assert_eq!(mime, kind);
    }
}

#[test]
fn multipart() {
    let request = one(
        "curl h -F 'name=Ann' -F 'photo=@me.png;type=image/png' -F 'note=<note.txt' --form-string 'at=@home'",
    );
    let RequestBody::Multipart(parts) = request.body else {
        panic!("{:?}", request.body)
    };
    assert_eq!(
        parts[1],
        FormPart::File {
            name: "photo".into(),
            path: "me.png".into(),
            content: None,
            mime: "image/png".into()
        }
    );
    assert!(
        matches!(&parts[2], FormPart::Field { value, .. } if value.template() == "${__FileToString(note.txt)}")
    );
    assert!(matches!(&parts[3], FormPart::Field { value, .. } if value.literal() == Some("@home")));
}

#[test]
fn credentials() {
    assert_eq!(
        one("curl -u ann:secret h").header("authorization"),
        Some("Basic YW5uOnNlY3JldA==")
    );
    assert_eq!(
        one("curl --oauth2-bearer t h").header("authorization"),
        Some("Bearer t")
    );
    let digest = one("curl --digest -u a:b h").auth.expect("credentials");
    assert_eq!(digest.mechanism, "DIGEST");
}

#[test]
fn unknown_options_are_told_and_do_no_harm() {
    let draft = import(
        "curl --frobnicate --http2 --retry 3 http://h/ -H 'Content-Length: 5' -H 'X-Empty;'",
    )
    .expect("a request");
    assert_eq!(draft.warnings.len(), 3, "{:?}", draft.warnings);
    let request = draft.steps().next().expect("a request").request.clone();
    assert_eq!(
        request.headers,
        [(PlanText::from("X-Empty"), PlanText::default())]
    );
}

#[test]
fn several_commands_and_next() {
    let draft = import("$ curl http://h/1\nls -l\ncurl http://h/2 --next -d a=b http://h/3 http://h/4\ncurl ftp://h/").expect("requests");
    let paths: Vec<String> = draft.steps().map(|step| path(&step.request)).collect();
    assert_eq!(paths, ["/1", "/2", "/3", "/4"]);
    assert_eq!(draft.left_out.len(), 2, "{:?}", draft.left_out);
    assert!(import("curl --help").is_err());
    assert!(import("wget http://h/").is_err());
    assert!(!is_curl("{\"log\":{}}"));
    assert!(is_curl("curl 'http://h/'"));
}
