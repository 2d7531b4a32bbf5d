//! The cookies that a recording brings along: it begins logged in, or scripts of its pages set them.

use std::collections::HashSet;

use crate::draft::{BroughtCookie, Draft};
use crate::exchange::Exchange;
use crate::options::ImportOptions;
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::tidy::site;

/// The beginnings of names under which analytics and consent scripts keep their own cookies, which say nothing to the site.
const TRACKERS: [&str; 22] = [
    "_ga",
    "_gid",
    "_gat",
    "_gcl",
    "_fb",
    "_hj",
    "_pk_",
    "_uet",
    "_cl",
    "_dd_s",
    "_dc_gtm",
    "_tt_",
    "_scid",
    "_pin_",
    "__utm",
    "__hs",
    "ajs_",
    "amp_",
    "mp_",
    "optanon",
    "intercom-",
    "cookieconsent",
];

/// A cookie while its hosts are collected.
struct Brought {
    name: String,
    value: String,
    hosts: Vec<String>,
    is_secure: bool,
}

/// The cookies that no response set before a request sent them, in their order.
fn brought<'e>(exchanges: impl Iterator<Item = &'e Exchange>) -> Vec<Brought> {
    let mut set: HashSet<String> = HashSet::new();
    let mut all: Vec<Brought> = Vec::new();
    for exchange in exchanges {
        let address = &exchange.request.address;
        let host = address.host.template().to_ascii_lowercase();
        for (name, value) in sent(exchange) {
            let lower = name.to_ascii_lowercase();
            if set.contains(name) || TRACKERS.iter().any(|own| lower.starts_with(own)) {
                continue;
            }
            match all.iter_mut().find(|own| own.name == name) {
                Some(own) if own.hosts.contains(&host) => {}
                Some(own) => own.hosts.push(host.clone()),
                None => all.push(Brought {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    hosts: vec![host.clone()],
                    is_secure: address.scheme.literal() == Some("https"),
                }),
            }
        }
        let fields = exchange.response.iter().flat_map(|one| &one.headers);
        // Proxies join several cookies by line ends.
        let lines = fields
            .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
            .flat_map(|(_, value)| value.lines());
        set.extend(lines.filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned())));
    }
    all
}

/// The cookies of a request.
fn sent(exchange: &Exchange) -> impl Iterator<Item = (&str, &str)> {
    let fields = exchange.request.headers.iter();
    let fields = fields.filter(|(name, _)| name.is_named("cookie"));
    let pairs = fields.flat_map(|(_, value)| value.literal().unwrap_or("").split(';'));
    pairs.filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (!name.is_empty()).then_some((name, value))
    })
}

/// Makes a column of each cookie that the recording brings along, or says that the plan lacks them.
pub fn bring<'e>(
    exchanges: impl Iterator<Item = &'e Exchange>,
    options: &ImportOptions,
    draft: &mut Draft,
) {
    let all = brought(exchanges);
    if all.is_empty() {
        return;
    }
    if !options.keep_cookies {
        draft.warn(warning(&all));
        return;
    }
    let mut names = VariableNames::default();
    let mut row = Vec::new();
    for cookie in all {
        let variable = names.take(&format!("cookie_{}", cookie.name));
        draft.data.names.push(variable.clone());
        row.push(cookie.value);
        let is_lone = cookie.hosts.len() == 1;
        draft.brought_cookies.push(BroughtCookie {
            name: cookie.name,
            value: PlanText::variable(&variable),
            domain: if is_lone {
                cookie.hosts.into_iter().next().unwrap_or_default()
            } else {
                site(&cookie.hosts[0])
            },
            is_secure: cookie.is_secure,
        });
    }
    draft.data.rows = vec![row];
}

fn warning(all: &[Brought]) -> String {
    const MOST: usize = 5;
    let shown = all.iter().take(MOST);
    let names: Vec<String> = shown.map(|cookie| format!("`{}`", cookie.name)).collect();
    let more = match all.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the recording sends cookies that no response set, and the plan does not: {}{more}; record the log-in too, or give `--cookies`, which makes each a column of the CSV file",
        names.join(", ")
    )
}
