//! Imports OpenAPI 2 (Swagger), 3.0 and 3.1 in JSON or YAML: one request for each operation, with the description's
//! examples.

mod chain;
mod files;
mod schema;

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::draft::{Draft, DraftStep, Transaction};
use crate::exchange::{FormPart, Request, RequestBody};
use crate::input::FormatError;
use crate::options::{ImportError, ImportOptions};
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::url::{self, Address};
use chain::Operation;
use schema::{Example, OpenApiDocument};

const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// Whether a text looks like an API description in YAML.
pub fn is_yaml(text: &str) -> bool {
    text.lines()
        .take(200)
        .any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
}

/// The description as a value.
///
/// # Errors
/// The YAML is invalid.
pub fn parse_yaml(text: &str) -> Result<Value, FormatError> {
    serde_saphyr::from_str(text).map_err(|error: serde_saphyr::Error| match error.location() {
        Some(at) => {
            let (line, column) = (at.line(), at.column());
            format!("the YAML is broken at line {line}, column {column}").into()
        }
        None => "the YAML is broken".into(),
    })
}

/// A draft of a description and the files beside it that it refers to.
///
/// # Errors
/// The description contains no operation.
pub fn import(
    description: Value,
    file: &Path,
    options: &ImportOptions,
) -> Result<Draft, ImportError> {
    let Some(read) = options.read else {
        return of_one_file(&description, options);
    };
    let joined = files::join(description, file, read);
    let mut draft = of_one_file(&joined.description, options);
    match &mut draft {
        Ok(draft) => joined.lost.iter().for_each(|lost| draft.warn(lost)),
        Err(error) if !joined.lost.is_empty() => {
            error.message = format!("{}; {}", error.message, joined.lost.join("; "))
        }
        Err(_) => {}
    }
    draft
}

fn of_one_file(description: &Value, options: &ImportOptions) -> Result<Draft, ImportError> {
    let title = description
        .pointer("/info/title")
        .and_then(Value::as_str)
        .unwrap_or("API");
    let mut importer = Importer {
        document: OpenApiDocument::new(description),
        draft: Draft::new(crate::names::one_line(title)),
        names: VariableNames::default(),
        is_2: description.get("swagger").is_some(),
        base: Address::default(),
        prefix: PlanText::default(),
        operations: Vec::new(),
        path_variables: HashMap::new(),
    };
    importer.server(options)?;
    let Some(paths) = importer
        .document
        .resolve(&description["paths"])
        .as_object()
        .filter(|paths| !paths.is_empty())
    else {
        let error = ImportError::new("the description has no paths");
        return Err(match description.get("webhooks") {
            Some(_) => error.hint("webhooks are requests of the server, which a plan cannot send"),
            None => error.hint("name the file that has the `paths` of the API"),
        });
    };
    for (path, item) in paths {
        importer.path(path, item);
    }
    if importer.draft.steps().next().is_none() {
        return Err(ImportError::nothing(
            "the description has no operation",
            "Name the file that has the `paths` with their operations",
            &importer.draft,
        ));
    }
    let Importer {
        document,
        mut draft,
        operations,
        names,
        ..
    } = importer;
    chain::chain(&mut draft, &document, &operations, names);
    Ok(draft)
}

struct Importer<'d> {
    document: OpenApiDocument<'d>,
    draft: Draft,
    names: VariableNames,
    is_2: bool,
    base: Address,
    /// The prefix of every path.
    prefix: PlanText,
    operations: Vec<Operation<'d>>,
    /// Variables of parameters in paths, by what precedes them, by their name and by their value.
    path_variables: HashMap<(String, String), Vec<(PlanText, String)>>,
}

