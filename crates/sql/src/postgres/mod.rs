//! A connection to PostgreSQL that behaves like pgjdbc.

mod stream;
mod types;
mod zone;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use jiff::tz::TimeZone;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address::{Encryption, Verification};
use crate::marker::{self, Numbered};
use crate::{
    Argument, DatabaseAddress, Expected, Isolation, Rows, SqlFailure, Statement, StatementResult,
};
use stream::Stream;
use types::Column;

const CLASS: &str = "org.postgresql.util.PSQLException";
/// `connectTimeout`.
const CONNECT: Duration = Duration::from_secs(10);
/// `prepareThreshold`: from this run on, a statement has a name on the server.
const PREPARE_THRESHOLD: u32 = 5;
/// `preparedStatementCacheQueries`.
const KNOWN_STATEMENTS: usize = 256;

pub struct PostgresConnection {
    stream: Stream,
    input: BytesMut,
    output: BytesMut,
    server: (String, u16),
    /// The process and the key that a cancel request needs.
    cancel_key: (i32, i32),
    auto_commit: bool,
    in_transaction: bool,
    is_broken: bool,
    known: HashMap<String, PreparedStatement>,
    names: u32,
}

/// A statement that was run before.
struct PreparedStatement {
    numbered: Numbered,
    runs: u32,
    /// Its name on the server, and the parameter types with which it was prepared.
    prepared: Option<(String, Vec<u32>)>,
}

/// The messages up to the server's next ReadyForQuery.
#[derive(Default)]
struct Reply {
    outcomes: Vec<StatementResult>,
    failure: Option<SqlFailure>,
}

impl PostgresConnection {
    /// `ConnectionFactoryImpl#openConnectionImpl`: the server's rules may refuse a client only with encryption, or only
    /// without.
    pub async fn open(
        address: &DatabaseAddress,
        user: &str,
        password: &str,
    ) -> Result<PostgresConnection, SqlFailure> {
        let (first, second) = match address.encryption() {
            Encryption::Allow => (Encryption::Disable, Some(Encryption::Require)),
            Encryption::Prefer => (Encryption::Prefer, Some(Encryption::Disable)),
            only => (only, None),
        };
        let opened = PostgresConnection::open_as(address, user, password, first).await;
        let is_refused = |failure: &SqlFailure| failure.state.as_deref() == Some("28000");
        match second {
            Some(second) if opened.as_ref().is_err_and(is_refused) => {
                let again = PostgresConnection::open_as(address, user, password, second).await;
                again.or(opened)
            }
            _ => opened,
        }
    }

    async fn open_as(
        address: &DatabaseAddress,
        user: &str,
        password: &str,
        encryption: Encryption,
    ) -> Result<PostgresConnection, SqlFailure> {
        let server = (address.host.clone(), address.port);
        let user = address.user.as_deref().unwrap_or(user);
        let password = address.password.as_deref().unwrap_or(password);
        let stream = connect(&server).await?;
        let stream = match encryption {
            Encryption::Disable => Stream::Plain(stream),
            _ => encrypted(stream, &server, encryption, address.verification()).await?,
        };
        let mut connection = PostgresConnection {
            stream,
            input: BytesMut::with_capacity(8192),
            output: BytesMut::with_capacity(1024),
            server,
            cancel_key: (0, 0),
            auto_commit: true,
            in_transaction: false,
            is_broken: false,
            known: HashMap::new(),
            names: 0,
        };
        let zone = TimeZone::system();
        let application = address
            .application_name
            .as_deref()
            .unwrap_or("PostgreSQL JDBC Driver");
        let settings = [
            ("user", user),
            ("database", address.database.as_str()),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO"),
            ("TimeZone", zone.iana_name().unwrap_or("UTC")),
            ("extra_float_digits", "3"),
            ("application_name", application),
        ];
        frontend::startup_message(settings, &mut connection.output)
            .map_err(|_| attempt_failed())?;
        connection.authenticate(user, password).await?;
        Ok(connection)
    }

