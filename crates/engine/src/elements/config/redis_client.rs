//! A connection to a Redis server in the protocol's second version (RESP2), with commands whose reply is a number or a text.
//!
//! Requests are pipelined: a task writes each at once and gives the replies to their callers, in the order of the requests.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

/// Why a command has no value.
#[derive(Debug)]
pub enum RedisError {
    /// The server's error reply: a code such as `WRONGTYPE`, then a message.
    Refused(String),
    /// The server cannot be reached, or does not answer as Redis does.
    Failed(io::Error),
    /// The connection was closed before the reply came.
    Closed,
}

impl std::fmt::Display for RedisError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RedisError::Refused(reply) => f.write_str(reply),
            RedisError::Failed(error) => error.fmt(f),
            RedisError::Closed => f.write_str("the server closed the connection"),
        }
    }
}

impl std::error::Error for RedisError {}

/// The value of a reply; `None` is Redis's nil.
type Value = Option<Vec<u8>>;

/// A server, and how to log in.
pub struct RedisServer {
    pub host: String,
    pub port: u16,
    /// Empty if the server requires none.
    pub password: String,
    pub database: i64,
    /// How long connecting and each reply may take.
    pub timeout: Option<Duration>,
}

/// A connection. Its clones share it.
#[derive(Clone)]
pub struct RedisConnection {
    requests: mpsc::UnboundedSender<PipelinedRequest>,
    timeout: Option<Duration>,
}

struct PipelinedRequest {
    bytes: Vec<u8>,
    reply: oneshot::Sender<Result<Value, RedisError>>,
}

impl RedisServer {
    /// Connects, logs in and selects the database.
    pub async fn connect(&self) -> Result<RedisConnection, RedisError> {
        let stream = within(self.timeout, async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
            stream.map_err(RedisError::Failed)
        })
        .await?;
        stream.set_nodelay(true).map_err(RedisError::Failed)?;
        let (requests, waiting) = mpsc::unbounded_channel();
        tokio::spawn(serve(stream, waiting));
        let connection = RedisConnection {
            requests,
            timeout: self.timeout,
        };
        if !self.password.is_empty() {
            let password = self.password.as_bytes();
            connection.command(&[b"AUTH", password]).await?;
        }
        if self.database != 0 {
            let database = self.database.to_string();
            connection
                .command(&[b"SELECT", database.as_bytes()])
                .await?;
        }
        Ok(connection)
    }
}

impl RedisConnection {
    /// Sends a command and waits for its reply.
    pub async fn command(&self, words: &[&[u8]]) -> Result<Value, RedisError> {
        let (reply, replied) = oneshot::channel();
        let request = PipelinedRequest {
            bytes: encode(words),
            reply,
        };
        let sent = self.requests.send(request);
        sent.map_err(|_| RedisError::Closed)?;
        within(self.timeout, async {
            replied.await.unwrap_or(Err(RedisError::Closed))
        })
        .await
    }
}

async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let Some(limit) = limit else {
        return work.await;
    };
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let error = io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
        Err(RedisError::Failed(error))
    })
}

/// Serves a connection until it is closed, by the server or by the last of its users. Then the callers that still wait, and later
/// ones, get [`RedisError::Closed`].
async fn serve(mut stream: TcpStream, mut requests: mpsc::UnboundedReceiver<PipelinedRequest>) {
    let (mut input, mut output) = stream.split();
    let mut callers = VecDeque::new();
    let mut received = Vec::new();
    loop {
        tokio::select! {
            request = requests.recv() => {
                let Some(request) = request else { return };
                callers.push_back(request.reply);
                if output.write_all(&request.bytes).await.is_err() {
                    return;
                }
            }
            count = input.read_buf(&mut received) => {
                if count.unwrap_or(0) == 0 || deliver(&mut received, &mut callers).is_err() {
                    return;
                }
            }
        }
    }
}

type Callers = VecDeque<oneshot::Sender<Result<Value, RedisError>>>;

/// Gives the complete replies to their callers. An error means that the replies cannot be told apart any more.
fn deliver(received: &mut Vec<u8>, callers: &mut Callers) -> Result<(), io::Error> {
    let mut start = 0;
    loop {
        let rest = &received[start..];
        let (reply, len) = match parse(rest) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => break,
            Err(error) => {
                if let Some(caller) = callers.pop_front() {
                    let text = error.to_string();
                    let reply = io::Error::new(io::ErrorKind::InvalidData, text);
                    let _ = caller.send(Err(RedisError::Failed(reply)));
                }
                return Err(error);
            }
        };
        start += len;
        // A caller that was interrupted no longer waits.
        if let Some(caller) = callers.pop_front() {
            let _ = caller.send(reply);
        }
    }
    received.drain(..start);
    Ok(())
}

