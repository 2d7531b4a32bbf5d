//! The plan's Backend Listeners: reads their parameters and starts an exporter for each.

use std::str::FromStr;
use std::time::Duration;

use drumfire_authorities::Authorities;
use drumfire_platform::message_error;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_sinks::{
    Encoder, Exporter, Graphite, GraphiteFormat, Influx, InfluxRaw, InfluxTwo, Sent, Transport,
    Windows,
};
use jiff::Timestamp;

use crate::engine::BackendSpec;
use crate::settings::properties::RunProperties;

const INFLUXDB_INTERVAL: &str = "backend_influxdb.send_interval";
const GRAPHITE_INTERVAL: &str = "backend_graphite.send_interval";
const WINDOW: &str = "backend_metrics_window";
/// The size of a window in samples, unless the property [`WINDOW`] sets another.
const WINDOW_SIZE: usize = 100;

message_error! {
    /// Why an output of the plan cannot be started: a parameter is wrong, or its port is taken.
    pub struct OutputError;
}

type Wants = Box<dyn Fn(&str) -> bool + Send>;

/// Starts the exporter of a listener.
///
/// # Errors
/// Which parameter is wrong, or why it cannot be started.
pub fn start(
    spec: &BackendSpec,
    settings: &RunProperties,
    authorities: &Authorities,
) -> Result<Exporter, OutputError> {
    let (encoder, transport): (Box<dyn Encoder>, _) = match spec.class.as_str() {
        "InfluxdbBackendListenerClient" => (
            Box::new(influx(spec, settings)?),
            influx_transport(spec, authorities)?,
        ),
        "InfluxDBRawBackendListenerClient" => {
            let samples = spec.samples.clone();
            let raw = InfluxRaw {
                samples: samples.ok_or("no samples reach it")?,
                measurement: parameter(spec, "measurement")
                    .unwrap_or("jmeter")
                    .to_owned(),
            };
            (Box::new(raw), influx_transport(spec, authorities)?)
        }
        "InfluxDatabaseBackendListenerClient" => (
            Box::new(influx_two(spec)?),
            influx_two_transport(spec, authorities)?,
        ),
        _ => (
            Box::new(graphite(spec, settings)?),
            graphite_transport(spec),
        ),
    };
    tracing::info!(
        "Backend Listener '{}' sends every {} s{}",
        spec.name,
        encoder.interval().as_secs(),
        source_of_times(spec)
    );
    Exporter::start(&spec.name, encoder, transport, || {
        Timestamp::now().as_millisecond()
    })
    .map_err(|error| error.to_string().into())
}

/// Names the samples that averages, extremes and percentiles are computed from; empty for listeners that send none of
/// these.
fn source_of_times(spec: &BackendSpec) -> &'static str {
    match (spec.class.as_str(), &spec.samples) {
        ("InfluxDBRawBackendListenerClient" | "InfluxDatabaseBackendListenerClient", _) => "",
        (_, Some(_)) => "; averages, extremes and percentiles are those of a label's last samples",
        (_, None) => "; averages, extremes and percentiles are those of the interval",
    }
}

fn influx(spec: &BackendSpec, settings: &RunProperties) -> Result<Influx, OutputError> {
    let text = |name, default| parameter(spec, name).unwrap_or(default);
    let pattern = pattern(text("samplersRegex", ""))?;
    let tags = spec.arguments.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix("TAG_").filter(|name| !name.is_empty())?;
        let value = value.trim();
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    Ok(Influx {
        interval: interval(settings, INFLUXDB_INTERVAL, 5),
        measurement: text("measurement", "jmeter").to_owned(),
        test_title: text("testTitle", "Test").to_owned(),
        event_tags: text("eventTags", "").to_owned(),
        percentiles: percentiles(text("percentiles", "")),
        summary_only: flag(spec, "summaryOnly", false),
        wants: Box::new(move |label| pattern.is_match(label)),
        windows: windows(spec, settings),
        ..Influx::new(text("application", "").to_owned(), tags.collect())
    })
}

fn influx_transport(
    spec: &BackendSpec,
    authorities: &Authorities,
) -> Result<Transport, OutputError> {
    let url = parameter(spec, "influxdbUrl").unwrap_or_default().trim();
    if sender(spec, "influxdbMetricsSender").ends_with("UdpMetricsSender") {
        return match url.split_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Transport::udp(url.to_owned()))
            }
            _ => Err(format!("`influxdbUrl` is `{url}`, expected HOST:PORT").into()),
        };
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!("`influxdbUrl` is `{url}`, expected a URL").into());
    }
    let mut headers = vec![("Content-Type", "text/plain; charset=UTF-8".to_owned())];
    let token = parameter(spec, "influxdbToken").unwrap_or_default().trim();
    if !token.is_empty() {
        headers.push(("Authorization", format!("Token {token}")));
    }
    Ok(Transport::http(url.to_owned(), headers, authorities))
}

