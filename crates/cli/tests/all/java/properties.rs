//! The property files that come with JMeter, beside the list of properties.

use drumfire_jmx::known_property;
use drumfire_testkit::program::jmeter_home;

/// The names in a property file, also those that are commented out; prose in comments begins with a space.
fn names(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .map(|line| line.strip_prefix('#').unwrap_or(line));
    lines
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
        .filter_map(|line| Some(line.split_once('=')?.0.trim_end()))
        .filter(|name| !name.contains(' '))
        .collect()
}

#[test]
fn every_property_of_jmeters_files_takes_effect_or_is_said_to_have_none() {
    let Some(home) = jmeter_home() else { return };
    let mut seen = 0;
    for file in [
        "jmeter.properties",
        "user.properties",
        "reportgenerator.properties",
    ] {
        let bytes = std::fs::read(home.join("bin").join(file)).expect("it comes with JMeter");
        let text = String::from_utf8_lossy(&bytes);
        let unknown: Vec<&str> = names(&text)
            .into_iter()
            .inspect(|_| seen += 1)
            .filter(|name| known_property(name).is_none())
            .collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
    assert!(seen > 350, "only {seen} properties were read");
}
