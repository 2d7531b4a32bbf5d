//! Chains the operations of a description: the identifier that one returns is what another has in its path, by `links` or by
//! name, and the log-in returns the token that the others send.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::schema::{Example, OpenApiDocument};
use crate::draft::{Draft, DraftStep, Transaction};
use crate::exchange::{Request, RequestBody};
use crate::extractor::{Extractor, ExtractorSource};
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::url::Address;

/// An operation with its step in the draft.
pub struct Operation<'d> {
    pub path: String,
    pub method: String,
    pub value: &'d Value,
    /// Transaction and step.
    pub place: (usize, usize),
    /// The parameters of the path, each with its variable.
    pub variables: Vec<(String, String)>,
    /// All parameters.
    pub parameters: Vec<&'d Value>,
    /// The value of its body, if that is JSON or a form.
    pub body: Option<Example>,
}

/// The name of the variable that bearer tokens come from.
pub const TOKEN: &str = "token";

/// Properties that hold a token.
const TOKENS: [&str; 10] = [
    "access_token",
    "accessToken",
    "token",
    "id_token",
    "idToken",
    "jwt",
    "jwtToken",
    "authToken",
    "auth_token",
    "bearerToken",
];

/// Parts of the path or of the name of an operation that logs in, the clearest first.
const LOG_IN: [&str; 7] = [
    "login", "log-in", "signin", "sign-in", "token", "session", "auth",
];

/// Properties that hold the identifier of what a response is about.
const IDENTIFIERS: [&str; 6] = ["id", "uuid", "_id", "key", "code", "slug"];

pub fn chain(
    draft: &mut Draft,
    document: &OpenApiDocument<'_>,
    operations: &[Operation<'_>],
    names: VariableNames,
) {
    let chain = OperationChain {
        document,
        operations,
    };
    let mut found_links = Found {
        names,
        ..Found::default()
    };
    chain.by_links(&mut found_links);
    for (target, filling) in std::mem::take(&mut found_links.fillings) {
        let (transaction, step) = operations[target].place;
        fill(
            &mut draft.transactions[transaction].steps[step].request,
            filling,
        );
    }
    chain.by_names(&mut found_links);
    let mut makers = HashSet::new();
    for (from, extractor) in found_links.extractors {
        let (transaction, step) = operations[from].place;
        draft.transactions[transaction].steps[step]
            .extractors
            .push(extractor);
        makers.insert(operations[from].place);
    }
    let log_in = chain.log_in(draft);
    order(draft, operations, &makers, log_in);
}

/// What comes from responses, each with the operation that gets it.
#[derive(Default)]
struct Found {
    extractors: Vec<(usize, Extractor)>,
    variables: HashSet<String>,
    /// The parts of requests that come from responses, each with the operation that sends it.
    fillings: Vec<(usize, Filling)>,
    names: VariableNames,
}

/// A part of a request and the value that it gets.
enum Filling {
    Query(String, PlanText),
    Header(String, PlanText),
    Cookie(String, PlanText),
    Body(Example),
}

impl Found {
    /// Adds an extractor, unless its variable has one.
    fn add(&mut self, from: usize, variable: &str, source: ExtractorSource) {
        if self.variables.insert(variable.to_owned()) {
            let variable = variable.to_owned();
            self.extractors.push((from, Extractor { variable, source }));
        }
    }

    /// The variable that gets a value from a response; it may have one already.
    fn variable_of(&mut self, from: usize, source: ExtractorSource, name: &str) -> String {
        let extractor = self
            .extractors
            .iter()
            .find(|(place, one)| *place == from && one.source == source);
        if let Some((_, one)) = extractor {
            return one.variable.clone();
        }
        let variable = self.names.take(name);
        self.add(from, &variable, source);
        variable
    }
}

struct OperationChain<'o, 'd> {
    document: &'o OpenApiDocument<'d>,
    operations: &'o [Operation<'d>],
}