impl<'d> Importer<'d> {
    fn server(&mut self, options: &ImportOptions) -> Result<(), ImportError> {
        let root = self.document.root;
        let described = if self.is_2 {
            self.server_of_2()
        } else {
            self.server_of_3(&root["servers"][0])
        };
        let url = options.server.clone().or(described).unwrap_or_default();
        let relative = !url.contains("://");
        let whole = if relative {
            format!(
                "http://localhost{}{url}",
                if url.starts_with('/') { "" } else { "/" }
            )
        } else {
            url
        };
        let Some(address) = Address::parse(&whole) else {
            return Err(
                ImportError::new(format!("`{whole}` is not an address of a server"))
                    .hint("name the server: `--server URL`"),
            );
        };
        if relative {
            self.draft.warn("the description names no host: set the variable `host`, or import with `--server URL`");
        }
        let path = address.path.template();
        self.prefix = path.trim_end_matches('/').into();
        let host = self.names.take("host");
        self.draft
            .variable(&host, address.host.clone(), "The server");
        self.base = Address {
            host: PlanText::variable(&host),
            path: PlanText::default(),
            ..address
        };
        Ok(())
    }

    fn server_of_2(&self) -> Option<String> {
        let root = self.document.root;
        let base = root["basePath"].as_str().unwrap_or("");
        let Some(host) = root["host"].as_str() else {
            return Some(base.to_owned());
        };
        let schemes = root["schemes"].as_array().into_iter().flatten();
        let has_http_only = schemes.filter_map(Value::as_str).eq(["http"]);
        let scheme = if has_http_only { "http" } else { "https" };
        Some(format!("{scheme}://{host}{base}"))
    }

    /// The address with the defaults of its variables.
    fn server_of_3(&self, server: &Value) -> Option<String> {
        let mut url = server["url"].as_str()?.to_owned();
        for (name, variable) in server["variables"].as_object().into_iter().flatten() {
            let value = variable["default"]
                .as_str()
                .or_else(|| variable["enum"][0].as_str())
                .unwrap_or("");
            url = url.replace(&format!("{{{name}}}"), value);
        }
        Some(url)
    }

    fn path(&mut self, path: &str, item: &'d Value) {
        let item = self.document.resolve(item);
        let Some(operations) = item.as_object() else {
            return;
        };
        let shared = item["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        for (method, operation) in operations {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            let operation = self.document.resolve(operation);
            let parameters = self.parameters(operation, shared);
            let (step, variables, body) = self.operation(path, method, operation, &parameters);
            let tag = operation["tags"][0].as_str().map(str::to_owned);
            let transactions = &mut self.draft.transactions;
            let transaction_index = transactions.iter().position(|one| one.name == tag);
            let transaction = transaction_index.unwrap_or_else(|| {
                transactions.push(Transaction {
                    name: tag,
                    ..Transaction::default()
                });
                transactions.len() - 1
            });
            let steps = &mut transactions[transaction].steps;
            steps.push(step);
            self.operations.push(Operation {
                path: path.to_owned(),
                method: method.clone(),
                value: operation,
                place: (transaction, steps.len() - 1),
                variables,
                parameters,
                body,
            });
        }
    }

