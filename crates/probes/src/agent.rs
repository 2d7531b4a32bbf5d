//! Reads ServerAgent, which belongs to jmeter-plugins' PerfMon: one line of text requests metrics, and a line of values arrives
//! each second.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use drumfire_platform::causes::cause;

use crate::series::MetricReading;
use crate::source::PollFailure;

/// How long to wait for the agent.
const PATIENCE: Duration = Duration::from_secs(3);
/// The requested metrics: the agent's name, chart, unit, line, and the divisor of a value.
const METRICS: [(&str, &str, &str, &str, f64); 8] = [
    ("cpu:combined", "CPU", "%", "busy", 1.0),
    ("memory:usedperc", "Memory", "%", "used", 1.0),
    ("swap:usedperc", "Memory", "%", "swap", 1.0),
    (
        "networkio:bytesrecv",
        "Network",
        "MiB/s",
        "received",
        1_048_576.0,
    ),
    (
        "networkio:bytessent",
        "Network",
        "MiB/s",
        "sent",
        1_048_576.0,
    ),
    ("disksio:readbytes", "Disks", "MiB/s", "read", 1_048_576.0),
    (
        "disksio:writebytes",
        "Disks",
        "MiB/s",
        "written",
        1_048_576.0,
    ),
    ("tcp:estab", "Connections", "", "established", 1.0),
];

/// A connection to an agent.
pub(crate) struct AgentSource {
    address: String,
    connection: Option<BufReader<TcpStream>>,
}

impl AgentSource {
    pub fn new(address: String) -> AgentSource {
        AgentSource {
            address,
            connection: None,
        }
    }

    /// Waits for the next line of values. After a failure it connects again.
    pub fn read(&mut self) -> Result<Vec<MetricReading>, PollFailure> {
        let read = self.next_line();
        if read.is_err() {
            self.connection = None;
        }
        Ok(values(&read?))
    }

    fn next_line(&mut self) -> Result<String, PollFailure> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let connection = connect(&self.address).map_err(cause_of)?;
                self.connection.insert(BufReader::new(connection))
            }
        };
        let mut line = String::new();
        match connection.read_line(&mut line).map_err(cause_of)? {
            0 => Err("the agent has closed the connection".into()),
            _ => Ok(line),
        }
    }
}

fn cause_of(error: std::io::Error) -> String {
    cause(&error)
}

fn connect(address: &str) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::other("the name resolves to no address");
    for place in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, PATIENCE) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                let names = METRICS.map(|(name, ..)| name);
                let question = format!("metrics:{}\n", names.join("\t"));
                stream.write_all(question.as_bytes())?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Parses a line of values. The agent sends `NaN` for a metric that it does not know; it is left out.
fn values(line: &str) -> Vec<MetricReading> {
    let values = line.trim_end().split('\t').map(str::parse::<f64>);
    METRICS
        .iter()
        .zip(values)
        .filter_map(|((_, chart, unit, line, divisor), value)| {
            let value = value.ok().filter(|value| value.is_finite())?;
            Some(MetricReading::new(*chart, unit, *line, value / divisor))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_agent_is_asked_once_and_tells_a_line_at_a_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let agent = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a visitor");
            let mut asked = String::new();
            BufReader::new(&stream)
                .read_line(&mut asked)
                .expect("a question");
            stream
                .write_all(b"12.5\t50\tNaN\t2097152\n25\t50\t0\t0\n")
                .expect("it reads");
            asked
        });
        let mut source = AgentSource::new(address);
        let lines = |readings: Vec<MetricReading>| -> Vec<(String, f64)> {
            readings
                .into_iter()
                .map(|one| (one.line, one.value))
                .collect()
        };
        let first = lines(source.read().expect("a line"));
        let expected = [("busy", 12.5), ("used", 50.0), ("received", 2.0)];
        assert_eq!(
            first,
            expected.map(|(line, value)| (line.to_owned(), value))
        );
        assert_eq!(lines(source.read().expect("a line"))[0].1, 25.0);
        let asked = agent.join().expect("it ends");
        assert!(asked.starts_with("metrics:cpu:combined\t"), "{asked}");
        assert!(asked.ends_with("\ttcp:estab\n"), "{asked}");
        assert!(source.read().is_err(), "it has gone away");
    }
}
