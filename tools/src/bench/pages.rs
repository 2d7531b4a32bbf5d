//! Generates the files that the server serves and the scenarios read.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;

const SMALL_BYTES: usize = 510;
/// The number of entries in the pages that extractors read: 16 KiB of HTML.
const ENTRIES: usize = 96;
/// The number of entries in the large documents: 100 KiB.
const MANY_ENTRIES: usize = 720;
/// The number of images on the gallery's page, and the size of each.
const IMAGES: usize = 30;
const IMAGE_BYTES: usize = 2048;
/// The events of a stream.
const EVENTS: usize = 1_000;
/// The number of accounts that log in.
const ACCOUNTS: usize = 1000;
/// The number of products. nginx limits a word of its configuration to 4 KiB.
const PRODUCTS: usize = 30;
const ITEMS: usize = 8;
/// The size of one part; large bodies are made of many.
const PART_BYTES: usize = 8 << 20;
/// The number of HTTP Requests in the large plan. With their hash trees and arguments they make
/// 100,000 elements and 50 MB.
const LARGE_REQUESTS: usize = 33_333;
const LARGE_COMMENT_BYTES: usize = 580;

/// A page of 510 bytes.
pub fn small() -> String {
    let text = "<!DOCTYPE html><title>510 bytes</title><p>";
    format!("{text}{}\n", "x".repeat(SMALL_BYTES - text.len() - 1))
}

/// Writes the pages that extractors read, and the part for uploads.
pub fn write(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join("page.html"), html(ENTRIES))?;
    std::fs::write(folder.join("page.json"), json(ENTRIES))?;
    std::fs::write(folder.join("page.xml"), xml(ENTRIES))?;
    std::fs::write(folder.join("catalogue.html"), html(MANY_ENTRIES))?;
    std::fs::write(folder.join("catalogue.xml"), xml(MANY_ENTRIES))?;
    std::fs::write(folder.join("users.csv"), accounts())?;
    std::fs::write(folder.join("events"), events())?;
    std::fs::write(folder.join("part"), vec![b'p'; 1 << 20])?;
    // Java's backtracking tries every way to divide the letters between the two quantifiers.
    std::fs::write(folder.join("bait.txt"), format!("{}!", "a".repeat(28)))?;
    write_gallery(folder)?;
    std::fs::write(
        folder.join("megabytes"),
        "0123456789abcde\n".repeat(PART_BYTES / 16),
    )
}

/// Writes a page with images.
fn write_gallery(folder: &Path) -> std::io::Result<()> {
    let images = folder.join("gallery");
    std::fs::create_dir_all(&images)?;
    let mut page = "<!DOCTYPE html><title>Gallery</title>\n".to_owned();
    for number in 1..=IMAGES {
        let _ = writeln!(page, "<img src=\"/gallery/{number}.png\" alt=\"\">");
        std::fs::write(
            images.join(format!("{number}.png")),
            vec![b'i'; IMAGE_BYTES],
        )?;
    }
    std::fs::write(folder.join("gallery.html"), page)
}

/// A stream of server-sent events, each of 100 bytes.
fn events() -> String {
    (1..=EVENTS).fold(String::new(), |mut text, number| {
        let data = "0123456789".repeat(8);
        let _ = write!(text, "id: {number:07}\ndata: {data}\n\n");
        text
    })
}

/// Names and passwords.
fn accounts() -> String {
    (1..=ACCOUNTS).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "user{number},secret{number}");
        text
    })
}

/// The shop's product list as HTML, without characters that are special in nginx's configuration.
pub fn products() -> String {
    (1..=PRODUCTS).fold(String::new(), |mut text, number| {
        let _ = write!(
            text,
            "<div class=\"product\" id=\"p{number}\"><h2><a href=\"/store/p/{number}\">Product {number}</a></h2><p class=\"price\">{number}.50</p></div>"
        );
        text
    })
}

/// The items of the shop's cart, as JSON.
pub fn items() -> String {
    (1..=ITEMS).map(item).collect::<Vec<_>>().join(",")
}

fn item(number: usize) -> String {
    format!(
        "{{\"id\":{number},\"name\":\"Item {number}\",\"price\":{number}.5,\"link\":{{\"href\":\"/store/p/{number}\",\"rel\":\"self\"}}}}"
    )
}

