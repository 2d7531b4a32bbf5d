//! `cargo xtask dist`: builds the packages that users install, in `target/dist`, and checks each of them by installing it with
//! its own client.
//!
//! `build` compiles the programs. `archive`, `linux`, `python`, `npm`, `maven` and `container` pack them. `integrations` builds
//! the plugins for Java's build tools and VS Code. `texts` writes the manifests of package managers that download the archives
//! themselves. `check` installs and runs every package.

mod archive;
mod build;
mod check;
mod container;
mod integrations;
mod linux;
mod maven;
mod npm;
mod python;
mod sbom;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use drumfire_platform::progress::Work;

use build::BuiltProgram;

/// The version of every package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The licence of every package, as SPDX names it.
pub const LICENSE: &str = "Apache-2.0";
/// One sentence for package managers.
pub const SUMMARY: &str =
    "Runs Apache JMeter test plans at close to the cost of a bare socket loop";
/// The project's home page.
pub const HOMEPAGE: &str = "https://github.com/drumfire/drumfire";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match PackagingOptions::read(&words).and_then(dist) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The order: which programs to build, pack and check.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PackagingOptions {
    /// Install every package with its client and run the quickstart.
    pub check: bool,
    /// Build by a profile of the benchmarks, also build aarch64, and build again in another folder to check that the bytes are
    /// the same.
    pub all: bool,
    /// Use the existing packages instead of building and packing.
    pub packed: bool,
    /// Build by this profile of the compiler instead of recording one.
    pub profile: Option<PathBuf>,
    /// Pack this program instead of building the dynamic one.
    pub dynamic: Option<PathBuf>,
    /// Pack this program instead of building the static one.
    pub r#static: Option<PathBuf>,
}

impl PackagingOptions {
    /// Parses the arguments after `dist`.
    ///
    /// # Errors
    /// An argument is unknown, or an option has no value.
    pub fn read(words: &[&str]) -> anyhow::Result<PackagingOptions> {
        let mut order = PackagingOptions::default();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut file = || {
                words
                    .next()
                    .map(PathBuf::from)
                    .with_context(|| format!("{word} takes a file"))
            };
            match word {
                "--check" => order.check = true,
                "--all" => order.all = true,
                "--packed" => order.packed = true,
                "--profile" => order.profile = Some(file()?),
                "--dynamic" => order.dynamic = Some(file()?),
                "--static" => order.r#static = Some(file()?),
                _ => bail!("`{word}` is not an option of dist"),
            }
        }
        Ok(order)
    }
}

/// The files of one release, and the folders to work in.
pub struct Release {
    /// The finished packages.
    pub folder: PathBuf,
    /// The packers' working folder, emptied first.
    pub work: PathBuf,
    /// The programs, starting with the dynamic one for x86_64.
    pub programs: Vec<BuiltProgram>,
    /// The time of the last commit in seconds since the Unix epoch, which becomes the timestamp of every packed file.
    pub time: u64,
    /// Man pages, completions and licences, laid out below `share/`.
    pub share: PathBuf,
}

impl Release {
    /// The dynamic program for x86_64, which can load Java.
    pub fn dynamic(&self) -> &BuiltProgram {
        &self.programs[0]
    }

    /// The static program for x86_64, which needs no libraries.
    pub fn r#static(&self) -> &BuiltProgram {
        &self.programs[1]
    }
}

/// The programs that pack and check, each with Debian's package.
const TOOLS: [(&str, &str); 9] = [
    ("python3", "python3-venv"),
    ("npm", "npm"),
    ("dpkg-deb", "dpkg"),
    ("rpmbuild", "rpm"),
    ("buildah", "buildah"),
    ("ruby", "ruby"),
    ("javac", "default-jdk-headless"),
    ("mvn", "maven"),
    ("gradle", "gradle"),
];

/// Checks that all tools are there, because they are needed after minutes of building.
fn check_tools(order: &PackagingOptions) -> anyhow::Result<()> {
    let records = order.all && order.profile.is_none();
    let needed = TOOLS
        .iter()
        .chain(records.then_some(&("nginx", "nginx-light")));
    let missing = needed.filter(|(program, _)| !xtask::is_on_path(program));
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        bail!(
            "packing needs more programs: apt install {}",
            packages.join(" ")
        );
    }
    Ok(())
}

