//! Fetches jars with Maven, which uses its own settings for mirrors, proxies and credentials.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drumfire_expr::Properties;

use crate::artifacts::{Artifact, repository};

/// The release of Maven's own plugin that is asked.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1";
const ADVICE: &str = "install Maven (Debian and Ubuntu: apt install maven)";

/// The program that a shell would start.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("mvn"))
        .find(|program| program.is_file())
}

/// Brings artifacts into the local repository, without what they depend on.
///
/// # Errors
/// Maven's message.
pub fn fetch(
    artifacts: &[&Artifact],
    properties: &Properties,
    tell: fn(&str),
) -> Result<(), String> {
    let folder = Folder::new()?;
    let listed: String = artifacts.iter().map(|one| dependency(one, true)).collect();
    folder.write_pom(&listed)?;
    run(&folder, "resolve", &[], properties, tell)
}

/// The jars of artifacts and of all that they depend on, from the local repository or brought there. JMeter's own jars
/// are left out.
///
/// # Errors
/// Maven's message.
pub fn resolve(
    artifacts: &[Artifact],
    properties: &Properties,
    tell: fn(&str),
) -> Result<Vec<PathBuf>, String> {
    let folder = Folder::new()?;
    let listed: String = artifacts.iter().map(|one| dependency(one, false)).collect();
    folder.write_pom(&listed)?;
    let output = folder.0.join("classpath");
    let options = [
        format!("-Dmdep.outputFile={}", output.display()),
        "-DincludeScope=runtime".to_owned(),
        "-DexcludeGroupIds=org.apache.jmeter".to_owned(),
    ];
    run(&folder, "build-classpath", &options, properties, tell)?;
    let text = std::fs::read_to_string(&output)
        .map_err(|error| format!("{}: {error}", output.display()))?;
    Ok(std::env::split_paths(text.trim()).collect())
}

fn dependency(artifact: &Artifact, alone: bool) -> String {
    let classifier = artifact.classifier.as_ref().map_or(String::new(), |name| {
        format!("<classifier>{name}</classifier>")
    });
    let exclusions = match alone {
        true => {
            "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        }
        false => "",
    };
    format!(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{classifier}{exclusions}</dependency>\n",
        artifact.group, artifact.name, artifact.version
    )
}

/// A folder that goes when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let folder = std::env::temp_dir().join(format!("drumfire-maven-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Folder(folder))
    }

    fn pom(&self) -> PathBuf {
        self.0.join("pom.xml")
    }

    fn write_pom(&self, dependencies: &str) -> Result<(), String> {
        let text = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>dev.drumfire</groupId><artifactId>jars</artifactId>\
             <version>1</version><dependencies>\n{dependencies}</dependencies></project>\n"
        );
        let pom = self.pom();
        std::fs::write(&pom, text).map_err(|error| format!("{}: {error}", pom.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that stay in a temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(
    folder: &Folder,
    goal: &str,
    options: &[String],
    properties: &Properties,
    tell: fn(&str),
) -> Result<(), String> {
    let program = program().ok_or_else(|| format!("Maven is not on the PATH; {ADVICE}"))?;
    let mut command = Command::new(&program);
    command.args(["-B", "-f"]).arg(folder.pom());
    command.arg(format!("{PLUGIN}:{goal}")).args(options);
    if let Some(repository) = repository(properties) {
        command.arg(format!("-Dmaven.repo.local={}", repository.display()));
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let output = child.stdout.take().expect("it was asked for");
    let problems = follow(BufReader::new(output), tell);
    let status = child
        .wait()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if status.success() {
        return Ok(());
    }
    match problems.first() {
        Some(problem) => Err(format!("Maven: {problem}")),
        None => Err(format!("Maven ended with {status}")),
    }
}

/// Tells of each jar that has come; gives the errors.
fn follow(output: impl BufRead, tell: fn(&str)) -> Vec<String> {
    let mut problems = Vec::new();
    for line in output.lines().map_while(Result::ok) {
        if let Some(error) = line.strip_prefix("[ERROR] ") {
            problems.push(error.to_owned());
        } else if let Some((_, rest)) = line.split_once("Downloaded from ")
            && let Some(jar) = jar_of(rest)
        {
            tell(&format!("  {jar}"));
        }
    }
    problems
}

/// The jar in `central: https://…/h2-2.2.224.jar (2.6 MB at 4.1 MB/s)`.
fn jar_of(line: &str) -> Option<&str> {
    let url = line.split_whitespace().nth(1)?;
    let name = Path::new(url).file_name()?.to_str()?;
    name.ends_with(".jar").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mavens_output_tells_jars_and_errors() {
        let output = "[INFO] Downloading from central: https://r/a-1.jar\n\
                      [INFO] Downloaded from central: https://r/a/1/a-1.pom (1 kB at 2 kB/s)\n\
                      [INFO] Downloaded from central: https://r/a/1/a-1.jar (1 kB at 2 kB/s)\n\
                      [ERROR] Could not find artifact b:b:jar:1\n[ERROR] more\n";
        assert_eq!(
            follow(output.as_bytes(), |line| assert_eq!(line, "  a-1.jar")),
            ["Could not find artifact b:b:jar:1", "more"]
        );
    }

    #[test]
    fn a_jar_alone_excludes_what_it_depends_on() {
        let artifact = Artifact::parse("g:n:jar:data:1").expect("coordinates");
        let text = dependency(&artifact, true);
        assert!(text.contains("<classifier>data</classifier>"));
        assert!(text.contains("<exclusion><groupId>*</groupId>"));
        assert!(!dependency(&artifact, false).contains("exclusion"));
    }
}
