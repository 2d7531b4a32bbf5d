//! Charts that show how cost grows.

use std::path::Path;

use plotters::prelude::*;

use super::table::{TableRow, cpu_us, median};

const SIZE: (u32, u32) = (720, 360);
/// Colours that colour-blind people can distinguish (Okabe and Ito), assigned in the order of the programs.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

/// A program, and its points: x is the case, y the figure.
pub type Line = (&'static str, Vec<(f64, f64)>);

/// Writes `<name>-cpu.svg` and `<name>-memory.svg`: CPU per sample and peak memory over the numeric cases, both axes
/// logarithmic.
///
/// # Errors
/// The folder is not writable.
pub fn draw(name: &str, axis: &str, rows: &[TableRow<'_>], folder: &Path) -> anyhow::Result<()> {
    let cpu = |row: &TableRow<'_>| median(row.rounds.iter().map(cpu_us).collect());
    for (kind, title, value) in [
        (
            "cpu",
            "CPU a sample, µs",
            &cpu as &dyn Fn(&TableRow<'_>) -> f64,
        ),
        ("memory", "peak memory, MiB", &|row: &TableRow<'_>| {
            row.peak_mib()
        }),
    ] {
        let lines = lines(rows, value);
        if lines.iter().any(|(_, points)| points.len() > 1) {
            let file = folder.join(format!("{name}-{kind}.svg"));
            picture(&file, axis, title, &lines)
                .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
        }
    }
    Ok(())
}

/// One line for each program. Case 0 is drawn at 0.5, because the axis is logarithmic.
fn lines(rows: &[TableRow<'_>], value: &dyn Fn(&TableRow<'_>) -> f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows.iter().filter(|row| !row.rounds.is_empty()) {
        let name = row.entry.program.name();
        add(&mut lines, name, &row.entry.case, value(row));
    }
    lines
}

/// Adds a case's figure to its program's line; does nothing if the case is not a number.
pub fn add(lines: &mut Vec<Line>, program: &'static str, case: &str, value: f64) {
    let Ok(x) = case.parse::<f64>() else {
        return;
    };
    let point = (x.max(0.5), value);
    match lines.iter_mut().find(|(of, _)| *of == program) {
        Some((_, points)) => points.push(point),
        None => lines.push((program, vec![point])),
    }
}

/// Writes one chart.
///
/// # Errors
/// The file cannot be written.
pub fn picture(
    file: &Path,
    axis: &str,
    title: &str,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(1.0, f64::max);
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::MAX, f64::min);
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .margin_right(48)
        .caption(title, ("sans-serif", 16))
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (least(|point| point.0)..most(|point| point.0)).log_scale(),
            (least(|point| point.1) / 2.0..most(|point| point.1) * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(axis)
        .x_label_formatter(&|x| format!("{x}"))
        .y_label_formatter(&|y| format!("{y}"))
        .draw()?;
    for ((program, points), colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3);
        chart
            .draw_series(line)?
            .label(*program)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .position(SeriesLabelPosition::UpperLeft)
        .draw()?;
    area.present()?;
    Ok(())
}
