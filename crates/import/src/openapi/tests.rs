use serde_json::json;

use super::*;

fn steps(description: Value) -> Vec<DraftStep> {
    let draft = of_one_file(&description, &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    draft.steps().cloned().collect()
}

#[test]
fn version_3_with_references_cycles_and_examples() {
    let steps = steps(json!({
        "openapi": "3.1.0",
        "info": {"title": "Pets"},
        "servers": [{"url": "https://{region}.pets.example/v1", "variables": {"region": {"default": "eu"}}}],
        "security": [{"key": []}],
        "paths": {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 3}}],
                "put": {
                    "operationId": "update", "tags": ["pets"],
                    "parameters": [{"name": "dry", "in": "query", "example": "a b"}, {"name": "no", "in": "query", "schema": {"type": "string"}}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                    "responses": {"200": {"content": {"application/json": {}}}, "404": {}}
                }
            },
            "/copy": {"$ref": "#/paths/~1pets~1%7Bid%7D"}
        },
        "components": {
            "schemas": {"Pet": {"type": "object", "properties": {
                "name": {"type": "string", "example": "Rex"}, "code": {"type": "string", "format": "uuid"},
                "id": {"type": "integer", "readOnly": true}, "parent": {"$ref": "#/components/schemas/Pet"},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}}}}},
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        }
    }));
    assert_eq!(steps.len(), 2);
    let request = &steps[0].request;
    assert_eq!(
        (request.name.as_deref(), request.method.as_str()),
        (Some("update"), "PUT")
    );
    assert_eq!(request.address.path.template(), "/v1/pets/${id}?dry=a%20b");
    assert_eq!(request.address.host.template(), "${host}");
    assert_eq!(steps[0].expected_code, "200");
    let RequestBody::Raw(body) = &request.body else {
        panic!("a body")
    };
    let body = body.template();
    assert!(
        body.starts_with("{\n  \"name\": \"Rex\",\n  \"code\": \"${__UUID}\""),
        "{body}"
    );
    assert!(!body.contains("\"id\""), "{body}");
    let fields: Vec<String> = request
        .headers
        .iter()
        .map(|(name, value)| format!("{}: {}", name.template(), value.template()))
        .collect();
    assert_eq!(
        fields,
        [
            "Content-Type: application/json",
            "X-Key: ${api_key}",
            "Accept: application/json"
        ]
    );
}

#[test]
fn version_2() {
    let steps = steps(json!({
        "swagger": "2.0", "host": "h.example", "basePath": "/api", "schemes": ["http"],
        "paths": {"/login": {"post": {
            "parameters": [{"name": "user", "in": "formData", "type": "string", "default": "ann"}, {"name": "body", "in": "header", "type": "string"}]}},
            "/up": {"post": {"parameters": [{"name": "f", "in": "formData", "type": "file"}]}}}
    }));
    assert_eq!(steps[0].request.address.scheme.template(), "http");
    assert_eq!(steps[0].request.address.path.template(), "/api/login");
    assert_eq!(
        steps[0].request.body,
        RequestBody::Form(vec![("user".into(), "ann".into())])
    );
    assert!(matches!(steps[1].request.body, RequestBody::Multipart(_)));
}

#[test]
fn yaml_is_read_too() {
    let text = "openapi: 3.0.0\ninfo: {title: x}\nservers: [{url: /v1}]\npaths:\n  /a:\n    get:\n      responses:\n        '200': {description: ok}\n";
    assert!(is_yaml(text));
    let value = parse_yaml(text).expect("YAML");
    let draft = of_one_file(&value, &ImportOptions::default()).expect("an operation");
    assert_eq!(draft.steps().count(), 1);
    assert_eq!(draft.warnings.len(), 1, "{:?}", draft.warnings);
}

