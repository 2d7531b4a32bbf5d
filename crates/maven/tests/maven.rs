//! Resolves jars from repositories that the tests make: in a folder, and behind an HTTP server on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use drumfire_maven::{
    Artifact, Credentials, JarSource, MavenError, Notice, Repositories, Surroundings, WantedJar,
    resolve,
};
use sha1::{Digest as _, Sha1};

fn quiet(_: &Notice<'_>) {}

/// A repository that is written for a test, and an empty local one.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        Stage {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn remote(&self) -> PathBuf {
        self.folder.path().join("remote")
    }

    fn local(&self) -> PathBuf {
        self.folder.path().join("local")
    }

    /// Publishes a project of the group `g` with a POM and a jar whose content is its coordinates.
    fn publish(&self, coordinates: &str, inside: &str) {
        let artifact = Artifact::parse(&format!("g:{coordinates}")).expect("coordinates");
        let pom = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>{}</artifactId>\
             <version>{}</version>{inside}</project>",
            artifact.name, artifact.version
        );
        let jar = artifact.path_in(&self.remote());
        let pom_file = jar.with_file_name(format!("{}-{}.pom", artifact.name, artifact.version));
        for (file, content) in [(pom_file, pom), (jar, coordinates.to_owned())] {
            put(&file, content.as_bytes());
            let sum: String = Sha1::digest(&content)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            // Some tools write the name behind it.
            put(
                &file.with_added_extension("sha1"),
                format!("{sum}  {}\n", artifact.name).as_bytes(),
            );
        }
    }

    fn from(&self, source: JarSource) -> Repositories {
        Repositories::new(self.local(), vec![source], None, false, quiet)
    }

    /// The jars of the project `root`, as `name:version`, from the folder.
    fn jars(&self, root: &str) -> Vec<String> {
        let repositories = self.from(JarSource::Folder(self.remote()));
        self.jars_from(root, &repositories).expect("they resolve")
    }

    fn jars_from(
        &self,
        root: &str,
        repositories: &Repositories,
    ) -> Result<Vec<String>, MavenError> {
        let root = Artifact::parse(&format!("g:{root}"))?;
        let surroundings = Surroundings {
            java: 17,
            system: "linux",
            processor: "x86_64",
        };
        let found = resolve(&[root], &["left.out"], repositories, &surroundings)?;
        let told = found.into_iter().map(|one| {
            assert!(one.jar.starts_with(self.local()), "{}", one.jar.display());
            let content = fs::read_to_string(&one.jar).expect("the jar");
            assert_eq!(
                content,
                format!("{}:{}", one.artifact.name, one.artifact.version)
            );
            content
        });
        Ok(told.collect())
    }
}

fn put(file: &Path, content: &[u8]) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, content).expect("a file");
}

fn on(name: &str, version: &str, more: &str) -> String {
    let version = match version {
        "" => String::new(),
        version => format!("<version>{version}</version>"),
    };
    format!(
        "<dependency><groupId>g</groupId><artifactId>{name}</artifactId>{version}{more}</dependency>"
    )
}

fn dependencies(all: &[String]) -> String {
    format!("<dependencies>{}</dependencies>", all.concat())
}

#[test]
fn of_several_versions_the_nearest_wins_and_the_first_of_equally_near_ones() {
    let stage = Stage::new();
    stage.publish(
        "root:1",
        &dependencies(&[on("a", "1", ""), on("b", "1", ""), on("near", "1", "")]),
    );
    stage.publish(
        "a:1",
        &dependencies(&[on("far", "1", ""), on("near", "2", "")]),
    );
    stage.publish(
        "b:1",
        &dependencies(&[on("far", "2", ""), on("loser", "1", "")]),
    );
    // Dependencies of the loser alone are left out.
    stage.publish("loser:1", &dependencies(&[on("near", "3", "")]));
    stage.publish("far:1", "");
    stage.publish("near:1", "");
    assert_eq!(
        stage.jars("root:1"),
        ["root:1", "a:1", "far:1", "b:1", "loser:1", "near:1"]
    );
}

#[test]
fn tests_provided_jars_options_and_exclusions_stay_out() {
    let stage = Stage::new();
    let exclusion = "<exclusions><exclusion><groupId>*</groupId><artifactId>no</artifactId></exclusion></exclusions>";
    stage.publish(
        "root:1",
        &dependencies(&[
            on("test", "1", "<scope>test</scope>"),
            on("provided", "1", "<scope>provided</scope>"),
            on("option", "1", "<optional>true</optional>"),
            "<dependency><groupId>left.out</groupId><artifactId>jmeter</artifactId><version>5</version></dependency>".to_owned(),
            on("run", "1", "<scope>runtime</scope>"),
            on("a", "1", exclusion),
        ]),
    );
    stage.publish("a:1", &dependencies(&[on("b", "1", "")]));
    stage.publish(
        "b:1",
        &dependencies(&[on("no", "1", ""), on("yes", "1", "")]),
    );
    stage.publish("run:1", "");
    stage.publish("yes:1", "");
    assert_eq!(
        stage.jars("root:1"),
        ["root:1", "run:1", "a:1", "b:1", "yes:1"]
    );
}

