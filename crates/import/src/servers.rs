//! Writes the servers of a plan as variables, so that the plan runs against another environment: `-Jhost=staging.example`.

use crate::draft::Draft;
use crate::elements::ServerFields;
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::url::{self, Address};

/// The variables that stand for the literal servers of a draft.
#[derive(Debug, Clone, Default)]
pub struct ServerNames {
    /// Pairs of a literal server and the fields that name it.
    servers: Vec<(ServerFields, ServerFields)>,
    /// The variables of the plan: name, value, description.
    pub variables: Vec<(String, PlanText, String)>,
}

/// The fields of an address's server.
pub fn server(address: &Address) -> ServerFields {
    ServerFields {
        scheme: address.scheme.template(),
        host: address.host.template(),
        port: address.port.template(),
    }
}

impl ServerNames {
    /// Names the servers of a draft, which has the literal `main` server for most of its requests.
    pub fn of(draft: &Draft, main: &ServerFields) -> ServerNames {
        let mut all = ServerNames::default();
        let mut names = VariableNames::default();
        let extractors = draft.steps().flat_map(|step| &step.extractors);
        let taken = extractors
            .map(|extractor| &extractor.variable)
            .chain(draft.variables.iter().map(|(name, _, _)| name))
            .chain(&draft.data.names);
        taken.for_each(|name| drop(names.take(name)));
        let mut hosts: Vec<(String, String)> = Vec::new();
        for own in literal_servers(draft, main) {
            let is_main = own == *main;
            let named_host = hosts.iter().find(|(host, _)| *host == own.host);
            let host = match (named_host, is_main) {
                (Some((_, name)), _) => name.clone(),
                (None, true) => all.variable(&mut names, "host", &own.host, "The server"),
                (None, false) => {
                    all.variable(&mut names, &wish(&own.host), &own.host, "Another server")
                }
            };
            hosts.push((own.host.clone(), host.clone()));
            let mut fields = ServerFields {
                host: format!("${{{host}}}"),
                ..own.clone()
            };
            if is_main {
                let scheme = all.variable(&mut names, "scheme", &own.scheme, "http or https");
                fields.scheme = format!("${{{scheme}}}");
            }
            if is_main && !own.port.is_empty() {
                let port = all.variable(&mut names, "port", &own.port, "The port of the server");
                fields.port = format!("${{{port}}}");
            }
            all.servers.push((own, fields));
        }
        // The longest first, because one may begin another.
        all.servers
            .sort_by_key(|(own, _)| std::cmp::Reverse(origin(own).len()));
        all
    }

    /// Adds a variable whose value a property of the same name changes.
    fn variable(
        &mut self,
        names: &mut VariableNames,
        wish: &str,
        value: &str,
        about: &str,
    ) -> String {
        let name = names.take(wish);
        let value = PlanText::expression(format!("${{__P({name},{value})}}"));
        self.variables.push((name.clone(), value, about.to_owned()));
        name
    }

    /// The fields of an address's server as the plan writes them.
    pub fn fields(&self, address: &Address) -> ServerFields {
        let origin = server(address);
        self.servers
            .iter()
            .find(|(known, _)| *known == origin)
            .map(|(_, fields)| fields.clone())
            .unwrap_or(origin)
    }

    /// The host as the plan writes it.
    pub fn host(&self, host: &str) -> Option<&str> {
        let named = self.servers.iter().find(|(own, _)| own.host == host);
        named.map(|(_, fields)| fields.host.as_str())
    }

    /// Names the servers in a text that holds their addresses, such as the field `Origin`.
    pub fn put(&self, text: &mut PlanText) {
        for (own, fields) in &self.servers {
            let (from, to) = (origin(own), origin(fields));
            text.replace_where(&from, &to, |_, after| is_whole(after));
            let encoded = url::encode(&from);
            let to = format!("${{__urlencode({to})}}");
            text.replace_where(&encoded, &to, |_, after| is_whole(after));
        }
    }

