//! The messages between agents and the coordinator, and their subjects.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use drumfire_engine::{Share, Stopping};
use drumfire_health::{Second, StageTimes, Verdict};
use drumfire_results::{Connections, RecentError, SampleBalance, SummaryDelta, ThreadCounts};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::select::Selection;

/// The version of these messages. Agents and coordinator must use the same.
pub const PROTOCOL: u32 = 5;
/// The most bytes to which a message may unpack.
const MOST_UNPACKED: u64 = 256 << 20;

/// The subject at which agents answer requests.
pub const WHO: &str = "df.who";
/// The subject at which coordinators that wait for agents answer requests.
pub const WAITING: &str = "df.waiting";
/// The stream that stores the seconds of agents.
pub const STREAM: &str = "DF_SECONDS";
/// The subjects of the stream.
pub const STREAM_SUBJECTS: &str = "df.*.a.*.sec";
/// The bucket of files, by the SHA-256 of their content.
pub const FILES: &str = "df_files";
/// The bucket of objects that agents leave at the end of a run.
pub const ENDS: &str = "df_ends";
/// The bucket of manifests, states and leases.
pub const RUNS: &str = "df_runs";

/// The subject at which an idle agent receives its assignment.
pub fn idle_subject(agent: &str) -> String {
    format!("df.idle.{agent}")
}

/// The subject at which agents of one name find each other.
pub fn name_subject(agent: &str) -> String {
    format!("df.name.{agent}")
}

/// The subject on which the coordinator sends the state of a run to all agents.
pub fn state_subject(run: &str) -> String {
    format!("df.{run}.c.ctl")
}

/// The subject at which the coordinator answers requests for the time.
pub fn time_subject(run: &str) -> String {
    format!("df.{run}.time")
}

/// The subject on which an agent sends its state.
pub fn heartbeat_subject(run: &str, index: u32) -> String {
    format!("df.{run}.a.{index}.hb")
}

/// The subjects on which all agents of a run send their state.
pub fn heartbeat_subjects(run: &str) -> String {
    format!("df.{run}.a.*.hb")
}

/// The subject on which an agent sends its seconds.
pub fn seconds_subject(run: &str, index: u32) -> String {
    format!("df.{run}.a.{index}.sec")
}

/// The subject at which an agent asks for rows of files that the coordinator has.
pub fn rows_subject(run: &str, index: u32) -> String {
    format!("df.{run}.a.{index}.rows")
}

/// The subjects at which all agents of a run ask for rows.
pub fn rows_subjects(run: &str) -> String {
    format!("df.{run}.a.*.rows")
}

/// The subjects on which all agents of a run send their seconds.
pub fn seconds_subjects(run: &str) -> String {
    format!("df.{run}.a.*.sec")
}

/// The name of an object that an agent leaves at the end of a run.
pub fn end_name(run: &str, index: u32, what: &str) -> String {
    format!("{run}.{index}.{what}")
}

/// The name of the consumer through which an agent reads a file of a run.
pub fn reader_name(run: &str, index: u32, token: u64, file: usize) -> String {
    // A restarted agent has another token, so it reads from the beginning.
    format!("{run}-{index}-{token:x}-{file}")
}

/// An object's name, as it is encoded in subjects.
pub fn object_name(name: &str) -> String {
    URL_SAFE.encode(name)
}

/// The index of the agent that a subject with an `a` part belongs to.
pub fn agent_of(subject: &str) -> Option<u32> {
    subject.split('.').nth(3)?.parse().ok()
}

/// Whether a text may be one token of a subject.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// How an agent introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// Its part of the load, relative to the others.
    pub weight: u32,
    pub cores: u32,
    pub memory_mib: u64,
    pub open_files: u64,
    /// The machine's ceilings, as `drumfire doctor` reports them.
    #[serde(default)]
    pub ceilings: BTreeMap<String, u64>,
    /// The host that it runs on.
    pub host: String,
    /// The addresses of the host, except loopback.
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    /// The version of the Java that it would run scripts with; `None` if it has none.
    pub java: Option<String>,
    /// The run that it is busy with.
    pub run: Option<String>,
    /// Distinguishes agents of one name; an agent keeps it from run to run.
    #[serde(default)]
    pub instance: u64,
    /// Whether no other agent had its name when it started.
    #[serde(default)]
    pub is_settled: bool,
}

