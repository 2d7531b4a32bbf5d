//! The report as one HTML page that needs no network: a template with scripts and styles, and the compressed numbers.

mod errors;
mod live;
mod periods;
mod rows;
mod steps;

use std::io::Write as _;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_results::{Connections, LabelStatistics};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

pub use self::live::{LiveSecond, live_errors, live_html, live_label, live_state};
use crate::apdex::{Apdex, ApdexLimits, LabelMatcher};
use crate::counts::CheckedCount;
use crate::escape;
use crate::findings::{Finding, findings};
use crate::judged::{RunOutcome, ThresholdResult};
use crate::own_part::own_part;
use crate::repeats::Repeats;
use crate::run_file::{
    Capacity, HealthGroup, Mark, PlanIdentity, RunAgent, RunFile, RunVerdict, TimeUse,
};
use crate::run_length::run_length;
use crate::traces::{TraceLink, Traces};

/// Built from `web/` by `cargo xtask web`.
const TEMPLATE: &str = include_str!("../../assets/report.html");
/// The start and the end of the page's program in the template.
const PROGRAM: [&str; 2] = ["<script type=\"module\" crossorigin>", "</script>"];
/// Unpacks the program and starts it.
const STARTER: &str = r#"<script>(async()=>{const b=Uint8Array.from(atob(document.getElementById("program").textContent),c=>c.charCodeAt(0)),s=document.createElement("script");s.type="module";s.textContent=await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();document.body.append(s)})().catch(e=>document.getElementById("app").textContent="This browser is too old to unpack the page: "+e)</script>"#;
/// The placeholder for the numbers in the template.
const PLACE: &str = "<!--drumfire:payload-->";
/// The property with the template of links to traces.
const TRACE_LINK: &str = "drumfire.trace.link";
/// The title in the template.
const TITLE: &str = "<title>Drumfire</title>";

/// Everything that the page shows of a run. Times are in milliseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportPage<'a> {
    kind: &'static str,
    tool: &'a str,
    name: &'a str,
    plan: Option<&'a PlanIdentity>,
    started_ms: i64,
    ended_ms: i64,
    title: Option<String>,
    targets: &'a [String],
    properties: &'a [(String, String)],
    merged: Option<&'a str>,
    environment: &'a [(String, String)],
    verdict: Option<&'a RunVerdict>,
    own_part: Option<String>,
    /// Whether servers counted as many requests as were sent, a sentence each.
    counts: Vec<String>,
    thresholds: &'a [ThresholdResult],
    outcome: Option<RunOutcome>,
    connections: Option<Connections>,
    planned_users: &'a [(i64, u64)],
    marks: &'a [Mark],
    health: &'a [HealthGroup],
    agents: &'a [RunAgent],
    time_use: Option<&'a TimeUse>,
    capacity: Option<&'a Capacity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'a Repeats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traces: Option<Traces>,
    satisfied_ms: u64,
    tolerated_ms: u64,
    errors: Vec<errors::PageErrors>,
    findings: Vec<Finding>,
    /// The part that the statistics leave out, in one sentence without its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'a str>,
    /// How exactly the 95th percentile is known, in one sentence.
    run_length: Option<String>,
    total: rows::Row,
    labels: Vec<rows::Row>,
    steps: steps::Steps,
    label_step_s: u32,
    /// The length of the periods of all rows, in seconds.
    period_s: u32,
}

/// The page settings of JMeter's properties.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// `jmeter.reportgenerator.report_title`.
    pub title: Option<String>,
    /// A pattern for the labels to show (`…exporter.html.series_filter`); without it, all are shown.
    pub series_filter: Option<String>,
    /// Whether only transaction controllers are shown (`…exporter.html.show_controllers_only`).
    pub controllers_only: bool,
    /// The template of links to traces (`drumfire.trace.link`).
    pub trace_link: Option<TraceLink>,
}

