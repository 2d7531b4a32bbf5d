//! Result files and files read, by the real program.

use drumfire_testkit::plans::{group, http, plan, writer};
use drumfire_testkit::program::{LIMIT, Workshop};

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

#[test]
fn the_protocol_file_reads_files_with_their_resources() {
    let workshop = workshop();
    workshop.write(
        "site/page.html",
        "<html><img src='a.png'><iframe src='inner/frame.html'></html>",
    );
    workshop.write("site/a.png", "1234");
    workshop.write("site/inner/frame.html", "<img src=\"b.png\">");
    workshop.write("site/inner/b.png", "12");
    let file = |name: &str, path: &str| {
        let parse = if path.ends_with("html") {
            "true"
        } else {
            "false"
        };
        let fields = [
            ("protocol", "file"),
            ("path", path),
            ("image_parser", parse),
        ];
        http(name, &fields)
    };
    let samples = [
        file("page", "site/page.html"),
        file("folder", "site/inner"),
        file("missing", "site/none.html"),
        http("shout", &[("protocol", "FILE"), ("path", "site/a.png")]),
    ];
    let switches = [
        "xml",
        "label",
        "success",
        "threadName",
        "bytes",
        "url",
        "subresults",
        "threadCounts",
    ];
    let text = plan(&(group(1, &samples.concat()) + &writer("out.xml", &switches)));
    workshop.write("plan.jmx", text);
    let finished = workshop.run(&["-n", "-t", "plan.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    // JMeter 5.6.3 wrote this for the plan. The size of a failed row is the length of Java's stack trace there.
    assert_eq!(
        without_failed_sizes(&workshop.read("out.xml")),
        without_failed_sizes(include_str!("../data/files.xml"))
    );
}

fn without_failed_sizes(xml: &str) -> String {
    let line = |line: &str| match (line.contains(" s=\"false\""), line.split_once(" by=\"")) {
        (true, Some((before, after))) => {
            let rest = after.split_once('"').map_or("", |(_, rest)| rest);
            format!("{before}{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    xml.lines().map(line).collect()
}
