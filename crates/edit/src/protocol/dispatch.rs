//! Carries out the methods.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::host::{Shared, read, written};
use super::methods as m;
use super::types::{Copied, Hits, Kind, Page, Preview, Saved, Text};
use crate::forms;
use crate::operations::defaults::{ElementType, role};
use crate::operations::place::{PropertyPlace, find};
use crate::operations::search::{self, Query, Reading, Where};
use crate::operations::structure::{self, Branch, Target};
use crate::operations::{extract, modules, paste, put, rename, retype, set, table};
use crate::refused::{PARAMETERS, Refused, no_element};
use crate::session::{Session, unwritable_property};
use crate::tree::{Changed, Id, Model, Step};

/// The result of a method, as JSON.
type Answer = Result<String, Refused>;

impl Shared {
    /// Carries out a method of [`m::all`].
    pub(super) fn carry_out(self: &Arc<Self>, method: &str, parameters: Value) -> Answer {
        match method {
            "open" => {
                let m::Open { path, text } = read(parameters)?;
                let number = self.open(Path::new(&path), text.as_deref())?;
                self.with(number, |open| written(&open.opened()))
            }
            "files" => written(&self.files()),
            "trees" => written(&self.trees()),
            "extract" | "move_to_file" | "extract_value" => self.extract(method, parameters),
            "run" | "run_go" | "breakpoints" | "run_stop" | "runs" | "run_search" | "run_test"
            | "run_propose" | "run_sample_detail" => self.runs(method, parameters),
            _ if method.starts_with("record") => self.records(method, parameters),
            "functions" | "function_at" | "evaluate" | "condition_read" | "condition_write" => {
                self.functions(method, parameters)
            }
            "templates" | "new_plan" | "insert_template" => self.templates(method, parameters),
            "page" => written(&Page {
                html: self.program.page().to_owned(),
            }),
            "sync" => {
                let m::Sync { plan, text } = read(parameters)?;
                self.change(plan, (None, &[]), |session| session.sync(&text))
            }
            "review" | "restore" | "stage" | "versions" => self.versions(method, parameters),
            "insert" | "paste" | "palette" | "move" | "remove" | "copy" | "duplicate" | "wrap"
            | "unwrap" | "change_type" => self.structure(method, parameters),
            "set" | "table" | "set_xml" | "rename" | "enable" => self.values(method, parameters),
            "find" | "replace" => self.search(method, read(parameters)?),
            "element" | "variables" | "complete" => self.element(method, parameters),
            "resolve" => {
                let asked: m::Resolve = read(parameters)?;
                let takes_theirs = match asked.take.as_str() {
                    "ours" => false,
                    "theirs" => true,
                    "each" => return self.resolve_each(&asked),
                    other => {
                        let message = format!("`{other}` is none of `ours`, `theirs` and `each`");
                        return Err(Refused::new(PARAMETERS, message));
                    }
                };
                self.change(asked.plan, (None, &[]), |session| {
                    session.resolve(takes_theirs)
                })
            }
            _ => {
                let m::OfPlan { plan } = read(parameters)?;
                self.whole(method, plan)
            }
        }
    }

    /// Methods that need only the plan.
    fn whole(self: &Arc<Self>, method: &str, plan: u64) -> Answer {
        match method {
            "undo" => self.change(plan, (None, &[]), Session::undo),
            "redo" => self.change(plan, (None, &[]), Session::redo),
            "save" => written(&Saved {
                revision: self.save(plan)?,
            }),
            "load" => self.load(plan),
            "load_stop" => self.load_stop(plan),
            "load_state" => self.load_state(plan),
            "close" => {
                self.end_recording(Some(plan));
                self.close(plan)?;
                self.forget_recordings(plan);
                Ok("null".to_owned())
            }
            "findings" => self.inspect(plan),
            "text" => self.with(plan, |open| {
                written(&Text {
                    text: open.session.model().text().to_owned(),
                    revision: open.session.revision(),
                })
            }),
            _ => self.with(plan, |open| written(&open.opened())),
        }
    }

    fn element(&self, method: &str, parameters: Value) -> Answer {
        match method {
            "element" => {
                let m::OfElement { plan, id } = read(parameters)?;
                self.with(plan, |open| written(&open.element(id)?))
            }
            "variables" => {
                let m::OfElement { plan, id } = read(parameters)?;
                self.with(plan, |open| {
                    open.session.check(None, &[id])?;
                    written(&forms::variables(&open.session, id))
                })
            }
            _ => {
                let m::Complete {
                    plan,
                    id,
                    text,
                    offset,
                } = read(parameters)?;
                self.with(plan, |open| {
                    open.session.check(None, &[id])?;
                    written(&forms::complete(&open.session, id, &text, offset))
                })
            }
        }
    }

