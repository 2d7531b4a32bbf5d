//! The page in which plans are edited: messages of JSON-RPC at `/rpc`, notifications as server-sent events at `/events`.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, StatusCode};

use crate::EDIT_PAGE;
use crate::access::ListenAddress;
use crate::front::{Answer, Front, JSON, Site, answer, failure, read, whole};
use crate::viewers::{Viewers, event_of};

/// The longest message, in bytes: pasted recordings are large.
const MOST_BYTES: usize = 256 << 20;
/// How often an idle page is told that the program is there.
pub const EDITOR_PING: Duration = Duration::from_secs(10);

/// Answers a message; `None` if it needs no answer. It may take its time.
pub type Answerer = Arc<dyn Fn(&[u8]) -> Option<String> + Send + Sync>;

/// A running page.
#[derive(Debug)]
pub struct EditorServer {
    front: Front,
    viewers: Arc<Mutex<Viewers>>,
}

struct EditorSite {
    answerer: Answerer,
    viewers: Arc<Mutex<Viewers>>,
}

impl EditorServer {
    /// Starts to serve the page. `host_name` is the name of this machine.
    ///
    /// # Errors
    /// If the address is taken, or does not belong to this machine.
    pub fn start(
        address: ListenAddress,
        host_name: String,
        answerer: Answerer,
    ) -> std::io::Result<EditorServer> {
        let viewers = Arc::new(Mutex::new(Viewers::default()));
        let site = Arc::new(EditorSite {
            answerer,
            viewers: viewers.clone(),
        });
        Ok(EditorServer {
            front: Front::start(address, host_name, site)?,
            viewers,
        })
    }

    /// The URL of the page, including its token.
    pub fn url(&self) -> &str {
        self.front.url()
    }

    /// Sends notifications to all open pages.
    pub fn notifier(&self) -> impl Fn(&str, &str) + Send + Sync + use<> {
        let viewers = self.viewers.clone();
        move |method, parameters| {
            let mut viewers = viewers.lock().unwrap_or_else(PoisonError::into_inner);
            viewers.tell(&event_of(method, parameters));
        }
    }
}

impl Drop for EditorServer {
    fn drop(&mut self) {
        // The streams would keep their connections open.
        self.viewers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .close();
    }
}

impl Site for EditorSite {
    fn route(
        self: Arc<Self>,
        method: Method,
        path: String,
        body: Incoming,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        Box::pin(async move { self.routed(&method, &path, body).await })
    }
}

impl EditorSite {
    async fn routed(&self, method: &Method, path: &str, body: Incoming) -> Answer {
        let wanted = match path {
            "/" | "/events" => Method::GET,
            "/rpc" => Method::POST,
            _ => return failure(StatusCode::NOT_FOUND, "There is nothing at this path"),
        };
        if *method != wanted {
            let why = format!("Use {wanted} for this path");
            let mut answer = failure(StatusCode::METHOD_NOT_ALLOWED, &why);
            let allowed =
                HeaderValue::from_str(wanted.as_str()).expect("the name of a method is plain");
            answer.headers_mut().insert(ALLOW, allowed);
            return answer;
        }
        match path {
            "/" => whole("text/html; charset=utf-8", EDIT_PAGE.to_owned()),
            "/rpc" => self.message(body).await,
            _ => self.follow(),
        }
    }

    async fn message(&self, body: Incoming) -> Answer {
        let message = match read(body, MOST_BYTES).await {
            Ok(message) => message,
            Err(refused) => return refused,
        };
        let answerer = self.answerer.clone();
        // A large plan is read in a second, in which events and other requests go on.
        let answered = tokio::task::spawn_blocking(move || answerer(&message)).await;
        match answered {
            Ok(Some(text)) => whole(JSON, text),
            Ok(None) => {
                let mut answer = whole(JSON, String::new());
                *answer.status_mut() = StatusCode::NO_CONTENT;
                answer
            }
            Err(_) => failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The request failed inside the program",
            ),
        }
    }

    fn follow(&self) -> Answer {
        let mut viewers = self.viewers.lock().unwrap_or_else(PoisonError::into_inner);
        match viewers.join(Bytes::from_static(b": connected\n\n")) {
            Some(events) => answer("text/event-stream", UnsyncBoxBody::new(events)),
            None => failure(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many pages are open; close one",
            ),
        }
    }
}
