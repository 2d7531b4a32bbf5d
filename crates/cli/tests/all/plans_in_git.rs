//! Plans under version control, as the program and as git itself: rename, merge and textconv.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use drumfire_testkit::program::{Finished, Workshop};

const LIMIT: Duration = Duration::from_secs(120);
const PROGRAM: &str = env!("CARGO_BIN_EXE_drumfire");

fn element(class: &str, name: &str, props: &[(&str, &str)], below: &str) -> String {
    let props: String = props
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>"))
        .collect();
    format!(
        "<{class} guiclass=\"x\" testclass=\"{class}\" testname=\"{name}\">{props}</{class}>\n<hashTree>{below}</hashTree>\n"
    )
}

fn request(name: &str, path: &str) -> String {
    let settings = [
        ("HTTPSampler.domain", "127.0.0.1"),
        ("HTTPSampler.path", path),
        ("HTTPSampler.method", "GET"),
    ];
    element("HTTPSamplerProxy", name, &settings, "")
}

fn plan(name: &str, below: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\">\n<hashTree>\n{}</hashTree></jmeterTestPlan>\n",
        element("TestPlan", name, &[], below)
    )
}

fn module(name: &str, path: &[&str]) -> String {
    let entries: String = path
        .iter()
        .map(|name| format!("<stringProp name=\"\">{name}</stringProp>"))
        .collect();
    format!(
        "<ModuleController guiclass=\"x\" testclass=\"ModuleController\" testname=\"{name}\"><collectionProp name=\"ModuleController.node_path\">{entries}</collectionProp></ModuleController>\n<hashTree/>\n"
    )
}

fn include(path: &str) -> String {
    element(
        "IncludeController",
        path,
        &[("IncludeController.includepath", path)],
        "",
    )
}

/// Six plans: two mains, three fragments, one of which includes another, and a plan that has nothing to do with them.
fn six_plans(shop: &Workshop) {
    let regex = element(
        "RegexExtractor",
        "get token",
        &[
            ("RegexExtractor.refname", "token"),
            ("RegexExtractor.regex", "(.)"),
            ("RegexExtractor.match_number", "-1"),
        ],
        "",
    );
    let group = |below: &str| {
        element(
            "ThreadGroup",
            "Users",
            &[("ThreadGroup.num_threads", "1")],
            below,
        )
    };
    let fragment = |name: &str, below: &str| {
        plan(
            name,
            &element("TestFragmentController", "Fragment", &[], below),
        )
    };
    let shared = element(
        "TestFragmentController",
        "Steps",
        &[],
        &element(
            "GenericController",
            "Log in",
            &[],
            &request("post", "/login?t=${token_1}"),
        ),
    );
    let main = [
        shared.as_str(),
        &group(
            &[
                include("parts/login.jmx"),
                module("to login", &["Test Plan", "Shop", "Steps", "Log in"]),
            ]
            .concat(),
        ),
    ];
    shop.write("main.jmx", plan("Shop", &main.concat()));
    shop.write(
        "other.jmx",
        plan(
            "Other",
            &group(&[include("parts/cart.jmx"), request("q", "/${token}")].concat()),
        ),
    );
    shop.write(
        "parts/login.jmx",
        fragment(
            "login",
            &[request("form", "/form"), regex, include("deep.jmx")].concat(),
        ),
    );
    let script = element(
        "JSR223Sampler",
        "s",
        &[
            (
                "script",
                "vars.get(&quot;token&quot;) + vars.get(&apos;tokens&apos;)",
            ),
            ("scriptLanguage", "groovy"),
        ],
        "",
    );
    shop.write(
        "parts/deep.jmx",
        fragment(
            "deep",
            &[
                script,
                request("n", "/${token_matchNr}/${__V(token)}/${tokens}"),
            ]
            .concat(),
        ),
    );
    let switch = element(
        "SwitchController",
        "sw",
        &[("SwitchController.value", "Log in")],
        &request("Log in", "/x"),
    );
    shop.write(
        "parts/cart.jmx",
        fragment("cart", &[include("login.jmx"), switch].concat()),
    );
    shop.write(
        "apart.jmx",
        plan("Apart", &group(&request("a", "/${token}"))),
    );
    shop.write("drumfire.toml", "");
}