impl PageOptions {
    /// The options that the properties set.
    pub fn from_properties(lookup: &dyn Fn(&str) -> Option<String>) -> PageOptions {
        let given = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        PageOptions {
            title: given("jmeter.reportgenerator.report_title"),
            series_filter: given("jmeter.reportgenerator.exporter.html.series_filter"),
            controllers_only: given("jmeter.reportgenerator.exporter.html.show_controllers_only")
                .is_some_and(|value| value == "true"),
            trace_link: given(TRACE_LINK).and_then(|value| value.parse().ok()),
        }
    }

    /// The template of links: the one given, or else that of the run.
    fn trace_link_of(&self, run: &RunFile) -> Option<TraceLink> {
        let mut properties = run.properties.iter();
        self.trace_link.clone().or_else(|| {
            properties
                .find(|(name, _)| name.trim_start_matches("-J") == TRACE_LINK)?
                .1
                .parse()
                .ok()
        })
    }

    fn shows(&self, label: &LabelStatistics, matches: LabelMatcher<'_>) -> bool {
        let filter = self.series_filter.as_deref();
        (!self.controllers_only || label.transaction)
            && filter.is_none_or(|filter| {
                // JMeter's filters match the series of its charts, whose names have these suffixes.
                let series = ["", "-success", "-failure"];
                series
                    .iter()
                    .any(|end| matches(filter, &format!("{}{end}", label.label)))
            })
    }
}

/// The page of a run, with all of its labels.
pub fn report_html(run: &RunFile, apdex: &Apdex, matches: LabelMatcher<'_>) -> String {
    report_page(run, &PageOptions::default(), apdex, matches)
}

/// The page of a run.
pub fn report_page(
    run: &RunFile,
    options: &PageOptions,
    apdex: &Apdex,
    matches: LabelMatcher<'_>,
) -> String {
    let page = page("report", run, options, apdex, matches);
    let name = options.title.as_deref().unwrap_or(&run.name);
    let title = match run.outcome() {
        Some(outcome) => format!("{} – {name}", outcome.word()),
        None => name.to_owned(),
    };
    html(&title, &page)
}

/// The numbers of [`report_page`] alone, in the page's format: deflated JSON in base64.
pub fn report_payload(
    run: &RunFile,
    options: &PageOptions,
    apdex: &Apdex,
    matches: LabelMatcher<'_>,
) -> String {
    packed(&page("report", run, options, apdex, matches))
}

/// The rows of the labels that the page shows.
struct LabelRows {
    rows: Vec<rows::Row>,
    /// The length of the periods of all rows, in seconds.
    period_s: u32,
    label_step_s: u32,
}

impl LabelRows {
    fn of(
        kind: &str,
        run: &RunFile,
        options: &PageOptions,
        apdex: &Apdex,
        matches: LabelMatcher<'_>,
    ) -> LabelRows {
        let (recording, settled) = (&run.recording, run.statistics());
        let label_step_s = steps::label_step_s(&recording.timeline, recording.labels.len());
        let shown = settled.labels.iter().enumerate();
        let shown: Vec<_> = shown
            .filter(|(_, label)| options.shows(label, matches))
            .collect();
        let places: Vec<usize> = shown.iter().map(|(place, _)| *place).collect();
        // A page of a run that goes on has no periods: it would send all of them anew.
        let (period_s, periods) = match kind {
            "report" => periods::periods(&recording.timeline, &places),
            _ => (0, vec![Vec::new(); places.len()]),
        };
        let labels = shown.into_iter().zip(periods);
        let rows = labels.map(|((place, label), periods)| {
            let limits = apdex.limits_of(&label.label, matches);
            let mut row = rows::Row::of(label, limits, run.resolution_us);
            if kind == "report" {
                row = row.with_intervals(&settled.precision(place));
            }
            row.steps = Some(steps::LabelSteps::of(
                &recording.timeline,
                place,
                label_step_s,
            ));
            row.periods = periods;
            row
        });
        LabelRows {
            rows: rows.collect(),
            period_s,
            label_step_s,
        }
    }
}