#[test]
fn parents_imports_and_properties_give_versions() {
    let stage = Stage::new();
    stage.publish(
        "grandparent:1",
        "<properties><c>1</c><b>0</b></properties><dependencyManagement><dependencies>\
         <dependency><groupId>g</groupId><artifactId>bom</artifactId><version>3</version><type>pom</type>\
         <scope>import</scope></dependency></dependencies></dependencyManagement>",
    );
    stage.publish(
        "parent:1",
        &format!(
            "<parent><groupId>g</groupId><artifactId>grandparent</artifactId><version>1</version></parent>\
             <properties><b>${{project.version}}.5</b></properties>\
             <dependencyManagement>{}</dependencyManagement>{}",
            dependencies(&[on("b", "${b}", ""), on("c", "${c}", "")]),
            dependencies(&[on("always", "1", "")])
        ),
    );
    stage.publish(
        "bom:3",
        &format!(
            "<dependencyManagement>{}</dependencyManagement>",
            dependencies(&[on("d", "${project.version}", ""), on("c", "9", "")])
        ),
    );
    stage.publish(
        "root:2",
        &format!(
            "<parent><groupId>g</groupId><artifactId>parent</artifactId><version>1</version></parent>{}",
            dependencies(&[on("b", "", ""), on("c", "", ""), on("d", "", ""), on("e", "${project.parent.version}", "")])
        ),
    );
    for project in ["b:2.5", "c:1", "d:3", "e:1", "always:1"] {
        stage.publish(project, "");
    }
    assert_eq!(
        stage.jars("root:2"),
        ["root:2", "b:2.5", "c:1", "d:3", "e:1", "always:1"]
    );
}

#[test]
fn relocated_projects_ranges_and_lists_without_a_jar_are_followed() {
    let stage = Stage::new();
    let list = "<type>pom</type>";
    stage.publish(
        "root:1",
        &dependencies(&[
            on("old", "1", ""),
            on("range", "[1.0,2.0)", ""),
            on("list", "1", list),
        ]),
    );
    stage.publish("old:1", "<distributionManagement><relocation><artifactId>new</artifactId></relocation></distributionManagement>");
    stage.publish("new:1", "");
    stage.publish("range:1.5", "");
    stage.publish("list:1", &dependencies(&[on("listed", "1", "")]));
    stage.publish("listed:1", "");
    let versions = "<metadata><versioning><versions><version>1.0</version><version>1.5</version>\
                    <version>2.0</version></versions></versioning></metadata>";
    put(
        &stage.remote().join("g/range/maven-metadata.xml"),
        versions.as_bytes(),
    );
    assert_eq!(
        stage.jars("root:1"),
        ["root:1", "new:1", "range:1.5", "listed:1"]
    );
}

#[test]
fn trouble_names_the_project_the_file_and_the_repositories() {
    let stage = Stage::new();
    stage.publish("root:1", &dependencies(&[on("none", "1", "")]));
    let folder = stage.from(JarSource::Folder(stage.remote()));
    let why = stage
        .jars_from("root:1", &folder)
        .expect_err("a jar is missing")
        .to_string();
    let local = stage.local();
    assert_eq!(
        why,
        format!(
            "g/none/1/none-1.jar is in none of the repositories: {}, {}",
            local.display(),
            stage.remote().display()
        )
    );
    stage.publish("open:1", &dependencies(&[on("a", "", "")]));
    let why = stage
        .jars_from("open:1", &folder)
        .expect_err("no version")
        .to_string();
    assert_eq!(
        why,
        "the POM of g:open:1: its dependency g:a has no version"
    );
    let offline = Repositories::new(
        local,
        vec![JarSource::parse("http://127.0.0.1:9/m2")],
        None,
        true,
        quiet,
    );
    let why = stage
        .jars_from("other:1", &offline)
        .expect_err("offline")
        .to_string();
    assert!(why.ends_with("the network is not used offline"), "{why}");
}

/// The error of resolving a project whose POM has this content.
fn refusal(stage: &Stage, inside: &str) -> String {
    // Where the POM of an earlier call may be.
    let _ = fs::remove_dir_all(stage.local());
    stage.publish("root:1", inside);
    let folder = stage.from(JarSource::Folder(stage.remote()));
    let refused = stage.jars_from("root:1", &folder);
    refused.expect_err("it cannot be resolved").to_string()
}

