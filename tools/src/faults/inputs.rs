//! Plans, data files and command lines that cannot do what the user wants.

use std::time::Duration;

use drumfire_testkit::program::LIMIT;

use super::Fault;
use super::bench::{FaultBench, ensure, expect, group, plan, sample};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "missing-data-file-as-jmeter",
        is_quick: true,
        before: "VALID, exit code 0",
        after: "users end as in JMeter, and nothing was sent",
        stage: |bench| {
            let inside = [data("no.csv"), sample("s")].concat();
            expect(
                &bench.run(&inside, &["-Jdrumfire.missing_files=jmeter"]),
                8,
                &["ended before the first request"],
            )
        },
    },
    Fault {
        name: "empty-data-file",
        is_quick: true,
        before: "not a word",
        after: "a warning with the file's name",
        stage: |bench| {
            let workshop = bench.with_plan("1", 1, &[data("e.csv"), sample("s")].concat());
            workshop.write("e.csv", "");
            expect(
                &workshop.run(&["check", "p.jmx"], LIMIT),
                0,
                &["Runs. 1 warning", "`e.csv`"],
            )
        },
    },
    Fault {
        name: "missing-upload",
        is_quick: true,
        before: "a failed sample for each request",
        after: "refused with the file's name",
        stage: |bench| expect(&bench.run(UPLOAD, &[]), 3, &["file to upload `no.pdf`"]),
    },
    Fault {
        name: "missing-script-file",
        is_quick: true,
        before: "a failed sample for each call",
        after: "refused with the file's name",
        stage: |bench| {
            // Otherwise the program first fetches JMeter's jars, which takes half a minute where there is a network.
            let refused = bench.run(SCRIPT, &["--offline"]);
            expect(&refused, 3, &["script file `no.groovy`"])
        },
    },
    Fault {
        name: "bad-number",
        is_quick: true,
        before: "one user, exit code 0",
        after: "refused with property, element and value",
        stage: |bench| {
            let workshop = bench.with_plan("${__P(users,1)}", 1, &sample("s"));
            let refused = workshop.run(&["run", "p.jmx", "-Jusers=abc"], LIMIT);
            expect(&refused, 3, &["`users`", "`abc`", "'users'"])
        },
    },
    Fault {
        name: "misspelt-property",
        is_quick: true,
        before: "not a word",
        after: "a warning with the name that was probably meant",
        stage: |bench| {
            let workshop = bench.with_plan("${__P(users,1)}", 1, &sample("s"));
            expect(
                &workshop.run(&["run", "p.jmx", "-Jusres=5"], LIMIT),
                0,
                &["did you mean `users`?"],
            )
        },
    },
    Fault {
        name: "two-billion-users",
        is_quick: true,
        before: "memory without bound",
        after: "refused with the property that bounds users",
        stage: |bench| {
            let workshop = bench.with_plan("2000000000", 1, &sample("s"));
            expect(
                &workshop.run(&["run", "p.jmx"], LIMIT),
                3,
                &["drumfire.max_users"],
            )
        },
    },
    Fault {
        name: "zero-users",
        is_quick: true,
        before: "VALID, exit code 0",
        after: "8 alone, 0 beside a group that sends",
        stage: zero_users,
    },
    Fault {
        name: "label-of-50-mb",
        is_quick: false,
        before: "50 MB on the terminal",
        after: "64 KiB of it in every output",
        stage: |bench| {
            let finished = bench.run(&sample(&"x".repeat(50 << 20)), &[]);
            expect(&finished, 0, &["verdict  "])?;
            ensure(finished.out.len() < 1 << 18, "the label is on the terminal")
        },
    },
    Fault {
        name: "row-of-10-gib",
        is_quick: false,
        before: "memory without bound",
        after: "a result file with such a row is refused in bounded memory, with the property",
        stage: endless_row,
    },
    Fault {
        name: "label-with-escapes",
        is_quick: true,
        before: "escape sequences reached the terminal, a line break began a workflow command",
        after: "neither does",
        stage: escapes,
    },
    Fault {
        name: "no-plan-at-all",
        is_quick: true,
        before: "3",
        after: "refused with what it is",
        stage: |bench| {
            let workshop = bench.with_plan("1", 1, "");
            workshop.write("p.jmx", "<html><body>log in</body></html>");
            expect(
                &workshop.run(&["check", "p.jmx"], LIMIT),
                3,
                &["Does not run: 1 error"],
            )
        },
    },
    Fault {
        name: "calls-nested-without-end",
        is_quick: true,
        before: "the language server overflowed its stack, and check took minutes",
        after: "refused with the bound",
        stage: |bench| {
            for text in [
                "${__eval(".repeat(5_000),
                format!("{}x{}", "${__eval(".repeat(5_000), ")}".repeat(5_000)),
            ] {
                let workshop = bench.with_plan("1", 1, &sample(&text));
                let words = ["more than 100 deep"];
                expect(&workshop.run(&["check", "p.jmx"], SOON), 3, &words)?;
            }
            Ok(())
        },
    },
    Fault {
        name: "decrements-nested-without-end",
        is_quick: true,
        before: "check overflowed its stack",
        after: "the condition is left to a script engine",
        stage: |bench| {
            let condition = format!("{}a", "--".repeat(100_000));
            let inside = format!(
                r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="i"><boolProp name="IfController.useExpression">false</boolProp><stringProp name="IfController.condition">{condition}</stringProp></IfController><hashTree>{}</hashTree>"#,
                sample("s")
            );
            let workshop = bench.with_plan("1", 1, &inside);
            let finished = workshop.run(&["check", "p.jmx"], SOON);
            let is_judged = matches!(finished.code, Some(0 | 3));
            ensure(is_judged, &format!("{finished:?}"))
        },
    },
    Fault {
        name: "files-that-are-none",
        is_quick: false,
        before: "/dev/zero filled the memory, and a pipe was waited for",
        after: "no file of a plan is a device or a pipe",
        stage: files_that_are_none,
    },
    Fault {
        name: "authorities-without-end",
        is_quick: false,
        before: "memory was filled with a line of them",
        after: "refused with the bound",
        stage: |bench| {
            let words = ["--tls-verify", "-Jdrumfire.tls_ca_file=/dev/zero"];
            let inside = super::bench::request(1, "https", "");
            expect(&bench.run(&inside, &words), 1, &["larger than a gigabyte"])
        },
    },
    Fault {
        name: "an-editor-announces-too-much",
        is_quick: true,
        before: "memory was asked for until the program aborted",
        after: "exit code 1 with the bound",
        stage: |bench| {
            let workshop = bench.folder();
            workshop.write("message", "Content-Length: 99999999999999\r\n\r\n{}");
            let finished = bench.run_limited(&workshop, "exec < message", "lsp")?;
            expect(&finished, 1, &["a message of more than 128 MiB"])
        },
    },
    Fault {
        name: "a-recording-of-a-deep-page",
        is_quick: false,
        before: "the depth of each element was counted anew: minutes for a page of 900 KB",
        after: "work in proportion to the page",
        stage: |bench| {
            let page = "<div>".repeat(100_000);
            let workshop = bench.folder();
            workshop.write(
                "deep.har",
                format!(
                    r#"{{"log":{{"entries":[{{"request":{{"method":"GET","url":"http://shop.test/?a=token4711x"}},"response":{{"status":200,"content":{{"mimeType":"text/html","text":"{page}"}}}}}},{{"request":{{"method":"GET","url":"http://shop.test/?b=token0815y"}},"response":{{"status":200}}}}]}}}}"#
                ),
            );
            let words = ["import", "deep.har", "-o", "p.jmx"];
            expect(&workshop.run(&words, SOON), 0, &["2 requests"])
        },
    },
    Fault {
        name: "a-recording-of-thousands",
        is_quick: false,
        before: "each value was searched for in each response: 32 s in a release build",
        after: "work in proportion to the recording",
        stage: long_recording,
    },
];

