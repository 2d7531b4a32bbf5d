//! Asks jars of the user for the forms of classes that no facts describe.

use std::collections::BTreeSet;
use std::sync::Arc;

use drumfire_jmx::full_class_name;
use serde_json::json;

use super::host::{Shared, lock};
use crate::jar_forms::JarForms;
use crate::operations::defaults::ElementType;
use crate::tree::Model;

/// The forms that jars have told so far.
#[derive(Default)]
pub struct Told {
    /// The classes that were asked for.
    asked: BTreeSet<String>,
    forms: Arc<JarForms>,
}

/// The full names of the classes of a plan that no facts describe.
fn undescribed(model: &Model) -> BTreeSet<String> {
    let mut classes = BTreeSet::new();
    crate::tree::each(&model.tree().roots, &mut |node| {
        if ElementType::of(node).is_none() {
            classes.insert(full_class_name(&node.class).to_owned());
        }
    });
    classes
}

/// Gives a plan the forms that are known, and asks for the others in a thread, which may take half a minute.
pub fn ask(shared: &Arc<Shared>, number: u64) {
    let classes = shared.with(number, |open| {
        let forms = lock(&shared.told).forms.clone();
        open.session.model_mut().jar_forms = forms;
        Ok(undescribed(open.session.model()))
    });
    let mut known_forms = lock(&shared.told);
    let classes: Vec<String> = classes
        .unwrap_or_default()
        .into_iter()
        .filter(|class| known_forms.asked.insert(class.clone()))
        .collect();
    drop(known_forms);
    if classes.is_empty() {
        return;
    }
    let weak = Arc::downgrade(shared);
    let program = shared.program.clone();
    let thread = std::thread::Builder::new().name("forms of jars".to_owned());
    // Without the thread the elements have the general form.
    let _ = thread.spawn(move || {
        let names: Vec<&str> = classes.iter().map(String::as_str).collect();
        let Some(lines) = program.forms(&names) else {
            return;
        };
        let Some(shared) = weak.upgrade() else { return };
        let forms = {
            let mut known_forms = lock(&shared.told);
            Arc::make_mut(&mut known_forms.forms).extend(JarForms::read(&lines));
            known_forms.forms.clone()
        };
        for number in shared.take_forms(&forms) {
            shared.notify("forms", &json!({"plan": number}).to_string());
        }
    });
}
