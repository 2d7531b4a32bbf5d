//! The types of the messages.

use super::described::messages;
use crate::tree::Id;

messages! {
    /// An element of the plan.
    Node {
        /// Its number, which outlives changes and is never used again.
        id: Id,
        /// The element above it; missing for the Test Plan.
        parent: Option<Id>,
        /// The elements below it.
        children: Vec<Id>,
        /// Its class, as JMeter writes it into plans.
        class: String,
        /// The class of its form.
        gui: String,
        /// Its name in JMeter's menu, such as `HTTP Request`.
        #[serde(rename = "type")]
        type_name: String,
        /// The name that the user gave it.
        name: String,
        /// Whether it is enabled.
        enabled: bool,
        /// The title of JMeter's menu that lists such elements.
        category: String,
        /// How many findings it has.
        findings: Counts,
        /// How it runs: `native`, `java`, `skipped` or `refused`; missing until the plan was inspected.
        runs: Option<String>,
        /// `added` or `changed` since the last commit of the plan's repository; missing if it is neither.
        git: Option<String>,
    }
    /// Numbers of findings.
    Counts {
        /// Errors.
        error: usize,
        /// Warnings and advice.
        warning: usize,
    }
    /// A property in the form of an element.
    Field {
        /// Its path: names, and places in lists, joined by `/`.
        property: String,
        /// Its label.
        label: String,
        /// What its value is: `text`, `number`, `flag`, `choice`, `code`, `file`, `secret`, `table` or `names`.
        kind: String,
        /// The language of a text with the kind `code`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// The value in the file; missing if the file has none.
        value: Option<String>,
        /// The value that applies if the file has none.
        default: Option<String>,
        /// The value that applies because another element says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effective: Option<Effective>,
        /// The values that the form offers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// The heading above it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        section: Option<String>,
        /// Whether the value is a secret, which the page masks.
        #[serde(default)]
        secret: bool,
        /// Whether the field only shows what other elements say.
        #[serde(default)]
        read_only: bool,
        /// The rows, if it is a table.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<Table>,
        /// The findings about it.
        findings: Vec<Finding>,
        /// The file that it names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<File>,
    }
    /// A value that applies because another element says so.
    Effective {
        /// The value.
        value: String,
        /// The element.
        from: Id,
        /// The element's name.
        name: String,
    }
    /// A value that a form offers.
    Choice {
        /// The value in the file.
        value: String,
        /// Its label.
        label: String,
    }
    /// A table.
    Table {
        /// The columns.
        columns: Vec<Column>,
        /// The cells of each row.
        rows: Vec<Vec<String>>,
    }
    /// A column of a table.
    Column {
        /// The property of a row.
        property: String,
        /// Its label.
        label: String,
        /// As in Field.
        kind: String,
        /// The value in a new row.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        default: String,
        /// The values that the form offers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
    }
    /// A file that a field names.
    File {
        /// Whether it is there.
        exists: bool,
        /// Its whole path.
        path: String,
        /// Its first lines.
        first: Vec<String>,
    }
    /// A finding about an element.
    Finding {
        /// `error`, `warning` or `advice`.
        severity: String,
        /// The element.
        id: Id,
        /// The property that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        property: Option<String>,
        /// What is wrong, and why.
        message: String,
        /// The remedy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// The line of the file, from 1.
        line: usize,
        /// Operations that mend it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fixes: Vec<Fix>,
    }
    /// Operations that mend a finding.
    Fix {
        /// What they do.
        title: String,
        /// The operations: the parameters of a method, and its name as `op`.
        ops: Vec<serde_json::Value>,
    }
    /// The outcome of a change.
    Change {
        /// The number of the change.
        revision: u64,
        /// The elements that are new or differ.
        nodes: Vec<Node>,
        /// The elements that are gone.
        removed: Vec<Id>,
        /// The new elements whose parent is not new.
        created: Vec<Id>,
        /// Whether the text differs from the file.
        dirty: bool,
        /// What undo would take back.
        can_undo: Option<String>,
        /// What redo would make again.
        can_redo: Option<String>,
    }
    /// A plan that is open.
    Opened {
        /// Its number.
        plan: u64,
        /// The number of its last change.
        revision: u64,
        /// The Test Plan.
        root: Id,
        /// All elements, in the order of the file.
        nodes: Vec<Node>,
        /// The file.
        path: String,
        /// The version of JMeter that saved it.
        version: String,
        /// The encoding of the file.
        encoding: String,
        /// Whether it can only be read.
        read_only: bool,
        /// Why it can only be read, or why undo will not survive the end of the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Whether the text differs from the file.
        dirty: bool,
        /// Whether there is a conflict, which `versions` tells.
        #[serde(default)]
        conflict: bool,
        /// What undo would take back.
        can_undo: Option<String>,
        /// What redo would make again.
        can_redo: Option<String>,
    }
    /// An element with its form.
    Element {
        /// The element.
        node: Node,
        /// Its fields, in the order of JMeter's form.
        fields: Vec<Field>,
        /// Its text in the file.
        xml: String,
        /// The line where it begins, from 1.
        line: usize,
        /// Whether neither facts nor a jar of the user describe its class.
        generic: bool,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// What Drumfire does differently from JMeter.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        differs: Option<String>,
    }
    /// A type of element that may be inserted.
    Kind {
        /// The name by which `insert`, `wrap` and `change_type` know it.
        class: String,
        /// Its name in JMeter's menu.
        #[serde(rename = "type")]
        type_name: String,
        /// The title of JMeter's menu that lists it.
        category: String,
    }
    /// What a change of type keeps and loses.
    Preview {
        /// The properties that both types have.
        kept: Vec<String>,
        /// The properties that only the old type has.
        lost: Vec<String>,
    }
    /// A place that a search found. Positions count UTF-16 units, as JavaScript does.
    Hit {
        /// The element.
        id: Id,
        /// The element's name.
        name: String,
        /// The element's type.
        #[serde(rename = "type")]
        type_name: String,
        /// The property; missing for the element's name.
        property: Option<String>,
        /// The whole text; of a long one, the part around the hit.
        before: String,
        /// Where the hit begins.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The whole text after a replacement.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    }
    /// What a search found.
    Hits {
        /// The places, in the order of the file.
        hits: Vec<Hit>,
        /// Whether there are more.
        more: bool,
    }
    /// A plan of the opened folders.
    PlanEntry {
        /// Its number; missing while it is not open.
        plan: Option<u64>,
        /// The file.
        path: String,
        /// The file's name.
        name: String,
        /// Whether the text differs from the file.
        dirty: bool,
    }
    /// The text of a plan.
    Text {
        /// The text.
        text: String,
        /// The number of its last change.
        revision: u64,
    }
    /// Elements as the text of a plan.
    Copied {
        /// The text.
        text: String,
    }
    /// A plan that was written.
    Saved {
        /// The number of its last change.
        revision: u64,
    }
    /// A variable.
    Variable {
        /// Its name.
        name: String,
        /// The elements that set it.
        set_by: Vec<Setter>,
        /// The elements that read it.
        read_by: Vec<Reader>,
        /// Its value when users start, if the plan says so.
        value: Option<String>,
        /// Whether no element sets it.
        never_set: bool,
    }
    /// An element that sets a variable.
    Setter {
        /// The element.
        id: Id,
        /// Its type, such as `CSV Data Set Config`.
        how: String,
    }
    /// An element that reads a variable.
    Reader {
        /// The element.
        id: Id,
        /// The property; missing for the element's name.
        property: Option<String>,
    }
    /// A way to complete a text.
    Completion {
        /// The text to insert.
        insert: String,
        /// Where the text that it replaces begins, in UTF-16 units.
        start: usize,
        /// Where the text that it replaces ends.
        end: usize,
        /// What the list shows.
        label: String,
        /// More about it.
        detail: String,
    }
    /// A setting that two programs changed.
    ConflictText {
        /// The names from the Test Plan down.
        element: String,
        /// The setting.
        setting: String,
        /// The value here.
        ours: String,
        /// The value in the file.
        theirs: String,
        /// The element, if the plan still has it.
        id: Option<Id>,
    }
    /// The values in which the two sides of a conflict differ.
    Versions {
        /// The number of the plan's last change.
        revision: u64,
        /// Whether the common version is known.
        has_base: bool,
        /// Whether the file has git's conflict markers.
        is_marked: bool,
        /// The values that differ; none if there is no conflict.
        items: Vec<VersionItem>,
    }
    /// A value in which the two sides of a conflict differ.
    VersionItem {
        /// The element, if the plan has it.
        id: Option<Id>,
        /// The names from the Test Plan down.
        element: String,
        /// The element's type.
        #[serde(rename = "type")]
        type_name: String,
        /// The setting, `name`, `place`, or `presence` (whether the element is there).
        setting: String,
        /// Its label in the form.
        label: String,
        /// The value of the common version.
        base: String,
        /// The value here.
        ours: String,
        /// The value in the file.
        theirs: String,
        /// The side that changed it, if only one did: `ours` or `theirs`.
        takes: Option<String>,
    }
    /// A plan beside another version of it.
    Review {
        /// The number of the plan's last change.
        revision: u64,
        /// The other version, as `review` takes it.
        against: String,
        /// Whether `stage` can write elements to git's index.
        stageable: bool,
        /// The elements that differ and those above them, in the order of the file.
        elements: Vec<ReviewElement>,
    }
    /// An element of a review.
    ReviewElement {
        /// The element; missing if the plan no longer has it.
        id: Option<Id>,
        /// Its number in the other version; missing if it is new.
        old: Option<usize>,
        /// The names from the Test Plan down.
        path: String,
        /// How many elements are above it.
        level: usize,
        /// Its name.
        name: String,
        /// Its type.
        #[serde(rename = "type")]
        type_name: String,
        /// As in Node.
        category: String,
        /// `added`, `removed`, `moved`, `disabled`, `enabled`, `changed`; none if only elements below it differ.
        marks: Vec<String>,
        /// The names from the Test Plan down to its earlier parent, if it has moved.
        from: Option<String>,
        /// The settings that differ.
        changes: Vec<ReviewChange>,
        /// Whether git's index has it as the plan has it.
        staged: bool,
    }
    /// A setting that differs from the other version. Secrets are masked.
    ReviewChange {
        /// Its label in the form.
        label: String,
        /// Its path, or `name`, `enabled`.
        setting: String,
        /// The property of the element that holds it.
        property: String,
        /// The value in the other version.
        before: String,
        /// The value in the plan.
        after: String,
    }
    /// The page of the editor.
    Page {
        /// The HTML.
        html: String,
    }
    /// A part of a plan that runs.
    Started {
        /// The number of the run.
        run: u64,
    }
    /// A run with load.
    Load {
        /// The URL of its live page.
        url: String,
    }
    /// A run of a part of a plan.
    RunEntry {
        /// Its number.
        run: u64,
        /// As `run` took it.
        kind: String,
        /// The element; missing for the whole plan.
        id: Option<Id>,
        /// The samples so far.
        samples: Vec<RunSample>,
        /// How it ended; missing while it goes on.
        outcome: Option<RunOutcome>,
        /// Where a user stands still.
        halted: Option<RunHalt>,
    }
    /// A user that stands still before an element.
    RunHalt {
        /// The element, if it is in this plan.
        id: Option<Id>,
        /// `pre-processor`, `timer`, `sampler`, `post-processor` or `assertion`.
        part: String,
        /// Its name.
        name: String,
        /// Its class.
        class: String,
        /// The name of the user's thread.
        thread: String,
        /// The user's variables.
        variables: std::collections::BTreeMap<String, String>,
    }
    /// A sample of a run.
    RunSample {
        /// Its number, from 1; that of a sub-result counts within its parent.
        number: usize,
        /// The sampler; missing if it is in another plan, or for a sub-result.
        id: Option<Id>,
        /// How often the same user has run the same sampler, from 1.
        iteration: usize,
        /// The name of the user's thread.
        thread: String,
        /// Its label.
        label: String,
        /// Whether it counts as good.
        success: bool,
        /// The response code.
        code: String,
        /// The response message.
        message: String,
        /// Its start, in milliseconds since 1970.
        start_ms: i64,
        /// Its elapsed time, in microseconds.
        elapsed_us: u64,
        /// The time to the first byte of the response, in milliseconds.
        latency_ms: i64,
        /// The time to the connection, in milliseconds.
        connect_ms: i64,
        /// Bytes sent.
        sent_bytes: u64,
        /// Bytes received.
        received_bytes: u64,
        /// The HTTP method.
        method: String,
        /// Where the request went.
        url: String,
        /// `Content-Type` of the response.
        content_type: String,
        /// The length of the response's body.
        body_bytes: u64,
        /// How many assertions failed.
        assertions: usize,
        /// Sub-results, such as redirects and embedded resources.
        children: Vec<RunSample>,
    }
    /// How a run ended.
    RunOutcome {
        /// `done`, `stopped` or `failed`.
        ended: String,
        /// How many samples there were.
        samples: usize,
        /// How many of them failed.
        failed: usize,
        /// How long it took, in milliseconds.
        elapsed_ms: u64,
        /// Why it failed; missing if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
    /// A sample with everything that is known of it.
    RunDetail {
        /// The sample.
        sample: RunSample,
        /// The request as it was sent.
        request: RunRequest,
        /// The response.
        response: RunResponse,
        /// The assertions, in their order.
        assertions: Vec<RunAssertion>,
        /// The elements that ran for the whole sample, in order.
        steps: Vec<RunStep>,
        /// The variables before the whole sample.
        before: std::collections::BTreeMap<String, String>,
        /// The variables after it.
        variables: std::collections::BTreeMap<String, String>,
    }
    /// A request as it was sent.
    RunRequest {
        /// The header fields, a line each.
        headers: String,
        /// The cookies.
        cookies: String,
        /// The body, or the data of a sampler that speaks no HTTP.
        body: String,
        /// A cURL command that sends the same request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        curl: Option<String>,
    }
    /// A response.
    RunResponse {
        /// The header fields, a line each.
        headers: String,
        /// `Content-Type`.
        content_type: String,
        /// Whether the body is not text.
        is_binary: bool,
        /// A part of the body.
        body: BodyWindow,
    }
    /// A part of a body.
    BodyWindow {
        /// Where it begins, in bytes.
        offset: u64,
        /// Where the next part begins; the size of the body if this is the last part.
        next: u64,
        /// The size of the whole body.
        size: u64,
        /// The part, if the body is text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The part in Base64, if the body is not text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    }
    /// The verdict of an assertion.
    RunAssertion {
        /// Its name.
        name: String,
        /// Why it failed; missing if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    }
    /// The turn of an element.
    RunStep {
        /// `pre-processor`, `timer`, `sampler`, `post-processor` or `assertion`.
        part: String,
        /// Its name.
        name: String,
        /// Its class.
        class: String,
        /// The element, if it is in this plan.
        id: Option<Id>,
        /// The variables that it changed.
        changes: Vec<VariableChange>,
    }
    /// The extractors that yield a text of a response.
    RunProposals {
        /// The extractors, the cheapest kinds first.
        proposals: Vec<RunProposal>,
        /// The values that the plan sends later: the text, if it does, and those under the names of the proposals.
        sent: Vec<SentValue>,
    }
    /// An extractor that yields a text of a response.
    RunProposal {
        /// Its kind: `JSON`, `boundaries`, `regular expression`, `CSS selector`.
        kind: String,
        /// The expression.
        expression: String,
        /// Which of the texts that it finds it yields, from 1.
        number: usize,
        /// How many texts it finds in the response.
        matches: usize,
        /// The time of the search in this response, in microseconds.
        cost_us: u64,
        /// The name of its variable.
        name: String,
        /// The element, for `extract_value`.
        element: String,
        /// The texts that it yields from the stored responses of the sampler, the oldest first.
        found: Vec<RunYield>,
    }
    /// The text that an extractor yields from a stored response.
    RunYield {
        /// The run.
        run: u64,
        /// The number of the sample.
        number: usize,
        /// The text; missing if the extractor finds nothing.
        value: Option<String>,
    }
    /// A value that the plan sends after a sampler.
    SentValue {
        /// The value.
        value: String,
        /// Where it is sent.
        uses: Vec<SentPlace>,
    }
    /// A property that sends a value.
    SentPlace {
        /// The element.
        id: Id,
        /// The path of the property.
        property: String,
        /// How often the value stands in it.
        count: usize,
    }
    /// A variable that an element changed.
    VariableChange {
        /// Its name.
        name: String,
        /// Its value before; missing if it is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// Its value after; missing if it was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    }
}
