//! Shared by the JSON elements: the pool parses and searches long texts, and all elements share the parsed text.

use std::sync::Arc;

use drumfire_query::jmespath::JmesPath;
use drumfire_query::json::{Json, JsonError, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_results::{AssertionResult, Sample};

use crate::base::exception_text::ExceptionText;
use crate::decode::compiled::{Compile, Use};
use crate::run::input::Input;
use crate::run::parsed::{JsonBody, JsonReader};
use crate::run::roles::Act;
use crate::run::search::{JsonText, Searches};
use crate::run::view::{AssertionView, PostProcessorView};

/// How an element reads and searches JSON.
pub struct JsonQuery {
    reader: JsonReader,
    pub searches: Searches,
}

/// An expression whose value an assertion judges.
pub trait JsonExpression: Compile {
    /// The message of JMeter's library for a malformed text.
    fn message(error: &JsonError) -> String;
    /// Passes the value to `judge`.
    ///
    /// # Errors
    /// With the message of JMeter's library if there is no value.
    fn with_value<T>(
        &self,
        json: &Json<'_>,
        judge: impl FnOnce(&Value<'_>) -> Result<T, ExceptionText>,
    ) -> Result<T, ExceptionText>;
}

impl JsonExpression for JsonPath {
    fn message(error: &JsonError) -> String {
        error.to_string()
    }

    fn with_value<T>(
        &self,
        json: &Json<'_>,
        judge: impl FnOnce(&Value<'_>) -> Result<T, ExceptionText>,
    ) -> Result<T, ExceptionText> {
        let value = self.read(json).map_err(|error| error.message)?;
        judge(&value)
    }
}

impl JsonExpression for JmesPath {
    fn message(error: &JsonError) -> String {
        error.message.clone()
    }

    fn with_value<T>(
        &self,
        json: &Json<'_>,
        judge: impl FnOnce(&Value<'_>) -> Result<T, ExceptionText>,
    ) -> Result<T, ExceptionText> {
        let result = self.search(json).map_err(|error| error.message)?;
        judge(result.value())
    }
}

impl JsonQuery {
    pub fn new(reader: JsonReader) -> JsonQuery {
        JsonQuery {
            reader,
            searches: Searches::with_parsing(),
        }
    }

    /// The turn of an assertion that judges the body of the current result.
    pub fn turn<'a, F>(
        &self,
        cx: &'a mut AssertionView,
        sample: &'a Sample,
        judge: impl FnOnce(&'a mut AssertionView, &'a Sample) -> F,
    ) -> Act<'a, AssertionResult>
    where
        F: Future<Output = AssertionResult> + 'a,
    {
        let bytes = Input::Result(sample).bytes();
        self.searches.turn(cx, bytes, move |cx| judge(cx, sample))
    }

    /// Searches an input; `None` if the run is told to stop now.
    pub async fn search<P: Compile, T: Send + 'static>(
        &self,
        cx: &mut PostProcessorView,
        input: &Input<'_>,
        path: &Arc<P>,
        search: impl FnOnce(Result<&Json<'_>, &JsonError>, &P) -> T + Send + 'static,
    ) -> Option<T> {
        let reader = self.reader;
        let search = move |body: &JsonBody, path: &Arc<P>| search(body.get(), path);
        let text = JsonText { input, reader };
        self.searches.search(cx, text, path, search).await
    }

    /// Judges the value that a path leads to in the body of a result. JMeter evaluates the path once the body is parsed. `None`
    /// if the run is told to stop now.
    pub async fn judge<'p, P: JsonExpression, T>(
        &self,
        cx: &mut AssertionView,
        sample: &Sample,
        path: impl FnOnce(&mut AssertionView) -> Result<Use<'p, P>, ExceptionText>,
        judge: impl FnOnce(&mut AssertionView, &Value<'_>) -> Result<T, ExceptionText>,
    ) -> Option<Result<T, ExceptionText>> {
        let text = JsonText {
            input: &Input::Result(sample),
            reader: self.reader,
        };
        let body = self.searches.open(cx, text);
        if let Some(body) = body.local() {
            let json = body.get().map_err(|error| P::message(error).into());
            // The value is not copied.
            return Some(
                json.and_then(|json| path(cx)?.with_value(json, |value| judge(cx, value))),
            );
        }
        let path = path(cx).map(Use::into_owned);
        let find = |body: &JsonBody, path: &Result<Arc<P>, ExceptionText>| {
            let json = body.get().map_err(P::message)?;
            let path = path.as_ref().map_err(Clone::clone)?;
            path.with_value(json, |value| Ok(value.to_owned_value()))
        };
        let value = body.search(cx, &path, find).await?;
        Some(value.and_then(|value| judge(cx, &value)))
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::thread;

    use super::*;
    use crate::decode::compiled::NoRules;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn long_body() -> String {
        format!("[{}1]", "1,".repeat(200_000))
    }

    fn user() -> Context {
        let element = r#"<XMLAssertion guiclass="x" testclass="XMLAssertion" testname="x"/>"#;
        fixture::decode(element, |_| ()).1
    }

    fn root() -> Arc<JsonPath> {
        Arc::new(<JsonPath as Compile>::compile("$", NoRules).expect("a path"))
    }

    #[tokio::test]
    async fn the_pool_parses_a_long_text_once() {
        let mut cx = user();
        let body = long_body();
        let sample = fixture::sample(&body);
        let query = JsonQuery::new(JsonReader::Smart);
        let value = Input::Variable(Rc::from(body.as_str()));
        cx.set_searches_apart(true);
        for input in [Input::Result(&sample), value] {
            let worker = thread::current().id();
            let search = move |json: Result<&Json<'_>, &JsonError>, _: &JsonPath| {
                (json.is_ok(), thread::current().id() != worker)
            };
            let found = query
                .search(View::of(&mut cx), &input, &root(), search)
                .await;
            assert_eq!(found, Some((true, true)));
            let known = cx.parsed.known_json(&input, JsonReader::Smart);
            let known = known.expect("it was stored");
            let again = query
                .search(View::of(&mut cx), &input, &root(), |_, _| ())
                .await;
            assert_eq!(again, Some(()));
            let json = cx.parsed.json(&input, JsonReader::Smart);
            assert!(Rc::ptr_eq(&known, &json) && json.get().is_ok());
            assert!(!cx.parsed.may_search_json(&input));
            assert!(cx.parsed.known_json(&input, JsonReader::Strict).is_none());
        }
    }

    #[tokio::test]
    async fn assertions_wait_for_the_values_of_long_bodies_only() {
        for (body, is_long, count) in [
            ("[1]".to_owned(), false, 1),
            (long_body(), true, 200_001),
            ("[".to_owned() + &" ".repeat(20_000), true, 0),
        ] {
            let (mut cx, sample) = (user(), fixture::sample(&body));
            let query = JsonQuery::new(JsonReader::Smart);
            let judge = async |cx: &mut AssertionView, sample: &Sample| {
                let items = |_: &mut AssertionView, value: &Value<'_>| match value {
                    Value::Array(items) => Ok(items.len()),
                    _ => Err("no array".into()),
                };
                let path = root();
                let judged = query.judge(cx, sample, |_| Ok(Use::Owned(path)), items);
                let items = judged.await.expect("the run goes on");
                assert_eq!(items.unwrap_or_default(), count);
                AssertionResult::default()
            };
            let act = query.turn(View::of(&mut cx), &sample, judge);
            assert_eq!(matches!(act, Act::Wait(_)), is_long);
            act.finish().await;
        }
    }
}
