//! The tree of XML holds what quick-xml reads in the same text.

use drumfire_query::xpath::{Tree, XPath, XPathResult};
use fastrand::Rng;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

const INSIDE: [&str; 19] = [
    "text",
    " ",
    "\n",
    "\r\n",
    "&amp;",
    "&#65;",
    "&#x1F600;",
    "]",
    "é\u{FFFD}",
    "a text that is longer than eight bytes",
    "<![CDATA[x<y]]>",
    "<!-- c -->",
    "<!--a\r\nb-->",
    "<?pi some data?>",
    "<c/>",
    "<d f='1' e=\"a\tb&quot;\r\nc\" \n/>",
    "<é ü='ö'/>",
    "<e name-of='a value as it usually is'></e>",
    "&lt;",
];
const AROUND: [(&str, &str); 3] = [("<a>", "</a>"), ("<b.x y='1'>", "</b.x >"), ("<_>", "</_>")];
const STRAY: [&str; 16] = [
    "<",
    ">",
    "&",
    "'",
    "\"",
    "]]>",
    "--",
    "/",
    "=",
    "</a>",
    "\u{1}",
    "\u{FFFE}",
    "<![CDATA[",
    "<!--",
    "<?",
    "é",
];

fn content(random: &mut Rng, depth: usize, out: &mut String) {
    for _ in 0..random.usize(..6) {
        if depth < 4 && random.usize(..4) == 0 {
            let (start, end) = AROUND[random.usize(..AROUND.len())];
            out.push_str(start);
            content(random, depth + 1, out);
            out.push_str(end);
        } else {
            out.push_str(INSIDE[random.usize(..INSIDE.len())]);
        }
    }
}

fn document(random: &mut Rng) -> String {
    let mut text = String::from("<r>");
    content(random, 0, &mut text);
    text + "</r>"
}

fn line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The content of a document, each text in one piece.
fn events(text: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    let mut found: Vec<String> = Vec::new();
    let mut texts = String::new();
    loop {
        let event = reader.read_event().expect("it is well-formed");
        match &event {
            Event::Text(text) => texts += &line_ends(text),
            Event::CData(text) => texts += &line_ends(text),
            Event::GeneralRef(name) => {
                texts += &unescape(&format!("&{};", &**name)).expect("it is known");
            }
            _ if !texts.is_empty() => found.push(format!("text {:?}", std::mem::take(&mut texts))),
            _ => {}
        }
        match event {
            Event::Start(start) | Event::Empty(start) => {
                let mut attributes: Vec<String> = start
                    .attributes()
                    .map(|attribute| {
                        let attribute = attribute.expect("it is well-formed");
                        let value = attribute.value.replace("\r\n", " ").replace('\t', " ");
                        let value = unescape(&value).expect("it is known");
                        format!("{}={value:?}", attribute.key.as_ref())
                    })
                    .collect();
                attributes.sort();
                found.push(format!("{} {attributes:?}", start.name().as_ref()));
            }
            Event::Comment(text) => found.push(format!("comment {}", line_ends(&text))),
            Event::PI(text) => found.push(format!("instruction {}", &*text)),
            Event::Eof => return found,
            _ => {}
        }
    }
}

#[test]
fn the_tree_holds_what_another_reader_finds() {
    let whole = XPath::compile("/r").expect("a path");
    let texts = XPath::compile("string(/)").expect("a path");
    let mut random = Rng::with_seed(11);
    for _ in 0..3_000 {
        let text = document(&mut random);
        let tree = Tree::parse_xml(&text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        let Ok(XPathResult::Nodes(found)) = whole.evaluate(&tree, true) else {
            panic!("there is an element in {text}");
        };
        let written = found[0].as_deref().expect("it is written as XML");
        assert_eq!(events(written), events(&text), "{text}");
        let merged = Tree::parse_saxon(&text).expect("it is XML for Saxon, too");
        assert_eq!(
            texts.evaluate(&merged, false),
            texts.evaluate(&tree, false),
            "{text}"
        );
    }
}

#[test]
fn broken_documents_are_told() {
    let mut random = Rng::with_seed(12);
    let mut faults = 0;
    for _ in 0..20_000 {
        let mut text = document(&mut random);
        let at = text.floor_char_boundary(random.usize(..=text.len()));
        match random.usize(..3) {
            0 => text.truncate(at),
            1 => text.insert_str(at, STRAY[random.usize(..STRAY.len())]),
            _ => {
                let end = text.ceil_char_boundary((at + 1).min(text.len()));
                text.replace_range(at..end, "");
            }
        }
        if let Err(error) = Tree::parse_xml(&text, true) {
            assert!(!error.message.is_empty());
            faults += 1;
        }
    }
    assert!(faults > 8_000, "{faults} faults");
}
