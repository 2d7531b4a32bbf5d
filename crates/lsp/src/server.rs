//! The server loop: receives messages from the editor, answers them, and computes findings when idle.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, RecvError, Sender, TryRecvError, select, unbounded};
use drumfire_jmx::Tree;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::actions::ActionSite;
use crate::document::{OpenDocument, difference};
use crate::names::{self, Named};
use crate::protocol::{
    CodeActionKind, CodeActionParams, Diagnostic, DidChangeParams, DidOpenParams, DocumentParams,
    Hover, MarkupContent, Position, PositionParams, PublishDiagnosticsParams, Range,
    ReferenceParams, RenameParams, TextEdit,
};
use crate::workspace::Workspace;
use crate::{Inspection, Inspector};
use crate::{completion, diagnostics, hover, outline, uri};

/// Why the server ended before the editor asked it to.
#[derive(Debug)]
pub struct ServeError(String);

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServeError {}

/// An error response: its code and its message.
type Failed = (ErrorCode, String);

/// Serves an editor until it shuts the server down or disconnects.
///
/// # Errors
/// The editor violates the protocol.
pub fn serve(
    connection: &Connection,
    inspector: &(dyn Inspector + Sync),
) -> Result<(), ServeError> {
    let (id, _) = connection
        .initialize_start()
        .map_err(|error| broken(&error))?;
    let server_facts = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "drumfire", "version": env!("CARGO_PKG_VERSION") },
    });
    connection
        .initialize_finish(id, server_facts)
        .map_err(|error| broken(&error))?;
    let (jobs, waiting) = unbounded();
    let (server_facts, inspected) = unbounded();
    std::thread::scope(|scope| {
        scope.spawn(move || inspect(&waiting, &server_facts, inspector));
        let mut server = LanguageServer {
            connection,
            inspector,
            jobs,
            workspace: Workspace::default(),
            unseen: Vec::new(),
        };
        server.run(&inspected).map_err(ServeError)
    })
}

fn broken(error: &dyn std::fmt::Display) -> ServeError {
    ServeError(error.to_string())
}

/// A plan to be inspected.
struct Job {
    path: PathBuf,
    version: i32,
    tree: Tree,
}

/// Inspects plans. If several versions of a plan are queued, only the last is inspected.
fn inspect(
    waiting: &Receiver<Job>,
    told: &Sender<(PathBuf, i32, Inspection)>,
    inspector: &dyn Inspector,
) {
    while let Ok(job) = waiting.recv() {
        let mut jobs = vec![job];
        for job in waiting.try_iter() {
            jobs.retain(|other| other.path != job.path);
            jobs.push(job);
        }
        for Job {
            path,
            version,
            tree,
        } in jobs
        {
            let inspection = inspector.inspect(&path, &tree);
            if told.send((path, version, inspection)).is_err() {
                return;
            }
        }
    }
}

fn capabilities() -> Value {
    /// The editor sends only the ranges that change.
    const INCREMENTAL: u8 = 2;
    json!({
        "textDocumentSync": INCREMENTAL,
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": ["{", "(", ",", "\""] },
        "codeActionProvider": {
            "codeActionKinds": [CodeActionKind::QuickFix, CodeActionKind::RefactorExtract],
        },
        "documentFormattingProvider": true,
    })
}

struct LanguageServer<'s> {
    connection: &'s Connection,
    inspector: &'s dyn Inspector,
    jobs: Sender<Job>,
    workspace: Workspace,
    /// Files whose findings are out of date.
    unseen: Vec<PathBuf>,
}

