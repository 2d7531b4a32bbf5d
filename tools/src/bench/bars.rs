//! Bar charts that compare programs.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::peers::LoadTester;
use super::table::{TableRow, cpu_us, label, median};

const WIDTH: i32 = 720;
/// The height of a bar with its spacing, and of the title.
const LINE: i32 = 28;
const TITLE: i32 = 40;
/// Where bars start, and where the longest one ends. Labels are left of the bars, values right of them.
const LEFT: i32 = 280;
const RIGHT: i32 = WIDTH - 80;
/// The colours of our program and of the others.
const OWN: RGBColor = RGBColor(0, 114, 178);
const OTHER: RGBColor = RGBColor(153, 153, 153);

/// Writes `<name>-cpu.svg` and `<name>-memory.svg`: a bar for each program with its CPU per sample and its peak memory.
/// Writes nothing if only one program was measured.
///
/// # Errors
/// The folder is not writable.
pub fn draw(name: &str, rows: &[TableRow<'_>], folder: &Path) -> anyhow::Result<()> {
    let rows: Vec<&TableRow<'_>> = rows.iter().filter(|row| !row.rounds.is_empty()).collect();
    if rows.len() < 2 {
        return Ok(());
    }
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
        let bars = rows.iter().map(|row| Bar {
            label: label(row.entry),
            value: value(row),
            is_ours: row.entry.program == LoadTester::Drumfire,
        });
        let file = folder.join(format!("{name}-{kind}.svg"));
        picture(&file, title, &bars.collect::<Vec<_>>())
            .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// One bar of a chart.
pub struct Bar {
    pub label: String,
    pub value: f64,
    pub is_ours: bool,
}

/// Writes one chart.
///
/// # Errors
/// The file cannot be written.
pub fn picture(file: &Path, title: &str, bars: &[Bar]) -> Result<(), Box<dyn std::error::Error>> {
    let height = TITLE + LINE * bars.len() as i32 + LINE / 2;
    let area = SVGBackend::new(file, (WIDTH as u32, height as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(title, (12, 12), text(16)))?;
    let most = bars
        .iter()
        .map(|bar| bar.value)
        .fold(f64::MIN_POSITIVE, f64::max);
    for (bar, number) in bars.iter().zip(0..) {
        let top = TITLE + LINE * number;
        let middle = top + LINE / 2;
        let end = LEFT
            + (f64::from(RIGHT - LEFT) * bar.value / most)
                .round()
                .max(1.0) as i32;
        let colour = if bar.is_ours { OWN } else { OTHER };
        let corners = [(LEFT, top + 4), (end, top + LINE - 4)];
        area.draw(&Rectangle::new(corners, colour.filled()))?;
        let to_the_left = text(13).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(
            bar.label.as_str(),
            (LEFT - 8, middle),
            to_the_left,
        ))?;
        let to_the_right = text(13).pos(Pos::new(HPos::Left, VPos::Center));
        let value = if bar.value < 100.0 {
            format!("{:.1}", bar.value)
        } else {
            format!("{:.0}", bar.value)
        };
        area.draw(&Text::new(value, (end + 8, middle), to_the_right))?;
    }
    area.present()?;
    Ok(())
}

fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_that_of_the_largest_value() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("bars.svg");
        let bar = |label: &str, value, is_ours| Bar {
            label: label.to_owned(),
            value,
            is_ours,
        };
        let bars = [bar("drumfire", 10.0, true), bar("other", 150.4, false)];
        picture(&file, "CPU", &bars).expect("it can be written");
        let svg = std::fs::read_to_string(&file).expect("it is there");
        let widths: Vec<&str> = svg
            .lines()
            .filter(|line| line.starts_with("<rect"))
            .filter_map(|line| line.split(" width=\"").nth(1)?.split('"').next())
            .collect();
        let longest = (RIGHT - LEFT).to_string();
        assert_eq!(widths, ["720", "24", longest.as_str()], "{svg}");
        assert!(svg.contains("\n150\n") && svg.contains("\n10.0\n"), "{svg}");
    }
}
