//! Shows how the runs of one plan developed, as a page with charts and a table.

use std::fmt::Write;

use drumfire_platform::words::counted;

/// A run of a trend.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint {
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

/// The page of a trend, with the runs in the order of time.
pub fn trend_html(plan: &str, points: &[TrendPoint]) -> String {
    let plan = escaped(plan);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Trend of {plan}</title><style>{STYLE}</style>\n<h1>{plan}</h1><p>{}</p>\n",
        counted(points.len() as u64, "run")
    );
    let percentile = |at: usize| {
        points
            .iter()
            .map(|point| point.percentiles_ms[at])
            .collect()
    };
    chart(
        &mut page,
        "Response time in ms",
        points,
        &[
            ("p50", "a", percentile(0)),
            ("p95", "b", percentile(1)),
            ("p99", "c", percentile(2)),
        ],
    );
    let rates = points.iter().map(|point| point.rate).collect();
    chart(
        &mut page,
        "Samples a second",
        points,
        &[("rate", "a", rates)],
    );
    let errors = points.iter().map(|point| point.errors_percent).collect();
    chart(
        &mut page,
        "Failed samples in %",
        points,
        &[("errors", "c", errors)],
    );
    table(&mut page, points);
    page.push_str("</html>\n");
    page
}

/// A chart with a line for each series.
fn chart(page: &mut String, title: &str, points: &[TrendPoint], series: &[(&str, &str, Vec<f64>)]) {
    let highest = series
        .iter()
        .flat_map(|(.., values)| values)
        .fold(0.0_f64, |a, b| a.max(*b));
    let top = rounded_up(highest);
    let x = |at: usize| match points.len() {
        0 | 1 => LEFT + (WIDTH - LEFT) / 2.0,
        count => LEFT + 8.0 + (WIDTH - LEFT - 24.0) * at as f64 / (count - 1) as f64,
    };
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top);
    let _ = write!(page, "<h2>{title}</h2><p class=\"key\">");
    for (name, class, _) in series {
        let _ = write!(
            page,
            "<span><i style=\"background:var(--{class})\"></i>{name}</span>"
        );
    }
    let _ = writeln!(
        page,
        "</p>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">"
    );
    for part in 0..=4 {
        let value = top * f64::from(part) / 4.0;
        let _ = writeln!(
            page,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            LEFT - 8.0,
            y(value) + 4.0,
            shown(value)
        );
    }
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let _ = writeln!(
            page,
            "<text x=\"{LEFT}\" y=\"{0}\">{1}</text><text x=\"{WIDTH}\" y=\"{0}\" text-anchor=\"end\">{2}</text>",
            HEIGHT - 6.0,
            escaped(&first.when),
            escaped(&last.when)
        );
    }
    for (name, class, values) in series {
        let line: Vec<String> = values
            .iter()
            .enumerate()
            .filter(|(at, _)| points[*at].samples > 0)
            .map(|(at, value)| format!("{:.1},{:.1}", x(at), y(*value)))
            .collect();
        let _ = writeln!(
            page,
            "<polyline class=\"l {class}\" points=\"{}\"/>",
            line.join(" ")
        );
        let values = values.iter().enumerate();
        for (at, value) in values.filter(|(at, _)| points[*at].samples > 0) {
            let _ = writeln!(
                page,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{}: {name} {}</title></circle>",
                x(at),
                y(*value),
                escaped(&points[at].when),
                shown(*value)
            );
        }
    }
    page.push_str("</svg>\n");
}

fn table(page: &mut String, points: &[TrendPoint]) {
    page.push_str(
        "<div class=\"wide\"><table><tr><th>started</th><th>samples</th><th>errors %</th><th>rate/s</th><th>p50 ms</th><th>p95 ms</th>\
         <th>p99 ms</th><th>verdict</th></tr>\n",
    );
    for point in points.iter().rev() {
        let [p50, p95, p99] = point.percentiles_ms.map(|ms| point.cell(ms));
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{p50}</td><td>{p95}</td><td>{p99}</td><td>{}</td></tr>",
            escaped(&point.when),
            point.samples,
            point.cell(point.errors_percent),
            point.cell(point.rate),
            escaped(&point.verdict)
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

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_point_for_each_run_and_escapes_names() {
        let point = |rate| TrendPoint {
            when: "2026-11-23 10:00".to_owned(),
            samples: 5,
            errors_percent: 0.0,
            rate,
            percentiles_ms: [1.0, 2.0, 30.0],
            verdict: "VALID".to_owned(),
        };
        let page = trend_html("<x>.jmx", &[point(1.0), point(7.0)]);
        assert_eq!(page.matches("<circle").count(), 10);
        assert!(page.contains("&lt;x&gt;.jmx") && !page.contains("<x>"));
        assert!(!page.contains("NaN") && !page.contains("http"));
        assert!(trend_html("p", &[]).contains("0 runs"));
        assert!(!trend_html("p", &[point(0.0)]).contains("NaN"));
    }

    #[test]
    fn a_run_without_samples_has_no_numbers_and_no_point() {
        let empty = TrendPoint {
            when: "2026-11-23 10:00".to_owned(),
            samples: 0,
            errors_percent: 0.0,
            rate: 0.0,
            percentiles_ms: [0.0; 3],
            verdict: "INVALID".to_owned(),
        };
        let page = trend_html("p", &[empty]);
        assert!(!page.contains("<circle"), "{page}");
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
