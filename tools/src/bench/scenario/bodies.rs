//! Large bodies, and elements that read bodies.

use super::{Contender, Door, Scenario, each};
use crate::bench::aim::Figure::{Cpu, PeakMib, Rate, Time};
use crate::bench::made::Made;
use crate::bench::peers::LoadTester;

pub(super) fn all() -> Vec<Scenario> {
    vec![download(), upload(), template(), post_processors()]
}

/// By default JMeter stores the whole body and runs out of memory.
const KEPT: &str = "httpsampler.max_bytes_to_store_per_request";

/// Where the server serves [`Made::BigBody`].
const BIG_FILE: &str = "/big";

/// Transfers ten bodies, whatever duration the command line sets.
fn ten(program: LoadTester, plan: &'static str, case: &str) -> Contender {
    Contender {
        path: BIG_FILE,
        ..Contender::new(program, plan).case(case, 1)
    }
    .needs(Made::BigBody)
    .with("path", BIG_FILE)
    .with("loops", 1)
    .with("seconds", 600)
}

fn download() -> Scenario {
    let three = [LoadTester::Drumfire, LoadTester::Curl, LoadTester::JMeter];
    let mut entries = each(&three, |program| {
        ten(program, "requests.jmx", "plain").with(KEPT, 1)
    });
    entries.extend(each(&three[..2], |program| Contender {
        busy: true,
        ..ten(program, "requests.jmx", "busy machine").with(KEPT, 1)
    }));
    entries.extend(each(&three[..2], |program| {
        ten(program, "requests.jmx", "TLS")
            .with(KEPT, 1)
            .secure(Door::Tls)
    }));
    let hash = [LoadTester::Drumfire, LoadTester::Md5sum, LoadTester::JMeter];
    entries.extend(each(&hash, |program| {
        ten(program, "md5.jmx", "MD5").with(KEPT, 1)
    }));
    entries.push(
        ten(LoadTester::Drumfire, "reading.jmx", "extractor, 1 MiB kept").with(KEPT, 1 << 20),
    );
    Scenario {
        most_seconds: 1,
        ..Scenario::new("download", "ten downloads of 1 GiB, one user", entries)
    }
    .at_most("plain", Time(LoadTester::Curl), 0.4)
    .at_most("busy machine", Time(LoadTester::Curl), 0.4)
    .at_most("plain", Cpu(LoadTester::Curl), 0.3)
    .at_most("plain", PeakMib, 32.0)
    .at_most("TLS", Time(LoadTester::Curl), 0.9)
    .at_most("TLS", Cpu(LoadTester::Curl), 1.0)
    // Data from the network costs more than data that md5sum reads from the page cache.
    .at_most("MD5", Cpu(LoadTester::Md5sum), 1.05)
    .at_most("extractor, 1 MiB kept", PeakMib, 32.0)
}

fn upload() -> Scenario {
    let entries = each(
        &[
            LoadTester::Drumfire,
            LoadTester::CurlUpload,
            LoadTester::JMeter,
        ],
        |program| Contender {
            path: "/upload",
            ..ten(program, "upload.jmx", "")
                .with("path", "/upload")
                .with("file", "@FOLDER@/html/big")
        },
    );
    Scenario {
        most_seconds: 1,
        ..Scenario::new(
            "upload",
            "ten uploads of a file of 1 GiB, one user",
            entries,
        )
    }
    .at_most("", Cpu(LoadTester::CurlUpload), 0.5)
    .at_most("", PeakMib, 32.0)
}

fn template() -> Scenario {
    let entry = Contender {
        path: "/upload",
        made: None,
        ..ten(LoadTester::Drumfire, "template.jmx", "")
            .with("path", "/upload")
            .with("part", "@FOLDER@/html/megabytes")
    };
    Scenario {
        most_seconds: 1,
        ..Scenario::new(
            "template",
            "ten uploads of a body with 256 references to a variable of 8 MiB",
            vec![entry],
        )
    }
    .at_most("", PeakMib, 64.0)
}

/// The extractors read a page from a variable, so that the sample costs nothing else. It is the same page each time, or, in
/// some cases, a new page for each sample.
fn post_processors() -> Scenario {
    const CASES: [(&str, &str, Option<f64>); 12] = [
        ("no extractor", "nothing", None),
        ("boundary", "boundary", Some(5.0)),
        ("regex", "regex", Some(5.0)),
        ("css", "css", Some(10.0)),
        ("json", "json", Some(10.0)),
        ("xpath", "xpath", Some(10.0)),
        ("xpath of HTML", "xpath_of_html", Some(10.0)),
        ("eight of CSS on one page", "eight", Some(10.0)),
        ("css, new pages", "css_new", Some(10.0)),
        ("xpath, new pages", "xpath_new", Some(10.0)),
        ("xpath of HTML, new pages", "xpath_of_html_new", Some(10.0)),
        ("eight of CSS, new pages", "eight_new", Some(10.0)),
    ];
    let mut entries = Vec::new();
    for (case, property, _) in CASES {
        entries.extend(each(
            &[LoadTester::Drumfire, LoadTester::JMeter],
            |program| {
                Contender::new(program, "extractors.jmx")
                    .case(case, 2)
                    .with("pages", "@FOLDER@/html")
                    .with(property, 2)
            },
        ));
    }
    let scenario = Scenario::new(
        "postprocessors",
        "an extractor on a page of 16 KiB in a variable; the rate counts",
        entries,
    );
    CASES
        .iter()
        .fold(scenario, |scenario, (case, _, least)| match least {
            Some(least) => scenario.at_least(case, Rate(LoadTester::JMeter), *least),
            None => scenario,
        })
}
