//! Evaluates a path on a body (`PathToken` and its subclasses).

use std::borrow::Cow;

use super::{Error, ErrorKind, JsonMatch, Path, PathToken, function};
use crate::json::Value;

/// All hits of a path, in which `@` refers to the item; an error for a definite path without a hit.
///
/// With `require`, missing keys are errors (`REQUIRE_PROPERTIES`), as filters that test for existence need it.
pub(super) fn evaluate<'j, 't>(
    path: &'j Path,
    item: &'j Value<'t>,
    root: &'j Value<'t>,
    require: bool,
) -> Result<Vec<JsonMatch<'j, 't>>, Error> {
    let mut walk = Walk {
        path,
        root,
        require,
        hits: Vec::new(),
        array_indexes: Vec::new(),
    };
    let start = At {
        parent: None,
        step: Selection::Root(path.root_text()),
    };
    if path.tokens.is_empty() {
        walk.hits.push(JsonMatch::Part(item))
    } else {
        walk.step(0, &start, item)?
    }
    if walk.hits.is_empty() && path.is_definite() {
        return Err(Error::not_found(format!(
            "No results for path: {}",
            path.text()
        )));
    }
    Ok(walk.hits)
}

/// `EvaluationContext.getValue`: the last hit of a definite path, or all hits as an array.
pub(super) fn read<'j, 't>(
    path: &'j Path,
    item: &'j Value<'t>,
    root: &'j Value<'t>,
) -> Result<JsonMatch<'j, 't>, Error> {
    let mut hits = evaluate(path, item, root, false)?;
    match hits.pop() {
        Some(last) if path.is_definite() => Ok(last),
        Some(last) => {
            hits.push(last);
            Ok(JsonMatch::Made(Value::Array(
                hits.into_iter().map(JsonMatch::into_value).collect(),
            )))
        }
        None => Ok(JsonMatch::Made(Value::Array(Vec::new()))),
    }
}

/// The current location in the body, for messages.
struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Selection<'a>,
}

enum Selection<'a> {
    Root(&'static str),
    Key(&'a str),
    Index(i64),
}

impl At<'_> {
    fn key<'a>(&'a self, key: &'a str) -> At<'a> {
        At {
            parent: Some(self),
            step: Selection::Key(key),
        }
    }

    fn index(&self, index: i64) -> At<'_> {
        At {
            parent: Some(self),
            step: Selection::Index(index),
        }
    }

    fn text(&self) -> String {
        let before = self.parent.map(At::text).unwrap_or_default();
        match self.step {
            Selection::Root(root) => root.to_owned(),
            Selection::Key(key) => format!("{before}['{key}']"),
            Selection::Index(index) => format!("{before}[{index}]"),
        }
    }
}

struct Walk<'j, 't> {
    path: &'j Path,
    root: &'j Value<'t>,
    require: bool,
    hits: Vec<JsonMatch<'j, 't>>,
    /// Indexes of the array items that `..` visited; Jayway leaves them behind in a token (`setUpstreamArrayIndex`).
    array_indexes: Vec<(usize, i64)>,
}

impl<'j, 't> Walk<'j, 't> {
    fn step(&mut self, at: usize, here: &At<'_>, model: &'j Value<'t>) -> Result<(), Error> {
        let path = self.path;
        match &path.tokens[at] {
            PathToken::Property { names, .. } => self.property(at, names, here, model),
            PathToken::Index(indexes) => {
                let Some(items) = self.array(at, here, model)? else {
                    return Ok(());
                };
                for index in indexes {
                    self.item(at, i64::from(*index), here, items)?;
                }
                Ok(())
            }
            PathToken::Slice { from, to } => {
                let Some(items) = self.array(at, here, model)? else {
                    return Ok(());
                };
                for index in slice(from.map(i64::from), to.map(i64::from), items.len() as i64) {
                    self.item(at, index, here, items)?;
                }
                Ok(())
            }
            PathToken::Wildcard => self.wildcard(at, here, model),
            // The path of `$..length()`, whose function became the path's outer function.
            PathToken::Scan if self.path.is_leaf(at) => {
                Err(Error::failed("Current path token is a leaf"))
            }
            PathToken::Scan => self.scan(at + 1, here, model),
            PathToken::Filter(_) => self.filter(at, here, model),
            PathToken::Function { name, parameters } => {
                let made = function::invoke(name, parameters, model, self.root)?;
                self.hits.push(made.clone());
                if path.is_leaf(at) {
                    return Ok(());
                }
                self.behind_function(at, here, &made.into_value())
            }
        }
    }

