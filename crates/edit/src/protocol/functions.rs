//! Functions with their forms, texts as the engine evaluates them, and conditions as rows.

use std::collections::BTreeMap;

use drumfire_elements::Role;
use drumfire_expr::{
    FunctionOrigin, FunctionRung, call_at, functions, is_in_arguments, write_call,
};
use drumfire_java::text::utf16_index;
use serde_json::Value;

use super::function_messages::{
    ConditionText, Evaluate, Evaluation, Function, FunctionAt, FunctionCall, FunctionParameter,
    FunctionPlace, Written,
};
use super::host::{Shared, lock, read, written};
use super::methods::RunSampleDetail;
use crate::condition;
use crate::forms;
use crate::operations::defaults::role;
use crate::program::TrialOrder;
use crate::refused::{PARAMETERS, Refused};
use crate::session::Session;
use crate::tree::Id;

/// The most samples of one evaluation.
const MOST_SAMPLES: usize = 100;
/// The samples of an evaluation that asks for no number.
const SAMPLES: usize = 5;

/// All functions, by their names.
fn all() -> Vec<Function> {
    let mut all: Vec<Function> = functions()
        .iter()
        .map(|spec| Function {
            name: spec.name.to_owned(),
            about: spec.doc.to_owned(),
            differs: spec.differs.to_owned(),
            plugin: spec.origin == FunctionOrigin::Plugin,
            java: spec.rung() == FunctionRung::Jvm,
            effect: spec.effect.to_owned(),
            parameters: spec
                .parameters
                .iter()
                .map(|parameter| FunctionParameter {
                    label: parameter.name.to_owned(),
                    required: parameter.required,
                })
                .collect(),
            repeats: spec.max.is_none(),
        })
        .collect();
    all.sort_by_key(|one| one.name.to_lowercase());
    all
}

fn place(text: &str, offset: usize) -> FunctionPlace {
    let cursor = forms::byte_offset(text, offset);
    let call = call_at(text, cursor).map(|call| FunctionCall {
        start: utf16_index(text, call.range.start),
        end: utf16_index(text, call.range.end),
        nested_behind: is_in_arguments(text, call.range.end),
        name: call.name,
        arguments: call.arguments,
        nested: call.is_nested,
    });
    FunctionPlace {
        call,
        nested: is_in_arguments(text, cursor),
    }
}

/// The place of an element: its plan, its name, its thread group, and the variables at the start.
fn place_of(session: &Session, id: Id) -> Result<TrialOrder, Refused> {
    session.check(None, &[id])?;
    let model = session.model();
    let outline = model.outline();
    let name = |at: usize| model.node_at(at).name.to_string();
    let at = outline.index(id);
    let group = at.and_then(|at| {
        outline
            .upwards(at)
            .find(|at| role(model.node_at(*at)) == Some(Role::ThreadGroup))
    });
    let mut at_start: BTreeMap<Option<usize>, Vec<(String, String)>> = BTreeMap::new();
    for one in forms::variables(session, id) {
        let setter = one.set_by.first();
        let element = setter.and_then(|setter| outline.index(setter.id));
        let value = one.value.map(|value| (one.name, value));
        at_start.entry(element).or_default().extend(value);
    }
    let first = (condition::LAST_SAMPLE.to_owned(), true.to_string());
    Ok(TrialOrder {
        plan: session.path().to_owned(),
        element: at.map(name).unwrap_or_default(),
        group: group.map(name).unwrap_or_default(),
        at_start: at_start.into_values().chain([vec![first]]).collect(),
        ..TrialOrder::default()
    })
}

impl Shared {
    /// Methods about functions and conditions.
    pub(super) fn functions(&self, method: &str, parameters: Value) -> Result<String, Refused> {
        match method {
            "functions" => written(&all()),
            "function_at" => {
                let FunctionAt { text, offset } = read(parameters)?;
                written(&place(&text, offset))
            }
            "condition_read" => {
                let ConditionText { text } = read(parameters)?;
                written(&condition::read(&text))
            }
            "condition_write" => {
                let text = condition::write(&read(parameters)?)?;
                written(&Written { text })
            }
            _ => written(&self.evaluate(read(parameters)?)?),
        }
    }

    fn evaluate(&self, own: Evaluate) -> Result<Evaluation, Refused> {
        let text = match &own.function {
            Some(name) if drumfire_expr::function(name).is_none() => {
                let message = format!("there is no function `{name}`");
                return Err(Refused::new(PARAMETERS, message));
            }
            Some(name) => write_call(name, &own.arguments, own.nested).ok_or_else(|| {
                Refused::unfit("no call has these arguments")
                    .hint("put a reference that has braces in its name into a variable")
            })?,
            None => own.text,
        };
        let last = self.last_variables(own.plan);
        let run = last.as_ref().map(|(run, _)| *run);
        let order = TrialOrder {
            text: text.clone(),
            times: own.times.unwrap_or(SAMPLES).clamp(1, MOST_SAMPLES),
            variables: last.map(|(_, variables)| variables).unwrap_or_default(),
            named: condition::read(&text)
                .map(|read| condition::variables(&read))
                .unwrap_or_default(),
            ..self.with(own.plan, |open| place_of(&open.session, own.id))?
        };
        let trial = self.program.evaluate(order);
        let (samples, fault) = match trial.outcome {
            Ok(samples) => (samples, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        Ok(Evaluation {
            text,
            samples,
            wrong: trial.is_wrong,
            fault,
            run,
            variables: trial.variables,
        })
    }

    /// The variables of the last user that stood still, or of the last sample, in the newest run of a plan that has one.
    fn last_variables(&self, plan: u64) -> Option<(u64, BTreeMap<String, String>)> {
        let runs = lock(&self.runs).of_plan(plan);
        runs.into_iter().rev().find_map(|(number, run, entry)| {
            let entry = lock(&entry).clone();
            let last = entry.samples.last();
            let mut variables = match (entry.halted, last) {
                (Some(halted), _) => halted.variables,
                (None, last) => {
                    let asked = RunSampleDetail {
                        run: number,
                        number: last?.number,
                        length: Some(0),
                        ..RunSampleDetail::default()
                    };
                    run.sample(&asked).ok()?.variables
                }
            };
            let is_ok = last.is_none_or(|sample| sample.success);
            variables.insert(condition::LAST_SAMPLE.to_owned(), is_ok.to_string());
            Some((number, variables))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_units_of_the_page() {
        let text = "😀${__P(é,${__Random(1,2)})}";
        let place = place(text, 16);
        let call = place.call.unwrap();
        assert_eq!(
            (call.name.as_str(), call.nested, place.nested),
            ("__Random", true, true)
        );
        let units: Vec<u16> = text.encode_utf16().collect();
        let shown = String::from_utf16(&units[call.start..call.end]).unwrap();
        assert_eq!(
            (shown.as_str(), call.nested_behind),
            ("${__Random(1,2)}", true)
        );
    }

    #[test]
    fn the_list_has_every_function_once() {
        let all = all();
        assert_eq!(all.len(), functions().len());
        let log = all.iter().find(|one| one.name == "__log").unwrap();
        assert!(
            !log.effect.is_empty() && log.parameters[0].required && !log.parameters[1].required
        );
    }
}