/// Builds, packs and optionally checks the packages.
///
/// # Errors
/// A tool is missing, a build or a packer fails, or a package does not install or run.
pub fn dist(mut order: PackagingOptions) -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    check_tools(&order)?;
    let folder = std::path::absolute(xtask::target().join("dist"))?;
    let (packages, work) = (folder.join("packages"), folder.join("work"));
    let share = work.join("share");
    if order.packed {
        return check::all(&Release {
            folder: packages,
            work,
            programs: build::names(),
            time: commit_time()?,
            share,
        });
    }
    for folder in [&packages, &work] {
        empty(folder)?;
    }
    if order.all && order.profile.is_none() {
        order.profile = Some(xtask::profile::record(&folder.join("counting"))?);
    }
    let release = Release {
        folder: packages,
        work,
        programs: build::programs(&order, &folder)?,
        time: commit_time()?,
        share,
    };
    // Maven, Gradle and npm wait for the network much of their time.
    let (built, packed) = std::thread::scope(|scope| {
        let integrations = scope.spawn(|| integrations::pack(&release));
        (build::missing(&order, &folder), integrations.join())
    });
    built?;
    packed.map_err(|_| anyhow::anyhow!("packing the integrations panicked"))??;
    build::describe(release.r#static(), &release.share)?;
    pack(&release)?;
    if order.all {
        build::again(&release, &order, &folder)?;
    }
    if order.check {
        check::all(&release)?;
    } else {
        list(&release.folder)?;
    }
    println!("{:.1} min in all", start.elapsed().as_secs_f64() / 60.0);
    Ok(())
}

/// The packers, with the name of what each makes. The last ones read the packages of the others.
type Packer = (&'static str, fn(&Release) -> anyhow::Result<()>);
const PACKERS: [Packer; 10] = [
    ("the list of components", sbom::write),
    ("archives", archives),
    ("deb", linux::deb),
    ("rpm", linux::rpm),
    ("wheels", python::wheels),
    ("npm", npm::pack),
    ("Maven", maven::pack),
    ("the image", container::pack),
    ("checksums", |release| archive::sums(&release.folder)),
    ("manifests", texts::write_all),
];

fn pack(release: &Release) -> anyhow::Result<()> {
    for (number, (name, packer)) in (1..).zip(PACKERS) {
        let progress = Work::begin(format!("packing {name}"));
        progress.at(number, PACKERS.len() as u64);
        packer(release)?;
    }
    Ok(())
}

fn archives(release: &Release) -> anyhow::Result<()> {
    let mut programs = release.programs.iter();
    programs.try_for_each(|program| archive::pack(release, program))
}

/// Creates an empty folder, deleting an existing one.
pub fn empty(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

/// Writes a file, creating its folders.
pub fn write(file: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(file, content).with_context(|| file.display().to_string())
}

/// Copies a file with its permissions, creating the folders above it.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::copy(from, to)
        .map(|_| ())
        .with_context(|| format!("{} to {}", from.display(), to.display()))
}

/// Every file below a folder, sorted, by relative path.
pub fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The time of the last commit in seconds since the Unix epoch.
fn commit_time() -> anyhow::Result<u64> {
    let mut git = std::process::Command::new("git");
    git.args(["log", "-1", "--format=%ct"]);
    xtask::output(git.current_dir(xtask::root()))?
        .trim()
        .parse()
        .context("git does not report the time of the last commit")
}

fn list(folder: &Path) -> anyhow::Result<()> {
    for file in files(folder)? {
        let size = fs::metadata(folder.join(&file))?.len();
        println!("{:>10}  {}", megabytes(size), file.display());
    }
    Ok(())
}

/// A size for humans, in millions of bytes.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let order = PackagingOptions::read(&["--check", "--static", "a"]).expect("known words");
        assert!(order.check && !order.all);
        assert_eq!(order.r#static, Some(PathBuf::from("a")));
        let refused = PackagingOptions::read(&["--chekc"]).expect_err("not known");
        assert_eq!(refused.to_string(), "`--chekc` is not an option of dist");
        assert!(PackagingOptions::read(&["--static"]).is_err());
    }
}