    /// Methods that change names, flags and properties.
    fn values(&self, method: &str, parameters: Value) -> Answer {
        match method {
            "set" => {
                let asked: m::Set = read(parameters)?;
                let ids: Vec<Id> = asked
                    .id
                    .into_iter()
                    .chain(asked.ids.iter().copied())
                    .collect();
                if ids.is_empty() {
                    return Err(Refused::new(PARAMETERS, "the request names no element")
                        .hint("give `id` or `ids`"));
                }
                self.change(asked.plan, (asked.revision, &ids), |session| {
                    set_checked(session, &ids, &asked)
                })
            }
            "table" => {
                let asked: m::SetTable = read(parameters)?;
                self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
                    let step =
                        table::table(session.model(), asked.id, &asked.property, &asked.rows)?;
                    session.make(step)
                })
            }
            "set_xml" => {
                let asked: m::SetXml = read(parameters)?;
                self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
                    let step = set::set_xml(session.model(), asked.id, &asked.text)?;
                    session.make(step)
                })
            }
            "rename" => {
                let asked: m::Rename = read(parameters)?;
                self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
                    let step = rename::rename(session.model(), asked.id, &asked.name)?;
                    session.make(step)
                })
            }
            _ => {
                let asked: m::Enable = read(parameters)?;
                self.change(asked.plan, (asked.revision, &asked.ids), |session| {
                    let step = set::enable(session.model(), &asked.ids, asked.enabled)?;
                    session.make(step)
                })
            }
        }
    }

    /// Methods that change the tree.
    fn structure(&self, method: &str, parameters: Value) -> Answer {
        match method {
            "insert" => {
                let asked: m::Insert = read(parameters)?;
                let target = target(asked.parent, asked.index);
                self.change(asked.plan, (asked.revision, &[asked.parent]), |session| {
                    let step = match (&asked.class, &asked.text) {
                        (Some(class), None) => inserted(session.model(), target, kind(class)?)?,
                        (None, Some(text)) => {
                            paste::paste(session.model(), target, text, &*self.program)?
                        }
                        _ => return Err(Refused::new(PARAMETERS, "give either `class` or `text`")),
                    };
                    session.make(step)
                })
            }
            "paste" => {
                let asked: m::Paste = read(parameters)?;
                let target = target(asked.parent, asked.index);
                self.change(asked.plan, (asked.revision, &[asked.parent]), |session| {
                    let step = paste::paste(session.model(), target, &asked.text, &*self.program)?;
                    session.make(step)
                })
            }
            "move" => {
                let asked: m::Move = read(parameters)?;
                let ids: Vec<Id> = asked.ids.iter().copied().chain([asked.parent]).collect();
                self.change(asked.plan, (None, &ids), |session| {
                    let step = structure::relocate(
                        session.model(),
                        &asked.ids,
                        target(asked.parent, asked.index),
                    )?;
                    restructured(session, step)
                })
            }
            "palette" => {
                let asked: m::Palette = read(parameters)?;
                self.with(asked.plan, |open| {
                    written(&palette(open.session.model(), asked.parent)?)
                })
            }
            "wrap" => {
                let asked: m::Wrap = read(parameters)?;
                let around = kind(&asked.class)?;
                self.change(asked.plan, (asked.revision, &asked.ids), |session| {
                    let step = structure::wrap(session.model_mut(), &asked.ids, around)?;
                    restructured(session, step)
                })
            }
            "unwrap" => {
                let asked: m::Unwrap = read(parameters)?;
                self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
                    let step = structure::unwrap(session.model(), asked.id)?;
                    restructured(session, step)
                })
            }
            "change_type" => self.change_type(&read(parameters)?),
            _ => self.selected(method, &read(parameters)?),
        }
    }

    /// Methods that move a selection elsewhere and refer to it.
    fn extract(&self, method: &str, parameters: Value) -> Answer {
        if method == "extract" {
            let asked: m::Extract = read(parameters)?;
            return self.change(asked.plan, (asked.revision, &asked.ids), |session| {
                let name = asked.name.as_deref();
                let step = extract::extract(session.model_mut(), &asked.ids, name)?;
                restructured(session, step)
            });
        }
        if method == "extract_value" {
            let asked: m::ExtractValue = read(parameters)?;
            return self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
                let (name, value) = (asked.name.trim(), asked.value.as_str());
                let step = put::put(session.model(), asked.id, &asked.element, name, value)?;
                session.make(step)
            });
        }
        let asked: m::MoveToFile = read(parameters)?;
        self.change(asked.plan, (asked.revision, &asked.ids), |session| {
            let moved = extract::move_out(
                session.model(),
                &asked.ids,
                &asked.path,
                asked.name.as_deref(),
            )?;
            session.make_with_file(moved.step, asked.path.trim(), &moved.text)
        })
    }

    /// Methods about a selection.
    fn selected(&self, method: &str, asked: &m::OfElements) -> Answer {
        let m::OfElements {
            plan,
            ids,
            revision,
        } = asked;
        match method {
            "copy" => self.with(*plan, |open| {
                let text = structure::copied(open.session.model(), ids)?;
                written(&Copied { text })
            }),
            "remove" => self.change(*plan, (*revision, ids), |session| {
                let step = structure::remove(session.model(), ids)?;
                session.make(step)
            }),
            _ => self.change(*plan, (*revision, ids), |session| {
                let step = structure::duplicate(session.model(), ids)?;
                session.make(step)
            }),
        }
    }

    fn change_type(&self, asked: &m::ChangeType) -> Answer {
        let wanted = kind(&asked.class)?;
        if asked.preview {
            return self.with(asked.plan, |open| {
                let seen = retype::preview(open.session.model(), asked.id, wanted)?;
                written(&Preview {
                    kept: seen.kept,
                    lost: seen.lost,
                })
            });
        }
        self.change(asked.plan, (asked.revision, &[asked.id]), |session| {
            let step = retype::retype(session.model(), asked.id, wanted)?;
            session.make(step)
        })
    }

    fn search(&self, method: &str, asked: m::Search) -> Answer {
        let query = query(&asked)?;
        if method == "replace" && !asked.preview {
            return self.change(asked.plan, (None, &[]), |session| {
                let step = search::replace(
                    session.model(),
                    &query,
                    &asked.with,
                    asked.regex,
                    &asked.skip,
                )?;
                session.make(step)
            });
        }
        self.with(asked.plan, |open| {
            let model = open.session.model();
            let matches = if method == "replace" {
                let (hits, more) = search::preview(model, &query, &asked.with, asked.regex)?;
                let hits = hits.iter().map(|one| open.hit(&one.hit, Some(&one.after)));
                Hits {
                    hits: hits.collect(),
                    more,
                }
            } else {
                let (hits, more) = search::find(model, &query)?;
                Hits {
                    hits: hits.iter().map(|hit| open.hit(hit, None)).collect(),
                    more,
                }
            };
            written(&matches)
        })
    }
}

