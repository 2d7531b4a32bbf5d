//! The address that each sampler asked last: most samplers ask the same one again and again, and putting an address
//! together as Java does is a good part of what a small request costs.

use std::cell::RefCell;

use drumfire_web::Exception;
use drumfire_web::url::{Target, Url};
use rustc_hash::FxHashMap;

use super::HttpSampler;

/// One worker's addresses, by [`HttpSampler::place`].
#[derive(Default)]
pub struct Addresses(RefCell<FxHashMap<usize, Known>>);

struct Known {
    /// Each with [`END`] after it.
    parts: Box<str>,
    url: Url,
}

const END: char = '\0';

impl Known {
    fn is_of(&self, parts: &[&str; 6]) -> bool {
        let mut parts = parts.iter();
        let rest = parts.try_fold(&*self.parts, |rest, part| {
            rest.strip_prefix(part)?.strip_prefix(END)
        });
        rest == Some("")
    }
}

impl Addresses {
    /// The address of these parts, made if the sampler's last one had others.
    ///
    /// # Errors
    /// As [`Target::url`].
    pub fn url(&self, sampler: &HttpSampler, target: &Target<'_>) -> Result<Url, Exception> {
        let Target {
            protocol,
            domain,
            port,
            path,
            method,
            query,
        } = *target;
        let parts = [protocol, domain, port, path, method, query];
        let known = &mut *self.0.borrow_mut();
        let place = sampler.place();
        if let Some(known) = known.get(&place).filter(|known| known.is_of(&parts)) {
            return Ok(known.url.clone());
        }
        let url = target.url()?;
        let mut text = String::new();
        for part in parts {
            text.push_str(part);
            text.push(END);
        }
        let latest = Known {
            parts: text.into(),
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
    use crate::run::needs::Needs;

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