    fn operation(
        &mut self,
        path: &str,
        method: &str,
        operation: &'d Value,
        parameters: &[&'d Value],
    ) -> (DraftStep, Vec<(String, String)>, Option<Example>) {
        let mut address = self.base.clone();
        address.path = self.prefix.clone();
        let mut request = Request::new(&method.to_ascii_uppercase(), address);
        let text = |name: &str| operation[name].as_str().unwrap_or("");
        let name = [text("operationId"), text("summary")]
            .into_iter()
            .find(|name| !name.is_empty());
        request.name = Some(
            name.map(crate::names::one_line)
                .unwrap_or_else(|| format!("{} {path}", request.method)),
        );
        request.comment = text("description").to_owned();
        let (path, variables) = self.path_text(path, parameters);
        request.address.path.append(path);
        self.query(parameters, &mut request);
        self.fields(parameters, &mut request);
        let body = if self.is_2 {
            self.body_of_2(operation, parameters, &mut request);
            None
        } else {
            self.body_of_3(&operation["requestBody"], &mut request)
        };
        self.security(operation, &mut request);
        let expected_code = self.responses(operation, &mut request);
        let step = DraftStep {
            request,
            expected_code,
            ..DraftStep::default()
        };
        (step, variables, body)
    }

    /// The parameters of an operation. Its own replace those of its path.
    fn parameters(&self, operation: &'d Value, shared: &'d [Value]) -> Vec<&'d Value> {
        let declared = operation["parameters"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or(&[][..]);
        let mut all: Vec<&Value> = declared
            .iter()
            .map(|one| self.document.resolve(one))
            .collect();
        for parameter in shared {
            let parameter = self.document.resolve(parameter);
            let is_same = |declared: &&Value| {
                declared["name"] == parameter["name"] && declared["in"] == parameter["in"]
            };
            if !all.iter().any(is_same) {
                all.push(parameter);
            }
        }
        all
    }

    /// `/pets/{id}`, where a variable of the plan holds the parameter's example, and the parameters with their variables.
    fn path_text(
        &mut self,
        path: &str,
        parameters: &[&Value],
    ) -> (PlanText, Vec<(String, String)>) {
        let mut text = PlanText::default();
        let mut variables = Vec::new();
        // Some descriptions tell paths apart by a fragment.
        let path = path.split('#').next().unwrap_or("");
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            text.push(before);
            let described = parameters
                .iter()
                .find(|one| one["in"] == "path" && one["name"] == name);
            let value = described
                .map(|one| {
                    let value = self.document.value_of(one).text();
                    value.map_literals(url::encode_segment)
                })
                .unwrap_or_else(|| PlanText::from("1"));
            // The identifiers of two collections are different things, even if their examples are equal.
            let collection = path[..path.len() - rest.len() + before.len()].to_owned();
            let by_value = self
                .path_variables
                .entry((collection, name.to_owned()))
                .or_default();
            let variable = match by_value.iter().find(|(old, _)| *old == value) {
                Some((_, variable)) => variable.clone(),
                None => {
                    let variable = self.names.take(name);
                    by_value.push((value.clone(), variable.clone()));
                    let about = "From the path of the API";
                    self.draft
                        .variables
                        .push((variable.clone(), value, about.to_owned()));
                    variable
                }
            };
            text.append(PlanText::variable(&variable));
            variables.push((name.to_owned(), variable));
            rest = after;
        }
        text.push(rest);
        let mut is_query = false;
        let text = text.map_literals(|literal| match literal.split_once('?') {
            _ if is_query => url::sendable_query(literal),
            Some((path, query)) => {
                is_query = true;
                format!(
                    "{}?{}",
                    url::sendable_path(path),
                    url::sendable_query(query)
                )
            }
            None => url::sendable_path(literal),
        });
        (text, variables)
    }