fn workshop() -> Workshop {
    let shop = Workshop::new(PROGRAM);
    std::fs::create_dir_all(shop.path("parts")).expect("there is room");
    shop
}

fn succeeded(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

#[test]
fn a_variable_is_renamed_in_all_plans_that_belong_together() {
    let shop = workshop();
    six_plans(&shop);
    let before = shop.read("parts/deep.jmx");
    let finished = shop.run(&["rename", "parts/login.jmx", "var", "token", "key"], LIMIT);
    succeeded(&finished);
    for (file, holds) in [
        ("main.jmx", "/login?t=${key_1}"),
        ("other.jmx", "/${key}<"),
        ("parts/login.jmx", "refname\">key<"),
        (
            "parts/deep.jmx",
            "vars.get(&quot;key&quot;) + vars.get(&apos;tokens&apos;)",
        ),
        ("parts/deep.jmx", "/${key_matchNr}/${__V(key)}/${tokens}"),
        ("apart.jmx", "/${token}"),
    ] {
        assert!(
            shop.read(file).contains(holds),
            "{file}: {}",
            shop.read(file)
        );
    }
    assert_eq!(finished.out.lines().count(), 4, "{}", finished.out);
    let back = shop.run(&["rename", "main.jmx", "var", "key", "token"], LIMIT);
    succeeded(&back);
    assert_eq!(shop.read("parts/deep.jmx"), before, "nothing else changed");
}

#[test]
fn an_element_is_renamed_with_the_controllers_that_name_it() {
    let shop = workshop();
    six_plans(&shop);
    let finished = shop.run(
        &["rename", "main.jmx", "element", "Log in", "Sign \"in\""],
        LIMIT,
    );
    succeeded(&finished);
    let main = shop.read("main.jmx");
    assert_eq!(main.matches("Sign &quot;in&quot;").count(), 2, "{main}");
    assert!(
        shop.read("parts/cart.jmx")
            .contains("SwitchController.value\">Sign &quot;in&quot;<")
    );
    let checked = shop.run(&["check", "main.jmx"], LIMIT);
    assert!(!checked.err.contains("module-target"), "{}", checked.err);
    // the names above it count too
    let finished = shop.run(&["rename", "main.jmx", "element", "Steps", "All"], LIMIT);
    succeeded(&finished);
    assert!(
        shop.read("main.jmx")
            .contains("<stringProp name=\"\">All</stringProp>")
    );
}

#[test]
fn a_rename_that_could_break_a_plan_is_refused_and_changes_nothing() {
    let shop = workshop();
    six_plans(&shop);
    shop.write("data.csv", "user,pin\na,1\n");
    let csv = element(
        "CSVDataSet",
        "csv",
        &[("filename", "data.csv"), ("variableNames", "")],
        "",
    );
    let computed = request("c", "/${__V(tok${n})}/${user}");
    shop.write(
        "computed.jmx",
        plan(
            "C",
            &[csv, computed, request("d", "/${token}/${taken}")].concat(),
        ),
    );
    let before: Vec<String> = shop.files().iter().map(|file| shop.read(file)).collect();
    for (words, told) in [
        (
            ["computed.jmx", "var", "token", "key"],
            "a name that is built while the test runs",
        ),
        (
            ["computed.jmx", "var", "taken", "token"],
            "`token` is used already",
        ),
        (
            ["computed.jmx", "var", "takn", "key"],
            "did you mean `taken`?",
        ),
        (
            ["main.jmx", "var", "token_1", "key"],
            "`token_1` is a part of the variable `token`",
        ),
        (
            ["computed.jmx", "var", "taken", "a b"],
            "cannot be the name of a variable",
        ),
        (["computed.jmx", "var", "user", "name"], "--csv"),
        (
            ["main.jmx", "element", "Log out", "x"],
            "no element here has the name `Log out`",
        ),
    ] {
        let finished = shop.run(&[&["rename"], words.as_slice()].concat(), LIMIT);
        assert_eq!(finished.code, Some(2), "{words:?}: {}", finished.err);
        assert!(finished.err.contains(told), "{words:?}: {}", finished.err);
    }
    let after: Vec<String> = shop.files().iter().map(|file| shop.read(file)).collect();
    assert_eq!(before, after);
    let finished = shop.run(
        &["rename", "computed.jmx", "var", "user", "name", "--csv"],
        LIMIT,
    );
    succeeded(&finished);
    assert_eq!(shop.read("data.csv"), "name,pin\na,1\n");
    assert!(shop.read("computed.jmx").contains("/${name}"));
}

fn git(folder: &Path, words: &[&str]) -> Output {
    Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "-c",
            "core.pager=cat",
        ])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is there")
}

