//! VictoriaMetrics: InfluxDB's and Graphite's lines, OpenTelemetry, and the influxdb2 plugin's listener.

use std::process::Command;

use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};
use serde_json::Value;

use super::stage::{
    Running, agent, await_answer, await_number, backend_listener, get, installed, json, ports, run,
    start, values,
};
use drumfire_testkit::plans::{http, plan, users};

struct Victoria {
    base: String,
    graphite: u16,
    _running: Running,
}

fn start_victoria(workshop: &Workshop) -> Option<Victoria> {
    let program = installed("victoria-metrics")?;
    let folder = workshop.path("victoria");
    std::fs::create_dir(&folder).expect("there is room");
    let [http, graphite] = ports();
    let mut command = Command::new(program);
    command
        .arg(format!(
            "-storageDataPath={}",
            folder.join("data").display()
        ))
        .arg(format!("-httpListenAddr=127.0.0.1:{http}"))
        .arg(format!("-graphiteListenAddr=127.0.0.1:{graphite}"))
        .arg("-search.latencyOffset=0s");
    let running = start(&mut command, &folder);
    let base = format!("http://127.0.0.1:{http}");
    await_answer(&format!("{base}/health"), &folder);
    Some(Victoria {
        base,
        graphite,
        _running: running,
    })
}

impl Victoria {
    /// The series of a selector, each with its values in the order of time.
    fn exported(&self, wanted: &str) -> Vec<Value> {
        let text = get(
            &format!("{}/api/v1/export", self.base),
            &[("match[]", wanted)],
        );
        text.lines().map(json).collect()
    }
}

#[test]
#[ignore = "needs victoria-metrics: cargo xtask sinks"]
fn victoria_metrics_takes_graphite_and_influxdb_lines() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let (base, graphite) = (&victoria.base, victoria.graphite);
    let outs = [
        format!("graphite=127.0.0.1:{graphite}"),
        format!("influxdb={base}/write?db=jmeter"),
    ];
    let counted = run(&workshop, &[&outs[0], &outs[1]]);
    let total: f64 = counted.values().map(|counted| counted.samples).sum();
    let failed: f64 = counted.values().map(|counted| counted.failed).sum();
    let lines = [
        (r#"{__name__="drumfire.all.a.count"}"#, total),
        (
            r#"{__name__="drumfire.Home-page.ok.count"}"#,
            counted["Home page"].samples,
        ),
        (
            r#"{__name__="jmeter_count",transaction="all",statut="all"}"#,
            total,
        ),
        (
            r#"{__name__="jmeter_countError",transaction="all",statut="all"}"#,
            failed,
        ),
    ];
    for (wanted, expected) in lines {
        await_number(wanted, expected, || {
            victoria.exported(wanted).iter().flat_map(values).sum()
        });
    }
}

#[test]
#[ignore = "needs victoria-metrics of 1.92 or later: cargo xtask sinks"]
fn victoria_metrics_takes_opentelemetry() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let url = format!("{}/opentelemetry/v1/metrics", victoria.base);
    let empty = agent().post(&url).send_empty().expect("an answer");
    if !empty.status().is_success() {
        println!("SKIPPED: this victoria-metrics does not take OTLP");
        return;
    }
    let counted = run(&workshop, &[&format!("otlp={url}")]);
    // Sums are of the whole run, so that the last value counts.
    let last = |wanted: &str| -> f64 {
        let series = victoria.exported(wanted);
        let lasts = series.iter().filter_map(|series| values(series).pop());
        lasts.sum()
    };
    for (label, counted) in &counted {
        for (result, expected) in [
            ("ok", counted.samples - counted.failed),
            ("failed", counted.failed),
        ] {
            let wanted =
                format!(r#"{{__name__="drumfire.samples",label="{label}",result="{result}"}}"#);
            await_number(&wanted, expected, || last(&wanted));
        }
        let buckets = format!(r#"{{__name__="drumfire.response_time_bucket",label="{label}"}}"#);
        await_number(&buckets, counted.samples, || last(&buckets));
    }
}

#[test]
#[ignore = "needs victoria-metrics: cargo xtask sinks"]
fn a_listener_of_the_influxdb2_plugin_sends_each_sample() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let Some(victoria) = start_victoria(&workshop) else {
        return;
    };
    let server = Server::start(|request| match request.target.as_str() {
        "/bad" => vec![ResponseStep::Send(respond(
            "500 Out of order",
            "",
            "no, sorry",
        ))],
        _ => vec![ResponseStep::Send(ok("fine"))],
    });
    let listener = backend_listener(
        "io.vincent.influxdb2.visualizer.InfluxDatabaseBackendListenerClient",
        &[
            ("runId", "R7"),
            ("influxDBURL", &victoria.base),
            ("influxDBToken", "t"),
            ("influxDBOrganization", "o"),
            ("influxDBBucket", "b"),
            ("samplersList", ".*"),
            ("useRegexForSamplerList", "true"),
            ("saveResponseBodyOfFailures", "true"),
        ],
    );
    let port = server.address().port().to_string();
    let page = |name, path| {
        http(
            name,
            &[("domain", "127.0.0.1"), ("port", &port), ("path", path)],
        )
    };
    let elements = [page("Home page", "/"), page("Bad", "/bad"), listener];
    workshop.write("p.jmx", plan(&users(2, 20, "", &elements.concat())));
    let finished = workshop.run(&["run", "p.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let sum = |wanted: &str| -> f64 { victoria.exported(wanted).iter().flat_map(values).sum() };
    for wanted in [
        r#"{__name__="requestsRaw_count",requestName="Home page",result="pass",errorResponseBody="noData",runId="R7"}"#,
        r#"{__name__="requestsRaw_errorCount",requestName="Bad",responseCode="500",errorResponseBody="no, sorry"}"#,
    ] {
        await_number(wanted, 40.0, || sum(wanted));
    }
    let ended = r#"{__name__="virtualUsers_finishedThreads"}"#;
    await_number(ended, 2.0, || {
        let series = victoria.exported(ended);
        series.iter().filter_map(|one| values(one).pop()).sum()
    });
}