#[test]
fn circles_end_at_once() {
    let parent = |name: &str| {
        format!(
            "<parent><groupId>g</groupId><artifactId>{name}</artifactId><version>1</version></parent>"
        )
    };
    let import = |name: &str| {
        let list = on(name, "1", "<type>pom</type><scope>import</scope>");
        format!(
            "<dependencyManagement>{}</dependencyManagement>",
            dependencies(&[list])
        )
    };
    let moved = |name: &str| {
        format!(
            "<distributionManagement><relocation><artifactId>{name}</artifactId></relocation></distributionManagement>"
        )
    };
    let stage = Stage::new();
    stage.publish("other:1", &parent("root"));
    let parents = "the POM of g:root:1: its parents form a cycle";
    assert_eq!(refusal(&stage, &parent("other")), parents);
    assert_eq!(refusal(&stage, &parent("root")), parents);
    let stage = Stage::new();
    stage.publish("other:1", &import("root"));
    let imports = "the POM of g:root:1: its imports form a cycle";
    assert_eq!(refusal(&stage, &import("other")), imports);
    assert_eq!(refusal(&stage, &import("root")), imports);
    // A parent imports its child.
    let stage = Stage::new();
    stage.publish("other:1", &import("root"));
    assert_eq!(refusal(&stage, &parent("other")), imports);
    let properties = "<properties><a>${b}</a><b>${a}</b></properties>";
    let circular = format!("{properties}{}", dependencies(&[on("c", "${a}", "")]));
    assert_eq!(
        refusal(&stage, &circular),
        "the POM of g:root:1: its dependency g:c:${a} has no usable coordinates"
    );
    let stage = Stage::new();
    stage.publish("there:1", &moved("here"));
    stage.publish("here:1", &moved("there"));
    assert_eq!(
        refusal(&stage, &dependencies(&[on("here", "1", "")])),
        "the POM of g:there:1: its relocations form a cycle"
    );
    stage.publish("out:1", &moved("../../out"));
    assert_eq!(
        refusal(&stage, &dependencies(&[on("out", "1", "")])),
        "the POM of g:out:1: it has moved to g:../../out:1, which is not a project"
    );
    // Dependencies may form circles.
    let stage = Stage::new();
    let inside = dependencies(&[on("other", "1", ""), on("root", "2", "")]);
    stage.publish("root:1", &inside);
    stage.publish("other:1", &dependencies(&[on("root", "1", "")]));
    assert_eq!(stage.jars("root:1"), ["root:1", "other:1"]);
}

#[test]
fn chains_without_end_are_refused() {
    let stage = Stage::new();
    for level in 0..70 {
        let next = format!(
            "<groupId>g</groupId><artifactId>p{}</artifactId><version>1</version>",
            level + 1
        );
        stage.publish(&format!("p{level}:1"), &format!("<parent>{next}</parent>"));
        let list = on(
            &format!("i{}", level + 1),
            "1",
            "<type>pom</type><scope>import</scope>",
        );
        let list = dependencies(&[list]);
        stage.publish(
            &format!("i{level}:1"),
            &format!("<dependencyManagement>{list}</dependencyManagement>"),
        );
    }
    assert_eq!(
        refusal(&stage, &dependencies(&[on("p0", "1", "")])),
        "the POM of g:p0:1: it has more than 64 parents"
    );
    assert_eq!(
        refusal(&stage, &dependencies(&[on("i0", "1", "")])),
        "the POM of g:i65:1: its imports are nested more than 64 deep"
    );
    let many: Vec<String> = (0..10_001).map(|n| on(&format!("d{n}"), "1", "")).collect();
    assert_eq!(
        refusal(&stage, &dependencies(&many)),
        "the POM of g:d0:1: the search led to more than 10000 artifacts"
    );
}

#[test]
fn a_folder_of_jars_beside_each_other_will_do_and_known_content_is_checked() {
    let stage = Stage::new();
    put(&stage.remote().join("a-1.jar"), b"abc");
    let repositories = stage.from(JarSource::Folder(stage.remote()));
    let artifact = Artifact::parse("g:a:1").expect("coordinates");
    let jar = |sha256| {
        repositories.jars(&[WantedJar {
            artifact: &artifact,
            sha256: Some(sha256),
            bytes: None,
        }])
    };
    let why = jar("00").expect_err("another content");
    assert!(
        matches!(
            why,
            MavenError::Damaged {
                algorithm: "SHA-256",
                ..
            }
        ),
        "{why}"
    );
    // SHA-256 of "abc", FIPS 180-2.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(repositories.has(&artifact));
    let jars = jar(abc).expect("the jar");
    let [jar] = &jars[..] else {
        panic!("{jars:?}");
    };
    assert_eq!(*jar, stage.local().join("g/a/1/a-1.jar"));
    let files: Vec<_> = fs::read_dir(jar.parent().expect("a folder"))
        .expect("a folder")
        .collect();
    assert_eq!(files.len(), 1, "nothing else stays: {files:?}");
}

