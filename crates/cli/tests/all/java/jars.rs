//! `drumfire jvm install` fetches jars with all that they depend on, without Maven.

use super::{LIMIT, workshop};

/// A project of the group `jars.test` in a repository below the folder `repository`.
fn publish(workshop: &drumfire_testkit::program::Workshop, name: &str, inside: &str) {
    let file = format!("repository/jars/test/{name}/1/{name}-1");
    let pom = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>jars.test</groupId><artifactId>{name}</artifactId>\
         <version>1</version>{inside}</project>"
    );
    workshop.write(&format!("{file}.pom"), pom);
    workshop.write(&format!("{file}.jar"), name);
}

#[test]
fn named_jars_come_with_what_they_depend_on() {
    let Some(workshop) = workshop() else { return };
    let on_driver = "<dependencies><dependency><groupId>jars.test</groupId><artifactId>driver</artifactId>\
                     <version>1</version></dependency><dependency><groupId>jars.test</groupId>\
                     <artifactId>testing</artifactId><version>1</version><scope>test</scope></dependency></dependencies>";
    publish(&workshop, "plugin", on_driver);
    publish(&workshop, "driver", "");
    let local = format!("-Jmaven.repo.local={}", workshop.path("local").display());
    let words = |more: &'static str| {
        [
            "jvm",
            "install",
            "-Jdrumfire.jvm.dependencies=jars.test:plugin:1",
            "-Jdrumfire.maven.offline=true",
            &*local,
            more,
        ]
        .map(str::to_owned)
    };
    let run = |words: [String; 6]| workshop.run(&words.each_ref().map(String::as_str), LIMIT);
    let nowhere = run(words("-Jdrumfire.maven.repositories="));
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(
        nowhere.out.contains("jars/test/plugin/1/plugin-1.jar"),
        "{nowhere:?}"
    );

    let finished = run(words("-Jdrumfire.maven.repositories=repository"));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.out.contains("jars.test:plugin:1"), "{finished:?}");
    for name in ["plugin", "driver"] {
        assert_eq!(
            workshop.read(&format!("local/jars/test/{name}/1/{name}-1.jar")),
            name
        );
    }
    assert!(!workshop.path("local/jars/test/testing").exists());
}

#[test]
fn an_installed_plugin_is_on_the_class_path_of_all_runs_until_it_is_removed() {
    let Some(workshop) = workshop() else { return };
    publish(&workshop, "extra", "");
    let local = format!("-Jmaven.repo.local={}", workshop.path("local").display());
    let run = |words: &[&str]| {
        let sources = [
            "-Jdrumfire.maven.repositories=repository",
            "-Jdrumfire.maven.offline=true",
            &local,
        ];
        let finished = workshop.run(&[&["jvm"], words, &sources].concat(), LIMIT);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.out.contains("jars.test:extra:1")
    };
    assert!(!run(&[]));
    assert!(run(&["install", "jars.test:extra:1"]));
    assert!(run(&[]));
    assert!(run(&["install"]));
    assert!(!run(&["remove", "jars.test:extra"]));
    assert!(!run(&[]));
    let again = workshop.run(&["jvm", "remove", "jars.test:extra"], LIMIT);
    assert!(again.out.contains("is not installed"), "{again:?}");
}
