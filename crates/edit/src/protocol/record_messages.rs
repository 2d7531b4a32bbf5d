//! The methods about recordings, and their types.

use super::described::{MessageText, messages};
use super::methods::{Method, OfPlan, method};
use crate::tree::Id;

messages! {
    /// Parameters of `record`.
    Record {
        /// The plan.
        plan: u64,
        /// The controller or thread group that gets the requests.
        into: Id,
        /// Record in a Chromium with a profile of its own, instead of through a proxy.
        #[serde(default)]
        browser: bool,
        /// The first page. A proxy decrypts the HTTPS of its site; a browser needs it.
        #[serde(default)]
        url: Option<String>,
        /// For a browser: run it without a window, and end the recording after `scripts`.
        #[serde(default)]
        headless: bool,
        /// For a browser: scripts that run in the page, one after the other, each when the network is idle.
        #[serde(default)]
        scripts: Vec<String>,
        /// Settings that differ from those of `record_settings`, as RecordSettings has them.
        #[serde(default)]
        settings: Option<serde_json::Value>,
    }
    /// Parameters of `record_close`.
    OfRecording {
        /// The recording.
        recording: u64,
    }
    /// Parameters of `record_pause`.
    RecordPause {
        /// The recording.
        recording: u64,
        /// Whether requests are left out from now on.
        paused: bool,
    }
    /// Parameters of `record_name`.
    RecordName {
        /// The recording.
        recording: u64,
        /// The name of the transaction that begins.
        name: String,
    }
    /// Parameters of `record_stop`.
    RecordStop {
        /// The recording.
        recording: u64,
        /// Another element that gets the requests.
        #[serde(default)]
        into: Option<Id>,
    }
    /// Parameters of `record_accept`.
    RecordAccept {
        /// The recording.
        recording: u64,
        /// The number of the proposal.
        number: usize,
        /// Another name for its variable.
        #[serde(default)]
        name: Option<String>,
    }
    /// Parameters of `record_refuse`.
    RecordRefuse {
        /// The recording.
        recording: u64,
        /// The number of the proposal.
        number: usize,
        /// Whether it is refused; `false` opens it again.
        refused: bool,
    }
    /// Parameters of `record_verify`.
    RecordVerify {
        /// The recording.
        recording: u64,
        /// The recording of the same visit by another user, instead of two replays.
        #[serde(default)]
        with: Option<u64>,
        /// The same as a HAR, relative to the plan's folder.
        #[serde(default)]
        har: Option<String>,
    }
    /// The settings of a recorder.
    RecordSettings {
        /// The port of the proxy; 0 for a free one.
        port: u16,
        /// The domains whose HTTPS the proxy decrypts, beside that of the first page; `*` for all.
        domains: Vec<String>,
        /// Keep the requests to every host, not only those to the site of the first page and to `domains`.
        all_domains: bool,
        /// Patterns of addresses of which one must match, as JMeter's recorder reads them.
        include: Vec<String>,
        /// Patterns of addresses of which none may match.
        exclude: Vec<String>,
        /// The pattern of content types that are kept; empty for all.
        content_include: String,
        /// The pattern of content types that are left out; empty for none.
        content_exclude: String,
        /// Keep images, scripts and style sheets as requests of their own.
        keep_resources: bool,
        /// `pages`, `none`, `separators`, `controllers`, `first` or `transactions`.
        grouping: String,
        /// A longer pause begins a new group, in milliseconds; not for `pages`.
        pause_ms: i64,
        /// `request`, `prefix`, `transaction`, `suffix` or `format`.
        naming: String,
        /// The part of names that `naming` puts somewhere.
        prefix: String,
        /// The pattern of names for `format`.
        format: String,
        /// Record header fields.
        headers: bool,
        /// Add an assertion without patterns to the first request of each group.
        assertions: bool,
        /// Make the user's pauses pauses of the plan.
        think_times: bool,
        /// Tick Retrieve All Embedded Resources: for pages, or for all requests if resources are kept.
        embedded: bool,
        /// Tick Follow Redirects.
        follow_redirects: bool,
        /// Tick Redirect Automatically.
        auto_redirects: bool,
        /// Tick Use KeepAlive.
        keep_alive: bool,
        /// Put variables of the plan only in the places of whole words.
        regex_match: bool,
    }
    /// The settings and sources of a recording into a plan.
    RecordOffer {
        /// The settings of the plan's HTTP(S) Test Script Recorder, or else the usual ones.
        settings: RecordSettings,
        /// The name of that recorder; missing if the plan has none.
        from: Option<String>,
        /// Whether there is a Chromium to record in.
        browser: bool,
    }
    /// A recording.
    Recording {
        /// Its number.
        recording: u64,
        /// The plan.
        plan: u64,
        /// The element that gets the requests.
        into: Id,
        /// `recording`, `paused`, `ending`, `done`, or `failed`: then `record_stop` with another `into` inserts the requests.
        state: String,
        /// The transaction that the user named last; empty before the first.
        name: String,
        /// The address of the proxy; missing for a browser.
        address: Option<String>,
        /// The certificate for HTTPS: its file, the domains and the end; missing if nothing is decrypted.
        certificate: Option<String>,
        /// Whether the certificate is new, so that no browser trusts it yet.
        is_new: bool,
        /// Earlier recordings into the plan, for `record_verify`.
        earlier: Vec<u64>,
        /// Remarks on the recording, such as hosts that were not decrypted.
        notes: Vec<String>,
        /// The elements that were inserted.
        created: Vec<Id>,
        /// How many requests were inserted.
        requests: usize,
        /// The requests that were left out, a line for each reason.
        left_out: Vec<String>,
        /// Values that a response holds and a later request sends.
        proposals: Vec<RecordProposal>,
        /// Whether `record_verify` is at work.
        proving: bool,
        /// Results of `record_verify` that are about no proposal.
        remarks: Vec<String>,
        /// Why it failed.
        message: Option<String>,
    }
    /// A recording with its requests.
    RecordState {
        /// The recording.
        recording: Recording,
        /// The requests, in their order.
        rows: Vec<RecordRow>,
    }
    /// A recorded request.
    RecordRow {
        /// Its number, from 0. A row with the same number replaces an earlier one.
        number: usize,
        /// The method.
        method: String,
        /// The address.
        url: String,
        /// The response code; missing until the response begins, 0 if none came.
        status: Option<u16>,
        /// The time to the end of the response, in milliseconds.
        elapsed_ms: u64,
        /// The bytes of the response's body.
        bytes: u64,
        /// The type of the response's content.
        content_type: String,
        /// Whether the response is there.
        complete: bool,
        /// Why the plan does not get it; missing if it does.
        left_out: Option<String>,
    }
    /// A value that a response holds and a later request sends.
    RecordProposal {
        /// Its number, from 0.
        number: usize,
        /// The name of its variable.
        variable: String,
        /// The value.
        value: String,
        /// The kind of the extractor.
        kind: String,
        /// Its expression.
        expression: String,
        /// Which of the texts that it finds it yields, from 1.
        found: usize,
        /// How many texts it finds in the response.
        matches: usize,
        /// The sampler whose response holds the value.
        from: Id,
        /// The samplers that send it.
        used_in: Vec<Id>,
        /// `recording`: found in this recording; `replays`: it differs from replay to replay, and the requests answer as recorded;
        /// `changes`: it differs, but a request answers otherwise; `users`: the extractor yields each user's value; `same`: it is the
        /// same each time; `missed`: the extractor finds nothing in a replay; `unreached`: a replay does not come so far.
        proof: String,
        /// The extractor that was inserted for it. While the plan has this element, it is accepted.
        extractor: Option<Id>,
        /// Whether the user refused it.
        refused: bool,
    }
}

