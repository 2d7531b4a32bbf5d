//! The messages between agents and the coordinator, and their subjects.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use drumfire_engine::Stopping;
use drumfire_health::{Second, StageTimes, Verdict};
use drumfire_results::{Connections, RecentError, SummaryDelta, ThreadCounts};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of these messages. Agents and coordinator must have the same.
pub const PROTOCOL: u32 = 3;
/// No message unpacks to more than this many bytes.
const MOST_UNPACKED: u64 = 256 << 20;

/// Idle agents answer requests here.
pub const WHO: &str = "df.who";
/// The stream that keeps what agents send of their seconds.
pub const STREAM: &str = "DF_SECONDS";
/// The subjects of the stream.
pub const STREAM_SUBJECTS: &str = "df.*.a.*.sec";
/// The bucket of files, by the SHA-256 of their content.
pub const FILES: &str = "df_files";
/// The bucket of what agents leave behind at the end of a run.
pub const ENDS: &str = "df_ends";
/// The bucket of manifests, states and leases.
pub const RUNS: &str = "df_runs";

/// Where an idle agent takes its assignment.
pub fn idle_subject(agent: &str) -> String {
    format!("df.idle.{agent}")
}

/// Where the coordinator tells all agents the state of a run.
pub fn state_subject(run: &str) -> String {
    format!("df.{run}.c.ctl")
}

/// Where the coordinator answers what time it is.
pub fn time_subject(run: &str) -> String {
    format!("df.{run}.time")
}

/// Where an agent says how it is.
pub fn heartbeat_subject(run: &str, index: u32) -> String {
    format!("df.{run}.a.{index}.hb")
}

/// Where all agents of a run say how they are.
pub fn heartbeat_subjects(run: &str) -> String {
    format!("df.{run}.a.*.hb")
}

/// Where an agent sends its seconds.
pub fn seconds_subject(run: &str, index: u32) -> String {
    format!("df.{run}.a.{index}.sec")
}

/// Where all agents of a run send their seconds.
pub fn seconds_subjects(run: &str) -> String {
    format!("df.{run}.a.*.sec")
}

/// The name of an object that an agent leaves behind.
pub fn end_name(run: &str, index: u32, what: &str) -> String {
    format!("{run}.{index}.{what}")
}

/// The name of the consumer by which an agent reads a file of a run.
pub fn reader_name(run: &str, index: u32, token: u64, file: usize) -> String {
    // An agent that was started again reads from the beginning.
    format!("{run}-{index}-{token:x}-{file}")
}

/// An object's name as it stands in subjects.
pub fn object_name(name: &str) -> String {
    URL_SAFE.encode(name)
}

/// The number of the agent that an `a` subject belongs to.
pub fn agent_of(subject: &str) -> Option<u32> {
    subject.split('.').nth(3)?.parse().ok()
}

/// Whether a text may be a part of a subject.
pub fn is_token(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(is_plain)
}

/// An agent introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// Its part of the load, relative to those of others.
    pub weight: u32,
    pub cores: u32,
    pub memory_mib: u64,
    pub open_files: u64,
    /// The machine's ceilings, as `drumfire doctor` tells it.
    #[serde(default)]
    pub ceilings: BTreeMap<String, u64>,
    /// The host that it runs on.
    pub host: String,
    /// The addresses of the host, without those of its loopback.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    /// The Java that it would run scripts with; none if it has none.
    pub java: Option<String>,
    /// The run that it is busy with.
    pub run: Option<String>,
}

/// An agent is to take part in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub run: String,
    pub index: u32,
    /// Tells this assignment from others of the same index.
    pub token: u64,
    /// Another agent of this index has taken part before.
    pub is_again: bool,
    /// Credentials for NATS with rights for this run; none if the agent's own are to do.
    pub credentials: Option<String>,
    /// The key that has signed the manifest, if one has.
    pub key: Option<String>,
}

/// An agent's answer to an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssignmentReply {
    Accepted,
    /// It is busy with this run.
    Busy(String),
    /// It takes no part, and why.
    Refused(String),
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Where it is, from the plan's folder on.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

/// One agent of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub weight: u32,
}

/// The fate of rows of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rows {
    /// Agents send them at the end.
    Collect,
    /// They stay on the agents.
    Keep,
    /// There are none.
    #[default]
    None,
}