    /// Required parameters, and optional ones that have an example.
    fn wanted<'p>(&self, parameters: &[&'p Value], place: &str) -> Vec<(&'p str, PlanText)> {
        let mut sent_parameters = Vec::new();
        for parameter in parameters.iter().filter(|one| one["in"] == place) {
            let is_required = parameter["required"].as_bool().unwrap_or(false);
            if let Some(name) = parameter["name"].as_str()
                && (is_required || self.document.has_example(parameter))
            {
                sent_parameters.push((name, self.document.value_of(parameter).text()));
            }
        }
        sent_parameters
    }

    fn query(&self, parameters: &[&Value], request: &mut Request) {
        for (name, value) in self.wanted(parameters, "query") {
            let value = value.map_literals(url::encode);
            request.address.add_parameter(name, value);
        }
    }

    fn fields(&mut self, parameters: &[&Value], request: &mut Request) {
        for (name, value) in self.wanted(parameters, "header") {
            // A description defines these three elsewhere.
            if !["accept", "content-type", "authorization"]
                .contains(&name.to_ascii_lowercase().as_str())
            {
                request.headers.push((name.into(), value));
            }
        }
        let cookies = self.wanted(parameters, "cookie");
        if !cookies.is_empty() {
            let mut field = PlanText::default();
            for (place, (name, value)) in cookies.into_iter().enumerate() {
                field.push(if place == 0 { "" } else { "; " });
                field.push(&format!("{name}="));
                field.append(value);
            }
            request.headers.push(("Cookie".into(), field));
        }
    }

    fn body_of_2(&mut self, operation: &Value, parameters: &[&Value], request: &mut Request) {
        if let Some(body) = parameters.iter().find(|one| one["in"] == "body") {
            let value = self.document.example(&body["schema"]);
            request.body = RequestBody::Raw(value.json());
            request.default_header("Content-Type", "application/json");
            return;
        }
        let root = self.document.root;
        let consumes = operation["consumes"]
            .as_array()
            .or(root["consumes"].as_array());
        let is_multipart =
            consumes.is_some_and(|kinds| kinds.iter().any(|kind| kind == "multipart/form-data"));
        let form: Vec<&&Value> = parameters
            .iter()
            .filter(|one| one["in"] == "formData")
            .collect();
        if form.is_empty() {
            return;
        }
        let has_file = form.iter().any(|one| one["type"] == "file");
        let named = form
            .iter()
            .filter_map(|one| Some((one["name"].as_str()?, *one)));
        request.body = if is_multipart || has_file {
            RequestBody::Multipart(
                named
                    .map(|(name, one)| {
                        if one["type"] == "file" {
                            file_part(name)
                        } else {
                            field_part(name, self.document.value_of(one).text())
                        }
                    })
                    .collect(),
            )
        } else {
            RequestBody::Form(
                named
                    .map(|(name, one)| (name.into(), self.document.value_of(one).text()))
                    .collect(),
            )
        };
    }

    /// Sets the body. Returns its value, if it is JSON or a form.
    fn body_of_3(&mut self, body: &'d Value, request: &mut Request) -> Option<Example> {
        let body = self.document.resolve(body);
        let content = body["content"]
            .as_object()
            .filter(|content| !content.is_empty())?;
        let (kind, media) = preferred(content);
        let value = self.document.media_example(media);
        if kind.starts_with("multipart/") {
            request.body = RequestBody::Multipart(self.multipart(media, &value));
            return None;
        } else if kind == "application/x-www-form-urlencoded" {
            request.body = RequestBody::Form(value.fields());
        } else if kind == "application/octet-stream" || kind.starts_with("image/") {
            request.body = RequestBody::File {
                path: "body.bin".into(),
                mime: kind.to_owned(),
            };
            return None;
        } else if kind.contains("json") || kind == "*/*" {
            let kind = if kind.contains('*') {
                "application/json"
            } else {
                kind
            };
            request.default_header("Content-Type", kind);
            request.body = RequestBody::Raw(value.json());
        } else {
            request.default_header("Content-Type", kind);
            request.body = RequestBody::Raw(value.text());
            self.draft.warn(format!(
                "bodies of `{kind}` are written as the example has them; without one they are empty"
            ));
            return None;
        }
        Some(match value {
            Example::Value(value) => Example::from(&value),
            value => value,
        })
    }

    fn multipart(&self, media: &Value, value: &Example) -> Vec<FormPart> {
        let schema = self.document.resolve(&media["schema"]);
        let is_file = |name: &str| {
            let property = self.document.resolve(&schema["properties"][name]);
            property["format"] == "binary" || property.get("contentMediaType").is_some()
        };
        let fields = value.fields().into_iter();
        fields
            .map(|(name, value)| {
                let name = name.template();
                if is_file(&name) {
                    file_part(&name)
                } else {
                    field_part(&name, value)
                }
            })
            .collect()
    }

    /// Adds the first alternative that a plan can send. Keys become variables.
    fn security(&mut self, operation: &Value, request: &mut Request) {
        let root = self.document.root;
        let wanted = operation.get("security").unwrap_or(&root["security"]);
        let Some(requirement) = wanted[0].as_object() else {
            return;
        };
        let schemes = if self.is_2 {
            &root["securityDefinitions"]
        } else {
            &root["components"]["securitySchemes"]
        };
        for name in requirement.keys() {
            let scheme = self.document.resolve(&schemes[name.as_str()]);
            let kind = scheme["type"].as_str().unwrap_or("");
            let variable = if kind == "apiKey" {
                "api_key"
            } else {
                chain::TOKEN
            };
            match (
                kind,
                scheme["scheme"]
                    .as_str()
                    .unwrap_or("")
                    .to_ascii_lowercase()
                    .as_str(),
            ) {
                ("basic", _) | ("http", "basic") => {
                    self.draft.variable("user", "", "For HTTP Basic");
                    self.draft.variable("password", "", "For HTTP Basic");
                    request.auth = Some(crate::exchange::Auth {
                        user: PlanText::variable("user"),
                        password: PlanText::variable("password"),
                        mechanism: "BASIC",
                    });
                }
                ("apiKey", _) => {
                    let field = scheme["name"].as_str().unwrap_or("X-API-Key");
                    self.draft.variable(variable, "", "The key of the API");
                    if scheme["in"] == "query" {
                        let value = PlanText::variable(variable);
                        request.address.add_parameter(field, value);
                    } else if scheme["in"] == "header" {
                        request
                            .headers
                            .push((field.into(), PlanText::variable(variable)));
                    }
                }
                ("http" | "oauth2" | "openIdConnect", _) => {
                    self.draft.variable(chain::TOKEN, "", "A bearer token");
                    let mut field = PlanText::from("Bearer ");
                    field.append(PlanText::variable(variable));
                    request.headers.push(("Authorization".into(), field));
                }
                _ => self.draft.warn(format!(
                    "security scheme `{name}` is not known: its requests are sent without it"
                )),
            }
        }
    }

    /// The expected response codes as a pattern. Also sets `Accept` to the described content type.
    fn responses(&self, operation: &Value, request: &mut Request) -> String {
        let Some(responses) = operation["responses"].as_object() else {
            return String::new();
        };
        let good: Vec<&String> = responses
            .keys()
            .filter(|code| code.starts_with(['2', '3']))
            .collect();
        let kinds = good.iter().filter_map(|code| {
            let response = self.document.resolve(&responses[code.as_str()]);
            response["content"].as_object()?.keys().next()
        });
        if let Some(kind) = kinds.into_iter().next() {
            request.default_header("Accept", kind.as_str());
        }
        let codes: Vec<String> = good
            .iter()
            .filter(|code| code.len() == 3)
            .map(|code| code.replace(['X', 'x'], "\\d"))
            .collect();
        codes.join("|")
    }
}

fn preferred(content: &Map<String, Value>) -> (&str, &Value) {
    let json = content.iter().find(|(kind, _)| kind.contains("json"));
    let chosen = json
        .or_else(|| content.iter().find(|(kind, _)| kind.contains("form")))
        .or_else(|| content.iter().next());
    chosen
        .map(|(kind, media)| (kind.split(';').next().unwrap_or("").trim(), media))
        .unwrap_or(("", &Value::Null))
}

fn file_part(name: &str) -> FormPart {
    FormPart::File {
        name: name.into(),
        path: format!("{name}.bin").into(),
        content: None,
        mime: "application/octet-stream".to_owned(),
    }
}

fn field_part(name: &str, value: PlanText) -> FormPart {
    FormPart::Field {
        name: name.into(),
        value,
        mime: String::new(),
    }
}

#[cfg(test)]
mod tests;