/// Serves a folder until the program ends, to whoever has the password if there is one; gives the address.
fn serve(folder: PathBuf, authorization: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder, authorization));
        }
    });
    format!("http://{address}/m2")
}

fn answer(mut stream: TcpStream, folder: &Path, authorization: Option<&str>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line
        .split(' ')
        .nth(1)?
        .trim_start_matches("/m2/")
        .to_owned();
    let mut is_allowed = authorization.is_none();
    while reader.read_line(&mut line).ok()? > 2 {
        let head = line.trim_end().rsplit('\n').next()?;
        is_allowed |= head.split_once(": ").is_some_and(|(name, value)| {
            name.eq_ignore_ascii_case("authorization") && Some(value) == authorization
        });
    }
    let (status, body) = match fs::read(folder.join(path)) {
        _ if !is_allowed => (401, Vec::new()),
        Ok(body) => (200, body),
        Err(_) => (404, Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

#[test]
fn a_server_is_asked_and_damaged_jars_are_refused() {
    let stage = Stage::new();
    stage.publish("root:1", &dependencies(&[on("a", "1", "")]));
    stage.publish("a:1", "");
    let url = serve(stage.remote(), None);
    let repositories = stage.from(JarSource::parse(&url));
    let found = stage
        .jars_from("root:1", &repositories)
        .expect("they resolve");
    assert_eq!(found, ["root:1", "a:1"]);

    stage.publish("b:1", "");
    put(&stage.remote().join("g/b/1/b-1.jar"), b"changed on the way");
    let why = stage
        .jars_from("b:1", &repositories)
        .expect_err("another content");
    assert!(
        matches!(
            why,
            MavenError::Damaged {
                algorithm: "SHA-1",
                ..
            }
        ),
        "{why}"
    );
    assert!(!stage.local().join("g/b/1/b-1.jar").exists());
    // The local repository is asked first, so nothing needs the server any more.
    let offline = Repositories::new(stage.local(), Vec::new(), None, true, quiet);
    assert_eq!(
        stage
            .jars_from("root:1", &offline)
            .expect("all is there")
            .len(),
        2
    );
}

#[test]
fn credentials_are_sent_and_their_lack_is_said() {
    let stage = Stage::new();
    stage.publish("root:1", "");
    // ada:pass
    let url = serve(stage.remote(), Some("Basic YWRhOnBhc3M="));
    let why = stage
        .jars_from("root:1", &stage.from(JarSource::parse(&url)))
        .expect_err("nobody is let in");
    assert!(matches!(why, MavenError::Unreachable { .. }), "{why}");
    assert!(
        why.to_string()
            .contains("status 401: check the credentials"),
        "{why}"
    );
    let credentials = Some(Credentials {
        user: "ada".to_owned(),
        password: "pass".to_owned(),
    });
    let repositories = stage.from(JarSource::Http { url, credentials });
    assert_eq!(
        stage
            .jars_from("root:1", &repositories)
            .expect("it resolves"),
        ["root:1"]
    );
}

#[test]
fn a_repository_that_refuses_is_asked_for_the_first_jars_only() {
    let (asked, count) = std::sync::mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = asked.send(());
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let refusal =
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(refusal);
        }
    });
    let stage = Stage::new();
    let repositories = stage.from(JarSource::parse(&url));
    let all: Vec<_> = (0..100)
        .map(|number| Artifact::parse(&format!("g:a{number}:1")).expect("coordinates"))
        .collect();
    let wanted: Vec<_> = all
        .iter()
        .map(|artifact| WantedJar {
            artifact,
            sha256: None,
            bytes: Some(1),
        })
        .collect();
    let why = repositories.jars(&wanted).expect_err("it refuses");
    assert!(why.to_string().contains("status 403"), "{why}");
    let asked = count.try_iter().count();
    assert!(
        asked <= 16,
        "each thread asks once or twice, not {asked} times"
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_told_in_words() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let stage = Stage::new();
    let why = stage
        .jars_from("root:1", &stage.from(JarSource::parse(&url)))
        .expect_err("nothing listens");
    let expected = format!("{url}: it refuses the connection");
    assert!(why.to_string().ends_with(&expected), "{why}");
}
