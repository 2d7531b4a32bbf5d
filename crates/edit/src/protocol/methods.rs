//! The methods and their parameters.

use super::described::{Described, MessageText, messages};
use super::function_messages::{Condition, ConditionText, Evaluate, FunctionAt};
use super::template_messages::{InsertTemplate, NewPlan};
use crate::tree::Id;

messages! {
    /// Parameters of `open`.
    Open {
        /// The file, relative to the folder in which the program was started.
        path: String,
        /// The text that another program holds, which then also saves it: the file is not read, watched or written.
        #[serde(default)]
        text: Option<String>,
    }
    /// Parameters of methods that need only the plan.
    OfPlan {
        /// The plan.
        plan: u64,
    }
    /// Parameters of methods that need none.
    Nothing {
    }
    /// Parameters of methods about one element.
    OfElement {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
    }
    /// Parameters of `set`.
    Set {
        /// The plan.
        plan: u64,
        /// The element.
        #[serde(default)]
        id: Option<Id>,
        /// Several elements, instead of `id`.
        #[serde(default)]
        ids: Vec<Id>,
        /// The path of the property.
        property: String,
        /// The value; null takes the property out of the file.
        value: Option<String>,
        /// Make it one step with the last one, if that set the same property.
        #[serde(default)]
        join: bool,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `set_xml`.
    SetXml {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
        /// The element without its children.
        text: String,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `table`.
    SetTable {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
        /// The path of the property.
        property: String,
        /// The cells of all rows.
        rows: Vec<Vec<String>>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `rename`.
    Rename {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
        /// The new name.
        name: String,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `enable`.
    Enable {
        /// The plan.
        plan: u64,
        /// The elements.
        ids: Vec<Id>,
        /// Whether they are enabled afterwards.
        enabled: bool,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `extract`.
    Extract {
        /// The plan.
        plan: u64,
        /// Elements of one parent.
        ids: Vec<Id>,
        /// The name of the Test Fragment; that of the first element if it is missing.
        #[serde(default)]
        name: Option<String>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `move_to_file`.
    MoveToFile {
        /// The plan.
        plan: u64,
        /// Elements of one parent.
        ids: Vec<Id>,
        /// The new plan, relative to the folder of this one.
        path: String,
        /// The name of its Test Fragment; that of the first element if it is missing.
        #[serde(default)]
        name: Option<String>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `run`.
    Run {
        /// The plan.
        plan: u64,
        /// The element; missing for the whole plan.
        #[serde(default)]
        id: Option<Id>,
        /// `this` or `branch` (the element with its scope), `to_here` (its thread group up to it), `group` or `plan`.
        kind: String,
        /// Variables that users have at the start.
        #[serde(default)]
        variables: std::collections::BTreeMap<String, String>,
        /// Properties of this run, as `-J` gives them.
        #[serde(default)]
        properties: std::collections::BTreeMap<String, String>,
        /// For debugging, how far users go at first: `run` (to a breakpoint), `step` (to the first element) or `sample` (to the
        /// first sampler). If it is missing, users never stand still.
        #[serde(default)]
        pace: Option<String>,
        /// The number of the one user of each thread group that runs; the users before it do not. If it is missing, the first users run.
        #[serde(default)]
        user: Option<usize>,
        /// The run ends after this many samples; 10,000 if it is missing, and never more.
        #[serde(default)]
        samples: Option<usize>,
    }
    /// Parameters of `run_go`.
    RunGo {
        /// The run.
        run: u64,
        /// How far the user goes: `run` (to a breakpoint), `step` (to the next element) or `sample` (to the next sampler).
        pace: String,
        /// New values of the user's variables; null removes a variable.
        #[serde(default)]
        edits: std::collections::BTreeMap<String, Option<String>>,
    }
    /// Parameters of `breakpoints`.
    Breakpoints {
        /// The plan.
        plan: u64,
        /// The elements before which users stand still in runs with a `pace`; missing if they stay as they are.
        #[serde(default)]
        ids: Option<Vec<Id>>,
    }
    /// Parameters of `run_stop`.
    RunStop {
        /// The run.
        run: u64,
    }
    /// Parameters of `run_search`.
    RunSearch {
        /// The run.
        run: u64,
        /// The text, in any case.
        text: String,
    }
    /// Parameters of `run_sample_detail`.
    RunSampleDetail {
        /// The run.
        run: u64,
        /// The number of the sample.
        number: usize,
        /// The numbers that lead to a sub-result.
        #[serde(default)]
        path: Vec<usize>,
        /// Where the part of the body begins, in bytes.
        #[serde(default)]
        offset: u64,
        /// How long it is at most; 65,536 bytes if it is missing, and never more than 1 MiB.
        #[serde(default)]
        length: Option<u64>,
    }
    /// Parameters of `run_test`.
    RunTest {
        /// The run.
        run: u64,
        /// The number of the sample.
        number: usize,
        /// The numbers that lead to a sub-result.
        #[serde(default)]
        path: Vec<usize>,
        /// `regex`, `boundary`, `jsonpath`, `jmespath`, `css` or `xpath`.
        kind: String,
        /// The expression. Boundaries are `LEFT...RIGHT`; a CSS selector may be followed by `@ATTRIBUTE`.
        expression: String,
    }
    /// Parameters of `run_propose`.
    RunPropose {
        /// The run.
        run: u64,
        /// The number of the sample.
        number: usize,
        /// The text of its response.
        text: String,
        /// Where it stands in the body, in bytes, if it does.
        #[serde(default)]
        at: Option<usize>,
        /// The name of the variable; if it is missing, each proposal has a name of its own that is not used yet.
        #[serde(default)]
        name: Option<String>,
    }
    /// Parameters of `extract_value`.
    ExtractValue {
        /// The plan.
        plan: u64,
        /// The sampler.
        id: Id,
        /// The extractor, as `run_propose` gives it.
        element: String,
        /// The name of its variable.
        name: String,
        /// The value in whose place the variable comes.
        value: String,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `insert`.
    Insert {
        /// The plan.
        plan: u64,
        /// The parent.
        parent: Id,
        /// The place among its children; behind the last one if it is larger or missing.
        #[serde(default)]
        index: Option<usize>,
        /// The type, as `palette` names it.
        #[serde(default)]
        class: Option<String>,
        /// A text instead of a type, as for `paste`.
        #[serde(default)]
        text: Option<String>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `palette`.
    Palette {
        /// The plan.
        plan: u64,
        /// The parent.
        parent: Id,
    }
    /// Parameters of `move`.
    Move {
        /// The plan.
        plan: u64,
        /// The elements.
        ids: Vec<Id>,
        /// The new parent.
        parent: Id,
        /// The place among its children as they are now; behind the last one if it is larger or missing.
        #[serde(default)]
        index: Option<usize>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of methods about several elements.
    OfElements {
        /// The plan.
        plan: u64,
        /// The elements.
        ids: Vec<Id>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `paste`.
    Paste {
        /// The plan.
        plan: u64,
        /// The parent.
        parent: Id,
        /// The place among its children; behind the last one if it is larger or missing.
        #[serde(default)]
        index: Option<usize>,
        /// Text of a plan, a cURL command, an entry of a recording (HAR), a request as it is sent, or an API description.
        text: String,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `wrap`.
    Wrap {
        /// The plan.
        plan: u64,
        /// The elements, which have one parent.
        ids: Vec<Id>,
        /// The type of the new element around them.
        class: String,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `unwrap`.
    Unwrap {
        /// The plan.
        plan: u64,
        /// The element whose place its children take.
        id: Id,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `change_type`.
    ChangeType {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
        /// The new type.
        class: String,
        /// Say what is kept and lost, and change nothing.
        #[serde(default)]
        preview: bool,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `find` and `replace`.
    Search {
        /// The plan.
        plan: u64,
        /// The text to find.
        text: String,
        /// Read it as a regular expression of Rust's crate `regex`.
        #[serde(default)]
        regex: bool,
        /// Tell upper and lower case apart.
        #[serde(default)]
        case: bool,
        /// Find whole words only.
        #[serde(default)]
        word: bool,
        /// Where to look: `names`, `values`; both if empty.
        #[serde(default, rename = "where")]
        places: Vec<String>,
        /// Look only in this element and below it.
        #[serde(default)]
        scope: Option<Id>,
        /// Look only in elements of this class.
        #[serde(default)]
        class: Option<String>,
        /// For `replace`: the new text; with `regex`, `$1` and `${name}` are groups.
        #[serde(default)]
        with: String,
        /// For `replace`: return the hits with their texts afterwards, and change nothing.
        #[serde(default)]
        preview: bool,
        /// For `replace`: the numbers of hits that stay, from 0.
        #[serde(default)]
        skip: Vec<usize>,
        /// For `replace`: the revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `resolve`.
    Resolve {
        /// The plan.
        plan: u64,
        /// The version to take: `ours`, `theirs`, or `each`.
        take: String,
        /// For `each`: the numbers of the items of `versions` that are taken from the file, from 0.
        #[serde(default)]
        theirs: Vec<usize>,
        /// For `each`: the revision of `versions`.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `review`.
    Review {
        /// The plan.
        plan: u64,
        /// The version to compare with: `head` (the last commit), `index` (what git would commit), or a file relative to the
        /// plan's folder; `head` if it is missing.
        #[serde(default)]
        against: Option<String>,
    }
    /// Parameters of `restore`.
    Restore {
        /// The plan.
        plan: u64,
        /// As in `review`.
        #[serde(default)]
        against: Option<String>,
        /// The element; missing if only the other version has it.
        #[serde(default)]
        id: Option<Id>,
        /// For an element that only the other version has: its number there.
        #[serde(default)]
        old: Option<usize>,
        /// For an element that only the other version has: its path there.
        #[serde(default)]
        path: String,
        /// The setting, or `place`; all settings if it is missing.
        #[serde(default)]
        setting: Option<String>,
        /// The revision that the caller saw.
        #[serde(default)]
        revision: Option<u64>,
    }
    /// Parameters of `stage`.
    Stage {
        /// The plan.
        plan: u64,
        /// The element; missing if the plan no longer has it.
        #[serde(default)]
        id: Option<Id>,
        /// For an element that the plan no longer has: its path.
        #[serde(default)]
        path: String,
    }
    /// Parameters of `sync`.
    Sync {
        /// The plan.
        plan: u64,
        /// The whole text.
        text: String,
    }
    /// Parameters of `complete`.
    Complete {
        /// The plan.
        plan: u64,
        /// The element.
        id: Id,
        /// The text of the field.
        text: String,
        /// The cursor, in UTF-16 units.
        offset: usize,
    }
}

/// A method.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: MessageText,
    /// The type of its result.
    pub result: &'static str,
}

/// A method with parameters of a type.
pub(super) const fn method<P: Described>(
    name: &'static str,
    about: &'static str,
    result: &'static str,
) -> Method {
    Method {
        name,
        about,
        parameters: P::TEXT,
        result,
    }
}

/// All methods, those about recordings last.
pub fn all() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().chain(super::record_messages::METHODS)
}

/// The methods about plans and runs.
pub const METHODS: &[Method] = &[
    method::<Open>(
        "open",
        "Opens a plan. A plan that is open already keeps its number.",
        "Opened",
    ),
    method::<OfPlan>("tree", "Returns all elements.", "Opened"),
    method::<Nothing>(
        "trees",
        "Returns all elements of the plans that are open.",
        "[Opened]",
    ),
    method::<OfElement>("element", "Returns an element with its form.", "Element"),
    method::<Set>(
        "set",
        "Sets a property of one or several elements.",
        "Change",
    ),
    method::<SetTable>(
        "table",
        "Sets the rows of a table. Rows and cells that stay keep their text.",
        "Change",
    ),
    method::<SetXml>(
        "set_xml",
        "Replaces the text of an element, without its children.",
        "Change",
    ),
    method::<Rename>(
        "rename",
        "Renames an element. Module Controllers that lead to it follow.",
        "Change",
    ),
    method::<Enable>("enable", "Enables or disables elements.", "Change"),
    method::<Palette>(
        "palette",
        "Returns the types that may be inserted below an element.",
        "[Kind]",
    ),
    method::<Insert>(
        "insert",
        "Inserts a new element with the values that JMeter's menu gives it.",
        "Change",
    ),
    method::<Move>("move", "Moves elements.", "Change"),
    method::<OfElements>(
        "remove",
        "Removes elements with everything below them.",
        "Change",
    ),
    method::<OfElements>("copy", "Returns elements as the text of a plan.", "Copied"),
    method::<Paste>("paste", "Inserts a text as elements.", "Change"),
    method::<OfElements>(
        "duplicate",
        "Repeats elements, each behind itself.",
        "Change",
    ),
    method::<Wrap>("wrap", "Puts a new element around elements.", "Change"),
    method::<Unwrap>(
        "unwrap",
        "Puts the children of an element in its place.",
        "Change",
    ),
    method::<ChangeType>(
        "change_type",
        "Changes the type of an element, which keeps the properties that both types have.",
        "Change, or Preview",
    ),
    method::<Extract>(
        "extract",
        "Moves elements to a new Test Fragment, and puts a Module Controller in their place.",
        "Change",
    ),
    method::<MoveToFile>(
        "move_to_file",
        "Moves elements into a new plan, and puts an Include Controller in their place. Undo leaves the new file.",
        "Change",
    ),
    method::<Run>(
        "run",
        "Runs a part of the plan as it is in the editor, once and for one user, without timers and Backend Listeners, unless the properties `testplan_validation.*` say otherwise. One part runs at a time.",
        "Started",
    ),
    method::<OfPlan>(
        "load",
        "Runs the saved plan with its load, in a process of its own. Its live page stays until it is closed. One run at a time.",
        "Load",
    ),
    method::<OfPlan>(
        "load_stop",
        "Ends the run with load and closes its page.",
        "null",
    ),
    method::<OfPlan>(
        "load_state",
        "Returns the run with load of the plan, if it goes on or its page is open.",
        "Load?",
    ),
    method::<RunGo>(
        "run_go",
        "Lets the user of a run go on that stands still.",
        "null",
    ),
    method::<Breakpoints>(
        "breakpoints",
        "Returns the breakpoints of a plan, after it set them. They hold at once for a run that goes on.",
        "[Id]",
    ),
    method::<RunStop>("run_stop", "Ends a run.", "null"),
    method::<OfPlan>(
        "runs",
        "Returns the last runs of parts of the plan, in their order.",
        "[RunEntry]",
    ),
    method::<RunSearch>(
        "run_search",
        "Returns the numbers of the samples whose request, headers or body have a text.",
        "[number]",
    ),
    method::<RunSampleDetail>(
        "run_sample_detail",
        "Returns a sample of one of the last runs, and a part of its body.",
        "RunDetail",
    ),
    method::<RunTest>(
        "run_test",
        "Tries an expression on the first 16 MiB of the body of a sample, with the matchers of extractors and assertions. Returns at most 200 matches.",
        "[text]",
    ),
    method::<RunPropose>(
        "run_propose",
        "Returns the extractors that yield exactly a text of a response, what each yields from the stored responses of the sampler, and where the plan sends the text, or other values of its name.",
        "RunProposals",
    ),
    method::<ExtractValue>(
        "extract_value",
        "Inserts an extractor below a sampler, and puts its variable in the places where the plan sends the value.",
        "Change",
    ),
    method::<Search>("find", "Finds a text in names and values.", "Hits"),
    method::<Search>(
        "replace",
        "Replaces a text in names and values.",
        "Change, or Hits",
    ),
    method::<OfPlan>("undo", "Takes the last change back.", "Change"),
    method::<OfPlan>(
        "redo",
        "Makes the change again that was taken back last.",
        "Change",
    ),
    method::<OfPlan>("text", "Returns the text of the plan.", "Text"),
    method::<OfPlan>(
        "save",
        "Writes the text to the file, after changes of other programs were merged.",
        "Saved",
    ),
    method::<Resolve>(
        "resolve",
        "Ends a conflict with another program's change of the file.",
        "Change",
    ),
    method::<OfPlan>(
        "versions",
        "Returns what differs between the plan and the file in a conflict, with the common version.",
        "Versions",
    ),
    method::<Review>(
        "review",
        "Compares the plan with another version: all elements that differ, and those above them.",
        "Review",
    ),
    method::<Restore>(
        "restore",
        "Takes a setting, all settings or the place of an element from another version, or the element itself.",
        "Change",
    ),
    method::<Stage>(
        "stage",
        "Writes an element of the plan to git's index, where the other elements stay as they are. The file does not change.",
        "null",
    ),
    method::<Sync>(
        "sync",
        "Takes over the text of a program that holds the plan.",
        "Change",
    ),
    method::<Nothing>(
        "page",
        "Returns the page of the editor, for a program that shows it itself.",
        "Page",
    ),
    method::<OfPlan>("findings", "Inspects the plan.", "[Finding]"),
    method::<OfElement>(
        "variables",
        "Returns the variables in the scope of an element.",
        "[Variable]",
    ),
    method::<Complete>(
        "complete",
        "Completes the reference before the cursor.",
        "[Completion]",
    ),
    method::<Nothing>(
        "functions",
        "Returns the functions that texts may call, by their names.",
        "[Function]",
    ),
    method::<FunctionAt>(
        "function_at",
        "Takes the call around the cursor of a text apart.",
        "FunctionPlace",
    ),
    method::<Evaluate>(
        "evaluate",
        "Evaluates a text, or a call that it writes first, with the functions of a run and the variables of the last one. A text with an effect, and one that needs Java, is not evaluated.",
        "Evaluation",
    ),
    method::<Condition>(
        "condition_write",
        "Writes the condition of an If or While Controller as a call of `__jexl3`, which gives `true` or `false` whatever the variables hold, also if they were never set.",
        "Written",
    ),
    method::<ConditionText>(
        "condition_read",
        "Reads a condition that `condition_write` wrote; null for any other text.",
        "Condition?",
    ),
    method::<Nothing>(
        "templates",
        "Returns the templates: own ones, and those of the user's JMeter.",
        "[TemplateEntry]",
    ),
    method::<NewPlan>(
        "new_plan",
        "Writes a plan from a template, with its data file if it has one, and opens it.",
        "Opened",
    ),
    method::<InsertTemplate>(
        "insert_template",
        "Inserts the elements of a template that is a part.",
        "Change",
    ),
    method::<Nothing>(
        "files",
        "Returns the plans that are open, and those beside them that `open` would take.",
        "[PlanEntry]",
    ),
    method::<OfPlan>(
        "close",
        "Closes a plan. Unsaved changes stay in its journal.",
        "null",
    ),
];