#[test]
fn descriptions_without_requests_are_refused() {
    for description in [
        json!({"openapi": "3.1.0", "webhooks": {"x": {}}}),
        json!({"openapi": "3.0.0", "paths": {}}),
        json!({"openapi": "3.0.0", "paths": {"/a": {"x-own": 1}}}),
    ] {
        assert!(
            of_one_file(&description, &ImportOptions::default()).is_err(),
            "{description}"
        );
    }
}

#[test]
fn schemas_that_multiply_stay_small() {
    let properties: Map<String, Value> = (0..12)
        .map(|n| (format!("p{n}"), json!({"$ref": "#/components/schemas/N"})))
        .collect();
    let steps = steps(
        json!({"openapi": "3.0.0", "paths": {"/a": {"post": {"requestBody": {"content": {"application/json":
        {"schema": {"$ref": "#/components/schemas/N"}}}}}}},
        "components": {"schemas": {"N": {"type": "object", "properties": properties}}}}),
    );
    let RequestBody::Raw(body) = &steps[0].request.body else {
        panic!("a body")
    };
    assert!(body.template().len() < 2_000_000);
}

/// A folder of files for [`files::join`].
fn beside(path: &Path) -> std::io::Result<Vec<u8>> {
    let text = match path.to_str() {
        Some("api/paths/a.yaml") => {
            "get:\n  operationId: one\n  parameters:\n  - $ref: ../p.json#/list/0\n  - $ref: '#/own'\nown: {in: query, name: o, required: true, example: 1}\n"
        }
        Some("api/p.json") => {
            r##"{"list": [{"in": "query", "name": "q", "required": true, "schema": {"$ref": "api.yaml#/components/schemas/Q"}}]}"##
        }
        Some("api/other.yaml") => "a: [",
        _ => return Err(std::io::ErrorKind::NotFound.into()),
    };
    Ok(text.into())
}

#[test]
fn files_that_refer_to_each_other_are_one_description() {
    let text = "openapi: 3.0.0\npaths:\n  /a: {$ref: paths/a.yaml}\n  /b: {get: {$ref: './paths/a.yaml#/get'}}\n\
                \n  /c: {get: {$ref: ../up.yaml}}\n  /d: {get: {$ref: 'http://h/x.yaml'}}\n  /e: {get: {$ref: other.yaml}}\n\
                \n  /f: {get: {$ref: /etc/passwd}}\n  /g: {get: {$ref: none.yaml}}\ncomponents: {schemas: {Q: {type: string, example: deep}}}\n";
    let value = parse_yaml(text).expect("YAML");
    let options = ImportOptions {
        read: Some(beside),
        ..ImportOptions::default()
    };
    let draft = import(value, Path::new("api/api.yaml"), &options).expect("operations");
    let first: Vec<String> = draft
        .steps()
        .take(2)
        .map(|step| step.request.address.path.template())
        .collect();
    assert_eq!(first, ["/a?q=deep&o=1", "/b?q=deep&o=1"]);
    let lost: Vec<&str> = draft.warnings.iter().map(String::as_str).collect();
    let told = |part: &str| lost.iter().filter(|line| line.contains(part)).count();
    assert_eq!(told("lies outside the folder"), 2, "{lost:?}");
    assert_eq!(told("is on another machine"), 1, "{lost:?}");
    assert_eq!(told("is neither JSON nor YAML"), 1, "{lost:?}");
    assert_eq!(told("`$ref: none.yaml` does not exist"), 1, "{lost:?}");
}

fn extractors(step: &DraftStep) -> Vec<String> {
    let shown = |one: &crate::extractor::Extractor| format!("{}: {:?}", one.variable, one.source);
    step.extractors.iter().map(shown).collect()
}

fn labels(steps: &[DraftStep]) -> Vec<String> {
    steps.iter().map(|step| step.request.label()).collect()
}