/// The methods about recordings.
pub const METHODS: &[Method] = &[
    method::<OfPlan>(
        "record_settings",
        "Returns the settings with which a recording into the plan begins.",
        "RecordOffer",
    ),
    method::<Record>(
        "record",
        "Records a visit to a site, through a proxy on 127.0.0.1 or in a browser. Only one recording goes on.",
        "Recording",
    ),
    method::<RecordPause>(
        "record_pause",
        "Leaves requests out from now on, or records again.",
        "null",
    ),
    method::<RecordName>("record_name", "Begins a transaction of this name.", "null"),
    method::<RecordStop>(
        "record_stop",
        "Ends a recording and inserts its requests, which is one step. One that is over and failed is inserted again.",
        "Recording",
    ),
    method::<OfPlan>(
        "record_state",
        "Returns the last recording into the plan with its requests.",
        "RecordState?",
    ),
    method::<RecordAccept>(
        "record_accept",
        "Inserts the extractor of a proposal and puts its variable where the value is sent, which is one step.",
        "Change",
    ),
    method::<RecordRefuse>(
        "record_refuse",
        "Refuses a proposal, or opens it again.",
        "Recording",
    ),
    method::<RecordVerify>(
        "record_verify",
        "Tries the proposals: replays the visit twice, or compares it with another user's. `record_changed` tells the result.",
        "null",
    ),
    method::<OfRecording>(
        "record_close",
        "Forgets a recording that is over. Its requests stay in the plan.",
        "null",
    ),
];

/// The types of the results.
pub const TYPES: &[MessageText] = {
    use super::described::Described as _;
    &[
        RecordOffer::TEXT,
        RecordSettings::TEXT,
        Recording::TEXT,
        RecordProposal::TEXT,
        RecordState::TEXT,
        RecordRow::TEXT,
    ]
};