fn graphite(spec: &BackendSpec, settings: &RunProperties) -> Result<Graphite, OutputError> {
    let text = |name, default| parameter(spec, name).unwrap_or(default);
    let format = if sender(spec, "graphiteMetricsSender").ends_with("PickleGraphiteMetricsSender") {
        GraphiteFormat::Pickle
    } else {
        GraphiteFormat::Text
    };
    let wants = listed(spec, flag(spec, "useRegexpForSamplersList", false))?;
    Ok(Graphite {
        interval: interval(settings, GRAPHITE_INTERVAL, 1),
        format,
        percentiles: percentiles(text("percentiles", "")),
        summary_only: flag(spec, "summaryOnly", true),
        wants,
        windows: windows(spec, settings),
        ..Graphite::new(text("rootMetricsPrefix", "jmeter.").to_owned())
    })
}

fn graphite_transport(spec: &BackendSpec) -> Transport {
    let host = parameter(spec, "graphiteHost").unwrap_or_default().trim();
    // Java resolves an empty host name to the loopback address.
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    let port = parameter(spec, "graphitePort")
        .unwrap_or_default()
        .trim()
        .parse::<u16>()
        .unwrap_or(2003);
    Transport::tcp(format!("{host}:{port}"))
}

/// The filter for the labels in `samplersList`: a pattern for the whole label, or names separated by semicolons.
fn listed(spec: &BackendSpec, is_pattern: bool) -> Result<Wants, OutputError> {
    let list = parameter(spec, "samplersList").unwrap_or_default();
    if is_pattern {
        let pattern = pattern(list)?;
        return Ok(Box::new(move |label| pattern.full_match(label)));
    }
    let names: Vec<String> = list.split(';').map(str::to_owned).collect();
    Ok(Box::new(move |label| {
        names.iter().any(|name| name == label)
    }))
}

/// The window of the last samples, if times are to be computed from it (`backend_metrics_window_mode=fixed`).
fn windows(spec: &BackendSpec, settings: &RunProperties) -> Option<Windows> {
    let samples = spec.samples.clone()?;
    let size = settings
        .properties
        .get(WINDOW)
        .unwrap_or_default()
        .trim()
        .parse()
        .unwrap_or(WINDOW_SIZE);
    Some(Windows::new(samples, size))
}

/// The plugin's parameters, with its defaults for those that the element leaves out
/// (`InfluxDatabaseBackendListenerClient#setupTest`).
fn influx_two(spec: &BackendSpec) -> Result<InfluxTwo, OutputError> {
    let text = |name, default| parameter(spec, name).unwrap_or(default).to_owned();
    let number = |name, default: usize| {
        let value = parameter(spec, name).and_then(|value| value.trim().parse().ok());
        value.unwrap_or(default)
    };
    let flush = number("influxDBFlushInterval", 4000) as u64;
    Ok(InfluxTwo {
        samples: spec.samples.clone().ok_or("no samples reach it")?,
        test_name: text("testName", "Test"),
        run_id: text("runId", "R001"),
        node_name: text("nodeName", "Test-Node"),
        wants: listed(spec, flag(spec, "useRegexForSamplerList", false))?,
        flush: Duration::from_millis(flush),
        batch: number("influxDBMaxBatchSize", 2000),
        body_letters: number("responseBodyLength", 2000),
        sent: Sent::default(),
    })
}

fn influx_two_transport(
    spec: &BackendSpec,
    authorities: &Authorities,
) -> Result<Transport, OutputError> {
    let given = |name| match parameter(spec, name).map(str::trim) {
        None | Some("") => Err(OutputError::from(format!("`{name}` is empty"))),
        Some(text) => Ok(text),
    };
    let url = given("influxDBURL")?;
    let lower = url.to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Err(format!("`influxDBURL` is `{url}`, expected a URL").into());
    }
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("org", given("influxDBOrganization")?)
        .append_pair("bucket", given("influxDBBucket")?)
        .append_pair("precision", "ns")
        .finish();
    let url = format!("{}/api/v2/write?{query}", url.trim_end_matches('/'));
    let headers = vec![
        ("Content-Type", "text/plain; charset=utf-8".to_owned()),
        (
            "Authorization",
            format!("Token {}", given("influxDBToken")?),
        ),
    ];
    Ok(Transport::http(url, headers, authorities))
}

/// A parameter's value, if the element has it.
fn parameter<'s>(spec: &'s BackendSpec, name: &str) -> Option<&'s str> {
    spec.arguments
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

fn sender<'s>(spec: &'s BackendSpec, name: &str) -> &'s str {
    parameter(spec, name).unwrap_or_default().trim()
}

fn flag(spec: &BackendSpec, name: &str, default: bool) -> bool {
    match parameter(spec, name).map(str::trim) {
        None | Some("") => default,
        Some(text) => text.eq_ignore_ascii_case("true"),
    }
}

