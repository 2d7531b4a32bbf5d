use fastrand::Rng;

use super::{HtmlNode, HtmlNodeKind, Page, quick, standard};

/// A page as text, one node per line.
fn outline(page: &Page) -> String {
    let root = page.root();
    let mut out = String::new();
    for node in std::iter::once(root).chain(root.descendants()) {
        let depth = node.ancestors().count();
        out.push_str(&format!(
            "{}{:?} {}",
            " ".repeat(depth),
            node.kind(),
            node.name()
        ));
        let mut attributes: Vec<_> = node.attributes().collect();
        attributes.sort_unstable();
        for (name, value) in attributes {
            out.push_str(&format!(" {name}={value:?}"));
        }
        if !node.text().is_empty() {
            out.push_str(&format!(" {:?}", node.text()));
        }
        out.push('\n');
    }
    out
}

/// Whether the quick parser accepts the page; if so, its result must equal the standard
/// parser's.
fn is_quick(html: &str) -> bool {
    let Some(quick) = quick::parse(html) else {
        return false;
    };
    check_links(&quick);
    assert_eq!(outline(&quick), outline(&standard::parse(html)), "{html}");
    true
}

/// Checks that sibling and parent links match the order of the nodes.
fn check_links(page: &Page) {
    let root = page.root();
    let mut seen = 1;
    for node in std::iter::once(root).chain(root.descendants()) {
        let mut previous: Option<HtmlNode<'_>> = None;
        for child in node.children() {
            assert!(child.parent() == Some(node) && child.previous_sibling() == previous);
            previous = Some(child);
            seen += 1;
        }
    }
    assert_eq!(seen, page.nodes.len());
}

const NAMES: &str = "a abbr address article b base big body br button caption center code col colgroup custom-tag dd details div dl dt \
    em fieldset font footer form frame h1 h2 h3 head header hr html i iframe image img input label li link listing main menu meta \
    nav nobr noembed noframes noscript object ol optgroup option p param pre s script section select small source span strong \
    style sub summary svg table tbody td template textarea tfoot th thead title tr tt u ul video wbr xmp rt ruby math isindex \
    DIV Span plaintext frameset applet track keygen o:p";
const LINES: &str =
    "a b br em i img input label span strong button select option small u code font abbr textarea";
const BLOCKS: &str = "div p ul ol li h1 h2 section article table tr td th tbody thead form dl dt dd pre blockquote hr nav caption col";
const TEXTS: [&str; 24] = [
    "text",
    " ",
    "\n",
    "  two words ",
    "&amp;",
    "&nbsp;",
    "a & b",
    "&lt;i&gt;",
    "&#65;",
    "&#x41;b",
    "&euro",
    "&notit;",
    "&x;",
    "é",
    "&#128;",
    "1 < 2",
    "\r\n",
    "\t",
    "&copy;&copy",
    "&#;",
    "&",
    "\u{A0}",
    "&ngE;",
    "\u{B}",
];
const ATTRIBUTES: [&str; 18] = [
    "class=a",
    "id=\"x\"",
    "href='/a?b=1&c=2'",
    "CHECKED",
    "class=\"b c\"",
    "a=1 a=2",
    "x = \"&amp;&quot;\"",
    "type=hidden",
    "type=\"Hidden\"",
    "/",
    "=x",
    "b=",
    "title=\"a > b\"",
    "d=&lt",
    "e=&ltx",
    "f=\"&lt=\"",
    "g='\n'",
    "h=a/b",
];
const OTHERS: &[&str] = &[
    "<!-- c -->",
    "<!---->",
    "<!-->",
    "<!DOCTYPE html>",
    "<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
    "<?x?>",
    "</>",
    "</ a>",
    "<",
    "<!--a--!>",
    "<![CDATA[x]]>",
    "<svg viewbox=1>",
    "<svg><g>t<path/></g></svg>",
    "<svg/>",
    "<path d=1>",
    "<g/>",
    "<use xlink:href=a href=b />",
    "<use XLINK:href=a xml:lang=b>",
    "<lineargradient>",
    "<text>",
    "</text>",
    "</svg>",
    "</path>",
    "<svg><a><svg><set>",
    "</br>",
    "<!-- a -- b --->",
    "<a",
];

fn one<'a>(numbers: &mut Rng, of: &[&'a str]) -> &'a str {
    of[numbers.usize(..of.len())]
}