/// More than a debug build takes, and far less than work that grows with the square.
const SOON: Duration = Duration::from_secs(20);

/// Checks and runs plans whose data, include, upload, function or `.proto` file is a device or a pipe without a writer.
fn files_that_are_none(bench: &FaultBench) -> anyhow::Result<()> {
    for file in ["/dev/zero", "pipe"] {
        let include = format!(
            r#"<IncludeController guiclass="IncludeControllerGui" testclass="IncludeController" testname="i"><stringProp name="IncludeController.includepath">{file}</stringProp></IncludeController><hashTree/>"#
        );
        let read = format!(
            "${{__FileToString({file})}}${{__StringFromFile({file})}}${{__CSVRead({file},0)}}${{__XPath({file},//a)}}"
        );
        let upload = UPLOAD.replace("no.pdf", file);
        for inside in [
            include,
            data(file) + &sample("s"),
            sample(&read),
            upload,
            GRPC.to_owned(),
        ] {
            let workshop = bench.with_plan("1", 1, &inside);
            // The plan names the folder, which a stranger may have packed.
            let target = if file == "pipe" { "../pipe" } else { file };
            workshop.write("protos/readme", "");
            std::os::unix::fs::symlink(target, workshop.path("protos/a.proto"))?;
            let made = std::process::Command::new("mkfifo")
                .arg(workshop.path("pipe"))
                .status()?;
            ensure(made.success(), "no pipe could be made")?;
            for command in ["check", "run", "show"] {
                let finished = workshop.run(&[command, "p.jmx"], SOON);
                ensure(
                    finished.code.is_some_and(|code| code < 100),
                    &format!("{command} of {file}: {finished:?}"),
                )?;
            }
        }
    }
    Ok(())
}

