use super::*;

fn select(html: &str, selector: &str, attribute: Option<&str>) -> Vec<String> {
    let selector = Selector::compile(selector, Engine::Jsoup).expect("a selector");
    selector
        .select(&Document::parse(html), attribute, usize::MAX)
        .expect("a small result")
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn text_is_normalised_as_by_jsoup() {
    let html = "<div>One</div>Two<p> a\n b<br>c</p><script>no()</script><pre>x\n y</pre>";
    assert_eq!(select(html, "body", None), ["One Two a b c x\n y"]);
}

#[test]
fn blank_attribute_means_text() {
    assert_eq!(select("<a href=x>t</a>", "a", Some(" ")), ["t"]);
    assert_eq!(select("<a HREF=x>t</a>", "a", Some("href")), ["x"]);
    assert_eq!(select("<a>t</a>", "a", Some("href")), [""]);
}

#[test]
fn absolute_urls_need_a_base_in_the_page() {
    assert_eq!(select("<a href=x>t</a>", "a", Some("abs:href")), [""]);
    assert_eq!(
        select(
            "<base href='http://h/d/'><a href='../x'>t</a>",
            "a",
            Some("abs:href")
        ),
        ["http://h/x"]
    );
}

#[test]
fn errors_are_those_of_jsoup() {
    let error = |text| {
        Selector::compile(text, Engine::Jsoup)
            .expect_err(text)
            .message
    };
    assert_eq!(
        error("p:foo"),
        "Could not parse query 'p:foo': unexpected token at ''"
    );
    assert_eq!(error("a["), "Did not find balanced marker at ''");
    assert_eq!(error("li:eq(x)"), "Index must be numeric");
}

#[test]
fn jodd_counts_matches_where_jsoup_counts_siblings() {
    let document = Document::parse("<p>a</p><div><p>b</p></div>");
    let first = |engine| {
        let found = Selector::compile("p:eq(0)", engine)
            .expect("a selector")
            .select(&document, None, usize::MAX)
            .expect("a small result");
        found.into_iter().flatten().collect::<Vec<_>>()
    };
    assert_eq!(first(Engine::Jsoup), ["a", "b"]);
    assert_eq!(first(Engine::Jodd), ["a"]);
}

#[test]
fn no_more_is_made_than_asked_for() {
    let document = Document::parse("<p>1</p><p>2</p><p>3</p>");
    for engine in [Engine::Jsoup, Engine::Jodd] {
        let selector = Selector::compile("p", engine).expect("a selector");
        let found = selector.select(&document, None, 2).expect("two");
        assert_eq!(found, [Some("1".to_owned()), Some("2".to_owned())]);
    }
}

#[test]
fn places_count_from_both_ends() {
    let html = "<p>1</p><b>2</b><p>3</p><i>4</i><p>5</p>";
    let texts = |selector| select(html, selector, None).join("");
    assert_eq!(texts("p:last-of-type"), "5");
    assert_eq!(texts("p:nth-of-type(2)"), "3");
    assert_eq!(texts("p:nth-last-of-type(3)"), "1");
    assert_eq!(texts("body > :nth-child(odd)"), "135");
    assert_eq!(texts("body > :nth-last-child(2)"), "4");
    assert_eq!(texts("p:nth-child(0)"), "");
    assert_eq!(texts("body p + i"), "4");
}

#[test]
fn template_contents_belong_to_the_template_as_in_jsoup() {
    let html = "<div><template id=t><p>a</p></template></div><p>b</p>";
    let count = |selector| select(html, selector, None).len();
    assert_eq!(select(html, "template > p", None), ["a"]);
    assert_eq!(select(html, "p", None), ["a", "b"]);
    assert_eq!(select(html, "p:first-child", None), ["a"]);
    assert_eq!(select(html, "div", None), ["a"]);
    assert_eq!((count("*"), count("div *")), (8, 2));
}

#[test]
fn texts_of_nested_elements_are_bounded() {
    let html = format!("{}{}", "<div>".repeat(3_000), "x".repeat(100_000));
    let document = Document::parse(&html);
    for engine in [Engine::Jsoup, Engine::Jodd] {
        let selector = Selector::compile("div", engine).expect("a selector");
        let found = selector.select(&document, None, usize::MAX);
        let error = found.expect_err("300 MB").message;
        assert_eq!(error, "The result is larger than 256 MiB");
    }
}
