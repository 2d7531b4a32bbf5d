//! Prints the jars of a project and of all that it needs, as `mvn dependency:build-classpath` would list them:
//! `cargo run -p drumfire-maven --example resolve -- LOCAL_REPOSITORY GROUP:NAME:VERSION...`

use drumfire_maven::{Artifact, MavenSettings, Repositories, Surroundings, resolve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let local = words
        .next()
        .ok_or("name a folder for the local repository")?;
    let roots = words
        .map(|word| Artifact::parse(&word))
        .collect::<Result<Vec<_>, _>>()?;
    let repositories = Repositories::of(&MavenSettings::default(), local.into(), |line| {
        eprintln!("{line}")
    })?;
    for one in resolve(&roots, &[], &repositories, &Surroundings::here(17))? {
        println!("{}", one.artifact);
    }
    Ok(())
}