impl<'d> OperationChain<'_, 'd> {
    /// The successful responses of an operation.
    fn responses(&self, operation: &Operation<'d>) -> Vec<&'d Value> {
        let all = operation.value["responses"].as_object();
        let good = all
            .into_iter()
            .flatten()
            .filter(|(code, _)| code.starts_with('2'));
        good.map(|(_, response)| self.document.resolve(response))
            .collect()
    }

    /// Follows the `links` of responses, whose expressions name parts of the response.
    fn by_links(&self, found: &mut Found) {
        for (from, operation) in self.operations.iter().enumerate() {
            for response in self.responses(operation) {
                for link in response["links"].as_object().into_iter().flatten() {
                    let link = self.document.resolve(link.1);
                    if let Some(target) = self.target(link) {
                        self.by_link(from, link, target, found);
                    }
                }
            }
        }
    }

    /// Follows a link to an operation: to parameters of its path, its query, its header and its cookies, and to its body.
    fn by_link(&self, from: usize, link: &Value, target: usize, found: &mut Found) {
        let operation = &self.operations[target];
        let mut body = operation.body.clone();
        let mut has_body = false;
        if let Some(value) = link.get("requestBody") {
            // The whole of a response is no text in quotes.
            let before = body.take().unwrap_or(Example::Object(Vec::new()));
            body = Some(filled(value, Some(&before), "body", from, found));
            has_body = true;
        }
        for (parameter, value) in link["parameters"].as_object().into_iter().flatten() {
            let (location, name) = match parameter.split_once('.') {
                Some((location @ ("path" | "query" | "header" | "cookie"), name)) => {
                    (location, name)
                }
                _ => (self.place_of(operation, parameter), parameter.as_str()),
            };
            let variables = &mut operation.variables.iter();
            let variable =
                variables.find(|(own, _)| matches!(location, "path" | "") && own == name);
            if let Some((_, variable)) = variable {
                if let Some(source) = value.as_str().and_then(source) {
                    found.add(from, variable, source);
                }
                continue;
            }
            let name = name.to_owned();
            let mut text = || filled(value, None, &name, from, found).text();
            let filling = match location {
                "query" => Filling::Query(name.clone(), text()),
                "header" => Filling::Header(name.clone(), text()),
                "cookie" => Filling::Cookie(name.clone(), text()),
                // Many descriptions name a property of the body.
                _ => {
                    let fields = match body.as_mut() {
                        Some(Example::Object(fields)) => fields,
                        _ => continue,
                    };
                    if let Some((_, field)) = fields.iter_mut().find(|(own, _)| *own == name) {
                        *field = filled(value, Some(field), &name, from, found);
                        has_body = true;
                    }
                    continue;
                }
            };
            found.fillings.push((target, filling));
        }
        if let Some(body) = body.filter(|_| has_body) {
            found.fillings.push((target, Filling::Body(body)));
        }
    }

    /// Where an operation has a parameter of this name; empty if it has none.
    fn place_of(&self, operation: &Operation<'d>, name: &str) -> &'d str {
        let mut parameters = operation.parameters.iter();
        let parameter = parameters.find(|one| one["name"] == name);
        parameter.and_then(|one| one["in"].as_str()).unwrap_or("")
    }

    /// The operation to which a link leads.
    fn target(&self, link: &Value) -> Option<usize> {
        let mut all = self.operations.iter();
        if let Some(id) = link["operationId"].as_str() {
            return all.position(|one| one.value["operationId"] == id);
        }
        let (_, reference) = link["operationRef"].as_str()?.split_once("#/paths/")?;
        let (path, method) = reference.rsplit_once('/')?;
        let path = percent_encoding::percent_decode_str(path)
            .decode_utf8_lossy()
            .replace("~1", "/")
            .replace("~0", "~");
        all.position(|one| one.path == path && one.method == method)
    }

    /// Takes the identifier in `/carts/{cartId}` from the response that creates a cart, or else from a list of carts, or else
    /// from any response that has a property of that name.
    fn by_names(&self, found: &mut Found) {
        let operations = || self.operations.iter().enumerate();
        let mut by_path: HashMap<(&str, &str), usize> = HashMap::new();
        let mut by_property: HashMap<String, (usize, String)> = HashMap::new();
        for (from, operation) in operations() {
            by_path.insert((&operation.path, &operation.method), from);
            for schema in self.schemas(operation) {
                for (name, path) in self.properties(schema) {
                    by_property.entry(name).or_insert((from, path));
                }
            }
        }
        for (_, operation) in operations() {
            for (parameter, variable) in &operation.variables {
                let sign = format!("/{{{parameter}}}");
                let Some((collection, _)) = operation.path.split_once(&sign) else {
                    continue;
                };
                if found.variables.contains(variable) {
                    continue;
                }
                let of_collection = |method: &str| {
                    let from = *by_path.get(&(collection, method))?;
                    let creator = &self.operations[from];
                    Some((from, self.identifier(creator, collection, parameter)?))
                };
                let anywhere = || {
                    let (from, path) = by_property.get(parameter)?;
                    let variables = &self.operations[*from].variables;
                    let is_special = !IDENTIFIERS.contains(&parameter.as_str())
                        && !variables.iter().any(|(_, name)| name == variable);
                    is_special.then(|| (*from, ExtractorSource::Json(path.clone())))
                };
                let source = of_collection("post").or_else(|| of_collection("get"));
                if let Some((from, source)) = source.or_else(anywhere) {
                    found.add(from, variable, source);
                }
            }
        }
    }

    /// The schemas of an operation's successful responses.
    fn schemas(&self, operation: &Operation<'d>) -> Vec<&'d Value> {
        let responses = self.responses(operation).into_iter();
        let schemas = responses.filter_map(|response| {
            let content = response["content"].as_object();
            let media = content.and_then(|content| content.values().next());
            let schema = media
                .map(|media| &media["schema"])
                .unwrap_or(&response["schema"]);
            (!schema.is_null()).then(|| self.document.resolve(schema))
        });
        schemas.collect()
    }

    /// Where the responses of an operation on a collection have the identifier of an item.
    fn identifier(
        &self,
        operation: &Operation<'d>,
        collection: &str,
        parameter: &str,
    ) -> Option<ExtractorSource> {
        let last = collection.rsplit('/').next().unwrap_or("");
        let item = last.strip_suffix('s').unwrap_or(last);
        let of_item = [format!("{item}Id"), format!("{item}_id")];
        let mut names = vec![parameter];
        names.extend(of_item.iter().map(String::as_str));
        names.extend(IDENTIFIERS);
        let mut schemas = self.schemas(operation).into_iter();
        if let Some(path) = schemas.find_map(|schema| self.property(schema, &names)) {
            return Some(ExtractorSource::Json(path));
        }
        let has_location = self.responses(operation).into_iter().any(|response| {
            let fields = response["headers"].as_object();
            fields.is_some_and(|fields| {
                fields
                    .keys()
                    .any(|name| name.eq_ignore_ascii_case("location"))
            })
        });
        has_location.then(|| ExtractorSource::header("(?i)Location: .*/([^/?#\\s]+)".to_owned()))
    }

    /// The path to the first of the properties.
    fn property(&self, schema: &Value, names: &[&str]) -> Option<String> {
        let all = self.properties(schema);
        names.iter().find_map(|name| {
            let value = all.iter().find(|(own, _)| own == name);
            value.map(|(_, path)| path.clone())
        })
    }

    /// The properties of the object, of the first item of a list, or of one in an envelope such as `data`, each with its
    /// path. Outer ones come first.
    fn properties(&self, schema: &Value) -> Vec<(String, String)> {
        const ENVELOPES: [&str; 8] = [
            "data", "result", "results", "items", "content", "payload", "response", "value",
        ];
        let mut all = Vec::new();
        let mut open = vec![(self.document.resolve(schema), "$".to_owned(), 0)];
        while let Some((schema, path, depth)) = open.pop() {
            if depth > 3 {
                continue;
            }
            if schema.get("items").is_some() {
                let item = self.document.resolve(&schema["items"]);
                open.push((item, format!("{path}[0]"), depth + 1));
            }
            let parts = schema["allOf"].as_array().into_iter().flatten();
            let named = parts
                .map(|part| self.document.resolve(part))
                .chain([schema])
                .filter_map(|part| part["properties"].as_object());
            for (name, inner) in named.flatten() {
                let inside = format!("{path}.{name}");
                if ENVELOPES.contains(&name.as_str()) {
                    open.push((self.document.resolve(inner), inside.clone(), depth + 1));
                }
                all.push((name.clone(), inside));
            }
        }
        all
    }

    /// Takes the token from the operation that logs in, or else adds the request of an OAuth flow. Returns the place of the
    /// step.
    fn log_in(&self, draft: &mut Draft) -> Option<(usize, usize)> {
        draft.variables.iter().find(|(name, _, _)| name == TOKEN)?;
        let mut candidates = Vec::new();
        for operation in self.operations.iter().filter(|one| one.method == "post") {
            let names = format!("{} {}", operation.path, operation.value["operationId"])
                .to_ascii_lowercase();
            let rank = LOG_IN.iter().position(|part| names.contains(part));
            let mut schemas = self.schemas(operation).into_iter();
            let path = schemas.find_map(|schema| self.property(schema, &TOKENS));
            candidates.extend(
                rank.zip(path)
                    .map(|(rank, path)| (rank, operation.place, path)),
            );
        }
        let best = candidates.into_iter().min_by_key(|(rank, _, _)| *rank);
        let (step_index, path) = match best {
            Some((_, index, path)) => (index, path),
            None => (self.token_request(draft)?, "$.access_token".to_owned()),
        };
        let step = &mut draft.transactions[step_index.0].steps[step_index.1];
        step.extractors.push(Extractor {
            variable: TOKEN.to_owned(),
            source: ExtractorSource::Json(path),
        });
        // Whoever logs in has no token yet.
        let headers = &mut step.request.headers;
        headers.retain(|(name, _)| !name.is_named("authorization"));
        Some(step_index)
    }

    /// Adds the request for a token by client credentials or by a password.
    fn token_request(&self, draft: &mut Draft) -> Option<(usize, usize)> {
        let root = self.document.root;
        let all = root["components"]["securitySchemes"]
            .as_object()
            .or(root["securityDefinitions"].as_object())?;
        let (url, grant) = all.values().find_map(|scheme| {
            let scheme = self.document.resolve(scheme);
            let flow = |name: &str| scheme["flows"][name]["tokenUrl"].as_str();
            let of_2 = |name: &str| {
                scheme["tokenUrl"]
                    .as_str()
                    .filter(|_| scheme["flow"] == name)
            };
            let machine = flow("clientCredentials").or_else(|| of_2("application"));
            let person = || flow("password").or_else(|| of_2("password"));
            let machine = machine.map(|url| (url, "client_credentials"));
            machine.or_else(|| Some((person()?, "password")))
        })?;
        let mut request = Request::new("POST", Address::parse(url)?);
        request.name = Some("Get a token".to_owned());
        let mut fields: Vec<(PlanText, PlanText)> = vec![("grant_type".into(), grant.into())];
        let person = ["username", "password"]
            .iter()
            .filter(|_| grant == "password");
        for name in ["client_id", "client_secret"].iter().chain(person) {
            draft.variable(name, "", "For the token");
            fields.push(((*name).into(), PlanText::variable(name)));
        }
        request.body = RequestBody::Form(fields);
        draft.transactions.push(Transaction {
            steps: vec![DraftStep {
                request,
                expected_code: "200".to_owned(),
                ..DraftStep::default()
            }],
            ..Transaction::default()
        });
        Some((draft.transactions.len() - 1, 0))
    }
}

/// A value of a link, in which expressions become variables that responses fill. `before` is the value that the request has
/// there; without one, a variable in JSON is a text.
fn filled(
    value: &Value,
    before: Option<&Example>,
    name: &str,
    from: usize,
    found: &mut Found,
) -> Example {
    match value {
        Value::String(text) => match source(text) {
            Some(source) => Example::Variable {
                name: found.variable_of(from, source, name),
                is_text: before.is_none_or(Example::is_text),
            },
            None => Example::Value(value.clone()),
        },
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let before = before.and_then(|before| before.field(name));
                (name.clone(), filled(value, before, name, from, found))
            });
            Example::Object(fields.collect())
        }
        Value::Array(items) => Example::List(
            items
                .iter()
                .map(|item| filled(item, None, name, from, found))
                .collect(),
        ),
        value => Example::Value(value.clone()),
    }
}

