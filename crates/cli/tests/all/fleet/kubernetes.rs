//! `drumfire k8s manifest`: what it prints, and the files of deploy/ that are made by it.

use std::path::Path;

use drumfire_testkit::program::{Finished, LIMIT};

use super::stage::{group, plan, sample, workshop};

#[test]
fn the_checked_in_manifest_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = root.join("examples/quickstart.jmx");
    let example = example.to_str().expect("a path in UTF-8");
    let words = [
        "k8s",
        "manifest",
        example,
        "--agents",
        "4",
        "--keys",
        "drumfire-keys",
    ];
    let Finished { code, out, err } = workshop().run(&words, LIMIT);
    assert_eq!(code, Some(0), "{err}");
    let kept = root.join("deploy/kubernetes/base/quickstart.yaml");
    let kept = std::fs::read_to_string(kept).expect("it is checked in");
    assert!(
        out == kept,
        "deploy/kubernetes/base/quickstart.yaml is stale; run in the root of the project: drumfire k8s manifest examples/quickstart.jmx --agents 4 --keys drumfire-keys"
    );
    // Agents of a run spread over nodes and come back under their numbers; nothing has rights.
    for line in [
        "completionMode: Indexed",
        "backoffLimitPerIndex: 3",
        "topologyKey: kubernetes.io/hostname",
        "automountServiceAccountToken: false",
        "runAsNonRoot: true",
        "subPathExpr: quickstart-$(JOB_COMPLETION_INDEX).creds",
        "path: users.csv",
    ] {
        assert!(out.contains(line), "{line}");
    }
    // Keys that make other keys stay where they were made.
    assert!(!out.contains(".seed"), "{out}");
    let signs = out.matches("key: coordinator.key").count();
    assert_eq!(signs, 1, "only the coordinator signs");
    assert!(
        !out.contains("kind: Role"),
        "nobody asks Kubernetes for anything"
    );
}

#[test]
fn secrets_are_references_and_memory_follows_the_users() {
    let workshop = workshop();
    workshop.write(
        "shop plan.jmx",
        plan(&group("ThreadGroup", 400_000, 1, None, &sample("x"))),
    );
    let words = [
        "k8s",
        "manifest",
        "shop plan.jmx",
        "--agents",
        "10",
        "--keys",
        "k",
        "--namespace",
        "load",
        "--secret",
        "password=shop/pw",
        "--",
        "--fail-on",
        "errors > 1%",
    ];
    let Finished { code, out, err } = workshop.run(&words, LIMIT);
    assert_eq!(code, Some(0), "{err}");
    for line in [
        "name: shop-plan-agents",
        "namespace: load",
        "-Jpassword=$(DRUMFIRE_SECRET_0)",
        "name: shop",
        "key: pw",
        "errors > 1%",
        // 192 MiB and 40,000 users of 12 KiB.
        "memory: 661Mi",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}

#[test]
fn files_that_are_too_large_and_odd_secrets_are_refused() {
    let workshop = workshop();
    workshop.write(
        "p.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("x"))),
    );
    let refused = |words: &[&str]| {
        let fixed = ["k8s", "manifest", "p.jmx", "--agents", "2"];
        let finished = workshop.run(&[&fixed, words].concat(), LIMIT);
        assert_eq!(finished.code, Some(2), "{}", finished.out);
        finished.err
    };
    workshop.write("large.bin", vec![7; 1 << 20]);
    let told = refused(&["--keys", "k", "--send", "large.bin"]);
    assert!(told.contains("--in-image"), "{told}");
    let told = refused(&["--keys", "k", "--secret", "x"]);
    assert!(told.contains("NAME=SECRET/KEY"), "{told}");
}

#[test]
fn the_secret_has_a_name_and_the_commands_that_make_it_are_told() {
    let workshop = workshop();
    workshop.write(
        "p.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("x"))),
    );
    let finished = workshop.run(&["k8s", "manifest", "p.jmx", "--agents", "2"], LIMIT);
    assert_eq!(finished.code, Some(0), "{}", finished.err);
    assert!(finished.out.contains("secretName: drumfire-keys"));
    let told = "drumfire fleet init keys --host p-nats --at /keys --agent p-0 --agent p-1\n";
    assert!(finished.err.contains(told), "{}", finished.err);
}

#[test]
fn agents_get_the_files_that_a_local_run_reads() {
    let workshop = workshop();
    let csv = r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"><stringProp name="filename">NAME</stringProp></CSVDataSet><hashTree/>"#;
    let sets = ["users.csv", "beside.csv"].map(|name| csv.replace("NAME", name));
    let inside = [sets.concat(), sample("x")].concat();
    let text = plan(&group("ThreadGroup", 1, 1, None, &inside));
    workshop.write("plans/p.jmx", text);
    workshop.write("users.csv", "name\nof-the-working-folder\n");
    workshop.write("plans/users.csv", "name\nof-the-plan\n");
    workshop.write("plans/beside.csv", "name\nbeside-the-plan\n");
    let words = ["k8s", "manifest", "plans/p.jmx", "--agents", "1"];
    let Finished { code, out, err } = workshop.run(&words, LIMIT);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("of-the-working-folder"), "{out}");
    assert!(out.contains("beside-the-plan"), "{out}");
    assert!(!out.contains("of-the-plan"), "{out}");
}