fn target(parent: Id, index: Option<usize>) -> Target {
    Target {
        parent,
        index: index.unwrap_or(usize::MAX),
    }
}

/// The type that a request names.
fn kind(key: &str) -> Result<ElementType, Refused> {
    ElementType::of_key(key).ok_or_else(|| {
        let keys: Vec<String> = ElementType::all().map(|kind| kind.key()).collect();
        let near = drumfire_jmx::did_you_mean(key, keys.iter().map(String::as_str));
        let refused = Refused::new(PARAMETERS, format!("there is no type `{key}`"));
        match near {
            Some(near) => refused.hint(format!("did you mean `{near}`?")),
            None => refused.hint("ask for the types with `palette`"),
        }
    })
}

fn inserted(model: &Model, target: Target, kind: ElementType) -> Result<Step, Refused> {
    let node = kind.node();
    let branch = Branch::new(&node, drumfire_jmx::line_end(model.text()));
    let label = format!("Insert {}", kind.name);
    structure::insert(model, target, &[branch], &[&node], label)
}

/// The types that may be inserted below an element.
fn palette(model: &Model, parent: Id) -> Result<Vec<Kind>, Refused> {
    let holder = model.node(parent).ok_or_else(|| no_element(parent))?;
    let outer = role(holder);
    let kinds = ElementType::all()
        .filter(|kind| {
            kind.facts.is_in_menu(kind.gui)
                && outer.is_none_or(|outer| outer.holds(kind.facts.role))
        })
        .map(|kind| Kind {
            class: kind.key(),
            type_name: kind.name.to_owned(),
            category: kind.facts.role.menu().to_owned(),
        });
    Ok(kinds.collect())
}

