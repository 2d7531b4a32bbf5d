//! Caches the address of a sampler's last request. Most samplers always request the same one, and building an address as
//! Java does is a good part of the cost of a small request.

use drumfire_web::url::{SamplerAddress, Url};

/// An address with the parts that it was made of.
pub struct CacheAddress {
    /// Each with [`END`] after it.
    parts: Box<str>,
    url: Url,
}

const END: char = '\0';

impl CacheAddress {
    pub fn new(target: &SamplerAddress<'_>, url: Url) -> CacheAddress {
        let parts = parts(target);
        let bytes = parts.iter().map(|part| part.len() + END.len_utf8()).sum();
        let mut text = String::with_capacity(bytes);
        for part in parts {
            text.push_str(part);
            text.push(END);
        }
        CacheAddress {
            parts: text.into(),
            url,
        }
    }

    /// The address, if it was made of these parts.
    pub fn of(&self, target: &SamplerAddress<'_>) -> Option<&Url> {
        let mut parts = parts(target).into_iter();
        let rest = parts.try_fold(&*self.parts, |rest, part| {
            rest.strip_prefix(part)?.strip_prefix(END)
        });
        (rest == Some("")).then_some(&self.url)
    }
}

fn parts<'t>(target: &SamplerAddress<'t>) -> [&'t str; 6] {
    let SamplerAddress {
        protocol,
        domain,
        port,
        path,
        method,
        query,
    } = *target;
    [protocol, domain, port, path, method, query]
}