#[test]
fn identifiers_and_tokens_go_from_response_to_request() {
    let with = |schema: Value| json!({"responses": {"201": {"content": {"application/json": {"schema": schema}}}}});
    let object = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    let mut log_in = with(json!({"properties": {"data": object("accessToken")}}));
    log_in["operationId"] = json!("logIn");
    let mut orders = with(json!({"$ref": "#/components/schemas/Order"}));
    orders["responses"]["201"]["links"] = json!({"Bill": {"operationId": "bill", "parameters": {"number": "$response.body#/bill/no"}}});
    let steps = steps(json!({
        "openapi": "3.0.0", "servers": [{"url": "http://h"}], "security": [{"b": []}],
        "paths": {
            "/carts/{cartId}": {"delete": {}, "get": {}},
            "/carts/{cartId}/items/{id}": {"get": {}},
            "/carts/{cartId}/items": {"get": with(json!({"type": "array", "items": object("id")}))},
            "/carts": {"post": with(json!({"allOf": [object("id")]}))},
            "/bills/{number}": {"get": {"operationId": "bill"}},
            "/orders/{id}": {"get": {}},
            "/orders": {"post": orders},
            "/files/{name}": {"get": {}},
            "/files": {"post": {"responses": {"201": {"headers": {"Location": {}}}}}},
            "/user/session": {"post": log_in}
        },
        "components": {
            "schemas": {"Order": object("id")},
            "securitySchemes": {"b": {"type": "http", "scheme": "bearer"}}
        }
    }));
    let names = labels(&steps);
    let place = |name: &str| {
        names
            .iter()
            .position(|own| own == name)
            .unwrap_or_else(|| panic!("{name}: {names:?}"))
    };
    assert_eq!(place("logIn"), 0);
    assert!(steps[0].request.header("authorization").is_none());
    assert_eq!(
        extractors(&steps[0]),
        ["token: Json(\"$.data.accessToken\")"]
    );
    assert!(place("POST /carts") < place("GET /carts/{cartId}"));
    assert_eq!(place("DELETE /carts/{cartId}"), names.len() - 1);
    let of = |name: &str| extractors(&steps[place(name)]);
    assert_eq!(of("POST /carts"), ["cartId: Json(\"$.id\")"]);
    assert_eq!(of("GET /carts/{cartId}/items"), ["id: Json(\"$[0].id\")"]);
    assert_eq!(
        of("POST /orders"),
        ["number: Json(\"$['bill']['no']\")", "id_2: Json(\"$.id\")"]
    );
    assert_eq!(
        of("POST /files"),
        [
            "name: Header { pattern: \"(?i)Location: .*/([^/?#\\\\s]+)\", number: 1, in_redirects: false }"
        ]
    );
    let order = steps[place("GET /orders/{id}")]
        .request
        .address
        .path
        .template();
    assert_eq!(order, "/orders/${id_2}");
}