    /// `ConnectionFactoryImpl#doAuthentication`, and the messages up to the first ReadyForQuery.
    async fn authenticate(&mut self, user: &str, password: &str) -> Result<(), SqlFailure> {
        let mut scram = None;
        self.send().await.map_err(|_| attempt_failed())?;
        loop {
            match self.receive().await.map_err(|_| attempt_failed())? {
                Message::AuthenticationOk
                | Message::ParameterStatus(_)
                | Message::NoticeResponse(_) => continue,
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(password.as_bytes(), &mut self.output)
                        .map_err(|_| attempt_failed())?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(user.as_bytes(), password.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.output)
                        .map_err(|_| attempt_failed())?;
                }
                Message::AuthenticationSasl(_) => {
                    let client = sasl::ScramSha256::new(
                        password.as_bytes(),
                        sasl::ChannelBinding::unsupported(),
                    );
                    frontend::sasl_initial_response(
                        sasl::SCRAM_SHA_256,
                        client.message(),
                        &mut self.output,
                    )
                    .map_err(|_| attempt_failed())?;
                    scram = Some(client);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let client = scram.as_mut().ok_or_else(attempt_failed)?;
                    client.update(body.data()).map_err(|_| attempt_failed())?;
                    frontend::sasl_response(client.message(), &mut self.output)
                        .map_err(|_| attempt_failed())?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    let client = scram.as_mut().ok_or_else(attempt_failed)?;
                    client.finish(body.data()).map_err(|_| attempt_failed())?;
                    continue;
                }
                Message::BackendKeyData(body) => {
                    self.cancel_key = (body.process_id(), body.secret_key());
                    continue;
                }
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(body) => return Err(failure(&body)),
                _ => {
                    let message = "The authentication type is not supported. Check that you have configured the pg_hba.conf file to include the client's IP address or subnet, and that it is using an authentication scheme supported by the driver.";
                    return Err(SqlFailure::new(CLASS, message, Some("08004")));
                }
            }
            self.send().await.map_err(|_| attempt_failed())?;
        }
    }

    pub async fn run(
        &mut self,
        statement: Statement<'_>,
        expected: Expected,
    ) -> Result<StatementResult, SqlFailure> {
        let replies = self.write(statement)?;
        let reply = self.exchange(replies, statement.timeout).await?;
        if let Some(failure) = reply.failure {
            self.forget(statement.text);
            return Err(failure);
        }
        let no_data = || {
            SqlFailure::new(
                CLASS,
                "No results were returned by the query.",
                Some("02000"),
            )
        };
        let mut outcomes = reply.outcomes;
        match expected {
            Expected::Rows => match (outcomes.first(), outcomes.len()) {
                (Some(StatementResult::Rows(_)), 1) => Ok(outcomes.remove(0)),
                (Some(StatementResult::Rows(_)), _) => {
                    Err(too_many("Multiple ResultSets were returned by the query."))
                }
                _ => Err(no_data()),
            },
            Expected::Anything => Ok(StatementResult::Counts(Vec::new())),
            Expected::Counts => {
                let mut counts = Vec::with_capacity(outcomes.len());
                for outcome in outcomes {
                    match outcome {
                        StatementResult::Counts(more) => counts.extend(more),
                        StatementResult::Rows(_) => {
                            return Err(too_many("A result was returned when none was expected."));
                        }
                    }
                }
                Ok(StatementResult::Counts(counts))
            }
        }
    }

    /// Writes the messages of a statement; returns how many times the server will report that it is
    /// ready.
    fn write(&mut self, statement: Statement<'_>) -> Result<u32, SqlFailure> {
        let arguments = statement.arguments.unwrap_or_default();
        let is_prepared = statement.arguments.is_some();
        if self.known.len() >= KNOWN_STATEMENTS && !self.known.contains_key(statement.text) {
            self.forget_one();
        }
        let known = self
            .known
            .entry(statement.text.to_owned())
            .or_insert_with(|| PreparedStatement {
                numbered: marker::number(statement.text, is_prepared),
                runs: 0,
                prepared: None,
            });
        check_count(arguments.len(), known.numbered.markers)?;
        let begins = !self.auto_commit && !self.in_transaction;
        let output = &mut self.output;
        let written = (|| {
            if begins {
                frontend::query("BEGIN", output)?;
            }
            if known.numbered.is_compound && arguments.is_empty() {
                return frontend::query(&known.numbered.text, output);
            }
            known.runs += 1;
            let types: Vec<u32> = arguments.iter().map(types::of_argument).collect();
            if known
                .prepared
                .as_ref()
                .is_some_and(|(_, known)| *known != types)
            {
                known.prepared = None;
            }
            let mut name = String::new();
            let mut parses = true;
            match &known.prepared {
                Some((prepared, _)) => {
                    name.clone_from(prepared);
                    parses = false;
                }
                None if known.runs >= PREPARE_THRESHOLD => {
                    self.names += 1;
                    name = format!("S_{}", self.names);
                    known.prepared = Some((name.clone(), types.clone()));
                }
                None => {}
            }
            if parses {
                frontend::parse(&name, &known.numbered.text, types.iter().copied(), output)?;
            }
            frontend::bind("", &name, [0i16], arguments, put_text, [0i16], output)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            frontend::describe(b'P', "", output)?;
            frontend::execute("", statement.max_rows.max(0), output)?;
            frontend::sync(output);
            Ok(())
        })();
        written.map_err(|error| {
            self.output.clear();
            SqlFailure::new(CLASS, error.to_string(), Some("22023"))
        })?;
        Ok(1 + u32::from(begins))
    }

    /// Evicts the statement with the fewest runs.
    fn forget_one(&mut self) {
        let least = self.known.iter().min_by_key(|(_, known)| known.runs);
        let Some(text) = least.map(|(text, _)| text.clone()) else {
            return;
        };
        if let Some(PreparedStatement {
            prepared: Some((name, _)),
            ..
        }) = self.known.remove(&text)
        {
            self.close_statement(&name);
        }
    }

    /// Sends the written messages and reads until the server has reported `replies` times that it is
    /// ready.
    async fn exchange(
        &mut self,
        replies: u32,
        limit: Option<Duration>,
    ) -> Result<Reply, SqlFailure> {
        let outcome = match limit {
            None => self.converse(replies).await,
            Some(limit) => {
                let (server, key) = (self.server.clone(), self.cancel_key);
                let mut conversation = std::pin::pin!(self.converse(replies));
                match timeout(limit, conversation.as_mut()).await {
                    Ok(outcome) => outcome,
                    Err(_) => {
                        cancel(&server, key).await;
                        conversation.await
                    }
                }
            }
        };
        outcome.map_err(|_| {
            self.is_broken = true;
            let message = "An I/O error occurred while sending to the backend.";
            SqlFailure::new(CLASS, message, Some("08006"))
        })
    }

    async fn converse(&mut self, mut replies: u32) -> io::Result<Reply> {
        self.send().await?;
        let mut reply = Reply::default();
        let mut columns: Vec<Column> = Vec::new();
        let mut rows: Option<Rows> = None;
        while replies > 0 {
            match self.receive().await {
                // A server that closes the connection first reports why.
                Err(_) if reply.failure.is_some() => {
                    self.is_broken = true;
                    return Ok(reply);
                }
                Err(error) => return Err(error),
                Ok(Message::RowDescription(body)) => {
                    columns = body
                        .fields()
                        .map(|field| Ok(Column::of(&field)))
                        .collect()?;
                    rows = Some(Rows {
                        columns: columns.iter().map(|column| column.label.clone()).collect(),
                        cells: Vec::new(),
                    });
                }
                Ok(Message::DataRow(body)) => {
                    let Some(rows) = &mut rows else { continue };
                    let mut ranges = body.ranges();
                    let mut column = columns.iter();
                    while let Some(range) = ranges.next()? {
                        let cell = range.map(|range| &body.buffer()[range]);
                        let column = column.next();
                        rows.cells.push(cell.map(|cell| match column {
                            Some(column) => column.text(cell).into(),
                            None => String::from_utf8_lossy(cell).into(),
                        }));
                    }
                }
                Ok(Message::CommandComplete(body)) => match rows.take() {
                    Some(rows) => reply.outcomes.push(StatementResult::Rows(rows)),
                    None if body.tag()? == "BEGIN" => {}
                    None => reply
                        .outcomes
                        .push(StatementResult::Counts(vec![count(body.tag()?)])),
                },
                Ok(Message::PortalSuspended) => reply
                    .outcomes
                    .extend(rows.take().map(StatementResult::Rows)),
                Ok(Message::ErrorResponse(body)) => {
                    reply.failure.get_or_insert_with(|| failure(&body));
                }
                Ok(Message::CopyInResponse(_)) => {
                    self.refuse_copy(&mut reply, true).await?;
                }
                Ok(Message::CopyOutResponse(_)) => self.refuse_copy(&mut reply, false).await?,
                Ok(Message::ReadyForQuery(body)) => {
                    self.in_transaction = body.status() != b'I';
                    replies -= 1;
                }
                Ok(_) => {}
            }
        }
        Ok(reply)
    }

    /// `QueryExecutorImpl#processResults` of a COPY.
    async fn refuse_copy(&mut self, reply: &mut Reply, in_: bool) -> io::Result<()> {
        let message = "COPY commands are only supported using the CopyManager API.";
        reply
            .failure
            .get_or_insert_with(|| SqlFailure::new(CLASS, message, Some("0A000")));
        if in_ {
            frontend::copy_fail(message, &mut self.output)?;
            frontend::sync(&mut self.output);
            self.send().await?;
        }
        Ok(())
    }

    /// Forgets a statement's name: after a failure the server may not have it.
    fn forget(&mut self, text: &str) {
        let known = self.known.get_mut(text);
        if let Some((name, _)) = known.and_then(|known| known.prepared.take()) {
            self.close_statement(&name);
        }
    }

    /// Queues a Close message, which is sent with the next statement. A name that does not fit into a
    /// message cannot have been used.
    fn close_statement(&mut self, name: &str) {
        let _ = frontend::close(b'S', name, &mut self.output);
    }

    async fn send(&mut self) -> io::Result<()> {
        let output = self.output.split();
        self.stream.write_all(&output).await
    }

    async fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.input)? {
                return Ok(message);
            }
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Runs a command without a result.
    async fn command(&mut self, text: &str) -> Result<(), SqlFailure> {
        if let Err(error) = frontend::query(text, &mut self.output) {
            return Err(SqlFailure::new(CLASS, error.to_string(), None));
        }
        match self.exchange(1, None).await?.failure {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    pub fn auto_commit(&self) -> bool {
        self.auto_commit
    }

    /// `PgConnection#setAutoCommit`.
    pub async fn set_auto_commit(&mut self, on: bool) -> Result<(), SqlFailure> {
        if on != self.auto_commit && self.in_transaction {
            self.command("COMMIT").await?;
        }
        self.auto_commit = on;
        Ok(())
    }

    /// `PgConnection#commit`, `PgConnection#rollback`.
    pub async fn end_transaction(&mut self, commit: bool) -> Result<(), SqlFailure> {
        let (method, command) = if commit {
            ("commit", "COMMIT")
        } else {
            ("rollback", "ROLLBACK")
        };
        if self.auto_commit {
            let message = format!("Cannot {method} when autoCommit is enabled.");
            return Err(SqlFailure::new(CLASS, message, Some("25P01")));
        }
        if self.in_transaction {
            self.command(command).await
        } else {
            Ok(())
        }
    }

    /// `PgConnection#setTransactionIsolation`.
    pub async fn set_isolation(&mut self, isolation: Isolation) -> Result<(), SqlFailure> {
        let level = match isolation {
            Isolation::None => {
                let message = "Transaction isolation level 0 not supported.";
                return Err(SqlFailure::new(CLASS, message, Some("0A000")));
            }
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        };
        self.command(&format!(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
        ))
        .await
    }

    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    pub fn abandon(&mut self) {
        self.is_broken = true;
    }
}

async fn connect(server: &(String, u16)) -> Result<TcpStream, SqlFailure> {
    let connecting = TcpStream::connect((server.0.as_str(), server.1));
    let stream = match timeout(CONNECT, connecting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            let message = format!(
                "Connection to {}:{} refused. Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections.",
                server.0, server.1
            );
            return Err(SqlFailure::new(CLASS, message, Some("08001")));
        }
        _ => return Err(attempt_failed()),
    };
    stream.set_nodelay(true).map_err(|_| attempt_failed())?;
    Ok(stream)
}

