use serde_json::json;

use super::*;

#[test]
fn folders_variables_authorization_and_scripts() {
    let collection = json!({
        "info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]},
        "variable": [{"key": "unused", "value": 5}],
        "item": [
            {"name": "Orders", "item": [
                {"name": "List", "request": {"method": "GET", "url": {"raw": "{{base}}/orders/:id?x={{$guid}}&off=1", "variable": [{"key": "id", "value": "7"}],
                    "query": [{"key": "x", "value": "{{$guid}}"}, {"key": "off", "value": "1", "disabled": true}]}},
                 "event": [{"listen": "test", "script": {"exec": ["const body = pm.response.json();", "pm.environment.set(\"order\", body.items[0].id);",
                    "pm.test(\"ok\", function () {", "    pm.response.to.have.status(200);", "});", "doSomething();"]}}]},
                {"name": "Open", "request": {"auth": {"type": "noauth"}, "method": "post", "url": "http://{{host}}:8080/a b",
                    "body": {"mode": "raw", "raw": "{\"n\": {{order}}}", "options": {"raw": {"language": "json"}}}}}
            ]},
            "nonsense"
        ]
    });
    let environment = json!({"name": "test", "values": [{"key": "base", "value": "https://shop.example", "enabled": true}]});
    assert!(is_environment(&environment) && !is_environment(&collection));
    let draft = import(&collection, &[environment]).expect("requests");
    assert_eq!(draft.transactions.len(), 1);
    assert_eq!(draft.transactions[0].name.as_deref(), Some("Orders"));
    let [list, open] = draft.transactions[0].steps.as_slice() else {
        panic!("two requests")
    };
    assert_eq!(
        list.request.address.path.template(),
        "${base}/orders/7?x=${__UUID}"
    );
    assert_eq!(list.request.headers[0].1.template(), "Bearer ${token}");
    assert_eq!(list.expected_code, "200");
    assert_eq!(
        list.extractors[0].source,
        ExtractorSource::Json("$.items[0].id".to_owned())
    );
    assert_eq!(open.request.method, "POST");
    assert_eq!(open.request.address.path.template(), "/a%20b");
    assert_eq!(
        open.request.body,
        RequestBody::Raw(text("{\"n\": {{order}}}"))
    );
    assert!(
        open.request
            .headers
            .iter()
            .all(|(name, _)| name.literal() != Some("Authorization"))
    );
    assert_eq!(
        draft.warnings,
        ["scripts of `List` are not carried over: 1 line"]
    );
    assert_eq!(draft.left_out.values().sum::<usize>(), 1);
}

#[test]
fn bodies_of_every_kind() {
    let request = |body: Value| {
        let collection =
            json!({"item": [{"request": {"method": "POST", "url": "http://h/", "body": body}}]});
        let draft = import(&collection, &[]).expect("a request");
        draft
            .steps()
            .next()
            .expect("a request")
            .request
            .body
            .clone()
    };
    let form = request(
        json!({"mode": "urlencoded", "urlencoded": [{"key": "a", "value": "1"}, {"key": "b", "value": "2", "disabled": true}]}),
    );
    assert_eq!(form, RequestBody::Form(vec![("a".into(), "1".into())]));
    let parts = request(
        json!({"mode": "formdata", "formdata": [{"key": "f", "type": "file", "src": ["/x/y.png"]}, {"key": "t", "value": "v"}]}),
    );
    assert!(matches!(parts, RequestBody::Multipart(parts) if parts.len() == 2));
    let query = request(
        json!({"mode": "graphql", "graphql": {"query": "{ a(x: \"1\") }", "variables": "{\"v\": {{v}}}"}}),
    );
    assert_eq!(
        query,
        RequestBody::Raw({
            let mut body = PlanText::from("{\"query\":\"{ a(x: \\\"1\\\") }\",\"variables\":");
            body.append(text("{\"v\": {{v}}}"));
            body.push("}");
            body
        })
    );
}

#[test]
fn version_1_and_empty_collections_are_refused() {
    assert!(import(&json!({"requests": [], "order": []}), &[]).is_err());
    assert!(import(&json!({"item": []}), &[]).is_err());
    assert!(
        import(
            &json!({"item": [{"name": "x", "request": {"url": ""}}]}),
            &[]
        )
        .is_err()
    );
}

#[test]
fn later_requests_send_the_variables_that_scripts_set() {
    let event = |listen: &str, script: &str| json!({"listen": listen, "script": {"exec": script}});
    let request = |name: &str, events: Value| {
        json!({"name": name, "event": events, "request": {"method": "GET", "url": "http://h/{{id}}",
            "header": [{"key": "Authorization", "value": "{{auth}}"}, {"key": "X", "value": "{{trace}}-{{kind}}"}]}})
    };
    let collection = json!({"item": [
        request("first", json!([
            event("prerequest", "pm.environment.set('trace', pm.variables.replaceIn('{{$guid}}'));"),
            event("test", "const { data: { } , t } = 0;\nlet j = pm.response.json();\npm.environment.set('auth', `Bearer ${j.token}`);\npm.environment.set('id', j.id);\npm.environment.set('kind', 'a');\nunknown(j);"),
        ])),
        request("second", json!([])),
        request("third", json!([event("test", "other();")])),
    ]});
    let draft = import(&collection, &[]).expect("requests");
    let steps: Vec<&DraftStep> = draft.steps().collect();
    let variables: Vec<&str> = steps[0]
        .extractors
        .iter()
        .map(|one| one.variable.as_str())
        .collect();
    assert_eq!(variables, ["auth_1", "id"]);
    let assigned = &steps[0].assigned[0];
    assert_eq!(
        (assigned.0.as_str(), assigned.1.template().as_str()),
        ("trace", "${__UUID}")
    );
    let sent = |place: usize| -> Vec<String> {
        let headers = &steps[place].request.headers;
        headers.iter().map(|(_, value)| value.template()).collect()
    };
    assert_eq!(sent(1), ["Bearer ${auth_1}", "${trace}-a"]);
    assert_eq!(
        draft.warnings,
        ["scripts of `first` and 1 more are not carried over: 3 lines"]
    );
    let plan = drumfire_jmx::outline(&draft.tree(""));
    assert!(plan.contains("Values of this request"), "{plan}");
}
