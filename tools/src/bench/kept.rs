//! Reads the stored reports in `benches/runs/`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// The number of numeric columns after a row's label.
const COLUMNS: usize = 11;

/// The latest run of each scenario, by its name.
pub type Kept = BTreeMap<String, KeptScenario>;

/// One scenario of a report.
#[derive(Debug, Default)]
pub struct KeptScenario {
    /// The name of the run's folder, which is its date.
    pub folder: String,
    /// The first line of the report: rounds, cores and CPU.
    pub surroundings: String,
    pub rows: Vec<KeptRow>,
    /// The measured figures that have a bound, by the text before the bound.
    aims: BTreeMap<String, f64>,
    /// Packets and bytes per sample, by row label.
    wires: BTreeMap<String, (f64, f64)>,
}

/// One program in one case.
#[derive(Debug, PartialEq)]
pub struct KeptRow {
    pub label: String,
    pub cpu_us: f64,
    pub peak_mib: f64,
}

impl KeptRow {
    pub fn program(&self) -> &str {
        self.label.rsplit(": ").next().unwrap_or(&self.label)
    }

    pub fn case(&self) -> &str {
        self.label.rsplit_once(": ").map_or("", |(case, _)| case)
    }
}

impl KeptScenario {
    pub fn row(&self, label: &str) -> Option<&KeptRow> {
        self.rows.iter().find(|row| row.label == label)
    }

    /// A figure that has a bound, by the text before the bound.
    pub fn aim(&self, text: &str) -> Option<f64> {
        self.aims.get(text).copied()
    }

    /// Packets and bytes per sample.
    pub fn wire(&self, label: &str) -> Option<(f64, f64)> {
        self.wires.get(label).copied()
    }

    /// The day of the run.
    pub fn day(&self) -> &str {
        self.folder.split('T').next().unwrap_or(&self.folder)
    }
}

/// Reads all reports below a folder.
///
/// # Errors
/// The folder or a report cannot be read.
pub fn read(runs: &Path) -> anyhow::Result<Kept> {
    let mut folders: Vec<_> = std::fs::read_dir(runs)
        .with_context(|| runs.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("report.txt").is_file())
        .collect();
    folders.sort();
    let mut kept = Kept::new();
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("report.txt"))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        kept.extend(report(&text, &name));
    }
    Ok(kept)
}

/// The scenarios of one report that contain measurements.
fn report(text: &str, folder: &str) -> Kept {
    let mut kept = Kept::new();
    let mut lines = text.lines().peekable();
    let surroundings = lines.next().unwrap_or_default();
    let mut name = String::new();
    while let Some(line) = lines.next() {
        let is_head = lines
            .peek()
            .is_some_and(|next| next.starts_with("program "));
        if let (true, Some((of, _))) = (is_head, line.split_once(": ")) {
            of.clone_into(&mut name);
            let scenario = KeptScenario {
                folder: folder.to_owned(),
                surroundings: surroundings.to_owned(),
                ..KeptScenario::default()
            };
            kept.insert(name.clone(), scenario);
        } else if let Some(scenario) = kept.get_mut(&name) {
            take(line, scenario);
        }
    }
    kept.retain(|_, scenario| !scenario.rows.is_empty());
    kept
}

/// Parses a line of a scenario, below its heading.
fn take(line: &str, scenario: &mut KeptScenario) {
    if let Some(target) = line.strip_prefix("target  ") {
        let parts = [" <= ", " >= "]
            .iter()
            .find_map(|sign| target.rsplit_once(sign));
        let Some((text, rest)) = parts else { return };
        let value = rest.split_once(": ").map(|(_, value)| value);
        let number = value.and_then(|value| value.split(' ').next()?.parse().ok());
        if let Some(number) = number {
            scenario.aims.insert(text.to_owned(), number);
        }
    } else if let Some((label, wire)) = line.split_once(": wire: ") {
        let mut words = wire.split(' ');
        let packets = words.next().and_then(|word| word.parse().ok());
        let bytes = words.nth(2).and_then(|word| word.parse().ok());
        if let (Some(packets), Some(bytes)) = (packets, bytes) {
            scenario.wires.insert(label.to_owned(), (packets, bytes));
        }
    } else if let Some(row) = row(line) {
        scenario.rows.push(row);
    }
}

fn row(line: &str) -> Option<KeptRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbers = words.len().checked_sub(COLUMNS).filter(|from| *from > 0)?;
    let value = |column: usize| words[numbers + column].parse::<f64>().ok();
    value(0)?;
    Some(KeptRow {
        label: words[..numbers].join(" "),
        cpu_us: value(4)?,
        peak_mib: value(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
nginx on loopback, 2 cores
CPU and memory are the whole process's
not installed: oha

shop: three requests; wrk asks for one page
program                            samples    rate/s  user us system us   CPU us  to wrk to jmeter  peak MiB   p50 ms   p99 ms p99.9 ms
shop: drumfire                      925139   61239.3    11.04      6.85    17.89       -      0.03      23.7        -        -        -
one static page: wrk               1225296   79955.6     1.70      9.15    10.84       -         -      10.1     0.13     0.46     3.18
shop: drumfire: service time: p50 110us, p99 441us, p99.9 1.78, max 7.46 ms (359,225 times)
shop: drumfire: wire: 4.02 packets and 1850 bytes a sample, both ways
target  shop: CPU to wrk's of 'one static page' <= 1.2: 1.511  miss
target  shop: CPU to loadr's <= 0.4: not measured
target  shop: CPU to jmeter's <= 0.111: 0.033  PASS  (jmeter 1.000)

alone: nothing was measured
program                            samples    rate/s  user us system us   CPU us  to wrk to jmeter  peak MiB   p50 ms   p99 ms p99.9 ms
drumfire left out: it failed
";

    #[test]
    fn a_report_is_read_back() {
        let kept = report(REPORT, "2026-11-23T174600");
        assert_eq!(kept.len(), 1);
        let shop = &kept["shop"];
        assert_eq!(shop.day(), "2026-11-23");
        let [own, wrk] = &shop.rows[..] else {
            panic!("{:?}", shop.rows)
        };
        assert_eq!((own.case(), own.program()), ("shop", "drumfire"));
        assert_eq!((own.cpu_us, own.peak_mib), (17.89, 23.7));
        assert_eq!((wrk.case(), wrk.cpu_us), ("one static page", 10.84));
        assert_eq!(shop.wire("shop: drumfire"), Some((4.02, 1850.0)));
        let aim = shop.aim("shop: CPU to wrk's of 'one static page'");
        assert_eq!(aim, Some(1.511));
        assert_eq!(shop.aim("shop: CPU to loadr's"), None);
        assert_eq!(shop.aim("shop: CPU to jmeter's"), Some(0.033));
    }
}
