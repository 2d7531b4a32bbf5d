//! Builds the plugins for Maven and Gradle and the extensions for JUnit and jmeter-java-dsl as artifacts beside the program's,
//! and the extension for VS Code.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use xtask::{output, root, run};

use crate::check::Row;
use crate::{Release, VERSION, copy, files, maven, write};

/// Maven's goal that puts artifacts into a repository.
const DEPLOY: &str = "org.apache.maven.plugins:maven-deploy-plugin:3.1.3:deploy";
/// A plan that sends no requests.
const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">3</stringProp></elementProp>
</ThreadGroup><hashTree><DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="a sample"/><hashTree/></hashTree>
</hashTree></hashTree></jmeterTestPlan>
"#;

/// Builds everything in `integrations/`, without its tests, into the repository that [`maven::pack`] packs.
pub fn pack(release: &Release) -> anyhow::Result<()> {
    let repository = maven::repository(release);
    let url = format!("file://{}", repository.display());
    let folder = root().join("integrations");
    let mut build = Command::new("mvn");
    build.args([
        "--batch-mode",
        "--quiet",
        "-DskipTests",
        "-Dinvoker.skip=true",
    ]);
    build.arg(format!("-DaltDeploymentRepository=release::{url}"));
    build.arg(format!("-Dproject.build.outputTimestamp={}", release.time));
    build.args(["package", DEPLOY]).current_dir(&folder);
    run(&mut build).context("Maven and a JDK (Debian and Ubuntu: apt install maven)")?;
    gradle_plugin(&repository, &folder.join("gradle"))?;
    // Remove lists of versions: they contain the time of the build, and publishing the artifacts creates new ones.
    for file in files(&repository)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("maven-metadata") {
            fs::remove_file(repository.join(&file))?;
        }
    }
    extension(release)
}

/// Builds the Gradle plugin. Its POMs are written here, because Gradle 4's own publisher cannot write to folders. The second
/// POM is the marker through which Gradle finds a plugin by its id.
fn gradle_plugin(repository: &Path, folder: &Path) -> anyhow::Result<()> {
    const PLUGIN: &str = "drumfire-gradle-plugin";
    const MARKER: &str = "io.drumfire.gradle.plugin";
    let mut gradle = Command::new("gradle");
    gradle.args(["--no-daemon", "--console=plain", "--quiet", "jar"]);
    gradle
        .arg(format!(
            "-Ddrumfire.repository=file://{}",
            repository.display()
        ))
        .current_dir(folder);
    run(&mut gradle).context("Gradle (Debian and Ubuntu: apt install gradle)")?;
    let place = |name: &str, ending: &str| {
        let file = format!("{name}-{VERSION}.{ending}");
        repository
            .join("io/drumfire")
            .join(name)
            .join(VERSION)
            .join(file)
    };
    let jar = folder
        .join("build/libs")
        .join(format!("{PLUGIN}-{VERSION}.jar"));
    copy(&jar, &place(PLUGIN, "jar"))?;
    write(
        &place(PLUGIN, "pom"),
        gradle_pom(PLUGIN, "jar", "drumfire-launcher"),
    )?;
    write(&place(MARKER, "pom"), gradle_pom(MARKER, "pom", PLUGIN))
}

fn gradle_pom(name: &str, packaging: &str, needs: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>io.drumfire</groupId>\n  <artifactId>{name}</artifactId>\n  <version>{VERSION}</version>\n  \
         <packaging>{packaging}</packaging>\n  <dependencies>\n    <dependency>\n      <groupId>io.drumfire</groupId>\n      \
         <artifactId>{needs}</artifactId>\n      <version>{VERSION}</version>\n    </dependency>\n  </dependencies>\n\
         </project>\n"
    )
}

/// Packs the extension for VS Code with its own tool, in a copy of its folder.
fn extension(release: &Release) -> anyhow::Result<()> {
    let (from, to) = (root().join("editors/vscode"), release.work.join("vscode"));
    let tracked = output(Command::new("git").args(["ls-files"]).current_dir(&from))?;
    for file in tracked.lines() {
        copy(&from.join(file), &to.join(file))?;
    }
    let mut pack = Command::new("sh");
    pack.arg("pack.sh").current_dir(&to);
    run(pack.stdin(Stdio::null()).stdout(Stdio::null())).context("node and npm")?;
    let made = files(&to)?
        .into_iter()
        .find(|file| file.extension().is_some_and(|kind| kind == "vsix"))
        .context("editors/vscode/pack.sh made no .vsix")?;
    copy(&to.join(&made), &release.folder.join(&made))
}

/// Runs a plan from a project with the Maven plugin. The plugin resolves the program, starting from an empty local repository.
pub fn check(release: &Release, place: &Path) -> anyhow::Result<Row> {
    let file = release.folder.join(maven::name());
    output(
        Command::new("tar")
            .arg("-xzf")
            .arg(&file)
            .arg("-C")
            .arg(place),
    )?;
    let project = place.join("project");
    write(&project.join("src/test/jmeter/plan.jmx"), PLAN)?;
    write(&project.join("pom.xml"), pom(&place.join("repository")))?;
    let start = Instant::now();
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "verify"]);
    maven.arg(local_repository(place)).current_dir(&project);
    output(&mut maven)?;
    let took = start.elapsed();
    let results = project.join("target/jmeter/results");
    let name = files(&results)?
        .pop()
        .context("the plugin wrote no result file")?;
    let rows = fs::read_to_string(results.join(name))?;
    if rows.lines().filter(|row| row.contains("a sample")).count() != 3 {
        bail!("the plan has three samples:\n{rows}");
    }
    Ok(Row {
        channel: "Maven plugin",
        file,
        built_by: "mvn",
        installed_by: "mvn verify",
        took: Some(took),
    })
}

/// The option for a local repository that only this check uses.
fn local_repository(place: &Path) -> OsString {
    let mut option = OsString::from("-Dmaven.repo.local=");
    option.push(place.join("local"));
    option
}

fn pom(repository: &Path) -> String {
    let url = format!("<id>release</id><url>file://{}</url>", repository.display());
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>load</artifactId>\
         <version>1</version><packaging>pom</packaging>\
         <repositories><repository>{url}</repository></repositories>\
         <pluginRepositories><pluginRepository>{url}</pluginRepository></pluginRepositories>\
         <build><plugins><plugin><groupId>io.drumfire</groupId><artifactId>drumfire-maven-plugin</artifactId>\
         <version>{VERSION}</version><executions><execution><goals><goal>jmeter</goal><goal>results</goal></goals>\
         </execution></executions></plugin></plugins></build></project>\n"
    )
}