/// Asks the server for encryption (`ConnectionFactoryImpl#enableSSL`).
async fn encrypted(
    mut stream: TcpStream,
    server: &(String, u16),
    encryption: Encryption,
    verification: &Verification,
) -> Result<Stream, SqlFailure> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    let ask = async {
        stream.write_all(&request).await?;
        stream.read_u8().await
    };
    match timeout(CONNECT, ask).await {
        Ok(Ok(b'S')) => {
            let encrypting = stream::encrypt(stream, &server.0, verification);
            let encrypted = timeout(CONNECT, encrypting).await;
            encrypted.unwrap_or_else(|_| Err(attempt_failed()))
        }
        Ok(Ok(b'N' | b'E')) if encryption == Encryption::Require => {
            let message = "The server does not support SSL.";
            Err(SqlFailure::new(CLASS, message, Some("08004")))
        }
        Ok(Ok(b'N')) => Ok(Stream::Plain(stream)),
        // Such an old server needs another connection.
        Ok(Ok(b'E')) => connect(server).await.map(Stream::Plain),
        Ok(Ok(_)) => {
            let message = "An error occurred while setting up the SSL connection.";
            Err(SqlFailure::new(CLASS, message, Some("08P01")))
        }
        _ => Err(attempt_failed()),
    }
}

