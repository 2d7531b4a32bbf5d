//! Shows how the runs of one plan developed, as a page with charts and a table.

use std::fmt::Write;

use drumfire_platform::words::counted;

use crate::escape;
use crate::judged::RunOutcome;

/// A run of a trend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrendPoint {
    /// Its number in the list of runs.
    pub number: usize,
    /// When it started, for display.
    pub when: String,
    /// Samples.
    pub samples: u64,
    /// Failed samples in per cent.
    pub errors_percent: f64,
    /// Samples a second.
    pub rate: f64,
    /// Percentiles 50, 95 and 99 of the elapsed time in milliseconds.
    pub percentiles_ms: [f64; 3],
    /// The run's verdict on its own numbers.
    pub verdict: String,
    /// The largest number of users at a time; 0 if it is not known.
    pub users: u32,
    /// Whether the run passed its thresholds.
    pub outcome: Option<RunOutcome>,
    /// The limits on the times of all samples: the threshold, and milliseconds.
    pub limits_ms: Vec<(String, f64)>,
    /// The 95th percentile of each label, in milliseconds.
    pub labels: Vec<(String, f64)>,
}

impl TrendPoint {
    /// A number for a table. Without samples nothing was measured, and 0 would look like a measurement.
    pub(crate) fn cell(&self, value: f64) -> String {
        match self.samples {
            0 => "–".to_owned(),
            _ => shown(value),
        }
    }
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

pub(crate) const STYLE: &str = ":root{color-scheme:light dark;--ink:#1c2530;--dim:#66727f;--line:#d8dee4;--paper:#fff;\
--a:#2f6fde;--b:#d08700;--c:#c2334d}@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--dim:#98a4b0;--line:#39434d;\
--paper:#14191f;--a:#6ea0ff;--b:#f0b13c;--c:#ff6f86}}body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);\
background:var(--paper);max-width:960px;margin:2rem auto;padding:0 1rem}h1{font-size:1.4rem;margin:0}h2{font-size:1rem;margin:1.6rem 0 .3rem}\
p{color:var(--dim);margin:.2rem 0}svg{width:100%;height:auto;display:block}svg text{fill:var(--dim);font-size:11px}\
.grid{stroke:var(--line)}.l{fill:none;stroke-width:2}.a{stroke:var(--a)}.b{stroke:var(--b)}.c{stroke:var(--c)}\
circle.a{fill:var(--a)}circle.b{fill:var(--b)}circle.c{fill:var(--c)}.key span{margin-right:1.2em}.key i{display:inline-block;\
width:1em;height:3px;vertical-align:middle;margin-right:.4em}table{border-collapse:collapse;width:100%;margin-top:1.6rem;\
font-variant-numeric:tabular-nums}td,th{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--line)}\
td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}.wide{overflow-x:auto}\
td:first-child,td:last-child{white-space:nowrap}@media(max-width:600px){svg text{font-size:22px}}";

const OWN_STYLE: &str = ".limit{stroke:var(--c);stroke-dasharray:6 4}circle.open{fill:var(--paper);stroke-width:2.5}\
.failed{fill:none;stroke:var(--c);stroke-width:1.5}.cross{stroke-width:2}.d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 3}\
a{color:inherit}nav a{margin-right:1em}td:nth-child(2){white-space:nowrap}tr:target td{background:color-mix(in srgb,var(--a) 18%,transparent)}svg a:focus circle{stroke:var(--ink)}\
h2{overflow-wrap:anywhere}.bad{color:var(--c);font-weight:600}";

/// Runs whose numbers of users differ by no more than this share have a like load.
const LIKE: f64 = 0.1;
/// How many labels have a chart of their own: those with the highest 95th percentiles.
const MOST_LABELS: usize = 24;

/// The page of a trend, with the runs in the order of time.
pub fn trend_html(plan: &str, points: &[TrendPoint]) -> String {
    let plan = escape::xml(plan);
    let loads = loads(points);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Trend of {plan}</title><style>{STYLE}{OWN_STYLE}</style>\n<main><h1>{plan}</h1><p>{}</p>\n",
        counted(points.len() as u64, "run")
    );
    legend(&mut page, points, &loads);
    let labels = labels(points);
    links(&mut page, &labels);
    charts(&mut page, points, &loads);
    label_charts(&mut page, points, &loads, &labels);
    table(&mut page, points);
    page.push_str("</main></html>\n");
    page
}

