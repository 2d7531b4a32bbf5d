//! All templates that a plan can be made from: own ones and those of the user's JMeter. `drumfire new` and the editor offer the
//! same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drumfire_import::templates::{TEMPLATES, Template, named};
use drumfire_jmx::did_you_mean;

use super::user::{self, UserTemplate};
use crate::settings::properties::RunProperties;

/// The templates that are offered.
pub struct Offered {
    user: Vec<UserTemplate>,
}

/// A template: an own one, or one of the user's JMeter.
#[derive(Clone, Copy)]
pub enum AnyTemplate<'o> {
    Own(&'static Template),
    User(&'o UserTemplate),
}

/// A plan that was made from a template.
pub struct Made {
    /// The text of the plan.
    pub plan: String,
    /// The text of the elements that go into a plan, if it is a part.
    pub part: Option<String>,
    /// The content of the data file beside it.
    pub data: Option<&'static str>,
}

impl Offered {
    /// The own templates, and those of the JMeter that the settings or `JMETER_HOME` name.
    pub fn of(settings: &RunProperties) -> Offered {
        let property = |name: &str| {
            let value = settings
                .properties
                .get(name)
                .map(|value| value.trim().to_owned());
            value.filter(|value| !value.is_empty())
        };
        let home = property("drumfire.jmeter.home")
            .map(PathBuf::from)
            .or_else(|| drumfire_platform::variable("JMETER_HOME").map(PathBuf::from));
        let files = property("template.files");
        let user = home.map_or_else(Vec::new, |home| user::read(&home, files.as_deref()));
        Offered { user }
    }

    /// All of them, the own ones first.
    pub fn all(&self) -> impl Iterator<Item = AnyTemplate<'_>> {
        TEMPLATES
            .iter()
            .map(AnyTemplate::Own)
            .chain(self.user.iter().map(AnyTemplate::User))
    }

    /// The template of this name. A name of JMeter's own templates also means the own one of its kind.
    ///
    /// # Errors
    /// There is none; the message names one that is spelled almost like it.
    pub fn find(&self, name: &str) -> Result<AnyTemplate<'_>, (String, Option<String>)> {
        let exact = self.all().find(|one| one.name() == name);
        let template = exact.or_else(|| named(name).map(AnyTemplate::Own));
        template.ok_or_else(|| {
            let near = did_you_mean(name, self.all().map(|one| one.name()));
            (
                format!("there is no template `{name}`"),
                near.map(str::to_owned),
            )
        })
    }
}

impl<'o> AnyTemplate<'o> {
    pub fn name(self) -> &'o str {
        match self {
            AnyTemplate::Own(own) => own.name,
            AnyTemplate::User(user) => &user.name,
        }
    }

    pub fn about(self) -> &'o str {
        match self {
            AnyTemplate::Own(own) => own.about,
            AnyTemplate::User(user) => &user.about,
        }
    }

    /// The server or program that a trial run needs; empty if it needs none, or if that is not known.
    pub fn needs(self) -> &'static str {
        match self {
            AnyTemplate::Own(own) => own.needs,
            AnyTemplate::User(_) => "",
        }
    }

    pub fn is_part(self) -> bool {
        match self {
            AnyTemplate::Own(own) => own.is_part(),
            AnyTemplate::User(user) => user.is_part,
        }
    }

    /// Names, meanings and values of the parameters.
    pub fn parameters(self) -> Vec<(&'o str, &'o str, &'o str)> {
        match self {
            AnyTemplate::Own(own) => {
                let all = own.parameters.iter();
                all.map(|one| (one.name, one.about, one.default)).collect()
            }
            AnyTemplate::User(user) => {
                let all = user.parameters.iter();
                all.map(|(name, value)| (name.as_str(), "", value.as_str()))
                    .collect()
            }
        }
    }

    /// Makes the plan. `data_file` is the name of the data file beside it.
    ///
    /// # Errors
    /// A name is none of its parameters, or the file of the user's template cannot be used.
    pub fn made(self, data_file: &str, given: &BTreeMap<String, String>) -> Result<Made, String> {
        let parameters = self.parameters();
        let unknown = given
            .keys()
            .find(|name| parameters.iter().all(|one| one.0 != name.as_str()));
        if let Some(name) = unknown {
            return Err(format!(
                "the template `{}` has no parameter `{name}`",
                self.name()
            ));
        }
        match self {
            AnyTemplate::Own(own) => Ok(Made {
                plan: drumfire_jmx::write(&own.tree(data_file, given)),
                part: own
                    .elements(given)
                    .map(|nodes| drumfire_jmx::write_elements(&nodes)),
                data: own.data,
            }),
            AnyTemplate::User(user) => {
                let plan = user.made(given)?;
                let name = user.name.as_str();
                drumfire_jmx::read(plan.as_bytes(), Path::new(name)).map_err(|findings| {
                    let fault = findings
                        .first()
                        .map(|fault| fault.message.as_str())
                        .unwrap_or("");
                    format!("the template `{name}` is no plan: {fault}")
                })?;
                Ok(Made {
                    part: user.is_part.then(|| plan.clone()),
                    plan,
                    data: None,
                })
            }
        }
    }
}
