//! Twice the page costs twice the time: no test searches the page anew for each of its elements.

use std::time::Duration;

use cpu_time::ThreadTime;

use super::{Document, Engine, Selector};

/// Eight times the page: linear work takes 8 times as long, quadratic 64 times.
const TIMES: usize = 8;
const MOST: f64 = 24.0;

/// `count` elements beside each other.
fn wide(count: usize) -> Document {
    let items: String = (0..count)
        .map(|n| format!("<li class=c{n}><b>{n}</b></li>"))
        .collect();
    Document::parse(&format!("<ul>{items}</ul>"))
}

/// `count` elements within each other.
fn deep(count: usize) -> Document {
    Document::parse(&format!("{}x<i>y</i>", "<div>".repeat(count)))
}

/// The time that this thread computes for a selection.
fn cost(page: &Document, selector: &Selector) -> Duration {
    let before = ThreadTime::now();
    let found = selector.select(page, Some("class"), usize::MAX);
    let took = before.elapsed();
    assert!(found.is_ok());
    took
}

fn is_linear(engine: Engine, selectors: &[&str]) {
    const COUNT: usize = 2_000;
    for (shape, page) in [("wide", wide as fn(usize) -> Document), ("deep", deep)] {
        let (few, many) = (page(COUNT), page(COUNT * TIMES));
        for text in selectors {
            let selector = Selector::compile(text, engine).expect(text);
            let least = (0..3).map(|_| cost(&few, &selector)).min().expect("a run");
            let ratio = cost(&many, &selector).as_secs_f64() / least.as_secs_f64();
            assert!(
                ratio <= MOST,
                "`{text}`: {TIMES} times the {shape} page cost {ratio:.1} times"
            );
        }
    }
}

#[test]
fn selectors_of_jodd_are_linear() {
    is_linear(
        Engine::Jodd,
        &[
            "*",
            "div div, li, b",
            "div div div div i",
            "li ~ li ~ li",
            "li + li",
            "ul > li > b",
            "li:not(.c1)",
            "div:not(b):not(i)",
            "li:not(li:not(li))",
            "div:has(i)",
            ":has(:has(:has(i)))",
            "li:has(~ li b)",
            "div:contains(none)",
            ":contains(y)",
            "li:nth-child(2n+1)",
            "li:nth-last-of-type(1000)",
            "li:only-of-type",
            "li:first, :last",
        ],
    );
}

#[test]
fn selectors_of_jsoup_are_linear() {
    is_linear(
        Engine::Jsoup,
        &[
            "*",
            "div div, li, b",
            "li ~ li ~ li",
            "li + li",
            "ul > li > b",
            "li:not(.c1)",
            "div:has(b)",
            "li:has(~ li b)",
            "p div, p li",
            "p div div div div",
            "li:nth-child(2n+1)",
            "li:eq(1000)",
        ],
    );
}
