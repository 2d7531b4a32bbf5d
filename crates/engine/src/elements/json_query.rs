//! Shared by the JSON elements: another thread parses and searches long texts, and all elements share the parsed text.

use drumfire_query::json::{Json, JsonError};
use drumfire_results::{AssertionResult, Sample};

use crate::run::apart::ProvenQuick;
use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::parsed::{JsonReader, LongJson};
use crate::run::roles::Act;

/// How an element reads JSON, and up to which size of text that has proved quick.
pub struct JsonQuery {
    pub reader: JsonReader,
    proven: ProvenQuick,
}

impl JsonQuery {
    pub fn new(reader: JsonReader) -> JsonQuery {
        JsonQuery {
            reader,
            proven: ProvenQuick::with_parsing(),
        }
    }

    /// The turn of an element that searches texts of this total length (see [`ProvenQuick::turn`]).
    pub fn turn<'a, T, F>(&self, bytes: usize, turn: impl FnOnce(bool) -> F) -> Act<'a, T>
    where
        F: Future<Output = T> + 'a,
    {
        self.proven.turn(bytes, turn)
    }

    /// The turn of an assertion that judges the body of the current result. For a long body, another thread runs the search
    /// that `prepare` returns, and `judge` gets its outcome. For a short one, `judge` gets `None` and searches itself.
    pub fn judge<'a, T, S>(
        &'a self,
        cx: &'a mut Context,
        sample: &'a mut Sample,
        prepare: impl FnOnce(&mut Context) -> S + 'a,
        judge: impl FnOnce(&mut Context, &Sample, Option<T>) -> AssertionResult + 'a,
    ) -> Act<'a, AssertionResult>
    where
        T: Send + 'static,
        S: FnOnce(Result<&Json<'_>, &JsonError>) -> T + Send + 'static,
    {
        let bytes = Input::Result(sample).bytes();
        self.turn(bytes, move |may_wait| async move {
            let found = if may_wait {
                let search = prepare(cx);
                self.search_apart(cx, &Input::Result(sample), search).await
            } else {
                None
            };
            judge(cx, sample, found)
        })
    }

    /// Searches an input on another thread, which parses it first unless it is parsed already. Later searches reuse the
    /// parsed text. `None` if the run is told to stop now.
    pub async fn search_apart<T: Send + 'static>(
        &self,
        cx: &mut Context,
        input: &Input<'_>,
        search: impl FnOnce(Result<&Json<'_>, &JsonError>) -> T + Send + 'static,
    ) -> Option<T> {
        let reader = self.reader;
        let bytes = input.bytes();
        let known = cx.parsed.known_json(input, reader);
        let known = known.and_then(|body| body.long());
        let is_new = known.is_none();
        let text = is_new.then(|| cx.parsed.sent_text(input));
        let work = move || {
            let json = known.or_else(|| Some(LongJson::parse(text?, reader)));
            let json = json.expect("what nobody has parsed was sent");
            let found = search(json.get());
            (json, found)
        };
        let (json, found) = self.proven.search(cx, bytes, work).await?;
        if is_new {
            cx.parsed.keep_json(input, reader, json);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::thread;

    use super::*;
    use crate::fixture;

    #[tokio::test]
    async fn a_long_text_is_parsed_once_and_by_another_thread() {
        let element = r#"<XMLAssertion guiclass="x" testclass="XMLAssertion" testname="x"/>"#;
        let ((), mut cx) = fixture::decode(element, |_| ());
        let body = format!("[{}1]", "1,".repeat(200_000));
        let sample = fixture::sample(&body);
        let query = JsonQuery::new(JsonReader::Smart);
        let value = Input::Variable(Rc::from(body.as_str()));
        for input in [Input::Result(&sample), value] {
            let worker = thread::current().id();
            let search = move |json: Result<&Json<'_>, &JsonError>| {
                (json.is_ok(), thread::current().id() != worker)
            };
            let found = query.search_apart(&mut cx, &input, search).await;
            assert_eq!(found, Some((true, true)));
            let known = cx.parsed.known_json(&input, JsonReader::Smart);
            let known = known.expect("it was kept");
            let again = query.search_apart(&mut cx, &input, |_| ()).await;
            assert_eq!(again, Some(()));
            let json = cx.parsed.json(&input, JsonReader::Smart);
            assert!(Rc::ptr_eq(&known, &json) && json.get().is_ok());
            assert!(!cx.parsed.may_search_json(&input));
            assert!(cx.parsed.known_json(&input, JsonReader::Strict).is_none());
        }
    }

    #[tokio::test]
    async fn assertions_search_long_bodies_on_another_thread() {
        let element = r#"<XMLAssertion guiclass="x" testclass="XMLAssertion" testname="x"/>"#;
        let ((), mut cx) = fixture::decode(element, |_| ());
        for (body, is_long) in [
            ("[1]".to_owned(), false),
            (format!("[{}1]", "1,".repeat(200_000)), true),
        ] {
            let mut sample = fixture::sample(&body);
            let query = JsonQuery::new(JsonReader::Smart);
            let search = |_: &mut Context| {
                |json: Result<&Json<'_>, &JsonError>| (json.is_ok(), thread::current().id())
            };
            let judge = |_: &mut Context, _: &Sample, found: Option<(bool, thread::ThreadId)>| {
                let own = thread::current().id();
                assert_eq!(found.is_some(), is_long);
                assert!(found.is_none_or(|(is_json, thread)| is_json && thread != own));
                AssertionResult::default()
            };
            match query.judge(&mut cx, &mut sample, search, judge) {
                Act::Done(_) => assert!(!is_long),
                Act::Wait(turn) => {
                    assert!(is_long);
                    turn.await;
                }
            }
        }
    }
}