/// A run that waits for agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRun {
    pub plan: String,
    /// The host of its coordinator.
    pub host: String,
    pub selection: Selection,
    /// Since when it waits, in milliseconds since the Unix epoch; earlier ones come first.
    pub since_ms: i64,
    /// Orders runs that wait since the same moment.
    pub ticket: u64,
}

/// An offer to an agent to take part in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub run: String,
    pub index: u32,
    /// Distinguishes this assignment from others of the same index.
    pub token: u64,
    /// Whether another agent with this index has taken part before.
    pub is_again: bool,
    /// Credentials for NATS with rights for this run; with `None`, the agent uses its own.
    pub credentials: Option<String>,
    /// The key that signed the manifest, if it is signed.
    pub key: Option<String>,
}

/// An agent's answer to an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssignmentReply {
    Accepted,
    /// It is busy with this other run.
    Busy(String),
    /// It refuses to take part, for this reason.
    Refused(String),
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The path relative to the plan's folder.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
    /// Whether these are only the first bytes of a file whose rows the coordinator sends as they are used.
    #[serde(default)]
    pub is_start: bool,
}

/// One agent of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub weight: u32,
}

/// How to handle rows of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowHandling {
    /// Agents send them at the end.
    Collect,
    /// They stay on the agents.
    Keep,
    /// There are none.
    #[default]
    None,
}

/// The settings of the coordinator with which all agents run the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSettings {
    pub properties: Vec<(String, String)>,
    pub system: Vec<(String, String)>,
    /// The names of the properties that the command line sets.
    pub given: Vec<String>,
    /// Names of properties that agents must not have, whatever their own settings say; the second list has system properties.
    pub removed: Vec<String>,
    pub removed_system: Vec<String>,
    /// Categories and levels of the log (`-L`), in the order of the command line; an empty category is the root.
    pub log_levels: Vec<(String, String)>,
}

/// Everything that an agent must know to run its part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub protocol: u32,
    pub run: String,
    /// The path of the plan, which is one of the files.
    pub plan: String,
    pub files: Vec<FileEntry>,
    /// The fields of the settings stand among the manifest's own.
    #[serde(flatten)]
    pub settings: PlanSettings,
    /// The agents, by index.
    pub members: Vec<Member>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub made_ms: i64,
    /// The seed of random arrivals.
    pub seed: u64,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    pub rows: RowHandling,
    /// Whether agents end instead of waiting for another run.
    #[serde(default)]
    pub is_last: bool,
    /// How many agents there may be, if others may join during the run.
    #[serde(default)]
    pub most: u32,
}

impl Manifest {
    /// The shares of the agents at the start.
    pub fn shares(&self) -> Vec<Share> {
        let weights: Vec<u32> = self.members.iter().map(|member| member.weight).collect();
        Share::of_growing(&weights, self.seed, self.most)
    }
}

/// Users for one agent to take over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takeover {
    /// The agent that takes over.
    pub agent: u32,
    pub period: u32,
    pub remainders: Vec<u32>,
    /// When it takes effect, in milliseconds since the Unix epoch, by the coordinator's clock.
    pub from_ms: i64,
    /// Whether the agents that had them go on. They keep users that have begun a fixed number of loops.
    #[serde(default)]
    pub is_shared: bool,
}

/// An order that agents carry out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoordinatorOrder {
    Users { group: usize, users: u32 },
    Property { name: String, value: String },
}

/// The state of a run that the coordinator wants. The newest revision applies; orders and takeovers are only
/// ever added.
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
    /// Whether users skip their timers when the run stops.
    pub is_hurried: bool,
    pub is_paused: bool,
    pub rate: f64,
    pub orders: Vec<CoordinatorOrder>,
    pub takeovers: Vec<Takeover>,
    /// Tokens of agents that must end, because others have their users.
    pub fenced: Vec<u64>,
    /// Whether others take over the users of agents that are lost or told to end.
    #[serde(default)]
    pub is_redistributed: bool,
    /// Tokens of agents that were told to end, each with the time until which it runs its part.
    #[serde(default)]
    pub leaving: Vec<(u64, i64)>,
    /// The agent that runs the tearDown thread groups.
    #[serde(default)]
    pub tear_down_by: u32,
    /// The number of running users: by thread group, and in total.
    pub active: (Vec<u32>, u32),
    /// Whether everything has been received, so that agents may forget the run.
    pub is_over: bool,
}

