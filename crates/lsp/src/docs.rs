//! The reference documentation of elements, by class.

/// The generated reference page.
const PAGE: &str = include_str!("../../../docs/reference/elements.md");

/// The section of a class: its title and its text.
pub fn of_class(class: &str) -> Option<(&'static str, &'static str)> {
    let mark = format!("`{class}`");
    PAGE.split("\n### ").skip(1).find_map(|section| {
        let (title, rest) = section.split_once('\n')?;
        let (classes, text) = rest.trim_start().split_once('\n')?;
        let is_meant = classes.split(", ").any(|own| own.trim() == mark);
        let text = text.split("\n## ").next().unwrap_or(text);
        is_meant.then(|| (title, text.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_sections() {
        for class in [
            "OpenModelThreadGroup",
            "HTTPSamplerProxy",
            "CSVDataSet",
            "RegexExtractor",
        ] {
            let (title, text) = of_class(class).unwrap_or_else(|| panic!("{class}"));
            assert!(!title.is_empty() && text.len() > 20, "{class}: {text}");
            assert!(!text.contains("\n### "), "{class}");
        }
        assert!(of_class("NoSuchClass").is_none());
    }
}