fn random_page(numbers: &mut Rng) -> String {
    let (all, lines, blocks): (Vec<&str>, Vec<&str>, Vec<&str>) = (
        NAMES.split_whitespace().collect(),
        LINES.split_whitespace().collect(),
        BLOCKS.split_whitespace().collect(),
    );
    let mut html = one(
        numbers,
        &[
            "",
            "<!DOCTYPE html>",
            "<!doctype html>\n<html><head><title>t</title></head>\n<body>",
            "<html><body>",
            "<!DOCTYPE html><table><tr><td>",
        ],
    )
    .to_owned();
    let mut open: Vec<&str> = Vec::new();
    let wild = numbers.usize(..12);
    for _ in 0..numbers.usize(..24) {
        match numbers.usize(..10) {
            0..4 => {
                let name = match numbers.usize(..30) {
                    kind if kind < wild => one(numbers, &all),
                    kind if kind % 2 == 0 => one(numbers, &lines),
                    _ => one(numbers, &blocks),
                };
                html.push_str(&format!("<{name}"));
                for _ in 0..numbers.usize(..3) {
                    html.push_str(&format!(" {}", one(numbers, &ATTRIBUTES)));
                }
                html.push('>');
                open.push(name);
            }
            4..7 => match open.pop() {
                Some(name) if numbers.usize(..12) > 0 => html.push_str(&format!("</{name}>")),
                _ if numbers.usize(..3) == 0 => {
                    html.push_str(&format!("</{}>", one(numbers, &all)))
                }
                _ => {}
            },
            7 | 8 => html.push_str(one(numbers, &TEXTS)),
            _ if numbers.usize(..4) == 0 => html.push_str(one(numbers, OTHERS)),
            _ if numbers.usize(..6) == 0 => html.push_str("</body></html>\n"),
            _ => html.push_str(one(
                numbers,
                &[
                    " ",
                    "x",
                    "<script>if (a < b) x('</p>');</script>",
                    "<style>a > b {}</style >",
                    "<!--c-->",
                ],
            )),
        }
    }
    html
}

#[test]
fn pages_parsed_in_one_pass_match_the_standard() {
    let mut numbers = Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    let pages = 40_000;
    let quick = (0..pages).filter(|_| is_quick(&random_page(&mut numbers)));
    let quick = quick.count();
    assert!(quick * 3 > pages, "{quick} of {pages}");
}

#[test]
fn pages_as_sites_write_them_are_read_in_one_go() {
    for html in [
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=\"utf-8\"><title>A &amp; B</title>\n<script>a<b && '<p>'</script><noscript><link rel=x></noscript></head>\n\
         <body class=\"x\">\n<p>One<p>Two <a href=\"/x?a=1&b=2\">link</a> &nbsp; 3 < 4<ul><li>a<li>b</ul><br/>\n</body>\n</html>\n<!-- end -->\n",
        "<html><body><table><tr><td>1<td><b>2</b><tr><th>x</table><form><input type=hidden name=a value='b'><select><option>1<option selected>2</select></form>",
        "<!doctype html><div><pre>\n\n x</pre><textarea>\n<b></textarea><dl><dt>a<dd>b<dt>c</dl><h1>x</h1></div></span>text</p>",
        "\u{FEFF}<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"><p>a\r\nb\rc</p>",
        "<!DOCTYPE html><body><table><thead><tr><th>a</th></tr></thead><tbody>\n<tr>\n<td><table><tr><td>x</td></tr></table></td></tr></tbody></table>",
        "text only",
        "<!DOCTYPE html><p>x <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><defs><linearGradient id=g><stop/></linearGradient></defs>\n\
         <g><path d=\"M0\"/><use xlink:href=\"#g\"/><text>A &amp; B</text></G></svg> y</p><div><svg><g></div><p>z",
    ] {
        assert!(is_quick(html), "{html}");
    }
}

#[test]
fn odd_pages_are_left_to_the_standard() {
    for html in [
        "<p><b>1<p>2",
        "<table>x<tr>",
        "<a><a>",
        "<b><div></b>",
        "<template><p></template>",
        "<svg><p></svg>",
        "<svg><title>x</title></svg>",
        "<math></math>",
        "<p>\0",
        "<p a=\"",
        "",
        "<!DOCTYPE x><p><table>",
    ] {
        assert!(quick::parse(html).is_none(), "{html}");
        check_links(&Page::parse(html));
    }
    let page = Page::parse("<svg viewbox=1><linearGradient/><desc></desc></svg>");
    let names: Vec<&str> = page.root().descendants().map(HtmlNode::name).collect();
    assert_eq!(
        names,
        ["html", "head", "body", "svg", "linearGradient", "desc"]
    );
    assert_eq!(page.root().kind(), HtmlNodeKind::Document);
}