fn html(entries: usize) -> String {
    let mut text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>A catalogue</title></head>\n<body>\n".to_owned();
    for number in 1..=entries {
        let _ = writeln!(
            text,
            "<div class=\"entry\" id=\"e{number}\"><h2><a href=\"/item/{number}?from=list\">Item {number}</a></h2>\
             <p class=\"price\">{number}.50 &euro;</p><img src=\"/i/{number}.png\" alt=\"Picture {number}\"></div>"
        );
    }
    text.push_str("<form action=\"/buy\"><input type=\"hidden\" name=\"token\" value=\"t-4711\"></form>\n</body></html>\n");
    text
}

/// A JSON document with this many items.
pub fn json(entries: usize) -> String {
    let mut text = "{\"items\":[".to_owned();
    for number in 1..=entries {
        let _ = write!(
            text,
            "{}{{\"id\":{number},\"name\":\"Item {number}\",\"price\":{number}.5,\"tags\":[\"a\",\"b\",\"c\"],\
             \"link\":{{\"href\":\"/item/{number}?from=list\",\"rel\":\"self\"}},\"note\":\"Some words about it\"}}",
            if number > 1 { "," } else { "" }
        );
    }
    text.push_str("],\"token\":\"t-4711\"}");
    text
}

fn xml(entries: usize) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<items>\n".to_owned();
    for number in 1..=entries {
        let _ = writeln!(
            text,
            "<item id=\"{number}\"><name>Item {number}</name><price>{number}.5</price><tags><tag>a</tag><tag>b</tag></tags>\
             <link href=\"/item/{number}?from=list\" rel=\"self\"/><note>Some words about it</note></item>"
        );
    }
    text.push_str("<token>t-4711</token>\n</items>\n");
    text
}

/// The plan with many more requests after its own, in a controller that never runs.
pub fn large_plan(plan: &str) -> anyhow::Result<String> {
    let (start, end) = (
        "<HTTPSamplerProxy",
        "</HTTPSamplerProxy>\n        <hashTree/>\n",
    );
    let from = plan.find(start).context("the plan has no request")?;
    let to = plan.find(end).context("the request has an end")? + end.len();
    let comment = format!(
        "<stringProp name=\"TestPlan.comments\">{}</stringProp></HTTPSamplerProxy>",
        "c".repeat(LARGE_COMMENT_BYTES)
    );
    let request = plan[from..to].replacen("</HTTPSamplerProxy>", &comment, 1);
    let mut text = String::with_capacity(request.len() * (LARGE_REQUESTS + 2) + plan.len());
    text.push_str(&plan[..to]);
    text.push_str(
        "<IfController guiclass=\"IfControllerPanel\" testclass=\"IfController\" testname=\"Never\" enabled=\"true\">\
         <stringProp name=\"IfController.condition\">false</stringProp>\
         <boolProp name=\"IfController.useExpression\">true</boolProp></IfController>\n<hashTree>\n",
    );
    for _ in 0..LARGE_REQUESTS {
        text.push_str(&request);
    }
    text.push_str("</hashTree>\n");
    text.push_str(&plan[to..]);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_their_sizes_and_what_the_plans_look_for() {
        assert_eq!(small().len(), 510);
        assert!(small().contains("<title>510 bytes</title>"));
        for page in [html(ENTRIES), json(ENTRIES), xml(ENTRIES)] {
            assert!((12_000..24_000).contains(&page.len()), "{}", page.len());
            assert!(page.contains("t-4711"));
        }
        for page in [html(MANY_ENTRIES), xml(MANY_ENTRIES)] {
            assert!((90_000..150_000).contains(&page.len()), "{}", page.len());
        }
        for part in [products(), items()] {
            assert!((600..4_000).contains(&part.len()), "{}", part.len());
            assert!(!part.contains(['$', '\'']));
        }
    }

    #[test]
    fn the_large_plan_is_large() {
        let plan = std::fs::read_to_string(xtask::root().join("benches/requests.jmx"));
        let plan = large_plan(&plan.expect("it is there")).expect("it has a request");
        assert!(
            (48_000_000..60_000_000).contains(&plan.len()),
            "{}",
            plan.len()
        );
        assert_eq!(plan.matches("<HTTPSamplerProxy").count(), 33_334);
    }
}
