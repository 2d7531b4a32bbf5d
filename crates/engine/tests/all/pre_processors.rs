//! Changes of HTTP Requests on their way: pre-processors, the GraphQL window, Login Config. The expectations were
//! seen in JMeter 5.6.3.

use crate::support::{get, group, run_group};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok};

const PAGE: &str = "<html><body><a href='javascript:x()'>0</a><a href='item?id=7&x=%20'>x</a><a href='/n;sid=42?a'>y</a><form action='/send'><input name=tok value='a+b'><select name=s><option value=1>one</select><textarea name=t>txt</textarea></form></body></html>";

fn page(request: &ReceivedRequest) -> Vec<ResponseStep> {
    vec![ResponseStep::Send(ok(if request.target == "/page" {
        PAGE
    } else {
        ""
    }))]
}

fn arguments(arguments: &[(&str, &str)]) -> String {
    let rows = arguments.iter().map(|(name, value)| {
        format!(
            r#"<elementProp name="{name}" elementType="HTTPArgument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#
        )
    });
    let rows: String = rows.collect();
    format!(
        r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp>"#
    )
}

/// The server's view of the request after that of a page, the same in two iterations.
fn asked(pre: &str, method: &str, path: &str, given: &[(&str, &str)]) -> String {
    let server = Server::start(page);
    let port = server.address().port();
    let next =
        get("next", port, path, &arguments(given), pre).replace(">GET<", &format!(">{method}<"));
    run_group(
        &group(1, 2, true),
        &(get("page", port, "/page", "", "") + &next),
        &[],
    );
    let requests = server
        .requests()
        .into_iter()
        .filter(|request| request.target != "/page");
    let mut lines: Vec<String> = requests
        .map(|request| {
            format!(
                "{} {}",
                request.target,
                String::from_utf8_lossy(&request.body)
            )
        })
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0], lines[1],
        "the sampler is as before in the next iteration"
    );
    lines.remove(0).trim_end().to_owned()
}

fn session(flags: &[&str]) -> String {
    let flags: String = flags
        .iter()
        .map(|flag| format!(r#"<boolProp name="{flag}">true</boolProp>"#))
        .collect();
    format!(
        r#"<URLRewritingModifier guiclass="x" testclass="URLRewritingModifier" testname="u"><stringProp name="argument_name">sid</stringProp>{flags}</URLRewritingModifier><hashTree/>"#
    )
}

#[test]
fn a_session_id_goes_into_one_sample() {
    assert_eq!(
        asked(&session(&[]), "GET", "/n", &[("sid", "old"), ("b", "c")]),
        "/n?b=c&sid=42%3Fa"
    );
    assert_eq!(
        asked(&session(&["path_extension"]), "GET", "/p", &[("b", "c")]),
        "/p;sid=42?b=c&a"
    );
    let short = session(&["path_extension", "path_extension_no_questionmark"]);
    assert_eq!(
        asked(&short, "GET", "/p;sid=1?q=z", &[]),
        "/p?q=z%3Bsid%3D42"
    );
}

#[test]
fn a_link_or_form_of_the_page_before_is_followed() {
    let anchor =
        r#"<AnchorModifier guiclass="x" testclass="AnchorModifier" testname="a"/><hashTree/>"#;
    assert_eq!(
        asked(anchor, "GET", "/it.*", &[("id", ".*")]),
        "/item?id=7&x=%20"
    );
    assert_eq!(
        asked(
            anchor,
            "POST",
            "/send",
            &[("tok", ".*"), ("s", "[0-9]"), ("t", "x")]
        ),
        "/send tok=a+b&s=1&t=x"
    );
    assert_eq!(asked(anchor, "GET", "/none", &[]), "/none");
}

#[test]
fn login_config_and_the_graphql_window_need_nothing_of_their_own() {
    let server = Server::start(page);
    let port = server.address().port();
    let login = r#"<ConfigTestElement guiclass="LoginConfigGui" testclass="ConfigTestElement" testname="l"><stringProp name="ConfigTestElement.username">u</stringProp><stringProp name="ConfigTestElement.password">p</stringProp></ConfigTestElement><hashTree/>"#;
    let body = r#"{"operationName":null,"query":"{ a }"}"#;
    let graphql = format!(
        r#"<HTTPSamplerProxy guiclass="GraphQLHTTPSamplerGui" testclass="HTTPSamplerProxy" testname="g">
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">false</boolProp><stringProp name="Argument.value">{}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp>
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/graphql</stringProp><stringProp name="HTTPSampler.method">POST</stringProp>
        <stringProp name="GraphQLHTTPSampler.query">{{ a }}</stringProp><boolProp name="HTTPSampler.postBodyRaw">true</boolProp></HTTPSamplerProxy><hashTree/>"#,
        body.replace('"', "&quot;")
    );
    let ran = run_group(&group(1, 1, true), &(login.to_owned() + &graphql), &[]);
    assert_eq!((ran.users, ran.column("responseCode")), (1, vec!["200"]));
    assert_eq!(String::from_utf8_lossy(&server.requests()[0].body), body);
}