/// A link to the chart of each label.
fn links(page: &mut String, labels: &[String]) {
    if labels.len() < 2 {
        return;
    }
    page.push_str("<nav aria-label=\"Labels\"><p>");
    for (at, label) in labels.iter().enumerate() {
        let _ = write!(page, "<a href=\"#label-{at}\">{}</a> ", escape::xml(label));
    }
    page.push_str("</p></nav>\n");
}

/// The charts of all samples.
fn charts(page: &mut String, points: &[TrendPoint], loads: &[(usize, u32)]) {
    let values = |of: &dyn Fn(&TrendPoint) -> f64| -> Vec<Option<f64>> {
        let measured = points
            .iter()
            .map(|point| (point.samples > 0).then_some(of(point)));
        measured.collect()
    };
    let series = |name, class, of: &dyn Fn(&TrendPoint) -> f64| Series {
        name,
        class,
        values: values(of),
    };
    let drawing = |series| Drawing {
        points,
        loads,
        series,
        limits: &[],
        has_rings: false,
    };
    let names = [("p50", "a"), ("p95", "b"), ("p99", "c")];
    let times = names
        .into_iter()
        .enumerate()
        .map(|(at, (name, class))| series(name, class, &|point| point.percentiles_ms[at]));
    let mut chart = drawing(times.collect());
    chart.limits = points.last().map(|last| &last.limits_ms[..]).unwrap_or(&[]);
    chart.has_rings = true;
    chart.write(page, "times", "Response time in ms");
    let rate = series("rate", "a", &|point| point.rate);
    drawing(vec![rate]).write(page, "rate", "Rate in samples a second");
    let errors = series("errors", "c", &|point| point.errors_percent);
    drawing(vec![errors]).write(page, "errors", "Failed samples in %");
}

/// A chart of each of these labels.
fn label_charts(
    page: &mut String,
    points: &[TrendPoint],
    loads: &[(usize, u32)],
    labels: &[String],
) {
    for (at, label) in labels.iter().enumerate() {
        let series = Series {
            name: "p95",
            class: "b",
            values: points
                .iter()
                .map(|point| {
                    let row = point.labels.iter().find(|(known, _)| known == label);
                    row.map(|(_, ms)| *ms)
                })
                .collect(),
        };
        let drawing = Drawing {
            points,
            loads,
            series: vec![series],
            limits: &[],
            has_rings: false,
        };
        let title = format!("95th percentile of {} in ms", escape::xml(label));
        drawing.write(page, &format!("label-{at}"), &title);
    }
}

/// The load of each run: the place of its group of like loads, and the users of that group's first run.
fn loads(points: &[TrendPoint]) -> Vec<(usize, u32)> {
    let mut groups: Vec<u32> = Vec::new();
    let load = points.iter().map(|point| {
        let is_like = |known: &u32| {
            let apart = f64::from(known.abs_diff(point.users));
            apart <= LIKE * f64::from(point.users.max(*known))
        };
        let group_index = groups.iter().position(is_like).unwrap_or_else(|| {
            groups.push(point.users);
            groups.len() - 1
        });
        (group_index, groups[group_index])
    });
    load.collect()
}

/// The labels that have charts, in the order of the latest run's 95th percentiles.
fn labels(points: &[TrendPoint]) -> Vec<String> {
    let mut latest: Vec<&(String, f64)> = points
        .last()
        .map(|last| &last.labels[..])
        .unwrap_or(&[])
        .iter()
        .collect();
    latest.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names = latest.into_iter().take(MOST_LABELS);
    names.map(|(label, _)| label.clone()).collect()
}