/// Writes a value into a request.
fn fill(request: &mut Request, filling: Filling) {
    match filling {
        Filling::Query(name, value) => {
            let encoded = match value.literal() {
                Some(literal) => crate::url::encode(literal).into(),
                None => PlanText::expression(format!("${{__urlencode({})}}", value.argument())),
            };
            request.address.set_parameter(&name, encoded);
        }
        Filling::Header(name, value) => {
            request.headers.retain(|(own, _)| !own.is_named(&name));
            request.headers.push((name.into(), value));
        }
        Filling::Cookie(name, value) => {
            let mut fields = request.headers.iter_mut();
            let field = fields.find(|(own, _)| own.literal() == Some("Cookie"));
            let starts = [format!("{name}=")];
            match field {
                Some((_, field)) => {
                    if !field.replace_up_to(&starts, ';', value.clone()) {
                        field.push(&format!("; {name}="));
                        field.append(value);
                    }
                }
                None => {
                    let mut field = PlanText::from(format!("{name}="));
                    field.append(value);
                    request.headers.push(("Cookie".into(), field));
                }
            }
        }
        Filling::Body(value) => match &request.body {
            RequestBody::Form(_) => request.body = RequestBody::Form(value.fields()),
            _ => {
                request.default_header("Content-Type", "application/json");
                request.body = RequestBody::Raw(value.json());
            }
        },
    }
}

