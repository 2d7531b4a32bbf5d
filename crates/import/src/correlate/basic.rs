//! Credentials of HTTP Basic. They become columns, which the HTTP Authorization Manager sends.

use std::collections::HashMap;

use super::Correlation;
use super::pair::Pair;
use super::sent::{Sent, base64_bytes};
use crate::draft::DraftStep;
use crate::exchange::{Auth, Request};
use crate::text::PlanText;

/// The user and the password of a request.
fn credentials(request: &Request) -> Option<(String, String)> {
    let field = request.header("authorization")?;
    let (scheme, token) = field.split_once(' ')?;
    let bytes = base64_bytes(token.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

fn server(request: &Request) -> String {
    let address = &request.address;
    let texts = [&address.scheme, &address.host, &address.port].map(PlanText::template);
    texts.join("|")
}

/// The credentials of each server to which all requests send the same.
fn by_server(steps: &[DraftStep]) -> HashMap<String, (String, String)> {
    let mut all: HashMap<String, Option<(String, String)>> = HashMap::new();
    for step in steps {
        if let Some(credentials) = credentials(&step.request) {
            let common = all
                .entry(server(&step.request))
                .or_insert_with(|| Some(credentials.clone()));
            if common.as_ref() != Some(&credentials) {
                *common = None;
            }
        }
    }
    all.into_iter()
        .filter_map(|(server, credentials)| Some((server, credentials?)))
        .collect()
}

impl Correlation<'_> {
    /// Replaces the header fields of HTTP Basic in a recording.
    pub(super) fn basic(&mut self) {
        if self.steps.iter().all(|step| step.response.is_none()) {
            return;
        }
        let same = by_server(&self.steps);
        let mut texts: HashMap<String, (PlanText, PlanText)> = HashMap::new();
        for place in 0..self.steps.len() {
            let server = server(&self.steps[place].request);
            let Some((user, password)) = same.get(&server) else {
                continue;
            };
            if credentials(&self.steps[place].request).is_none() {
                continue;
            }
            if !texts.contains_key(&server) {
                let pair = self.pair.as_ref();
                let other = pair.and_then(|pair| credentials(pair.request(place)?));
                let (other_user, other_password) = other.unzip();
                let user = self.column(&Sent::typed("username", user), other_user);
                let password = self.column(&Sent::typed("password", password), other_password);
                let texts_of_columns = (PlanText::variable(&user), PlanText::variable(&password));
                texts.insert(server.clone(), texts_of_columns);
            }
            let Some((user, password)) = texts.get(&server).cloned() else {
                continue;
            };
            let request = &mut self.steps[place].request;
            request.auth = Some(Auth {
                user,
                password,
                mechanism: "BASIC",
            });
            let headers = &mut request.headers;
            headers.retain(|(name, _)| !name.is_named("authorization"));
        }
    }
}

impl Pair<'_> {
    /// The other user's request.
    fn request(&self, place: usize) -> Option<&Request> {
        let at = self.same.get(place).copied().flatten()?;
        Some(&self.other[at].request)
    }
}