    /// Names the servers in the expression for the hosts of embedded resources.
    pub fn put_hosts(&self, expression: &str) -> String {
        let mut text = PlanText::from(expression);
        for (own, fields) in &self.servers {
            let is_whole = |after: &str| after.starts_with(['|', ')']);
            let host = own.host.replace('.', "\\.");
            text.replace_where(&host, &fields.host, |before, after| {
                before.ends_with(['|', '(']) && is_whole(after)
            });
        }
        text.template()
    }
}

fn is_whole(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_alphanumeric() || ".:-".contains(c))
}

/// The servers with a literal host, `main` first.
fn literal_servers(draft: &Draft, main: &ServerFields) -> Vec<ServerFields> {
    let mut all: Vec<ServerFields> = Vec::new();
    for step in draft.steps() {
        let address = &step.request.address;
        let is_literal = address.host.literal().is_some_and(|host| !host.is_empty());
        let origin = server(address);
        if is_literal && !all.contains(&origin) {
            all.push(origin);
        }
    }
    all.sort_by_key(|own| own != main);
    all
}

/// The name to wish for the variable of a further host: `host_api` for `api.shop.example`.
fn wish(host: &str) -> String {
    let first = host.split('.').next().unwrap_or("");
    if first.starts_with(|c: char| c.is_ascii_alphabetic()) && first != "www" && host != first {
        format!("host_{first}")
    } else {
        "host".to_owned()
    }
}

fn origin(server: &ServerFields) -> String {
    let ServerFields { scheme, host, port } = server;
    match port.as_str() {
        "" => format!("{scheme}://{host}"),
        port => format!("{scheme}://{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::{DraftStep, Transaction};
    use crate::exchange::{Request, RequestBody};

    fn step(url: &str, origin: &str, body: &str) -> DraftStep {
        let mut request = Request::new("POST", Address::parse(url).expect("an address"));
        request.headers.push(("Origin".into(), origin.into()));
        request.body = RequestBody::Raw(body.into());
        DraftStep {
            request,
            think_ms: 700,
            ..DraftStep::default()
        }
    }

    #[test]
    fn servers_and_pauses_of_a_kept_plan_are_variables() {
        let mut draft = Draft::new("t");
        draft.embedded = Some("https?://(shop\\.test|cdn\\.test)[:/].*".to_owned());
        draft.transactions.push(Transaction {
            steps: vec![
                step(
                    "http://shop.test:81/a?u=http%3A%2F%2Fshop.test%3A81%2Fx",
                    "http://shop.test:81",
                    "{\"b\":\"http://shop.test:81/b\"}",
                ),
                step(
                    "http://shop.test:81/c",
                    "http://shop.test:812",
                    "http://shop.test",
                ),
                step("https://api.shop.test/d", "http://api.shop.test", ""),
            ],
            ..Transaction::default()
        });
        draft.transactions[0].steps[0].loads_resources = true;
        let literal = drumfire_jmx::outline(&draft.tree(""));
        assert!(
            !literal.contains("${host") && !literal.contains("factor"),
            "{literal}"
        );
        draft.is_kept = true;
        let plan = drumfire_jmx::outline(&draft.tree(""));
        for part in [
            "[host]: ${__P(host,shop.test)}",
            "[port]: ${__P(port,81)}",
            "[scheme]: ${__P(scheme,http)}",
            "[host_api]: ${__P(host_api,api.shop.test)}",
            "[pause_factor]: ${__P(pause_factor,1)}",
            "domain: ${host}\n",
            "domain: ${host_api}\n",
            "[Origin]: ${scheme}://${host}:${port}",
            "[Origin]: http://shop.test:812",
            "[Origin]: http://api.shop.test",
            "/a?u=${__urlencode(${scheme}://${host}:${port})}%2Fx",
            "{\"b\":\"${scheme}://${host}:${port}/b\"}",
            "${__jexl3((700 * ${pause_factor}).intValue())}",
            "https?://(${host}|cdn\\\\.test)[:/].*",
        ] {
            assert!(plan.contains(part), "{part}: {plan}");
        }
    }
}