/// All that an agent must know to run its part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub protocol: u32,
    pub run: String,
    /// The plan, one of the files.
    pub plan: String,
    pub files: Vec<FileEntry>,
    pub properties: Vec<(String, String)>,
    pub system: Vec<(String, String)>,
    /// The names of the properties that the command line sets.
    pub given: Vec<String>,
    /// Names of properties and system properties that agents must not have.
    pub removed: Vec<String>,
    pub removed_system: Vec<String>,
    /// Categories and levels of the log (`-L`), in the order of the command line; an empty category is the root.
    pub log_levels: Vec<(String, String)>,
    /// By index.
    pub members: Vec<Member>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub made_ms: i64,
    /// The seed of random arrivals.
    pub seed: u64,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    pub rows: Rows,
    /// Agents do not wait for another run after this one.
    #[serde(default)]
    pub is_last: bool,
}

/// Users for one agent to take over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takeover {
    /// The agent that takes over.
    pub agent: u32,
    pub period: u32,
    pub remainders: Vec<u32>,
    /// In milliseconds since the Unix epoch, by the coordinator's clock.
    pub from_ms: i64,
}

/// Something that was ordered once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    Users { group: usize, users: u32 },
    Property { name: String, value: String },
}

/// A run as the coordinator wants it. The newest revision holds; orders and takeovers only grow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    pub revision: u64,
    /// When the main thread groups start, in milliseconds since the Unix epoch, by the coordinator's clock.
    pub start_ms: Option<i64>,
    /// Properties that setUp thread groups have set.
    pub properties: Vec<(String, String)>,
    /// When the tearDown thread groups start.
    pub tear_down_ms: Option<i64>,
    pub stopping: Stopping,
    /// Users do not wait for their timers when the run stops.
    pub is_hurried: bool,
    pub is_paused: bool,
    pub rate: f64,
    pub orders: Vec<Order>,
    pub takeovers: Vec<Takeover>,
    /// Tokens of agents that must end, since others have their users.
    pub fenced: Vec<u64>,
    /// Users that run: by thread group, and in all.
    pub active: (Vec<u32>, u32),
    /// Everything has been received: agents may forget the run.
    pub is_over: bool,
}

/// The facts that a coordinator needs to go on with a run that another one has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// By index: the tokens of the agents' assignments.
    pub tokens: Vec<u64>,
}

/// How far an agent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    #[default]
    Fetching,
    Compiling,
    /// Ready to run setUp thread groups, if it is the one to do so.
    Ready,
    /// The plan cannot run here.
    Refused,
    /// At the start of the main thread groups.
    AtStart,
    Running,
    /// Its main thread groups have ended.
    AtEnd,
    /// Everything has been sent.
    Delivered,
}

/// How an agent is, once a second and whenever it changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    pub token: u64,
    pub stage: Stage,
    /// Why the plan cannot run here, or what else went wrong.
    pub faults: Vec<String>,
    /// Notes for the user.
    pub warnings: Vec<String>,
    pub users: ThreadCounts,
    /// Users that run, by thread group.
    pub groups: Vec<u32>,
    /// Samples so far.
    pub samples: u64,
    /// The number of its last message of seconds.
    pub sequence: u64,
    /// How far its clock is behind the coordinator's, and how wrong that may be, in nanoseconds.
    pub offset_ns: i64,
    pub bound_ns: u64,
    /// The plan stops the test, by its own means.
    pub stopping: Stopping,
    /// Properties that its setUp thread groups have set.
    pub properties: Vec<(String, String)>,
    /// How late it started, in microseconds.
    pub late_us: u64,
}

/// The events on an agent since its last message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// 1 for the first.
    pub sequence: u64,
    pub token: u64,
    /// `Increment`s in their wire form.
    pub increments: Vec<Vec<u8>>,
    /// The same of what each backend listener heard, with its number.
    pub heard: Vec<(u16, Vec<u8>)>,
    pub summaries: Vec<SummaryDelta>,
    pub errors: Vec<RecentError>,
    pub lines: Vec<String>,
    pub warnings: Vec<String>,
    pub marks: Vec<(i64, String)>,
    pub users: ThreadCounts,
    pub connections: Connections,
    /// When the agent's run started, by the coordinator's clock: seconds and verdict count from there.
    pub started_ms: i64,
    /// How its last seconds were.
    pub seconds: Vec<Second>,
    /// Its verdict on its numbers, if that has changed.
    pub verdict: Option<Verdict>,
    /// Lines of its log.
    pub log: Vec<LogLine>,
}

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
}