/// What the lines and the points mean.
fn legend(page: &mut String, points: &[TrendPoint], loads: &[(usize, u32)]) {
    let groups = loads
        .iter()
        .map(|(group, _)| group)
        .max()
        .map(|last| last + 1)
        .unwrap_or(0);
    if groups > 1 {
        page.push_str("<p>Lines join runs of a like load (users within 10 %): ");
        let named: Vec<String> = (0..groups)
            .filter_map(|group| loads.iter().find(|(place, _)| *place == group))
            .map(|(group, users)| {
                let style = ["solid", "dashed", "dotted"][group % 3];
                match users {
                    0 => format!("users not known {style}"),
                    users => format!("{} {style}", counted((*users).into(), "user")),
                }
            })
            .collect();
        let _ = writeln!(page, "{}.</p>", named.join(", "));
    }
    let has = |is_so: &dyn Fn(&TrendPoint) -> bool| points.iter().any(is_so);
    let mut marks = Vec::new();
    if has(&|point| mark_of(point) == PointMark::Open) {
        marks.push("An open point: the verdict is not VALID");
    }
    if has(&|point| mark_of(point) == PointMark::Cross) {
        marks.push("A cross: INVALID");
    }
    if has(&|point| point.outcome == Some(RunOutcome::Failed)) {
        marks.push("A ring: a threshold failed");
    }
    if !marks.is_empty() {
        let _ = writeln!(page, "<p>{}.</p>", marks.join(". "));
    }
}

/// How a point shows its run's verdict.
#[derive(PartialEq)]
enum PointMark {
    Full,
    Open,
    Cross,
}

fn mark_of(point: &TrendPoint) -> PointMark {
    match point.verdict.as_str() {
        "INVALID" => PointMark::Cross,
        "VALID" | "" => PointMark::Full,
        _ => PointMark::Open,
    }
}

struct Series<'s> {
    name: &'s str,
    class: &'s str,
    values: Vec<Option<f64>>,
}

/// A chart with a line for each series and each load.
struct Drawing<'d> {
    points: &'d [TrendPoint],
    loads: &'d [(usize, u32)],
    series: Vec<Series<'d>>,
    limits: &'d [(String, f64)],
    /// Whether a ring marks the runs that failed a threshold.
    has_rings: bool,
}

