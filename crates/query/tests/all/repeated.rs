//! Bodies of a server that begin the same thing again and again are read in time proportional to their length: what is not ended
//! is not searched for its end from each beginning. A reader that does would take minutes for these.

use drumfire_java::url::Url;
use drumfire_query::resources;
use drumfire_query::xpath::Tree;

const TIMES: usize = 50_000;

/// XML of these declarations, and the same with content.
fn documents(declarations: &str, content: &str) -> [String; 2] {
    [
        format!("<!DOCTYPE a [{declarations}"),
        format!("<!DOCTYPE a [<!ENTITY e 'x'>{declarations}]><a>{content}</a>"),
    ]
}

fn read(documents: &[String]) {
    for text in documents {
        // Most are malformed; the readers say so.
        let _ = Tree::parse_xml(text, true);
        let _ = Tree::parse_saxon(text);
    }
}

#[test]
fn declarations_and_references_without_an_end() {
    for piece in [
        "<!",
        "<?",
        "<!--",
        "%",
        "%p",
        "&",
        "&#",
        "&#x",
        "&n",
        "\"",
        "<!ENTITY ",
    ] {
        let many = piece.repeat(TIMES);
        read(&documents(&many, ""));
        read(&documents("", &many));
        read(&documents(&format!("<!ENTITY v '{many}'>"), ""));
    }
}

#[test]
fn parameter_entities_that_double() {
    let levels = (0..60).map(|level| {
        let next = level + 1;
        format!("<!ENTITY % p{level} '%p{next};%p{next};'>")
    });
    let levels: String = levels.collect();
    read(&documents(
        &format!("{levels}<!ENTITY % p60 ' '>%p0;"),
        "&e;",
    ));
}

#[test]
fn parameter_entities_declare_what_the_document_uses() {
    let text = r#"<!DOCTYPE a [<!ENTITY % all "<!ENTITY name 'value'>">%all;]><a>&name;</a>"#;
    let tree = Tree::parse_saxon(text).expect("it is well-formed");
    let path = drumfire_query::xpath2::XPath2::compile("string(/a)", "").expect("it compiles");
    assert_eq!(path.evaluate(&tree, false).expect("it is found"), ["value"]);
}

#[test]
fn conditional_comments_without_an_end() {
    let base = Url::parse("http://host/").expect("it is an address");
    for piece in [
        "<!--[if IE]>",
        "<!--",
        "<![if IE]",
        "<!-- --",
        "<script>",
        "<style>",
    ] {
        for agent in [None, Some("MSIE 7.0")] {
            let page = format!("{}<img src='a.png'>", piece.repeat(TIMES));
            let _ = resources::embedded(&page, &base, agent);
        }
    }
}

#[test]
fn comments_end_where_they_end() {
    let base = Url::parse("http://host/").expect("it is an address");
    let found = |page: &str| -> Vec<String> {
        let found = resources::embedded(page, &base, Some("MSIE 7.0")).expect("it is balanced");
        found.iter().map(ToString::to_string).collect()
    };
    let page = "<!--[if gt IE 6]><img src='a.png'><!-- x --><img src='b.png'><![endif]--><!-- y --><img src='c.png'>";
    assert_eq!(
        found(page),
        [
            "http://host/a.png",
            "http://host/b.png",
            "http://host/c.png"
        ]
    );
    let hidden = "<!--[if gt IE 8]><img src='a.png'><![endif]--><!--><img src='b.png'>";
    assert_eq!(found(hidden), ["http://host/b.png"]);
}
