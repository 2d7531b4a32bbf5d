//! The combinations of a matrix as a page: a table with links to the report of each.

use std::fmt::Write;

use drumfire_platform::words::counted;

use crate::escape;
use crate::trend::{STYLE, TrendPoint, shown};

/// A combination that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRow {
    /// Its value on each axis, in the order of the axes.
    pub values: Vec<String>,
    /// The numbers of its run.
    pub run: TrendPoint,
    /// How it compares with the base. For the base itself, it says so.
    pub against_base: String,
    /// The link from the page to its report.
    pub report: String,
}

const OWN_STYLE: &str = "body{max-width:1200px}td.v,th.v{text-align:left;white-space:nowrap}td.bar{position:relative;min-width:9rem}\
td.bar i{position:absolute;left:.6rem;bottom:.15rem;height:3px;background:var(--b)}tr.base td{font-weight:600}\
.worse{color:var(--c);font-weight:600}a{color:var(--a)}";

/// The page of a matrix, whose first row is the base. `comparison` is the link to the page that compares all
/// combinations with the base.
pub fn matrix_html(plan: &str, axes: &[String], rows: &[MatrixRow], comparison: &str) -> String {
    let plan = escape::xml(plan);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Matrix of {plan}</title><style>{STYLE}{OWN_STYLE}</style>\n<h1>{plan}</h1>\
         <p>{}. <a href=\"{}\">Each compared with the base</a>, label by label</p>\n<div class=\"wide\"><table><tr>",
        counted(rows.len() as u64, "combination"),
        escape::xml(comparison)
    );
    for axis in axes {
        let _ = write!(page, "<th class=\"v\">{}</th>", escape::xml(axis));
    }
    page.push_str(
        "<th>samples</th><th>errors %</th><th>rate/s</th><th>p50 ms</th><th>p95 ms</th><th>p99 ms</th><th>p95 to base</th>\
         <th class=\"v\">verdict</th><th class=\"v\">against base</th><th></th></tr>\n",
    );
    let slowest = rows
        .iter()
        .map(|row| row.run.percentiles_ms[1])
        .fold(f64::MIN_POSITIVE, f64::max);
    let base = rows
        .first()
        .map(|row| row.run.percentiles_ms[1])
        .unwrap_or(0.0);
    for (at, row) in rows.iter().enumerate() {
        line(&mut page, row, at == 0, base, slowest);
    }
    page.push_str("</table></div></html>\n");
    page
}

fn line(page: &mut String, row: &MatrixRow, is_base: bool, base_ms: f64, slowest_ms: f64) {
    page.push_str(if is_base {
        "<tr class=\"base\">"
    } else {
        "<tr>"
    });
    for value in &row.values {
        let _ = write!(page, "<td class=\"v\">{}</td>", escape::xml(value));
    }
    let [p50, p95, p99] = row.run.percentiles_ms.map(|ms| row.run.cell(ms));
    let times = match (is_base, base_ms > 0.0) {
        (false, true) if row.run.samples > 0 => {
            format!("&times;{}", shown(row.run.percentiles_ms[1] / base_ms))
        }
        _ => String::new(),
    };
    let class = if row.against_base == "worse" {
        "worse"
    } else {
        ""
    };
    let _ = writeln!(
        page,
        "<td>{}</td><td>{}</td><td>{}</td><td>{p50}</td><td class=\"bar\">{p95}<i style=\"width:{:.0}%\"></i></td><td>{p99}</td>\
         <td>{times}</td><td class=\"v\">{}</td><td class=\"v {class}\">{}</td><td><a href=\"{}\">report</a></td></tr>",
        row.run.samples,
        row.run.cell(row.run.errors_percent),
        row.run.cell(row.run.rate),
        80.0 * row.run.percentiles_ms[1] / slowest_ms,
        escape::xml(&row.run.verdict),
        escape::xml(&row.against_base),
        escape::xml(&row.report),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: &str, p95_ms: f64, against_base: &str) -> MatrixRow {
        MatrixRow {
            values: vec![value.to_owned()],
            run: TrendPoint {
                when: String::new(),
                samples: 100,
                errors_percent: 0.0,
                rate: 12.5,
                percentiles_ms: [1.0, p95_ms, 20.0],
                verdict: "VALID".to_owned(),
                ..TrendPoint::default()
            },
            against_base: against_base.to_owned(),
            report: format!("m/{value}.html"),
        }
    }

    #[test]
    fn each_combination_has_its_numbers_against_the_base_and_a_link() {
        let rows = [row("1", 10.0, "base"), row("<5>", 25.0, "worse")];
        let page = matrix_html(
            "shop.jmx",
            &["users".to_owned()],
            &rows,
            "m/comparison.html",
        );
        assert_eq!(page.matches("<tr class=\"base\">").count(), 1);
        assert!(
            page.contains("&times;2.50")
                && page.contains("width:80%")
                && page.contains("width:32%")
        );
        assert!(page.contains("href=\"m/&lt;5&gt;.html\"") && !page.contains("<5>"));
        assert!(page.contains("href=\"m/comparison.html\""));
        assert!(page.contains("<td class=\"v worse\">worse</td>"));
    }
}
