//! Tells for the requests of a recording that goes on whether a plan would keep them.

use serde_json::Value;

use crate::exchange::Exchange;
use crate::har;
use crate::options::ImportOptions;
use crate::tidy::OwnSite;

/// The requests of a recording so far. The end may judge some of them otherwise: then the first page is known, and which requests
/// were redirects.
#[derive(Debug)]
pub struct Watch {
    options: ImportOptions,
    exchanges: Vec<Exchange>,
}

impl Watch {
    /// A recording without requests.
    pub fn new(options: ImportOptions) -> Watch {
        Watch {
            options,
            exchanges: Vec::new(),
        }
    }

    /// Why a request is left out, which is given as an entry of a HAR.
    pub fn refuses(&mut self, entry: &Value) -> Option<String> {
        let exchange = match har::exchange(self.exchanges.len(), entry) {
            Ok(exchange) => exchange,
            Err(reason) => return Some(reason.to_owned()),
        };
        self.exchanges.push(exchange);
        let site = OwnSite::of(&self.exchanges, &self.options);
        site.refuses(self.exchanges.last()?)
    }
}