impl Drawing<'_> {
    fn write(&self, page: &mut String, id: &str, title: &str) {
        let values = self
            .series
            .iter()
            .flat_map(|series| series.values.iter().flatten());
        let limits = self.limits.iter().map(|(_, ms)| ms);
        let top = rounded_up(values.chain(limits).fold(0.0_f64, |a, b| a.max(*b)));
        let _ = write!(page, "<section><h2 id=\"{id}\">{title}</h2>");
        if self.series.len() > 1 {
            page.push_str("<p class=\"key\">");
            for Series { name, class, .. } in &self.series {
                let _ = write!(
                    page,
                    "<span><i style=\"background:var(--{class})\"></i>{name}</span>"
                );
            }
            page.push_str("</p>");
        }
        let _ = writeln!(
            page,
            "\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"{title}\">"
        );
        self.grid(page, top);
        for series in &self.series {
            self.line(page, series, top);
        }
        page.push_str("</svg></section>\n");
    }

    fn x(&self, at: usize) -> f64 {
        match self.points.len() {
            0 | 1 => LEFT + (WIDTH - LEFT) / 2.0,
            count => LEFT + 8.0 + (WIDTH - LEFT - 24.0) * at as f64 / (count - 1) as f64,
        }
    }

    fn grid(&self, page: &mut String, top: f64) {
        for part in 0..=4 {
            let value = top * f64::from(part) / 4.0;
            let _ = writeln!(
                page,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
                y(value, top),
                LEFT - 8.0,
                y(value, top) + 4.0,
                shown(value)
            );
        }
        for (text, ms) in self.limits {
            let _ = writeln!(
                page,
                "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text x=\"{1}\" y=\"{2:.1}\">{3}</text>",
                y(*ms, top),
                LEFT + 6.0,
                y(*ms, top) - 4.0,
                escape::xml(text)
            );
        }
        let step = (self.points.len() / 8).max(1);
        for (at, point) in self.points.iter().enumerate().step_by(step) {
            let _ = writeln!(
                page,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">#{}</text>",
                self.x(at),
                HEIGHT - 6.0,
                point.number
            );
        }
    }

    fn line(&self, page: &mut String, series: &Series<'_>, top: f64) {
        let measured = || {
            let values = series.values.iter().enumerate();
            values.filter_map(|(at, value)| Some((at, (*value)?)))
        };
        let groups = self
            .loads
            .iter()
            .map(|(group, _)| group + 1)
            .max()
            .unwrap_or(0);
        for group in 0..groups {
            let line: Vec<String> = measured()
                .filter(|(at, _)| self.loads[*at].0 == group)
                .map(|(at, value)| format!("{:.1},{:.1}", self.x(at), y(value, top)))
                .collect();
            let _ = writeln!(
                page,
                "<polyline class=\"l {} d{}\" points=\"{}\"/>",
                series.class,
                group % 3,
                line.join(" ")
            );
        }
        for (at, value) in measured() {
            self.point(page, series, at, (self.x(at), y(value, top)), value);
        }
    }

    fn point(
        &self,
        page: &mut String,
        series: &Series<'_>,
        at: usize,
        (x, y): (f64, f64),
        value: f64,
    ) {
        let (point, class) = (&self.points[at], series.class);
        let title = format!(
            "#{} {}: {} {}{}{}",
            point.number,
            point.when,
            series.name,
            shown(value),
            if point.verdict.is_empty() {
                String::new()
            } else {
                format!(", {}", point.verdict)
            },
            point
                .outcome
                .map(|outcome| format!(", {}", outcome.word()))
                .unwrap_or_default()
        );
        let title = escape::xml(&title);
        let _ = write!(
            page,
            "<a href=\"#run-{}\" aria-label=\"{title}\"><title>{title}</title>",
            point.number
        );
        let _ = match mark_of(point) {
            PointMark::Full => write!(
                page,
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"
            ),
            PointMark::Open => write!(
                page,
                "<circle class=\"{class} open\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"
            ),
            PointMark::Cross => write!(
                page,
                "<path class=\"{class} cross\" d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\"/>",
                x - 4.0,
                y - 4.0
            ),
        };
        if point.outcome == Some(RunOutcome::Failed) && self.has_rings {
            let _ = write!(
                page,
                "<circle class=\"failed\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"/>"
            );
        }
        page.push_str("</a>\n");
    }
}

fn y(value: f64, top: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top)
}

fn table(page: &mut String, points: &[TrendPoint]) {
    page.push_str(
        "<h2 id=\"runs\">Runs</h2><p>The numbers are those of <code>drumfire runs</code>: <code>drumfire runs show 3</code> shows the third.</p>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Runs\"><table><tr><th>#</th><th>started</th><th>users</th><th>samples</th><th>errors %</th><th>rate/s</th><th>p50 ms</th><th>p95 ms</th>\
         <th>p99 ms</th><th>thresholds</th><th>verdict</th></tr>\n",
    );
    for point in points.iter().rev() {
        let [p50, p95, p99] = point.percentiles_ms.map(|ms| point.cell(ms));
        let users = match point.users {
            0 => "–".to_owned(),
            users => users.to_string(),
        };
        let outcome = match point.outcome {
            Some(RunOutcome::Failed) => "<span class=\"bad\">FAILED</span>",
            Some(outcome) => outcome.word(),
            None => "–",
        };
        let _ = writeln!(
            page,
            "<tr id=\"run-{0}\"><td>{0}</td><td>{1}</td><td>{users}</td><td>{2}</td><td>{3}</td><td>{4}</td><td>{p50}</td><td>{p95}</td><td>{p99}</td><td>{outcome}</td><td>{5}</td></tr>",
            point.number,
            escape::xml(&point.when),
            point.samples,
            point.cell(point.errors_percent),
            point.cell(point.rate),
            escape::xml(&point.verdict)
        );
    }
    page.push_str("</table></div>\n");
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn rounded_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|top| *top >= value)
        .unwrap_or(value)
}

