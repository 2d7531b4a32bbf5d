//! Parses Prometheus's text format, as node_exporter writes it.

/// A sample of a metric.
#[derive(Debug, PartialEq)]
pub(crate) struct Metric<'t> {
    pub name: &'t str,
    labels: &'t str,
    pub value: f64,
}

impl<'t> Metric<'t> {
    /// The value of a label. Values that contain quotes are not supported.
    pub fn label(&self, name: &str) -> Option<&'t str> {
        let mut rest = self.labels;
        while let Some((found, after)) = rest.split_once("=\"") {
            let (value, next) = after.split_once('"')?;
            if found.trim_start_matches(',').trim() == name {
                return Some(value);
            }
            rest = next;
        }
        None
    }
}

/// The samples of a page, without comments and malformed lines.
pub(crate) fn metrics(text: &str) -> impl Iterator<Item = Metric<'_>> {
    text.lines().filter_map(metric)
}

fn metric(line: &str) -> Option<Metric<'_>> {
    let line = line.trim();
    if line.starts_with('#') || line.is_empty() {
        return None;
    }
    let (name, labels, rest) = match line.split_once('{') {
        Some((name, rest)) => {
            let (labels, rest) = rest.rsplit_once('}')?;
            (name, labels, rest)
        }
        None => {
            let (name, rest) = line.split_once(' ')?;
            (name, "", rest)
        }
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Metric {
        name,
        labels,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_with_their_labels() {
        let text =
            "# HELP a b\na 1\nb{cpu=\"0\",mode=\"idle\"} 2.5e1 1700000000\nbroken\nc{} NaN\n";
        let found: Vec<Metric> = metrics(text).collect();
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].name, found[0].value), ("a", 1.0));
        assert_eq!(
            (found[1].label("mode"), found[1].label("cpu")),
            (Some("idle"), Some("0"))
        );
        assert_eq!((found[1].value, found[1].label("none")), (25.0, None));
        assert!(found[2].value.is_nan());
    }
}