fn too_many(message: &str) -> SqlFailure {
    SqlFailure::new(CLASS, message, Some("0100E"))
}

/// Tells the server about the end of the connection, if that does not block.
impl Drop for PostgresConnection {
    fn drop(&mut self) {
        if !self.is_broken {
            self.output.clear();
            frontend::terminate(&mut self.output);
            // The server may already have closed the connection.
            let _ = self.stream.try_write(&self.output);
        }
    }
}

/// Asks the server to cancel a statement, over a separate connection as the protocol requires.
async fn cancel(server: &(String, u16), (process, key): (i32, i32)) {
    let mut request = BytesMut::new();
    frontend::cancel_request(process, key, &mut request);
    match TcpStream::connect((server.0.as_str(), server.1)).await {
        Ok(mut stream) => {
            if let Err(error) = stream.write_all(&request).await {
                tracing::debug!("the request to cancel a statement was not sent: {error}");
            }
        }
        Err(error) => tracing::debug!("no connection to cancel a statement: {error}"),
    }
}

/// Writes a parameter in the text format.
fn put_text(
    argument: &Argument,
    output: &mut BytesMut,
) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
    let Some(text) = types::text_of(argument) else {
        return Ok(IsNull::Yes);
    };
    output.put_slice(text.as_bytes());
    Ok(IsNull::No)
}