/// A line of an agent's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    pub level: LogLevel,
    /// The logger's name.
    pub category: String,
    pub text: String,
}

impl Batch {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.increments.is_empty()
            && self.heard.is_empty()
            && self.lines.is_empty()
            && self.warnings.is_empty()
            && self.marks.is_empty()
            && self.seconds.is_empty()
            && self.log.is_empty()
    }
}

/// How the run went on one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// The number of its last batch.
    pub sequence: u64,
    pub samples: u64,
    pub connections: Connections,
    pub elapsed_ms: u64,
    pub started_ms: i64,
    pub ended_ms: i64,
    pub users: ThreadCounts,
    pub faults: Vec<String>,
    pub nothing_sent: Option<String>,
    pub stopped: Stopping,
    pub seconds: Vec<Second>,
    pub stages: StageTimes,
    pub verdict: Option<Verdict>,
    pub targets: Vec<String>,
    /// Rows of its result file, if they are collected.
    pub rows: u64,
    pub lost_rows: u64,
    pub has_rows: bool,
}

/// Why a message cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// It is of another version.
    Version(u8),
    Damaged(String),
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WireError::Version(version) => write!(
                f,
                "the message has version {version}; this program reads version {PROTOCOL}"
            ),
            WireError::Damaged(why) => write!(f, "the message is damaged: {why}"),
        }
    }
}

impl std::error::Error for WireError {}

/// The bytes of a message: its version, then what postcard writes, deflated.
pub fn pack<T: Serialize>(message: &T) -> Vec<u8> {
    let plain = postcard::to_stdvec(message).expect("every field has a wire form");
    let mut packed = DeflateEncoder::new(vec![PROTOCOL as u8], Compression::fast());
    packed.write_all(&plain).expect("memory takes all");
    packed.finish().expect("memory takes all")
}

/// Reads [`pack`]'s bytes.
///
/// # Errors
/// If they are of another version, or damaged.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let damaged = |why: String| WireError::Damaged(why);
    let (version, rest) = bytes
        .split_first()
        .ok_or_else(|| damaged("it is empty".to_owned()))?;
    if u32::from(*version) != PROTOCOL {
        return Err(WireError::Version(*version));
    }
    let mut plain = Vec::new();
    let mut unpacked = DeflateDecoder::new(rest).take(MOST_UNPACKED);
    let read = unpacked.read_to_end(&mut plain);
    read.map_err(|error| damaged(error.to_string()))?;
    postcard::from_bytes(&plain).map_err(|error| damaged(error.to_string()))
}

/// The bytes of a message that people may read.
pub fn json<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("every field has a form in JSON")
}

/// Reads [`json`]'s bytes.
///
/// # Errors
/// If they are damaged.
pub fn of_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(bytes).map_err(|error| WireError::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use drumfire_health::Grade;

    use super::*;

    #[test]
    fn messages_survive_the_way() {
        let batch = Batch {
            sequence: 7,
            increments: vec![vec![1, 2, 3]; 40],
            marks: vec![(5, "here".to_owned())],
            seconds: vec![Second {
                each_core: vec![0.5, 0.25],
                samples: 3,
                ..Second::default()
            }],
            verdict: Some(Verdict {
                grade: Grade::TooShort,
                reasons: Vec::new(),
                length_ms: 5,
            }),
            ..Batch::default()
        };
        assert_eq!(unpack::<Batch>(&pack(&batch)), Ok(batch.clone()));
        let mut other = pack(&batch);
        other[0] = 9;
        assert_eq!(unpack::<Batch>(&other), Err(WireError::Version(9)));
        let half = pack(&batch);
        assert!(matches!(
            unpack::<Batch>(&half[..half.len() / 2]),
            Err(WireError::Damaged(_))
        ));
        let state = RunState {
            orders: vec![Order::Users { group: 1, users: 5 }],
            rate: 1.5,
            ..RunState::default()
        };
        assert_eq!(of_json::<RunState>(&json(&state)), Ok(state));
    }

    #[test]
    fn subjects_tell_their_agent() {
        assert_eq!(agent_of(&seconds_subject("r", 12)), Some(12));
        assert_eq!(agent_of(&state_subject("r")), None);
        assert!(is_token("pod-3_a") && !is_token("a.b") && !is_token("") && !is_token("a b"));
    }
}
