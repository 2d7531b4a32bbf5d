//! Plans as text, as the program: `show` and `diff`.

use std::path::Path;
use std::time::Duration;

use drumfire_testkit::program::Workshop;

const LIMIT: Duration = Duration::from_secs(60);

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name);
    std::fs::read_to_string(path).expect("the example")
}

#[test]
fn show_prints_elements_and_settings() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    shop.write("plan.jmx", example("quickstart.jmx"));
    let shown = shop.run(&["show", "plan.jmx"], LIMIT);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(
        shown.out.starts_with("Quickstart (TestPlan)\n"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("\n  Shoppers (ThreadGroup)\n"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("num_threads: ${__P(users,5)}"),
        "{}",
        shown.out
    );
}

#[test]
fn diff_tells_meaning_and_not_form() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = example("quickstart.jmx");
    shop.write("old.jmx", &plan);
    shop.write(
        "form.jmx",
        plan.replace("\n      <", "\n<")
            .replace("<collectionProp name=\"Arguments.arguments\"/>", ""),
    );
    let same = shop.run(&["diff", "old.jmx", "form.jmx"], LIMIT);
    assert_eq!(
        (same.code, same.out.as_str()),
        (Some(0), ""),
        "{}",
        same.err
    );
    shop.write(
        "new.jmx",
        plan.replace("${__P(users,5)}", "50").replace(
            "testname=\"Home page\" enabled=\"true\"",
            "testname=\"Home page\" enabled=\"false\"",
        ),
    );
    let differs = shop.run(&["diff", "old.jmx", "new.jmx"], LIMIT);
    assert_eq!(differs.code, Some(1));
    assert_eq!(
        differs.out,
        "changed  Quickstart > Shoppers\n    num_threads: ${__P(users,5)} -> 50\n\
         changed  Quickstart > Shoppers > Home page\n    enabled: (nothing) -> false\n"
    );
    let missing = shop.run(&["diff", "old.jmx", "none.jmx"], LIMIT);
    assert_eq!(missing.code, Some(3));
}

#[test]
fn diff_writes_a_page_in_which_no_text_of_a_plan_is_markup() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = example("quickstart.jmx");
    shop.write("old.jmx", &plan);
    let odd = "</b><script>alert(1)</script> \u{202e}&amp; \"q\"";
    let escaped = odd.replace('<', "&lt;").replace('"', "&quot;");
    shop.write(
        "new.jmx",
        plan.replace("${__P(users,5)}", "50")
            .replace("testname=\"Home page\"", &format!("testname=\"{escaped}\"")),
    );
    let words = ["diff", "old.jmx", "new.jmx", "--report", "page.html"];
    let differs = shop.run(&words, LIMIT);
    assert_eq!(differs.code, Some(1), "{}", differs.err);
    let page = shop.read("page.html");
    for part in [
        "<h1>2 elements changed</h1>",
        "Number of Threads (users)",
        "<del><bdi>${__P(users,5)}</bdi></del>",
        "<ins><bdi>50</bdi></ins>",
        "&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script"), "{page}");
    let same = shop.run(
        &["diff", "old.jmx", "old.jmx", "--report", "page.html"],
        LIMIT,
    );
    assert_eq!(same.code, Some(0), "{}", same.err);
    let page = shop.read("page.html");
    assert!(page.contains("<h1>The plans mean the same</h1>"), "{page}");
}

#[test]
fn set_adds_what_an_element_may_have() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = example("quickstart.jmx");
    shop.write("plan.jmx", &plan);
    let words = [
        "set",
        "plan.jmx",
        "Home*>connect_timeout=5000",
        "Shoppers>ThreadGroup.delayedStart=true",
    ];
    let changed = shop.run(&words, LIMIT);
    assert_eq!(changed.code, Some(0), "{}", changed.err);
    let after = shop.read("plan.jmx");
    let added: Vec<&str> = after.lines().filter(|line| !plan.contains(line)).collect();
    let added: Vec<&str> = added.into_iter().map(str::trim).collect();
    assert_eq!(
        added,
        [
            r#"<boolProp name="ThreadGroup.delayedStart">true</boolProp>"#,
            r#"<intProp name="HTTPSampler.connect_timeout">5000</intProp>"#,
        ]
    );
    assert_eq!(after.lines().count(), plan.lines().count() + 2);
    let wrong = shop.run(&["set", "plan.jmx", "Shoppers>connect_timeout=1"], LIMIT);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert_eq!(shop.read("plan.jmx"), after);
}

#[test]
fn set_changes_all_or_nothing() {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = example("quickstart.jmx");
    shop.write("plan.jmx", &plan);
    let wrong = shop.run(
        &[
            "set",
            "plan.jmx",
            "Shoppers>ramp_time=9",
            "Shopper>num_threads=1",
        ],
        LIMIT,
    );
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.err.contains("did you mean `Shoppers`?"),
        "{}",
        wrong.err
    );
    assert_eq!(shop.read("plan.jmx"), plan);
    let changed = shop.run(
        &[
            "set",
            "plan.jmx",
            "Shoppers>num_threads=50",
            "Home*>enabled=false",
        ],
        LIMIT,
    );
    assert_eq!(changed.code, Some(0), "{}", changed.err);
    shop.write("old.jmx", &plan);
    let differs = shop.run(&["diff", "old.jmx", "plan.jmx"], LIMIT);
    assert!(
        differs.out.contains("num_threads: ${__P(users,5)} -> 50"),
        "{}",
        differs.out
    );
    assert!(
        differs.out.contains("enabled: (nothing) -> false"),
        "{}",
        differs.out
    );
}
