use super::*;

fn find(html: &str) -> Vec<String> {
    let base = Url::parse("http://h/a/b.html").expect("a URL");
    embedded(html, &base, None)
        .expect("a page")
        .iter()
        .map(Url::to_string)
        .collect()
}

#[test]
fn each_resource_once_in_page_order() {
    let html = "<link rel=stylesheet href=s.css><img src=b.png><script src='a.js'></script><img src=./b.png>";
    assert_eq!(
        find(html),
        ["http://h/a/s.css", "http://h/a/b.png", "http://h/a/a.js"]
    );
}

#[test]
fn base_changes_what_follows() {
    assert_eq!(
        find("<img src=1><base href='http://o/'><img src=2>"),
        ["http://h/a/1", "http://o/2"]
    );
    let base = Url::parse("http://h/").expect("a URL");
    let error = embedded("<base href='no:where'>", &base, None).expect_err("a malformed base");
    assert_eq!(
        error.0,
        "java.lang.IllegalArgumentException: Error creating relative url from no:where"
    );
}

#[test]
fn entities_are_decoded_twice() {
    // Decoded once by Lagarto and once by URLCollection.
    assert_eq!(find("<img src='a?b&amp;amp;c'>"), ["http://h/a/a?b&c"]);
}

#[test]
fn only_old_internet_explorers_read_conditions() {
    let html = "<!--[if lt IE 9]><img src=x><![endif]-->";
    let base = Url::parse("http://h/").expect("a URL");
    let count = |agent| embedded(html, &base, Some(agent)).expect("a page").len();
    assert_eq!(count("Mozilla/4.0 (compatible; MSIE 8.0)"), 1);
    assert_eq!(count("Mozilla/4.0 (compatible; MSIE 9.0)"), 0);
    assert_eq!(count("Mozilla/5.0"), 0);
}

#[test]
fn style_sheets_give_their_imports_only() {
    let base = Url::parse("http://h/a/b.css").expect("a URL");
    let css = "@import 'x.css'; a{background:url(y.png)} @import url(z.css) print;";
    let urls: Vec<String> = css_urls(css, &base)
        .expect("a style sheet")
        .iter()
        .map(Url::to_string)
        .collect();
    assert_eq!(urls, ["http://h/a/x.css", "http://h/a/z.css"]);
}
