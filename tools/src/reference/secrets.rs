//! Generates the page of secrets from the rule that decides what is one.

use std::fmt::Write as _;

use drumfire_elements::{Kind, Property, all};
use drumfire_platform::secrets::{ABOUT, ENDINGS, KEYS, PARTS, WORDS};

const HEAD: &str = "\
# Secrets

<!-- Made by `cargo xtask gen` from crates/platform/src/secrets and the facts in crates/elements. -->

Wherever Drumfire shows settings, requests or responses, it writes `***` in the place of a secret: in run files and kept runs, reports, the
live page and the debugger, summaries, JUnit and Markdown files, outputs (`--out`), `show`, `diff`, `plan`, `doctor`, messages and the
program's own lines in the log. `--show-secrets` of `show`, `diff` and `debug` shows them.

Left as they are:

- result files (`-l` and listeners), which have JMeter's rows, and what a Backend Listener of the plan sends;
- lines that a script writes to the log or to standard output;
- what is needed to run: the plan that agents get, the manifests of `drumfire k8s`, plans that `import`, `fmt` and `set` write;
- references without a default, such as `${password}` and `${__P(db.password)}`, and the values `true`, `false` and `null`.

## By place

- user and password of an address: `http://ann:s3cret@host/` is shown as `http://***@host/`, and so are those of `jdbc:oracle:thin:ann/s3cret@host`
- values of fields with a secret name in queries, forms, JSON, XML, HTML, properties, options such as `--password …`, and header lines
- cookies
- `p` beside `u` in a query, as InfluxDB has it
- properties of elements that hold passwords:

";

/// Generates the page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for facts in all() {
        let mut names = Vec::new();
        for property in facts.properties() {
            secret_names(property, &mut names);
        }
        let row = format!("  - {}: {}\n", facts.name, names.join(", "));
        if !names.is_empty() && !page.contains(&row) {
            page.push_str(&row);
        }
    }
    page.push_str(
        "\n## By name\n\nA name is split into words at capitals, dots, dashes and underscores: `http.proxyPass`, `PROXY_PASS` and \
         `proxy-pass` are alike. Digits at the end of a word do not count. A name is secret\n\n",
    );
    let _ = writeln!(page, "- if one of its words is {};", list(WORDS));
    let _ = writeln!(page, "- if a word contains {};", list(PARTS));
    let _ = writeln!(
        page,
        "- if a word ends with {}, unless it is an English word such as `compass`;",
        list(ENDINGS)
    );
    let _ = writeln!(
        page,
        "- if its last word is `key`, unless the word before is {}.",
        list(KEYS)
    );
    let _ = writeln!(
        page,
        "\nIt is not secret if its last word says something about a secret, as in `passwordFile` and `tokenUrl`: {}.",
        list(ABOUT)
    );
    page
}

/// The secret properties of a property: itself, or those of an element within it, or columns of a table.
fn secret_names(property: &Property, names: &mut Vec<String>) {
    match property.kind {
        Kind::Secret => names.push(format!("`{}`", property.name)),
        Kind::Items(item) | Kind::Element(item) => {
            item.fields
                .iter()
                .for_each(|field| secret_names(field, names));
        }
        Kind::Rows(columns)
            if columns
                .iter()
                .any(|name| drumfire_platform::secrets::is_secret(name)) =>
        {
            names.push(format!("the passwords in `{}`", property.name));
        }
        _ => {}
    }
}

fn list(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
