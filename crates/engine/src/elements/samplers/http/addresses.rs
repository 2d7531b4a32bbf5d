//! The address that each sampler asked last: most samplers ask the same one again and again, and putting an address
//! together as Java does is a good part of what a small request costs.

use std::cell::RefCell;
use std::collections::HashMap;

use drumfire_web::Exception;
use drumfire_web::url::{Target, Url};

use super::HttpSampler;

/// One worker's addresses.
#[derive(Default)]
pub struct Addresses(RefCell<State>);

#[derive(Default)]
struct State {
    /// By the sampler's place in memory: the plan outlives its users and never moves.
    known: HashMap<usize, Known>,
    /// The parts at hand, reused.
    parts: String,
}

struct Known {
    parts: Box<str>,
    url: Url,
}

impl Addresses {
    /// The address of these parts, made if the sampler's last one had others.
    ///
    /// # Errors
    /// As [`Target::url`].
    pub fn url(&self, sampler: &HttpSampler, target: &Target<'_>) -> Result<Url, Exception> {
        let State { known, parts } = &mut *self.0.borrow_mut();
        parts.clear();
        let Target {
            protocol,
            domain,
            port,
            path,
            method,
            query,
        } = target;
        for part in [protocol, domain, port, path, method, query] {
            parts.push_str(part);
            parts.push('\0');
        }
        let place = std::ptr::from_ref(sampler) as usize;
        if let Some(known) = known.get(&place)
            && *known.parts == **parts
        {
            return Ok(known.url.clone());
        }
        let url = target.url()?;
        let latest = Known {
            parts: parts.as_str().into(),
            url: url.clone(),
        };
        known.insert(place, latest);
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::program::Needs;

    #[test]
    fn the_same_parts_give_the_same_address_and_others_another() {
        let xml = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="h"/>"#;
        let (sampler, _) = fixture::decode(xml, |d| {
            super::super::decode(d, &[], Needs::default()).expect("it can be decoded")
        });
        let addresses = Addresses::default();
        let ask = |path: &str, query: &str| {
            let target = Target {
                protocol: "http",
                domain: "a",
                port: "",
                path,
                method: "GET",
                query,
            };
            addresses.url(&sampler, &target).expect("it is an address")
        };
        let first = ask("/p", "");
        assert_eq!(first.as_str(), "http://a/p");
        assert!(std::rc::Rc::ptr_eq(&first.text(), &ask("/p", "").text()));
        assert_eq!(ask("/", "q=1").as_str(), "http://a/?q=1");
        assert_eq!(ask("/p", "").as_str(), "http://a/p");
    }
}