/// A command as the protocol writes it: an array of byte strings.
fn encode(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The first reply in these bytes, and its length; `None` while it is incomplete.
fn parse(bytes: &[u8]) -> io::Result<Option<(Result<Value, RedisError>, usize)>> {
    let mut pairs = bytes.windows(2).take(LONGEST_LINE);
    let Some(end) = pairs.position(|pair| pair == b"\r\n") else {
        if bytes.len() > LONGEST_LINE {
            let message =
                format!("the server's reply has a line of more than {LONGEST_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        return Ok(None);
    };
    let (line, len) = (&bytes[..end], end + 2);
    let unexpected = || {
        let line = String::from_utf8_lossy(line);
        let message = format!("the server's reply is not one of Redis: `{line}`");
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let (kind, text) = line.split_first().ok_or_else(unexpected)?;
    match kind {
        b'+' | b':' => Ok(Some((Ok(Some(text.to_vec())), len))),
        b'-' => {
            let message = String::from_utf8_lossy(text).into_owned();
            Ok(Some((Err(RedisError::Refused(message)), len)))
        }
        b'$' | b'*' if text == b"-1" => Ok(Some((Ok(None), len))),
        b'$' => {
            let count = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<usize>().ok())
                .filter(|count| *count <= LONGEST)
                .ok_or_else(unexpected)?;
            let Some(value) = bytes.get(len..len + count + 2) else {
                return Ok(None);
            };
            Ok(Some((Ok(Some(value[..count].to_vec())), len + count + 2)))
        }
        _ => Err(unexpected()),
    }
}

/// The longest line of a reply. Redis's own limit for lines is this, too.
const LONGEST_LINE: usize = 64 << 10;
/// Redis's limit on the length of a value.
const LONGEST: usize = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn replies_are_read_whole_and_one_after_the_other() {
        let replies =
            b"+OK\r\n:7\r\n$4\r\na\r\nb\r\n$-1\r\n*-1\r\n$0\r\n\r\n-WRONGTYPE no list\r\n";
        let expected = [
            "OK",
            "7",
            "a\r\nb",
            "nil",
            "nil",
            "",
            "error WRONGTYPE no list",
        ];
        let mut rest = &replies[..];
        for expected in expected {
            let (reply, len) = parse(rest).expect("Redis").expect("complete");
            let shown = match reply {
                Ok(Some(value)) => String::from_utf8(value).expect("UTF-8"),
                Ok(None) => "nil".to_owned(),
                Err(error) => format!("error {error}"),
            };
            assert_eq!(shown, expected);
            // Nothing is returned before the last byte.
            assert!(parse(&rest[..len - 1]).expect("Redis").is_none());
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
        for other in ["HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "\r\n", "$-2\r\n"] {
            let error = parse(other.as_bytes()).expect_err("not Redis").to_string();
            assert!(error.contains("is not one of Redis"), "{error}");
        }
        let endless = format!("+{}", "x".repeat(LONGEST_LINE));
        let error = parse(endless.as_bytes()).expect_err("too long").to_string();
        assert!(error.contains("a line of more than 65536 bytes"), "{error}");
        let within = format!("+{}\r\n", "x".repeat(LONGEST_LINE - 2));
        assert!(parse(within.as_bytes()).expect("Redis").is_some());
    }

    /// Accepts connections one after the other, and writes the next text to each after its first request.
    async fn answering(texts: &'static [&'static str]) -> RedisServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let port = listener.local_addr().expect("it is bound").port();
        tokio::spawn(async move {
            for text in texts {
                let (mut stream, _) = listener.accept().await.expect("a client");
                stream.read_u8().await.expect("a request");
                stream.write_all(text.as_bytes()).await.expect("open");
                if text.is_empty() {
                    // Silent, but open.
                    std::future::pending::<()>().await;
                }
            }
        });
        RedisServer {
            host: "127.0.0.1".to_owned(),
            port,
            password: String::new(),
            database: 0,
            timeout: Some(Duration::from_millis(300)),
        }
    }

    #[tokio::test]
    async fn requests_are_pipelined_and_fail_when_the_server_closes() {
        let server = answering(&["$1\r\na\r\n$1\r\nb\r\n"]).await;
        let connection = server.connect().await.expect("it listens");
        let words: [&[u8]; 2] = [b"LPOP", b"k"];
        let (first, second, third) = tokio::join!(
            connection.command(&words),
            connection.command(&words),
            connection.command(&words)
        );
        assert_eq!(first.expect("a value"), Some(b"a".to_vec()));
        assert_eq!(second.expect("a value"), Some(b"b".to_vec()));
        assert!(matches!(third, Err(RedisError::Closed)), "{third:?}");
        let later = connection.command(&words).await;
        assert!(matches!(later, Err(RedisError::Closed)), "{later:?}");
    }

    #[tokio::test]
    async fn a_silent_server_and_another_protocol_are_failures() {
        let server = answering(&["HTTP/1.1 400 Bad Request\r\n", ""]).await;
        for expected in ["is not one of Redis", "does not answer"] {
            let connection = server.connect().await.expect("it listens");
            let error = connection.command(&[b"PING"]).await.expect_err("no reply");
            assert!(matches!(error, RedisError::Failed(_)));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