/// The data that a coordinator needs to take over a run that another one has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// The tokens of the agents' assignments, by index.
    pub tokens: Vec<u64>,
    /// The agents that joined during the run. Their indices follow those of the manifest.
    #[serde(default)]
    pub joined: Vec<Member>,
}

/// How far an agent has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    #[default]
    Fetching,
    Compiling,
    /// Ready. The first agent runs setUp thread groups next.
    Ready,
    /// The plan cannot run here.
    Refused,
    /// Waiting at the start of the main thread groups.
    AtStart,
    Running,
    /// Its main thread groups have ended.
    AtEnd,
    /// Everything has been sent.
    Delivered,
}

/// The state of an agent, sent once a second and whenever it changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    pub token: u64,
    pub stage: Stage,
    /// Whether it was told to end.
    #[serde(default)]
    pub is_leaving: bool,
    /// When it gives its users away, if others may take them over, in milliseconds since the Unix epoch, by the coordinator's
    /// clock.
    #[serde(default)]
    pub leaves_ms: Option<i64>,
    /// Why the plan cannot run on this agent, or other errors.
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
    /// The offset of its clock from the coordinator's and the bound of the error, in nanoseconds.
    pub offset_ns: i64,
    pub bound_ns: u64,
    /// Whether and how the plan itself stops the test.
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
    /// The increments of each Backend Listener, with its number.
    pub heard: Vec<(u16, Vec<u8>)>,
    pub summaries: Vec<SummaryDelta>,
    pub errors: Vec<RecentError>,
    pub lines: Vec<String>,
    pub warnings: Vec<String>,
    pub marks: Vec<(i64, String)>,
    pub users: ThreadCounts,
    pub connections: Connections,
    /// When the agent's run started, by the coordinator's clock. Times in the seconds and the verdict are
    /// relative to it.
    pub started_ms: i64,
    /// Its last seconds.
    pub seconds: Vec<Second>,
    /// Its verdict on its numbers, if that has changed.
    pub verdict: Option<Verdict>,
    /// Lines of its log.
    pub log: Vec<LogLine>,
}

/// A request for rows of a file that the coordinator has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsQuestion {
    pub token: u64,
    /// The number of the request; a request that is repeated has the same.
    pub sequence: u64,
    /// The name under which agents share the rows.
    pub element: String,
    /// The path of the file in the manifest.
    pub file: String,
    pub encoding: String,
    pub is_quoted: bool,
    pub skips_first_line: bool,
    pub is_recycled: bool,
}

/// The answer to a [`RowsQuestion`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowsAnswer {
    /// Whole rows; none at the end.
    Rows(String),
    /// Why there are none.
    Refused(String),
}

/// The level of a line in a log.
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
    /// Whether there is nothing to send.
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

/// The outcome of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// The number of its last batch.
    pub sequence: u64,
    pub samples: u64,
    /// The fate of the samples that its users began.
    pub balance: Option<SampleBalance>,
    pub connections: Connections,
    pub elapsed_ms: u64,
    pub started_ms: i64,
    pub ended_ms: i64,
    pub users: ThreadCounts,
    pub faults: Vec<String>,
    pub nothing_sent: Option<String>,
    /// Its warnings at the end.
    #[serde(default)]
    pub warnings: Vec<String>,
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

/// The bytes of a message: its version, then its postcard encoding, deflated.
pub fn pack<T: Serialize>(message: &T) -> Vec<u8> {
    let plain = postcard::to_stdvec(message).expect("every field has a wire form");
    let mut packed = DeflateEncoder::new(vec![PROTOCOL as u8], Compression::fast());
    packed.write_all(&plain).expect("memory takes all");
    packed.finish().expect("memory takes all")
}

/// Reads bytes that [`pack`] has written.
///
/// # Errors
/// If they are of another version, or damaged.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
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

fn damaged(why: String) -> WireError {
    WireError::Damaged(why)
}

/// The bytes of a message in JSON, which people can read.
pub fn json<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("every field has a form in JSON")
}

/// Reads bytes that [`json`] has written.
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
            orders: vec![CoordinatorOrder::Users { group: 1, users: 5 }],
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