fn page<'a>(
    kind: &'static str,
    run: &'a RunFile,
    options: &PageOptions,
    apdex: &Apdex,
    matches: LabelMatcher<'_>,
) -> ReportPage<'a> {
    let recording = &run.recording;
    let ApdexLimits {
        satisfied_ms,
        tolerated_ms,
    } = apdex.limits;
    let LabelRows {
        rows: labels,
        period_s,
        label_step_s,
    } = LabelRows::of(kind, run, options, apdex, matches);
    ReportPage {
        kind,
        tool: &run.tool,
        name: &run.name,
        plan: run.plan.as_ref(),
        started_ms: run.started_ms,
        ended_ms: run.ended_ms,
        title: options.title.clone(),
        targets: &run.targets,
        properties: &run.properties,
        merged: run.merged.as_deref(),
        environment: &run.environment,
        verdict: run.verdict.as_ref(),
        own_part: own_part(&run.recording),
        counts: run.counts.iter().map(CheckedCount::line).collect(),
        thresholds: &run.thresholds,
        outcome: run.outcome(),
        connections: run.connections,
        planned_users: &run.planned_users,
        marks: &run.marks,
        health: &run.health,
        agents: &run.agents,
        time_use: run.time_use.as_ref(),
        capacity: run.capacity.as_ref(),
        repeats: run.repeats.as_ref(),
        traces: match kind {
            "report" => Traces::of(recording, options.trace_link_of(run).as_ref()),
            _ => None,
        },
        satisfied_ms,
        tolerated_ms,
        errors: errors::of_kinds(recording.errors.by_label(), most_error_steps(kind)),
        // During the run a curve that has just begun would make findings that do not last.
        findings: match kind {
            "report" => findings(run),
            _ => Vec::new(),
        },
        left_out: run.settled.as_ref().map(|part| part.told.as_str()),
        run_length: (kind == "report")
            .then(|| run_length(run.statistics()))
            .flatten(),
        total: total_row(run, kind, apdex.limits),
        labels,
        steps: steps::Steps::of(&recording.timeline),
        label_step_s,
        period_s,
    }
}

/// The row of all samples. Only a finished run has intervals.
fn total_row(run: &RunFile, kind: &str, limits: ApdexLimits) -> rows::Row {
    let total = run.statistics().total();
    let row = rows::Row::of(&total, limits, run.resolution_us);
    match kind {
        "report" => row.with_intervals(&run.statistics().total_precision(&total)),
        _ => row,
    }
}

/// The steps of a kind's curve. A page of a run that goes on receives the curves again and again.
fn most_error_steps(page: &str) -> usize {
    match page {
        "report" => errors::REPORT_STEPS,
        _ => errors::LIVE_STEPS,
    }
}

/// Deflated JSON in base64.
fn packed(page: &impl Serialize) -> String {
    deflated(&serde_json::to_vec(page).expect("numbers and texts can be written"))
}

fn deflated(bytes: &[u8]) -> String {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::new(7));
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    STANDARD.encode(packed.expect("memory takes everything"))
}

/// The template with its program packed, which makes mailed pages smaller. The template itself stays readable.
fn template() -> &'static str {
    static PACKED: OnceLock<String> = OnceLock::new();
    PACKED.get_or_init(|| {
        let parts = TEMPLATE
            .split_once(PROGRAM[0])
            .and_then(|(before, rest)| Some((before, rest.split_once(PROGRAM[1])?)));
        let (before, (program, after)) = parts.expect("the template has a program");
        let program = deflated(program.as_bytes());
        let packed = format!("<script id=\"program\" type=\"text/plain\">{program}</script>");
        // The program needs the body, in which it then stands.
        let after = after.replacen("</body>", &format!("{packed}{STARTER}</body>"), 1);
        format!("{before}{after}")
    })
}

/// The template with a title and the page's data.
pub(crate) fn html(title: &str, page: &impl Serialize) -> String {
    let payload = format!(
        "<script id=\"payload\" type=\"text/plain\">{}</script>",
        packed(page)
    );
    let title = format!("<title>{} – Drumfire</title>", escape::xml(title));
    template()
        .replacen(TITLE, &title, 1)
        .replacen(PLACE, &payload, 1)
}

/// Rounds a number to the digits that a chart shows.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let factor = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * factor).round() / factor
}
