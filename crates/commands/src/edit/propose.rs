//! Extractors for a text of a stored response, by the search of the importers.

use std::time::Instant;

use drumfire_edit::{ProposedExtractor, StoredResponse};
use drumfire_import::Response;
use drumfire_import::correlate;

/// How often a search is timed; the quickest counts, since other programs disturb the others.
const TRIES: usize = 3;

/// The extractors that yield a text of a response, with the texts that they yield from all responses of its sampler.
pub fn proposals(
    text: &str,
    at: Option<usize>,
    response: &StoredResponse,
    all: &[StoredResponse],
) -> Vec<ProposedExtractor> {
    let own_response = read(response);
    let all: Vec<Response> = all.iter().map(read).collect();
    let proposals = correlate::proposals(&own_response, text, at)
        .into_iter()
        .map(|proposal| {
            let costs = (0..TRIES).map(|_| {
                let begun = Instant::now();
                proposal.yielded(&own_response);
                begun.elapsed().as_micros() as u64
            });
            let cost_us = costs.min().unwrap_or_default();
            let values = all.iter().map(|response| proposal.yielded(response));
            ProposedExtractor {
                kind: proposal.kind().to_owned(),
                expression: proposal.expression(),
                number: proposal.number(),
                matches: proposal.matches,
                cost_us,
                name: proposal.name.clone(),
                values: values.collect(),
                element: Box::new(move |variable| proposal.element(variable)),
            }
        });
    proposals.collect()
}

/// A stored response as the importers read one.
fn read(stored: &StoredResponse) -> Response {
    let fields = stored.headers.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    });
    let status = stored.headers.split_whitespace().nth(1);
    Response {
        status: status.and_then(|status| status.parse().ok()).unwrap_or(0),
        headers: fields.collect(),
        body: Some(stored.body.clone()),
        mime: stored.content_type.clone(),
        ..Response::default()
    }
}