/// Fails unless there is one value for each marker.
fn check_count(given: usize, markers: usize) -> Result<(), SqlFailure> {
    let message = match given.cmp(&markers) {
        Ordering::Equal => return Ok(()),
        Ordering::Greater => format!(
            "The column index is out of range: {}, number of columns: {markers}.",
            markers + 1
        ),
        Ordering::Less => format!("No value specified for parameter {}.", given + 1),
    };
    Err(SqlFailure::new(CLASS, message, Some("22023")))
}

fn attempt_failed() -> SqlFailure {
    SqlFailure::new(CLASS, "The connection attempt failed.", Some("08001"))
}

/// The number of rows in a command tag.
fn count(tag: &str) -> i64 {
    let last = tag.rsplit(' ').next().unwrap_or_default();
    last.parse().unwrap_or(0)
}

/// `ServerErrorMessage#toString`.
fn failure(body: &ErrorResponseBody) -> SqlFailure {
    let mut parts = HashMap::new();
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        parts.insert(
            field.type_(),
            String::from_utf8_lossy(field.value_bytes()).into_owned(),
        );
    }
    let part = |kind: u8| parts.get(&kind).map(String::as_str);
    let mut message = format!(
        "{}: {}",
        part(b'S').unwrap_or_default(),
        part(b'M').unwrap_or_default()
    );
    for (kind, name) in [
        (b'D', "Detail"),
        (b'H', "Hint"),
        (b'P', "Position"),
        (b'W', "Where"),
    ] {
        if let Some(text) = part(kind) {
            message.push_str(&format!("\n  {name}: {text}"));
        }
    }
    SqlFailure::new(CLASS, message, part(b'C'))
}