fn pattern(text: &str) -> Result<Pattern, OutputError> {
    Pattern::compile(text, Dialect::Java, RegexOptions::default())
        .map_err(|error| error.exception_text(text, Dialect::Java).into())
}

/// Reads numbers separated by semicolons. Parts that are not numbers are skipped.
fn percentiles<T: FromStr>(text: &str) -> Vec<T> {
    let parts = text.split(';').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .filter_map(|part| match part.parse() {
            Ok(percent) => Some(percent),
            Err(_) => {
                tracing::error!("Error parsing percentile: '{part}'");
                None
            }
        })
        .collect()
}

fn interval(settings: &RunProperties, property: &str, default_s: u64) -> Duration {
    let text = settings.properties.get(property).unwrap_or_default();
    let seconds = text.trim().parse().unwrap_or(default_s);
    Duration::from_secs(seconds.max(1))
}

#[cfg(test)]
mod tests {
    use drumfire_results::SampleQueue;

    use super::*;

    fn spec(class: &str, arguments: &[(&str, &str)]) -> BackendSpec {
        let arguments = arguments.iter();
        BackendSpec {
            name: "live".to_owned(),
            class: class.to_owned(),
            arguments: arguments
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            samples: None,
        }
    }

    #[test]
    fn parameters_of_influxdb() {
        let spec = spec(
            "InfluxdbBackendListenerClient",
            &[
                ("application", "shop"),
                ("samplersRegex", "^a"),
                ("percentiles", "99;x;95.5"),
                ("TAG_env", " test "),
                ("TAG_none", " "),
                ("summaryOnly", "TRUE"),
            ],
        );
        let influx = influx(&spec, &RunProperties::default()).expect("all is right");
        assert_eq!(influx.tags, [("env".to_owned(), "test".to_owned())]);
        assert_eq!(influx.percentiles, [99.0, 95.5]);
        assert_eq!(influx.interval, Duration::from_secs(5));
        assert!(influx.summary_only && (influx.wants)("abc") && !(influx.wants)("ba"));
    }

    #[test]
    fn a_list_of_graphite_is_exact_and_its_pattern_matches_all_of_a_label() {
        let wants = |arguments: &[(&str, &str)], label: &str| {
            let spec = spec("GraphiteBackendListenerClient", arguments);
            let graphite = graphite(&spec, &RunProperties::default()).expect("all is right");
            assert!(graphite.summary_only && graphite.prefix == "jmeter.");
            (graphite.wants)(label)
        };
        let list = ("samplersList", "a;b.*");
        assert!(wants(&[list], "a") && !wants(&[list], "bc"));
        let pattern = [
            ("samplersList", "a|b.*"),
            ("useRegexpForSamplersList", "true"),
        ];
        assert!(wants(&pattern, "bc") && !wants(&pattern, "ab"));
    }

    #[test]
    fn parameters_of_the_influxdb2_plugin() {
        let mut spec = spec(
            "InfluxDatabaseBackendListenerClient",
            &[
                ("influxDBURL", "http://localhost:8086/"),
                ("influxDBToken", "t"),
                ("influxDBOrganization", "my org"),
                ("influxDBBucket", "b"),
                ("samplersList", "a.*"),
                ("useRegexForSamplerList", "true"),
            ],
        );
        spec.samples = Some(SampleQueue::new(1));
        let listener = influx_two(&spec).expect("all is right");
        assert!((listener.wants)("abc") && !(listener.wants)("ba"));
        assert_eq!((listener.run_id.as_str(), listener.batch), ("R001", 2000));
        let transport = influx_two_transport(&spec, &Authorities::default());
        let Ok(Transport::Http { url, headers, .. }) = transport else {
            panic!("it is sent by HTTP");
        };
        let expected = "http://localhost:8086/api/v2/write?org=my+org&bucket=b&precision=ns";
        assert_eq!(url, expected);
        assert!(headers.contains(&("Authorization", "Token t".to_owned())));
        spec.arguments.remove(1);
        let problem = influx_two_transport(&spec, &Authorities::default()).err();
        assert_eq!(problem, Some("`influxDBToken` is empty".into()));
    }

    #[test]
    fn a_wrong_address_or_pattern_is_said() {
        let why = |arguments: &[(&str, &str)]| {
            let spec = spec("InfluxdbBackendListenerClient", arguments);
            start(&spec, &RunProperties::default(), &Authorities::default()).err()
        };
        let text = why(&[("influxdbUrl", "host:8086")]).expect("no URL");
        assert_eq!(
            text.as_ref(),
            "`influxdbUrl` is `host:8086`, expected a URL"
        );
        let udp = ("influxdbMetricsSender", "x.UdpMetricsSender");
        let text = why(&[udp, ("influxdbUrl", "http://host:8086")]).expect("no address");
        assert!(text.as_ref().ends_with("expected HOST:PORT"), "{text}");
        assert!(why(&[("samplersRegex", "(")]).is_some());
    }
}