    /// Applies the tokens after a function to its result. The result is not in the body, so hits are copied.
    fn behind_function(
        &mut self,
        at: usize,
        here: &At<'_>,
        model: &Value<'t>,
    ) -> Result<(), Error> {
        let mut walk = Walk {
            path: self.path,
            root: model,
            require: self.require,
            hits: Vec::new(),
            array_indexes: Vec::new(),
        };
        walk.step(at + 1, here, model)?;
        let made = walk
            .hits
            .into_iter()
            .map(|hit| JsonMatch::Made(hit.into_value()));
        self.hits.extend(made);
        Ok(())
    }

    fn property(
        &mut self,
        at: usize,
        names: &'j [String],
        here: &At<'_>,
        model: &'j Value<'t>,
    ) -> Result<(), Error> {
        if !matches!(model, Value::Object(_)) {
            if !self.path.is_upstream_definite(at) {
                return Ok(());
            }
            return Err(Error::not_found(format!(
                "Expected to find an object with property {} in path {} but found '{}'. \
                 This is not a json object according to the JsonProvider: \
                 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                self.path.tokens[at].fragment(),
                here.text(),
                model.java_class()
            )));
        }
        if names.len() > 1 && self.path.is_leaf(at) {
            return self.merged(names, here, model);
        }
        for name in names {
            self.key(at, name, here, model)?;
        }
        Ok(())
    }

    /// A final `['a','b']` gives one object with the keys that exist.
    fn merged(
        &mut self,
        names: &'j [String],
        here: &At<'_>,
        model: &'j Value<'t>,
    ) -> Result<(), Error> {
        let mut members: Vec<(Cow<'t, str>, Value<'t>)> = Vec::new();
        for name in names {
            match model.get(name) {
                Some(_) if members.iter().any(|(known, _)| known == name) => {}
                Some(value) => members.push((Cow::Owned(name.clone()), value.clone())),
                None if self.require => {
                    let here = here.text();
                    let names = names.join("', '");
                    return Err(Error::not_found(format!(
                        "Missing property in path {here}['{names}']"
                    )));
                }
                None => {}
            }
        }
        self.hits.push(JsonMatch::Made(Value::Object(members)));
        Ok(())
    }

    fn key(
        &mut self,
        at: usize,
        name: &str,
        here: &At<'_>,
        model: &'j Value<'t>,
    ) -> Result<(), Error> {
        let there = here.key(name);
        let Some(value) = model.get(name) else {
            if self.path.is_leaf(at) {
                return if self.require {
                    Err(Error::not_found(format!(
                        "No results for path: {}",
                        there.text()
                    )))
                } else {
                    Ok(())
                };
            }
            let definite = self.path.is_upstream_definite(at) && self.path.is_token_definite(at);
            return if definite || self.require {
                Err(Error::not_found(format!(
                    "Missing property in path {}",
                    there.text()
                )))
            } else {
                Ok(())
            };
        };
        self.value_of_key(at, &there, value)
    }

    fn value_of_key(
        &mut self,
        at: usize,
        there: &At<'_>,
        value: &'j Value<'t>,
    ) -> Result<(), Error> {
        if !self.path.is_leaf(at) {
            return self.step(at + 1, there, value);
        }
        let came_from = self
            .array_indexes
            .iter()
            .find(|(token, _)| *token == at)
            .map(|(_, index)| *index);
        let wanted = match came_from {
            None => true,
            Some(index) => {
                let before = at
                    .checked_sub(1)
                    .map(|before| self.path.tokens[before].fragment())
                    .unwrap_or_default();
                before == format!("[{index}]")
            }
        };
        if wanted {
            self.hits.push(JsonMatch::Part(value));
        }
        Ok(())
    }