fn committed(folder: &Path, branch: &str, from: &str, text: &str) {
    let good = |words: &[&str]| {
        let output = git(folder, words);
        assert!(
            output.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    good(&["checkout", "-q", "-b", branch, from]);
    std::fs::write(folder.join("plan.jmx"), text).expect("there is room");
    good(&["commit", "-q", "-am", branch]);
}

#[test]
fn git_merges_and_shows_plans() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    let base = plan("Shop", &[request("a", "/a"), request("b", "/b")].concat());
    git(here, &["init", "-q", "-b", "main"]);
    git(
        here,
        &["config", "diff.jmx.textconv", &format!("{PROGRAM} show")],
    );
    git(
        here,
        &[
            "config",
            "merge.jmx.driver",
            &format!("{PROGRAM} merge-plan %O %A %B --path %P"),
        ],
    );
    std::fs::write(here.join(".gitattributes"), "*.jmx diff=jmx merge=jmx\n")
        .expect("there is room");
    std::fs::write(here.join("plan.jmx"), &base).expect("there is room");
    git(here, &["add", "."]);
    git(here, &["commit", "-q", "-m", "base"]);
    // neighbours: a merge of lines would conflict
    committed(here, "left", "main", &base.replace(">/a<", ">/left<"));
    committed(
        here,
        "right",
        "main",
        &base
            .replace("testname=\"a\"", "testname=\"first\"")
            .replace(">/b<", ">/right<"),
    );
    let merged = git(here, &["merge", "-q", "left", "-m", "m"]);
    assert!(
        merged.status.success(),
        "{}",
        String::from_utf8_lossy(&merged.stderr)
    );
    let text = std::fs::read_to_string(here.join("plan.jmx")).expect("the plan");
    for part in ["testname=\"first\"", ">/left<", ">/right<"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown = git(here, &["diff", "main", "HEAD"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("-      path: /a\n") || shown.contains("path: /left"),
        "{shown}"
    );
    assert!(!shown.contains("stringProp"), "{shown}");
    // One plan is compared with the last commit.
    let shop = Workshop::new(PROGRAM);
    let place = here.join("plan.jmx").display().to_string();
    let same = shop.run(&["diff", &place], LIMIT);
    assert_eq!((same.code, &*same.out), (Some(0), ""), "{}", same.err);
    std::fs::write(here.join("plan.jmx"), text.replace(">/left<", ">/now<"))
        .expect("there is room");
    let differs = shop.run(&["diff", &place, "--report", "page.html"], LIMIT);
    assert_eq!(differs.code, Some(1), "{}", differs.err);
    assert!(
        differs.out.contains("path: /left -> /now"),
        "{}",
        differs.out
    );
    assert!(
        shop.read("page.html")
            .contains("compared with <bdi>the last commit</bdi>")
    );
    std::fs::write(here.join("plan.jmx"), &text).expect("there is room");
    shop.write("alone.jmx", &text);
    let alone = shop.run(&["diff", "alone.jmx"], LIMIT);
    assert_eq!(alone.code, Some(1));
    assert!(
        alone.err.contains("no commit has `alone.jmx`"),
        "{}",
        alone.err
    );
    // the same setting twice
    committed(here, "clash", "left", &text.replace(">/left<", ">/other<"));
    committed(here, "again", "left", &text.replace(">/left<", ">/third<"));
    let merged = git(here, &["merge", "clash", "-m", "m"]);
    assert!(!merged.status.success());
    let told = String::from_utf8_lossy(&merged.stderr).into_owned();
    assert!(
        told.contains("conflict in plan.jmx: Shop > first path: ours `/third`, theirs `/other`"),
        "{told}"
    );
    let text = std::fs::read_to_string(here.join("plan.jmx")).expect("the plan");
    assert_eq!(text.matches("<<<<<<<").count(), 1, "{text}");
}