/// The parameters of a request or a notification.
fn parameters<P: DeserializeOwned>(value: Value) -> Result<P, Failed> {
    serde_json::from_value(value).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn json_of(value: impl Serialize) -> Result<Value, Failed> {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

impl LanguageServer<'_> {
    fn run(&mut self, inspected: &Receiver<(PathBuf, i32, Inspection)>) -> Result<(), String> {
        let connection = self.connection;
        loop {
            // Check files once no message is waiting.
            let message = match connection.receiver.try_recv() {
                Err(TryRecvError::Empty) if !self.unseen.is_empty() => {
                    self.look();
                    continue;
                }
                Err(TryRecvError::Empty) => select! {
                    recv(connection.receiver) -> message => message,
                    recv(inspected) -> inspection => {
                        if let Ok((path, version, inspection)) = inspection {
                            self.found(&path, version, inspection);
                        }
                        continue;
                    }
                },
                other => other.map_err(|_| RecvError),
            };
            let Ok(message) = message else {
                // The editor disconnected without a shutdown.
                return Ok(());
            };
            match message {
                Message::Request(request) => {
                    let is_over = connection.handle_shutdown(&request);
                    if is_over.map_err(|error| error.to_string())? {
                        return Ok(());
                    }
                    self.request(request);
                }
                Message::Notification(notification) => self.notification(notification),
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // A disconnected editor is detected when the next message is received.
        let _ = self.connection.sender.send(message.into());
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answered = match method.as_str() {
            "textDocument/documentSymbol" => self.symbols(params),
            "textDocument/foldingRange" => self.folds(params),
            "textDocument/definition" => self.definition(params),
            "textDocument/references" => self.references(params),
            "textDocument/documentHighlight" => self.highlights(params),
            "textDocument/prepareRename" => self.prepare_rename(params),
            "textDocument/rename" => self.rename(params),
            "textDocument/hover" => self.hover(params),
            "textDocument/completion" => self.completion(params),
            "textDocument/codeAction" => self.actions(params),
            "textDocument/formatting" => self.format(params),
            _ => Err((
                ErrorCode::MethodNotFound,
                format!("`{method}` is not known"),
            )),
        };
        self.send(response(id, answered));
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let taken = match method.as_str() {
            "textDocument/didOpen" => self.open(params),
            "textDocument/didChange" => self.change(params),
            "textDocument/didSave" => self.save(params),
            "textDocument/didClose" => self.close(params),
            _ => Ok(()),
        };
        // A notification has no response that could report its error.
        drop(taken);
    }

    fn open(&mut self, params: Value) -> Result<(), Failed> {
        let params: DidOpenParams = parameters(params)?;
        let opened = params.text_document;
        if let Some(path) = uri::path(&opened.uri) {
            let document = OpenDocument::new(path.clone(), opened.version, opened.text);
            self.workspace.documents.insert(path.clone(), document);
            self.note(path);
        }
        Ok(())
    }

    fn change(&mut self, params: Value) -> Result<(), Failed> {
        let params: DidChangeParams = parameters(params)?;
        let changed = params.text_document;
        if let Some(path) = uri::path(&changed.uri)
            && let Some(document) = self.workspace.documents.get_mut(&path)
        {
            document.change(changed.version, params.content_changes);
            self.note(path);
        }
        Ok(())
    }

    /// Checks all open files again, because the findings of one may depend on another.
    fn save(&mut self, params: Value) -> Result<(), Failed> {
        let _: DocumentParams = parameters(params)?;
        let open: Vec<PathBuf> = self.workspace.documents.keys().cloned().collect();
        open.into_iter().for_each(|path| self.note(path));
        Ok(())
    }

    fn close(&mut self, params: Value) -> Result<(), Failed> {
        let params: DocumentParams = parameters(params)?;
        if let Some(path) = uri::path(&params.text_document.uri) {
            self.workspace.documents.remove(&path);
            self.unseen.retain(|other| *other != path);
            self.publish(&path, Vec::new(), None);
        }
        Ok(())
    }

    fn note(&mut self, path: PathBuf) {
        self.unseen.retain(|other| *other != path);
        self.unseen.push(path);
    }

    /// Checks the file that changed last: publishes its syntax errors, or queues the plan for
    /// inspection.
    fn look(&mut self) {
        let Some(path) = self.unseen.pop() else {
            return;
        };
        let Some(document) = self.workspace.documents.get_mut(&path) else {
            return;
        };
        let was_broken = !document.faults.is_empty() || document.had_faults;
        let read = diagnostics::of_reading(document, self.inspector);
        document.had_faults = !document.faults.is_empty();
        let version = document.version;
        let tree = match (&document.plan, document.had_faults) {
            (Some((plan, _)), false) => Some(plan.tree.clone()),
            _ => None,
        };
        // The old findings stay until the new ones arrive, unless syntax errors were fixed.
        if tree.is_none() || was_broken {
            self.publish(&path, read, Some(version));
        }
        if let Some(tree) = tree {
            let job = Job {
                path,
                version,
                tree,
            };
            // The other thread ends with this one.
            let _ = self.jobs.send(job);
        }
    }

    /// Publishes the findings of an inspection, unless the text has changed since.
    fn found(&mut self, path: &Path, version: i32, found: Inspection) {
        let document = self.workspace.documents.get(path);
        let Some(document) = document.filter(|document| document.version == version) else {
            return;
        };
        let published = diagnostics::of(document, found);
        self.publish(path, published, Some(version));
    }

    fn publish(&self, path: &Path, diagnostics: Vec<Diagnostic>, version: Option<i32>) {
        if let Some(uri) = uri::of(path) {
            let params = PublishDiagnosticsParams {
                uri,
                diagnostics,
                version,
            };
            let method = "textDocument/publishDiagnostics".to_owned();
            self.send(Notification::new(method, params));
        }
    }

    fn symbols(&mut self, params: Value) -> Result<Value, Failed> {
        let params: DocumentParams = parameters(params)?;
        let path = self.read(&params.text_document.uri);
        let plan = path.as_ref().and_then(|path| self.workspace.plan(path));
        let symbols = plan.map_or_else(Vec::new, |(plan, lines)| outline::symbols(plan, lines));
        json_of(symbols)
    }

    fn folds(&mut self, params: Value) -> Result<Value, Failed> {
        let params: DocumentParams = parameters(params)?;
        let path = self.read(&params.text_document.uri);
        let plan = path.as_ref().and_then(|path| self.workspace.plan(path));
        json_of(plan.map_or_else(Vec::new, |(plan, lines)| outline::folds(plan, lines)))
    }

    /// Reads a document again if it has changed, and returns its path.
    fn read(&mut self, uri: &str) -> Option<PathBuf> {
        Some(self.workspace.document(uri)?.path.clone())
    }

    /// The file, and what the text at a position refers to.
    fn target(&mut self, uri: &str, position: Position) -> Option<(PathBuf, Named, Range)> {
        let path = self.read(uri)?;
        let (plan, lines) = self.workspace.plan(&path)?;
        let (target, span) = names::target(plan, lines.offset(position))?;
        let range = lines.range(span);
        Some((path, target, range))
    }

    fn definition(&mut self, params: Value) -> Result<Value, Failed> {
        let at: PositionParams = parameters(params)?;
        let Some((path, target, _)) = self.target(&at.text_document.uri, at.position) else {
            return Ok(Value::Null);
        };
        let joined = self.workspace.joined(&path);
        json_of(names::definitions(&joined, &target))
    }

    fn references(&mut self, params: Value) -> Result<Value, Failed> {
        let params: ReferenceParams = parameters(params)?;
        let at = params.at;
        let Some((path, target, _)) = self.target(&at.text_document.uri, at.position) else {
            return Ok(Value::Null);
        };
        let joined = self.workspace.joined(&path);
        let with_definitions = params.context.include_declaration;
        json_of(names::references(&joined, &target, with_definitions))
    }

    fn highlights(&mut self, params: Value) -> Result<Value, Failed> {
        let at: PositionParams = parameters(params)?;
        let target = self.target(&at.text_document.uri, at.position);
        let Some((path, Named::Name(name), _)) = target else {
            return Ok(Value::Null);
        };
        let plan = self.workspace.plan(&path);
        json_of(plan.map(|(plan, lines)| names::highlights(plan, lines, &name)))
    }

    fn prepare_rename(&mut self, params: Value) -> Result<Value, Failed> {
        let at: PositionParams = parameters(params)?;
        let target = self.target(&at.text_document.uri, at.position);
        let range = target.and_then(|(_, target, range)| match target {
            Named::Name(name) if name.subject == drumfire_refactor::Subject::Variable => {
                Some(range)
            }
            Named::Element(_) => Some(range),
            _ => None,
        });
        json_of(range)
    }

    fn rename(&mut self, params: Value) -> Result<Value, Failed> {
        let params: RenameParams = parameters(params)?;
        let at = params.at;
        let Some((path, target, _)) = self.target(&at.text_document.uri, at.position) else {
            return Err((ErrorCode::InvalidParams, "there is no name here".to_owned()));
        };
        let joined = self.workspace.joined(&path);
        let edit = names::rename(&joined, &target, &params.new_name);
        json_of(edit.map_err(|why| (ErrorCode::RequestFailed, why))?)
    }

    fn hover(&mut self, params: Value) -> Result<Value, Failed> {
        let at: PositionParams = parameters(params)?;
        let Some(path) = self.read(&at.text_document.uri) else {
            return Ok(Value::Null);
        };
        let Some((plan, lines)) = self.workspace.plan(&path) else {
            return Ok(Value::Null);
        };
        let offset = lines.offset(at.position);
        let named = names::target(plan, offset);
        let joined = self.workspace.joined(&path);
        let properties = self.inspector.properties(&path);
        let target = named.as_ref().map(|(target, _)| target);
        let text = hover::text(plan, &lines.text, &joined, &properties, target, offset);
        json_of(text.map(|value| Hover {
            contents: MarkupContent::markdown(value),
            range: named.map(|(_, span)| lines.range(span)),
        }))
    }

    fn completion(&mut self, params: Value) -> Result<Value, Failed> {
        let at: PositionParams = parameters(params)?;
        // While the user types, the text may not be a plan; its last valid form is good enough for
        // names.
        let Some(path) = self.read(&at.text_document.uri) else {
            return Ok(Value::Null);
        };
        let Some(document) = self.workspace.documents.get(&path) else {
            return Ok(Value::Null);
        };
        let lines = &document.lines;
        let start = lines.offset(Position::new(at.position.line, 0));
        let offset = lines.offset(at.position);
        let plan = document.plan.as_ref().map(|(plan, _)| plan);
        let joined = self.workspace.joined(&path);
        let properties = self.inspector.properties(&path);
        let before = &lines.text[start..offset];
        let items = completion::items(before, plan, &joined, &properties, offset);
        json_of(items)
    }

    fn actions(&mut self, params: Value) -> Result<Value, Failed> {
        let params: CodeActionParams = parameters(params)?;
        let uri = &params.text_document.uri;
        let Some(path) = self.read(uri) else {
            return Ok(Value::Null);
        };
        let joined = self.workspace.joined(&path);
        let document = self.workspace.documents.get(&path);
        let is_readable = document.is_some_and(|document| document.faults.is_empty());
        let Some((plan, lines)) = self.workspace.plan(&path).filter(|_| is_readable) else {
            return Ok(Value::Null);
        };
        let site = ActionSite { uri, plan, lines };
        json_of(site.actions(&joined, params.range, &params.context.diagnostics))
    }

    /// The plan as JMeter would save it, as one edit of the lines that differ.
    fn format(&mut self, params: Value) -> Result<Value, Failed> {
        let params: DocumentParams = parameters(params)?;
        let Some(document) = self.workspace.document(&params.text_document.uri) else {
            return Ok(Value::Null);
        };
        if let Some(fault) = document.faults.first() {
            return Err((ErrorCode::RequestFailed, fault.message.clone()));
        }
        let Some((plan, lines)) = &document.plan else {
            return Ok(Value::Null);
        };
        let formatted = drumfire_jmx::write(&plan.tree);
        json_of(
            difference(&lines.text, &formatted)
                .map(|(span, text)| {
                    vec![TextEdit {
                        range: lines.range(span),
                        new_text: text.to_owned(),
                    }]
                })
                .unwrap_or_default(),
        )
    }
}

fn response(id: RequestId, answered: Result<Value, Failed>) -> Response {
    match answered {
        Ok(value) => Response::new_ok(id, value),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}