    /// The items, if this is an array; an error if it is not one but should be (`checkArrayModel`).
    fn array(
        &self,
        at: usize,
        here: &At<'_>,
        model: &'j Value<'t>,
    ) -> Result<Option<&'j [Value<'t>]>, Error> {
        match model {
            Value::Array(items) => Ok(Some(items)),
            _ if !self.path.is_upstream_definite(at) => Ok(None),
            Value::Null => Err(Error::not_found(format!(
                "The path {} is null",
                here.text()
            ))),
            _ => Err(Error::not_found(format!(
                "Filter: {} can only be applied to arrays. Current context is: {}",
                self.path.text_from(at),
                model.to_java_text()
            ))),
        }
    }

    fn item(
        &mut self,
        at: usize,
        index: i64,
        here: &At<'_>,
        items: &'j [Value<'t>],
    ) -> Result<(), Error> {
        let position = if index < 0 {
            index + items.len() as i64
        } else {
            index
        };
        let Some(item) = usize::try_from(position)
            .ok()
            .and_then(|place| items.get(place))
        else {
            return Ok(());
        };
        if self.path.is_leaf(at) {
            self.hits.push(JsonMatch::Part(item))
        } else {
            self.step(at + 1, &here.index(index), item)?
        }
        Ok(())
    }

    fn wildcard(&mut self, at: usize, here: &At<'_>, model: &'j Value<'t>) -> Result<(), Error> {
        match model {
            Value::Object(members) => {
                for (name, value) in members {
                    self.value_of_key(at, &here.key(name), value)?;
                }
            }
            Value::Array(items) => {
                for index in 0..items.len() {
                    match self.item(at, index as i64, here, items) {
                        Err(error) if error.kind != ErrorKind::NotFound || self.require => {
                            return Err(error);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn filter(&mut self, at: usize, here: &At<'_>, model: &'j Value<'t>) -> Result<(), Error> {
        match model {
            Value::Object(_) => match (self.accepts(at, model)?, self.path.is_leaf(at)) {
                (false, _) => {}
                (true, true) => self.hits.push(JsonMatch::Part(model)),
                (true, false) => self.step(at + 1, here, model)?,
            },
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if self.accepts(at, item)? {
                        self.item(at, index as i64, here, items)?;
                    }
                }
            }
            _ if self.path.is_upstream_definite(at) => {
                return Err(Error::invalid(format!(
                    "Filter: {} can not be applied to primitives. Current context is: {}",
                    self.path.text_from(at),
                    model.to_java_text()
                )));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the filter accepts this item; false if it cannot be applied to it.
    fn accepts(&self, at: usize, item: &'j Value<'t>) -> Result<bool, Error> {
        let PathToken::Filter(filter) = &self.path.tokens[at] else {
            return Ok(false);
        };
        match filter.applies(item, self.root) {
            Err(Error {
                kind: ErrorKind::Failed,
                message,
            }) => Err(Error::failed(message)),
            Err(_) => Ok(false),
            Ok(passes) => Ok(passes),
        }
    }

    /// `ScanPathToken.walk`: applies the token at `target` to every array and object to which it applies.
    fn scan(&mut self, target: usize, here: &At<'_>, model: &'j Value<'t>) -> Result<(), Error> {
        match model {
            Value::Array(items) => {
                if self.scan_stops(target, model)? {
                    if self.path.is_leaf(target) {
                        self.step(target, here, model)?;
                    } else {
                        self.items_behind(target + 1, here, items)?;
                    }
                }
                for (index, item) in items.iter().enumerate() {
                    self.scan(target, &here.index(index as i64), item)?;
                }
            }
            Value::Object(members) => {
                if self.scan_stops(target, model)? {
                    self.step(target, here, model)?;
                }
                for (name, value) in members {
                    self.scan(target, &here.key(name), value)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An oddity of `ScanPathToken.walkArray`: for an array, the token at it is skipped and the next one gets all items.
    /// If the next token is the last, it keeps a hit only if the index before it equals the item's.
    fn items_behind(
        &mut self,
        next: usize,
        here: &At<'_>,
        items: &'j [Value<'t>],
    ) -> Result<(), Error> {
        for (index, item) in items.iter().enumerate() {
            let index = index as i64;
            self.array_indexes.retain(|(token, _)| *token != next);
            self.array_indexes.push((next, index));
            self.step(next, &here.index(index), item)?;
        }
        Ok(())
    }

    fn scan_stops(&self, target: usize, model: &'j Value<'t>) -> Result<bool, Error> {
        Ok(match &self.path.tokens[target] {
            PathToken::Property { names, .. } => match model {
                Value::Object(_) if self.path.is_token_definite(target) => {
                    names.iter().all(|name| model.get(name).is_some())
                }
                other => matches!(other, Value::Object(_)),
            },
            PathToken::Index(_) | PathToken::Slice { .. } => matches!(model, Value::Array(_)),
            PathToken::Wildcard => true,
            PathToken::Filter(_) => self.accepts(target, model)?,
            PathToken::Scan | PathToken::Function { .. } => false,
        })
    }
}

/// The indexes of a slice (`ArraySliceToken`). A negative end counts from the back only if there is no start.
fn slice(from: Option<i64>, to: Option<i64>, length: i64) -> std::ops::Range<i64> {
    match (from, to) {
        (Some(from), None) => (if from < 0 { from + length } else { from }).max(0)..length,
        (Some(from), Some(to)) if length > 0 => from..to.min(length),
        (None, Some(to)) => 0..(if to < 0 { to + length } else { to }).min(length),
        _ => 0..0,
    }
}
