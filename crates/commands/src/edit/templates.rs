//! Templates for the editor: those of `drumfire new`.

use std::collections::BTreeMap;

use drumfire_edit::protocol::template_messages::{TemplateEntry, TemplateValue};
use drumfire_edit::refused::UNFIT;
use drumfire_edit::{Refused, TemplateMade};

use crate::new::offered::{AnyTemplate, Offered};
use crate::settings::properties::RunProperties;

/// The templates that are offered.
pub fn entries(settings: &RunProperties) -> Vec<TemplateEntry> {
    let offered = Offered::of(settings);
    let all = offered.all().map(|template| TemplateEntry {
        name: template.name().to_owned(),
        about: template.about().to_owned(),
        user: matches!(template, AnyTemplate::User(_)),
        part: template.is_part(),
        like: match template {
            AnyTemplate::Own(own) => own.like.to_owned(),
            AnyTemplate::User(_) => String::new(),
        },
        needs: template.needs().to_owned(),
        parameters: template
            .parameters()
            .into_iter()
            .map(|(name, about, value)| TemplateValue {
                name: name.to_owned(),
                about: about.to_owned(),
                value: value.to_owned(),
            })
            .collect(),
    });
    all.collect()
}

/// Makes a plan from a template.
///
/// # Errors
/// There is no such template or parameter, or the file of a template of the user cannot be used.
pub fn made(
    settings: &RunProperties,
    name: &str,
    data_file: &str,
    values: &BTreeMap<String, String>,
) -> Result<TemplateMade, Refused> {
    let offered = Offered::of(settings);
    let template = offered.find(name).map_err(|(message, near)| {
        let refused = Refused::new(UNFIT, message);
        match near {
            Some(near) => refused.hint(format!("did you mean `{near}`?")),
            None => refused,
        }
    })?;
    let made = template
        .made(data_file, values)
        .map_err(|message| Refused::new(UNFIT, message))?;
    Ok(TemplateMade {
        plan: made.plan,
        part: made.part,
        data: made.data,
    })
}