/// Imports a recording in which each of 3,000 requests sends what the response before it gave.
fn long_recording(bench: &FaultBench) -> anyhow::Result<()> {
    let entry = |number: u32| {
        format!(
            r#"{{"request":{{"method":"GET","url":"http://shop.test/item?t={}&n={}"}},"response":{{"status":200,"content":{{"mimeType":"application/json","text":"{{\"token\":\"{}\",\"n\":{number}}}"}}}}}}"#,
            token(number),
            number % 50,
            token(number + 1),
        )
    };
    let entries: Vec<String> = (0..3_000).map(entry).collect();
    let workshop = bench.folder();
    workshop.write(
        "long.har",
        format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(",")),
    );
    let words = ["import", "long.har", "-o", "p.jmx"];
    let finished = workshop.run(&words, 3 * SOON);
    // The first 20 are listed, the others counted.
    expect(&finished, 0, &["t_20 ", "2979 more"])
}

fn token(number: u32) -> String {
    format!(
        "t{number:06}Q{:08}z",
        number.wrapping_mul(7_919) % 99_999_989
    )
}

const UPLOAD: &str = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="send"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files"><elementProp name="no.pdf" elementType="HTTPFileArg"><stringProp name="File.path">no.pdf</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>"#;
const GRPC: &str = r#"<vn.zalopay.benchmark.GRPCSampler guiclass="vn.zalopay.benchmark.GRPCSamplerGui" testclass="vn.zalopay.benchmark.GRPCSampler" testname="call"><stringProp name="GRPCSampler.host">127.0.0.1</stringProp><stringProp name="GRPCSampler.port">1</stringProp><stringProp name="GRPCSampler.protoFolder">protos</stringProp><stringProp name="GRPCSampler.fullMethod">a.B/C</stringProp></vn.zalopay.benchmark.GRPCSampler><hashTree/>"#;
const SCRIPT: &str = r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="script"><stringProp name="filename">no.groovy</stringProp><stringProp name="scriptLanguage">groovy</stringProp></JSR223Sampler><hashTree/>"#;

/// A CSV Data Set.
pub fn data(name: &str) -> String {
    format!(
        r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="Accounts"><stringProp name="filename">{name}</stringProp><stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#
    )
}

/// A row of 10 GiB after valid ones, read with two gigabytes of memory.
fn endless_row(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 1, "");
    let head = "timeStamp,elapsed,label,responseCode,success\n";
    let row = "1700000000000,5,a,200,true\n".repeat(20_000);
    workshop.write("r.csv", [head, &row, "1700000000000,5,"].concat());
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(workshop.path("r.csv"))?;
    // The file is sparse and takes no disk space.
    file.set_len(10 << 30)?;
    let refused = bench.run_limited(&workshop, "ulimit -v 2000000", "report r.csv")?;
    expect(&refused, 1, &["drumfire.max_row_bytes"])
}

fn zero_users(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("0", 1, &sample("s"));
    expect(
        &workshop.run(&["run", "p.jmx"], LIMIT),
        8,
        &["every thread group has 0 users"],
    )?;
    let both = [group("0", 1, &sample("s")), group("1", 1, &sample("t"))].concat();
    workshop.write("p.jmx", plan(&both));
    expect(&workshop.run(&["run", "p.jmx"], LIMIT), 0, &["verdict  "])
}

fn escapes(bench: &FaultBench) -> anyhow::Result<()> {
    let label = "a&#27;]0;title&#7;&#10;::error::injected&#10;##[error]too";
    let finished = bench.run(&sample(label), &["--fail-on", "p95 > 1h"]);
    let told = [finished.out.as_str(), finished.err.as_str()].concat();
    ensure(
        !told.contains('\u{1b}'),
        "an escape sequence reached the terminal",
    )?;
    ensure(
        !told.lines().any(is_command),
        "a line begins a workflow command",
    )
}

fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::") || line.contains("##[")
}