fn query(asked: &m::Search) -> Result<Query, Refused> {
    if let Some(other) = asked
        .places
        .iter()
        .find(|place| *place != "names" && *place != "values")
    {
        return Err(Refused::new(
            PARAMETERS,
            format!("`{other}` is neither `names` nor `values`"),
        ));
    }
    let looks =
        |place: &str| asked.places.is_empty() || asked.places.iter().any(|own| own == place);
    let reading = Reading {
        regex: asked.regex,
        case: asked.case,
        word: asked.word,
    };
    let places = Where {
        names: looks("names"),
        values: looks("values"),
    };
    let mut query = Query::new(&asked.text, reading, places)?;
    query.scope = asked.scope;
    query.class.clone_from(&asked.class);
    Ok(query)
}

/// Makes a step that moves elements; Module Controllers follow them.
fn restructured(session: &mut Session, step: Step) -> Result<Changed, Refused> {
    let step = modules::followed(session.model(), step);
    session.make(step)
}

/// Sets a property and checks that it reads back as it was given.
fn set_checked(session: &mut Session, ids: &[Id], asked: &m::Set) -> Result<Changed, Refused> {
    let step = set::set(
        session.model(),
        ids,
        &asked.property,
        asked.value.as_deref(),
    )?;
    let changed = if asked.join {
        session.make_joined(step)?
    } else {
        session.make(step)?
    };
    let is_made = ids.iter().all(|id| {
        session
            .model()
            .node(*id)
            .is_some_and(|node| reads_as(session, node, asked))
    });
    if is_made || changed == Changed::default() {
        return Ok(changed);
    }
    session.undo()?;
    Err(unwritable_property(session.path(), &asked.property))
}

fn reads_as(session: &Session, node: &drumfire_jmx::Node, asked: &m::Set) -> bool {
    match (
        find(session.model().text(), node, &asked.property),
        &asked.value,
    ) {
        (PropertyPlace::Here(prop), Some(value)) => {
            let read = prop.value.as_str();
            let same_number = || {
                read.parse::<f64>()
                    .ok()
                    .zip(value.trim().parse::<f64>().ok())
                    .is_some_and(|(one, other)| one == other)
            };
            read == value.as_str() || read == value.replace("\r\n", "\n") || same_number()
        }
        (PropertyPlace::Here(_), None) => false,
        _ => true,
    }
}

/// A message that the program sends on its own.
#[derive(Debug, Clone, Copy)]
pub struct Notification {
    /// The method.
    pub name: &'static str,
    /// When it is sent, and its parameters.
    pub about: &'static str,
}

/// All notifications.
pub const NOTIFICATIONS: &[Notification] = &[
    Notification {
        name: "changed",
        about: "A plan changed: `{plan, change: Change}`. Other programs' changes of the file come so too.",
    },
    Notification {
        name: "findings",
        about: "A plan was inspected: `{plan, revision, findings: [Finding]}`.",
    },
    Notification {
        name: "marks",
        about: "The elements that were added or changed since the last commit of the plan's repository: `{plan, revision, added: [Id], changed: [Id]}`.",
    },
    Notification {
        name: "forms",
        about: "A jar of the user describes the forms of classes of the plan; `element` shows them now: `{plan}`.",
    },
    Notification {
        name: "run_started",
        about: "A part of a plan runs: `{plan, run, kind, id: Id?}`.",
    },
    Notification {
        name: "run_sample",
        about: "A sample of a run is complete: `{plan, run, sample: RunSample}`.",
    },
    Notification {
        name: "load_started",
        about: "A plan runs with its load: `{plan, url}`.",
    },
    Notification {
        name: "load_ended",
        about: "A run with load is over, and its page closed: `{plan, message?}`. An error that ended it is its message.",
    },
    Notification {
        name: "run_halted",
        about: "A user of a run stands still, or goes on: `{plan, run, halted: RunHalt?}`.",
    },
    Notification {
        name: "breakpoints",
        about: "The breakpoints of a plan were set: `{plan, ids: [Id]}`.",
    },
    Notification {
        name: "run_ended",
        about: "A run is over: `{plan, run, outcome: RunOutcome}`.",
    },
    Notification {
        name: "record_row",
        about: "A recording has a new request, or knows more of one: `{plan, recording, row: RecordRow}`.",
    },
    Notification {
        name: "record_changed",
        about: "A recording began, or is in another state: `{plan, recording: Recording}`.",
    },
    Notification {
        name: "record_closed",
        about: "A recording was forgotten: `{plan, recording}`.",
    },
    Notification {
        name: "conflict",
        about: "Another program changed in the file what is unsaved here: `{plan, conflict: ConflictText}`. `save` is refused until `resolve`.",
    },
];

/// A notification, whose parameters are JSON, as one message of JSON-RPC.
pub fn notification(method: &str, parameters: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{parameters}}}"#)
}