/// The source of an expression such as `$response.body#/user/id` or `$response.header.X-Id`.
fn source(expression: &str) -> Option<ExtractorSource> {
    let expression = expression.trim_start_matches('{').trim_end_matches('}');
    if let Some(field) = expression.strip_prefix("$response.header.") {
        let is_plain = field.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        return is_plain.then(|| ExtractorSource::header(format!("(?i){field}: (.+)")));
    }
    let pointer = expression.strip_prefix("$response.body")?;
    let pointer = match pointer.strip_prefix('#') {
        Some(pointer) => pointer,
        None if pointer.is_empty() => "",
        None => return None,
    };
    let mut path = "$".to_owned();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) => path.push_str(&format!("['{}']", part.replace('\'', "\\'"))),
        }
    }
    Some(ExtractorSource::Json(path))
}

/// Puts the requests whose responses others need before those, removals of what was made last, and the log-in first of all.
fn order(
    draft: &mut Draft,
    operations: &[Operation<'_>],
    makers: &HashSet<(usize, usize)>,
    log_in: Option<(usize, usize)>,
) {
    let extractors = draft.steps().flat_map(|step| &step.extractors);
    let extracted: HashSet<String> = extractors.map(|one| one.variable.clone()).collect();
    let by_place: HashMap<(usize, usize), &Operation<'_>> = operations
        .iter()
        .map(|operation| (operation.place, operation))
        .collect();
    let removes = |place: (usize, usize)| {
        let removed = by_place.get(&place)?;
        let (parameter, variable) = removed.variables.last()?;
        let is_item = removed.path.ends_with(&format!("/{{{parameter}}}"));
        let is_removal = removed.method == "delete" && is_item && extracted.contains(variable);
        // What lies deeper goes before what holds it.
        is_removal.then(|| usize::MAX - removed.path.matches('/').count())
    };
    let mut first = None;
    for (number, transaction) in draft.transactions.iter_mut().enumerate() {
        let steps = std::mem::take(&mut transaction.steps);
        let mut ranked: Vec<(usize, DraftStep)> = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            let position = (number, at);
            if log_in == Some(position) {
                first = Some((transaction.name.clone(), step));
                continue;
            }
            let rank = match removes(position) {
                Some(rank) => rank,
                None if makers.contains(&position) => 0,
                None => 1,
            };
            ranked.push((rank, step));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        transaction.steps = ranked.into_iter().map(|(_, step)| step).collect();
    }
    draft
        .transactions
        .retain(|transaction| !transaction.steps.is_empty());
    if let Some((name, step)) = first {
        let transaction = Transaction {
            name,
            steps: vec![step],
            ..Transaction::default()
        };
        draft.transactions.insert(0, transaction);
    }
}
