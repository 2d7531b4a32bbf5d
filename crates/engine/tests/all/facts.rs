//! Holds the facts about native elements and the code that decodes them together: each property is read, or says why not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use drumfire_elements::of_class;
use drumfire_engine::elements::{Rung, entries};

/// Properties of native elements that nothing reads, with the reason.
const UNREAD: [(&str, &str); 34] = [
    ("XPath.quiet", "Tidy's complaints are not logged"),
    ("XPath.report_errors", "Tidy's complaints fail no sample"),
    ("XPath.show_warnings", "Tidy's complaints are not logged"),
    ("XPath.download_dtds", "no DTD is fetched"),
    ("XPathExtractor.quiet", "Tidy's complaints are not logged"),
    (
        "XPathExtractor.report_errors",
        "Tidy's complaints fail no sample",
    ),
    (
        "XPathExtractor.show_warnings",
        "Tidy's complaints are not logged",
    ),
    ("XPathExtractor.download_dtds", "no DTD is fetched"),
    ("XPath.validate", "DTDs are not read"),
    ("XPath.whitespace", "DTDs are not read"),
    ("XPathExtractor.validate", "DTDs are not read"),
    ("XPathExtractor.whitespace", "DTDs are not read"),
    ("preload", "all keys are read before the run"),
    ("QUEUE_SIZE", "Java clients read it from their element"),
    (
        "ThreadGroup.start_time",
        "JMeter 5.6.3 does not read it, either",
    ),
    (
        "ThreadGroup.end_time",
        "JMeter 5.6.3 does not read it, either",
    ),
    (
        "poolPreparedStatements",
        "statements are prepared for each call",
    ),
    ("checkQuery", "connections are checked by their protocol"),
    ("resultSetHandler", "columns are always stored as text"),
    (
        "independentListPerThread",
        "the plugin does not read it, either",
    ),
    ("maxActive", "users share a connection"),
    ("maxIdle", "users share a connection"),
    ("minIdle", "users share a connection"),
    ("maxWait", "users share a connection"),
    ("prometheus.save.jvm", "there is no Java virtual machine"),
    ("batchThreadDelay", "JMeter does not read it, either"),
    ("exactLimit", "JMeter does not read it, either"),
    (
        "allowedThroughputSurplus",
        "JMeter does not read it, either",
    ),
    ("ignoreSslErrors", "`--tls-verify` decides for all elements"),
    ("avg_response_time_length", "its name is put together"),
    ("avg_response_latency_length", "its name is put together"),
    ("error_rate_length", "its name is put together"),
    (
        "SMTPSampler.enforceStartTLS",
        "JMeter 5.6.3 does not heed it, and `check` warns of that",
    ),
    (
        "GRPCSampler.channelAwaitTermination",
        "channels end at once",
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            sources(&path, found)
        } else {
            found.push(path)
        }
    }
}

fn texts(folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        &mut files,
    );
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("a source can be read");
    files.iter().map(read).collect()
}

/// The constants of the facts' sources with the names of their properties.
fn constants() -> BTreeMap<String, BTreeSet<String>> {
    let mut constants: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in texts("../elements/src") {
        for definition in source.split("pub const ").skip(1) {
            let Some((name, rest)) = definition.split_once(": Property =") else {
                continue;
            };
            if let Some(property) = rest.split('"').nth(1) {
                let names = constants.entry(name.to_owned()).or_default();
                names.insert(property.to_owned());
            }
        }
    }
    constants
}

/// The names of properties that the engine's code uses, by their constants or as they are.
fn used() -> BTreeSet<String> {
    let constants = constants();
    let mut used = BTreeSet::new();
    for source in texts("src") {
        for (at, _) in source.match_indices(".name") {
            let before = &source[..at];
            let start = before.rfind(|sign: char| {
                !(sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_')
            });
            let constant = &before[start.map_or(0, |start| start + 1)..];
            used.extend(constants.get(constant).into_iter().flatten().cloned());
        }
        used.extend(source.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    used
}

#[test]
fn every_property_of_a_native_element_is_read_or_says_why_not() {
    let used = used();
    let mut unread = BTreeSet::new();
    for entry in entries().iter().filter(|entry| entry.rung == Rung::Native) {
        let facts = of_class(entry.class).expect("the catalogue's classes have facts");
        let names = facts.properties().map(|property| property.name);
        unread.extend(names.filter(|name| !used.contains(*name)));
    }
    let listed: BTreeSet<&str> = UNREAD.iter().map(|(name, _)| *name).collect();
    let new: Vec<_> = unread.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "nothing reads {new:?}: read them, or say why not"
    );
    let read: Vec<_> = listed.difference(&unread).collect();
    assert!(read.is_empty(), "{read:?} are read: take them off the list");
}