pub(crate) fn shown(value: f64) -> String {
    match value {
        value if value == 0.0 || value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(number: usize, rate: f64) -> TrendPoint {
        TrendPoint {
            number,
            when: "2026-11-23 10:00".to_owned(),
            samples: 5,
            rate,
            percentiles_ms: [1.0, 2.0, 30.0],
            verdict: "VALID".to_owned(),
            users: 10,
            ..TrendPoint::default()
        }
    }

    #[test]
    fn a_page_has_a_point_for_each_run_and_escapes_names() {
        let page = trend_html("<x>.jmx", &[point(2, 1.0), point(1, 7.0)]);
        assert_eq!(page.matches("<circle").count(), 10);
        assert_eq!(page.matches("<a href=\"#run-2\"").count(), 5);
        assert!(page.contains("<tr id=\"run-2\">"));
        assert!(page.contains("&lt;x&gt;.jmx") && !page.contains("<x>"));
        assert!(!page.contains("NaN") && !page.contains("http"));
        assert!(trend_html("p", &[]).contains("0 runs"));
        assert!(!trend_html("p", &[point(1, 0.0)]).contains("NaN"));
    }

    #[test]
    fn only_runs_of_a_like_load_are_joined() {
        let users = |number, users| TrendPoint {
            users,
            ..point(number, 1.0)
        };
        let points = [users(4, 100), users(3, 20), users(2, 95), users(1, 21)];
        assert_eq!(loads(&points), [(0, 100), (1, 20), (0, 100), (1, 20)]);
        let page = trend_html("p", &points);
        assert!(page.contains("100 users solid, 20 users dashed"), "{page}");
        let rate = page.split("id=\"rate\"").nth(1).expect("a chart");
        let lines: Vec<usize> = rate
            .split("</svg>")
            .next()
            .expect("its end")
            .lines()
            .filter(|line| line.starts_with("<polyline"))
            .map(|line| line.matches(',').count())
            .collect();
        assert_eq!(lines, [2, 2]);
        let alike = trend_html("p", &points[..1]);
        assert!(!alike.contains("Lines join"));
    }

    #[test]
    fn limits_verdicts_outcomes_and_labels_are_shown() {
        let mut last = point(1, 1.0);
        last.verdict = "INVALID".to_owned();
        last.outcome = Some(RunOutcome::Failed);
        last.limits_ms = vec![("p95 > 80ms".to_owned(), 80.0)];
        last.labels = vec![("fast".to_owned(), 3.0), ("slow & late".to_owned(), 9.0)];
        let mut first = point(2, 1.0);
        first.verdict = "DEGRADED".to_owned();
        let page = trend_html("p", &[first, last]);
        // The limit belongs to the times of all samples alone.
        assert_eq!(page.matches("class=\"limit\"").count(), 1);
        assert!(page.contains(">p95 &gt; 80ms</text>") && page.contains(">100</text>"));
        assert_eq!(page.matches(" open\"").count(), 5);
        assert_eq!(
            (
                page.matches("<path").count(),
                page.matches("\"failed\"").count()
            ),
            (7, 3)
        );
        let names: Vec<usize> = [
            "href=\"#label-0\">slow &amp; late<",
            "href=\"#label-1\">fast<",
            "id=\"label-0\"",
        ]
        .iter()
        .map(|part| page.find(part).expect("it is there"))
        .collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn a_run_without_samples_has_no_numbers_and_no_point() {
        let empty = TrendPoint {
            samples: 0,
            percentiles_ms: [0.0; 3],
            verdict: "INVALID".to_owned(),
            ..point(1, 0.0)
        };
        let page = trend_html("p", &[empty]);
        assert!(
            !page.contains("<circle") && !page.contains("<path"),
            "{page}"
        );
        assert!(page.contains("<td>0</td><td>–</td><td>–</td><td>–</td>"));
    }

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!(
            [0.0, 0.3, 7.0, 10.0, 101.0].map(rounded_up),
            [1.0, 0.5, 10.0, 10.0, 200.0]
        );
    }
}