#[test]
fn a_token_without_a_log_in_comes_from_its_oauth_flow() {
    let steps = steps(json!({
        "openapi": "3.0.0", "servers": [{"url": "http://h"}], "security": [{"o": []}], "paths": {"/a": {"get": {}}},
        "components": {"securitySchemes": {"o": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example/t"}}}}}
    }));
    assert_eq!(labels(&steps), ["Get a token", "GET /a"]);
    let RequestBody::Form(fields) = &steps[0].request.body else {
        panic!("a form")
    };
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", name.template(), value.template()))
        .collect();
    assert_eq!(
        fields,
        [
            "grant_type=client_credentials",
            "client_id=${client_id}",
            "client_secret=${client_secret}"
        ]
    );
    assert_eq!(extractors(&steps[0]), ["token: Json(\"$.access_token\")"]);
}

#[test]
fn links_lead_to_queries_headers_cookies_and_bodies() {
    let parameter = |place: &str, name: &str, example: &str| json!({"in": place, "name": name, "required": true, "example": example});
    let body = json!({"content": {"application/json": {"schema": {"properties": {
        "cart": {"type": "integer"}, "note": {"type": "string"}, "deep": {"properties": {"no": {"type": "integer"}}}
    }}}}});
    let links = json!({
        "Search": {"operationId": "search", "parameters": {
            "cursor": "$response.body#/next", "query.page": 2, "header.X-Trace": "$response.header.X-Trace", "sid": "$response.body#/sid"
        }},
        "Whole": {"operationId": "whole", "requestBody": "$response.body"},
        "Parts": {"operationId": "parts", "requestBody": {"note": "$response.body#/next", "deep": {"no": "{$response.body#/no}"}}},
        "Field": {"operationId": "field", "parameters": {"cart": "$response.body#/no"}},
        "Form": {"operationId": "form", "requestBody": {"a": "$response.body#/next", "b": "c"}}
    });
    let form = json!({"content": {"application/x-www-form-urlencoded": {"schema": {"properties": {"a": {"type": "string"}}}}}});
    let steps = steps(json!({
        "openapi": "3.0.0", "servers": [{"url": "http://h"}],
        "paths": {
            "/new": {"post": {"operationId": "new", "responses": {"201": {"links": links}}}},
            "/search": {
                "parameters": [parameter("cookie", "sid", "0"), parameter("query", "q", "a&b")],
                "get": {"operationId": "search", "parameters": [parameter("query", "cursor", "x/y"), parameter("header", "X-Trace", "t")]}
            },
            "/whole": {"post": {"operationId": "whole"}},
            "/parts": {"post": {"operationId": "parts", "requestBody": body}},
            "/field": {"post": {"operationId": "field", "requestBody": body}},
            "/form": {"post": {"operationId": "form", "requestBody": form}}
        }
    }));
    let step = |name: &str| {
        let found = steps.iter().find(|step| step.request.label() == name);
        found.unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(
        extractors(step("new")),
        [
            "cursor: Json(\"$['next']\")",
            "X_Trace: Header { pattern: \"(?i)X-Trace: (.+)\", number: 1, in_redirects: false }",
            "sid: Json(\"$['sid']\")",
            "body: Json(\"$\")",
            "no: Json(\"$['no']\")"
        ]
    );
    let search = &step("search").request;
    assert_eq!(
        search.address.path.template(),
        "/search?cursor=${__urlencode(${cursor})}&q=a%26b&page=2"
    );
    let fields: Vec<String> = search
        .headers
        .iter()
        .map(|(name, value)| format!("{}: {}", name.template(), value.template()))
        .collect();
    assert_eq!(fields, ["Cookie: sid=${sid}", "X-Trace: ${X_Trace}"]);
    let sent = |name: &str| match &step(name).request.body {
        RequestBody::Raw(body) => body.template().split_whitespace().collect::<String>(),
        RequestBody::Form(fields) => {
            let fields = fields.iter();
            let fields =
                fields.map(|(name, value)| format!("{}={}", name.template(), value.template()));
            fields.collect::<Vec<_>>().join("&")
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(sent("whole"), "${body}");
    assert_eq!(sent("parts"), r#"{"note":"${cursor}","deep":{"no":${no}}}"#);
    let field = sent("field");
    assert!(field.starts_with(r#"{"cart":${no},"#), "{field}");
    assert_eq!(sent("form"), "a=${cursor}&b=c");
}

/// Found by fuzzing: the collection was cut at a place that the fragment had moved.
#[test]
fn a_fragment_does_not_move_the_collection_of_an_identifier() {
    let steps = steps(json!({
        "openapi": "3.0.0",
        "paths": {
            "/pets/{id}#é{x}": {"get": {}},
            "/pets/{id}/toys#b": {"get": {}}
        }
    }));
    let paths = steps
        .iter()
        .map(|step| step.request.address.path.template());
    let paths: Vec<String> = paths.map(|path| path.to_string()).collect();
    assert_eq!(paths, ["/pets/${id}", "/pets/${id}/toys"]);
}
