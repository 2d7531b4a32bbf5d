//! Files that are generated when a scenario needs them: plans of any size, data, bodies, results.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;

use super::pages;

const BIG_BYTES: u64 = 1 << 30;
/// Yields 50 MB.
const LARGE_JSON_ITEMS: usize = 330_000;

/// A generated file in the server's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A plan of 50 MB whose only enabled request comes first.
    LargePlan,
    /// A plan with this many samplers that do nothing, executed in sequence.
    Samplers(u64),
    /// A plan that requests a page of 16 KiB, with this many extractors.
    Extractors(u64),
    /// A CSV file with this many rows.
    Data(u64),
    /// A body of this many bytes.
    Body(u64),
    /// A body of 1 GiB. It is read once after it is written, so that the server sends it from the page cache and the first
    /// client does not pay for filling it.
    BigBody,
    /// A result file with this many rows.
    Results(u64),
    /// A JSON document of 50 MB.
    LargeJson,
}

impl Made {
    /// The path within the server's folder.
    pub fn path(self) -> String {
        match self {
            Made::LargePlan => "large.jmx".to_owned(),
            Made::Samplers(count) => format!("samplers-{count}.jmx"),
            Made::Extractors(count) => format!("extractors-{count}.jmx"),
            Made::Data(rows) => format!("data-{rows}.csv"),
            Made::Body(bytes) => format!("html/body-{bytes}"),
            Made::BigBody => "html/big".to_owned(),
            Made::Results(rows) => format!("results-{rows}.jtl"),
            Made::LargeJson => "html/large.json".to_owned(),
        }
    }

    /// Writes the file unless it exists.
    ///
    /// # Errors
    /// The disk is full, or a plan of `benches/` from which the file is made has changed.
    pub fn write(self, folder: &Path) -> anyhow::Result<()> {
        let file = folder.join(self.path());
        if file.exists() {
            return Ok(());
        }
        match self {
            Made::LargePlan => {
                let text = pages::large_plan(&plan("requests.jmx")?)?;
                std::fs::write(file, text)?;
            }
            Made::Samplers(count) => std::fs::write(file, samplers(&plan("rows.jmx")?, count)?)?,
            Made::Extractors(count) => {
                std::fs::write(file, extractors(&plan("requests.jmx")?, count)?)?;
            }
            Made::Data(rows) => write_lines(&file, rows, |row| format!("user{row},secret{row}"))?,
            // A sparse file, which the server can read at little cost.
            Made::Body(bytes) => File::create(file)?.set_len(bytes)?,
            Made::BigBody => {
                File::create(&file)?.set_len(BIG_BYTES)?;
                std::io::copy(&mut File::open(file)?, &mut std::io::sink())?;
            }
            Made::Results(rows) => write_lines(&file, rows + 1, result_row)?,
            Made::LargeJson => std::fs::write(file, pages::json(LARGE_JSON_ITEMS))?,
        }
        Ok(())
    }
}

fn plan(name: &str) -> anyhow::Result<String> {
    let file = xtask::root().join("benches").join(name);
    std::fs::read_to_string(&file).with_context(|| file.display().to_string())
}

fn write_lines(file: &Path, count: u64, line: impl Fn(u64) -> String) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for number in 0..count {
        writeln!(out, "{}", line(number))?;
    }
    out.flush()
}

/// A header for number 0, otherwise a row with one of ten labels, a hundred rows per second.
fn result_row(number: u64) -> String {
    if number == 0 {
        return "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
            .to_owned();
    }
    let began_ms = 1_700_000_000_000 + number * 10;
    let elapsed_ms = 20 + number * 7919 % 400;
    format!(
        "{began_ms},{elapsed_ms},Page {},200,OK,Users 1-{},text,true,,510,120,10,10,http://127.0.0.1/,{},0,0",
        number % 10,
        number % 10 + 1,
        elapsed_ms - 10
    )
}

/// The plan with its sampler repeated `count` times.
fn samplers(plan: &str, count: u64) -> anyhow::Result<String> {
    let (start, end) = ("<DebugSampler", "</DebugSampler>");
    let from = plan.find(start).context("the plan has no Debug Sampler")?;
    let to = plan[from..]
        .find(end)
        .context("the Debug Sampler has no end")?
        + from
        + end.len();
    let sampler = &plan[from..to];
    let mut text = plan[..to].to_owned();
    for number in 2..=count {
        let named = sampler.replacen("Nothing", &format!("Nothing {number}"), 1);
        let _ = write!(text, "<hashTree/>{named}");
    }
    text.push_str(&plan[to..]);
    Ok(text)
}

/// The plan with `count` extractors below its request, alternately Boundary Extractors and Regular Expression Extractors.
fn extractors(plan: &str, count: u64) -> anyhow::Result<String> {
    let end = "</HTTPSamplerProxy>";
    let to = plan.find(end).context("the plan has no request")? + end.len();
    let mut below = String::new();
    for number in 1..=count {
        let name = format!("value{number}");
        below.push_str(&if number % 2 == 0 {
            boundary_extractor(&name)
        } else {
            regex_extractor(&name)
        });
    }
    let rest = plan[to..]
        .trim_start()
        .strip_prefix("<hashTree/>")
        .context("something is below the request")?;
    Ok(format!("{}<hashTree>{below}</hashTree>{rest}", &plan[..to]))
}

fn regex_extractor(name: &str) -> String {
    format!(
        "<RegexExtractor guiclass=\"RegexExtractorGui\" testclass=\"RegexExtractor\" testname=\"{name}\" enabled=\"true\">\
         <stringProp name=\"RegexExtractor.refname\">{name}</stringProp>\
         <stringProp name=\"RegexExtractor.regex\">name=\"token\" value=\"([^\"]+)\"</stringProp>\
         <stringProp name=\"RegexExtractor.template\">$1$</stringProp>\
         <stringProp name=\"RegexExtractor.match_number\">1</stringProp></RegexExtractor><hashTree/>"
    )
}

fn boundary_extractor(name: &str) -> String {
    format!(
        "<BoundaryExtractor guiclass=\"BoundaryExtractorGui\" testclass=\"BoundaryExtractor\" testname=\"{name}\" enabled=\"true\">\
         <stringProp name=\"BoundaryExtractor.refname\">{name}</stringProp>\
         <stringProp name=\"BoundaryExtractor.lboundary\">name=\"token\" value=\"</stringProp>\
         <stringProp name=\"BoundaryExtractor.rboundary\">\"</stringProp>\
         <stringProp name=\"BoundaryExtractor.match_number\">1</stringProp></BoundaryExtractor><hashTree/>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_the_size_that_it_is_named_for() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("html")).expect("a folder in it");
        let text = |made: Made| {
            made.write(folder.path()).expect("it is written");
            std::fs::read_to_string(folder.path().join(made.path())).expect("it is there")
        };
        assert_eq!(text(Made::Data(1_000)).lines().count(), 1_000);
        assert_eq!(text(Made::Results(50)).lines().count(), 51);
        assert_eq!(text(Made::Body(4_096)).len(), 4_096);
        let plan = text(Made::Samplers(20));
        assert_eq!(plan.matches("<DebugSampler").count(), 20);
        assert!(plan.contains("testname=\"Nothing 20\""));
        let plan = text(Made::Extractors(5));
        assert_eq!(plan.matches("<RegexExtractor").count(), 3);
        assert_eq!(plan.matches("<BoundaryExtractor").count(), 2);
    }
}
