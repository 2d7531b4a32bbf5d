// Everything that a user can do, by name: keys, the palette and buttons run the same actions.

import { signal } from "@preact/signals";
import { counted } from "../format";
import { call, callAll, RpcError } from "./client";
import { extractSelection } from "./extract";
import { flush } from "./flush";
import { openFunctions } from "./functions";
import type { Plan } from "./plan";
import type { Finding, Id, Insertable, Op, Pace } from "./protocol";
import { toggleBreakpoint } from "./debugging";
import { loadOf, startLoad, stopLoad } from "./load";
import { canRecord, canStopRecording, startRecording, stopRecording } from "./record";
import { clear, goOn, running, start, stop } from "./runs";
import { downloadPlan, downloadSelection, moveToFile, pasted, revert, sampleNames, toClipboard } from "./tasks";
import { tell } from "./tell";
import { openTemplates } from "./templates";
import { toggleTheme } from "./theme";
import { isInEditor } from "./transport";
import { active, activate, closePlan, dock, formTab, middle, overlay, plans, showDock, showsClasses, visit } from "./workspace";

export interface Action {
  id: string;
  title: string;
  run: () => unknown;
  /** Whether it would do something now. */
  can?: () => boolean;
}

export const search = signal({ isReplace: false, asked: 0 });

const plan = () => active.value!;
const chosen = () => plan().chosen();
/** The selected elements that may be moved or removed: all but the Test Plan itself. */
const movable = () => chosen().filter((id) => id !== plan().root);
const hasPlan = () => active.value != null;
/** An editor that shows the page opens and closes plans itself. */
const isAlone = () => !isInEditor;
const hasMovable = () => hasPlan() && movable().length > 0;

async function toggle() {
  const ids = [...plan().selected.value];
  const anyEnabled = ids.some((id) => plan().node(id)?.enabled);
  await plan().change("enable", { ids, enabled: !anyEnabled });
}

/** Moves the selection past its neighbour among the same children. */
async function moveBeside(step: -1 | 1) {
  const ids = movable();
  const parent = plan().node(plan().node(ids[0])?.parent ?? -1);
  if (!parent) return;
  const places = ids.map((id) => parent.children.indexOf(id)).filter((at) => at >= 0);
  const index = step < 0 ? Math.min(...places) - 1 : Math.max(...places) + 2;
  if (index >= 0 && index <= parent.children.length) await move(ids, parent.id, index);
}

async function moveOut() {
  const ids = movable();
  const parent = plan().node(plan().node(ids[0])?.parent ?? -1);
  const above = plan().node(parent?.parent ?? -1);
  if (parent && above) await move(ids, above.id, above.children.indexOf(parent.id) + 1);
}

/** Moves the selection into the element above it. */
async function moveIn() {
  const ids = movable();
  const parent = plan().node(plan().node(ids[0])?.parent ?? -1);
  const into = parent && plan().node(parent.children[parent.children.indexOf(ids[0]) - 1]);
  if (into) await move(ids, into.id, into.children.length);
}

export async function move(ids: Id[], parent: Id, index: number) {
  const { selected, focus } = plan();
  const [all, at] = [selected.value, focus.value];
  plan().fold([parent], true);
  if (await plan().change("move", { ids, parent, index })) plan().select(all, at);
}

/** Selects what a change made. */
async function make(method: string, params: object) {
  const change = await plan().change(method, params);
  const made = change?.created?.filter((id) => plan().node(id)) ?? [];
  // The fragment is elsewhere; what stands in the selection's place comes first.
  const created = method === "extract" ? made.slice(0, 1) : made;
  if (!created.length) return;
  plan().goTo(created[0]);
  plan().select(created, created[0]);
  // A new element has no result.
  if (formTab.value === "result") formTab.value = "form";
}

/** A place among the children of an element. */
export interface Place {
  parent: Id;
  index: number;
}

/** A type of element, and the nearest place where one may go. */
export interface Offer {
  kind: Insertable;
  place: Place;
  /** The element behind which it goes; nothing if it goes into the focused one. */
  behind: string | null;
}

/** What may be inserted: in the focused element, else behind it, else behind one above it. */
export async function offers(): Promise<Offer[]> {
  const { focus, id: opened } = plan();
  const above = [...plan().ancestors(focus.value), plan().node(focus.value)!].reverse();
  const answers = await callAll<Insertable[]>(above.map(({ id }) => ["palette", { plan: opened, parent: id }]));
  const found = new Map<string, Offer>();
  answers.forEach((kinds, level) => {
    const [holder, child] = [above[level], above[level - 1]];
    const place = { parent: holder.id, index: child ? holder.children.indexOf(child.id) + 1 : holder.children.length };
    for (const kind of kinds) {
      const key = `${kind.class} ${kind.type}`;
      if (!found.has(key)) found.set(key, { kind, place, behind: child ? child.name || child.type : null });
    }
  });
  const groupOf = ({ behind, kind }: Offer) => behind ?? kind.category;
  const groups = [...new Set([...found.values()].map(groupOf))];
  return [...found.values()].sort((a, b) => groups.indexOf(groupOf(a)) - groups.indexOf(groupOf(b)) || rank(a.kind) - rank(b.kind));
}

/** What is inserted most often comes first, and plugins come last. */
const rank = ({ class: name, type }: Insertable) => (name.includes(".") ? 2 : QUICK.some(([, title]) => title === type) ? 0 : 1);

export async function insert(element: Insertable, place: Place) {
  plan().fold([place.parent], true);
  await make("insert", { ...place, class: element.class });
}

/** Inserts a class of JMeter's quick keys. */
async function quickInsert(name: string, title: string) {
  const all = await offers();
  const offer = all.find(({ kind }) => kind.type === title) ?? all.find(({ kind }) => kind.class === name);
  if (offer) await insert(offer.kind, offer.place);
  else tell({ text: `No element above may hold ${title}`, bad: true });
}

export async function copyText(): Promise<string> {
  return (await call<{ text: string }>("copy", { plan: plan().id, ids: chosen() })).text;
}

export async function paste(clipboard: string) {
  const text = await pasted(clipboard);
  const cut = [...plan().cut.value];
  const node = plan().node(plan().focus.value)!;
  if (cut.length && text === cutText) {
    plan().cut.value = new Set();
    return move(cut, node.id, node.children.length);
  }
  plan().fold([node.id], true);
  await make("paste", { parent: node.id, index: node.children.length, text });
}

let cutText = "";

/** Marks the selection as moved by the next paste; other places may paste its text. */
export async function cutSelection(): Promise<string> {
  plan().cut.value = new Set(movable());
  cutText = await copyText();
  return cutText;
}

async function fromClipboard() {
  try {
    await paste(await navigator.clipboard.readText());
  } catch {
    tell({ text: "The browser does not let the page read the clipboard", hint: "Press Ctrl+V in the tree", bad: true });
  }
}


async function save(saved: Plan) {
  await flush();
  if (saved.facts.readOnly) return tell({ text: `${saved.name} is read-only`, bad: true });
  await saved.settled();
  try {
    await call("save", { plan: saved.id });
    saved.dirty.value = false;
    tell({ text: `Saved ${saved.name}` });
  } catch (error) {
    if (error instanceof RpcError) tell({ text: error.message, hint: error.hint, bad: true });
  }
}

async function stepBack(method: "undo" | "redo") {
  await flush();
  const told = method === "undo" ? plan().canUndo.value : plan().canRedo.value;
  const change = await plan().change(method, {});
  if (!change) return;
  if (told) tell({ text: `${method === "undo" ? "Undone" : "Redone"}: ${told}` });
  const touched = change.created?.find((id) => plan().node(id));
  if (touched != null) plan().goTo(touched);
}

/** Goes to the next finding in the tree's order. */
function stepFinding(step: 1 | -1) {
  const found = sortedFindings(plan());
  if (!found.length) return tell({ text: "There are no findings" });
  const at = found.indexOf(lastFinding.value!);
  const next = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
  goToFinding(found[next]);
}

export const lastFinding = signal<Finding | null>(null);

export function goToFinding(finding: Finding) {
  lastFinding.value = finding;
  visit(finding.id, finding.property);
}

const RANK = { error: 0, warning: 1, advice: 2 };

/** Errors first, then in the order of the tree. */
export function sortedFindings(of: Plan): Finding[] {
  const order = of.order();
  const found = (of.findings.value ?? []).filter((finding) => order.has(finding.id));
  return [...found].sort((a, b) => RANK[a.severity] - RANK[b.severity] || order.get(a.id)! - order.get(b.id)!);
}

/** Runs the operations of a fix, in order. */
export async function fix(ops: Op[]) {
  for (const { op, ...params } of ops) if (!(await plan().change(op, params))) return;
}

const branch = (id: Id): Id[] => [id, ...(plan().node(id)?.children ?? []).flatMap(branch)];

function selectSameClass() {
  const name = plan().node(plan().focus.value)!.class;
  plan().select(plan().rows.value.map((row) => row.id).filter((id) => plan().node(id)!.class === name), plan().focus.value);
}

/** The panes that have the keyboard in turn. */
const PANES = ["#tree", "#form", "#dock"];

function stepPane(step: 1 | -1) {
  const panes = PANES.map((name) => document.querySelector<HTMLElement>(name)).filter((pane): pane is HTMLElement => pane != null);
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(at + step + panes.length) % panes.length] ?? panes[0];
  const first = next.matches("[tabindex]") ? next : next.querySelector<HTMLElement>("input:not([disabled]), textarea, select, [contenteditable=true], button:not([disabled]), [tabindex='0']");
  first?.focus();
}

function stepPlan(step: 1 | -1) {
  const at = plans.value.indexOf(plan());
  activate(plans.value[(at + step + plans.value.length) % plans.value.length]);
}

/** JMeter's classes for its keys Ctrl+0 to Ctrl+9 (`gui.quick_0` … in jmeter.properties). */
const QUICK: [string, string][] = [
  ["ThreadGroup", "Thread Group"],
  ["HTTPSamplerProxy", "HTTP Request"],
  ["RegexExtractor", "Regular Expression Extractor"],
  ["ResponseAssertion", "Response Assertion"],
  ["ConstantTimer", "Constant Timer"],
  ["TestAction", "Flow Control Action"],
  ["JSR223PostProcessor", "JSR223 PostProcessor"],
  ["JSR223PreProcessor", "JSR223 PreProcessor"],
  ["DebugSampler", "Debug Sampler"],
  ["ResultCollector", "View Results Tree"],
];

const canRun = hasPlan;

/** The nearest element of a category, from the focused one up. */
function nearest(category: string): Id | null {
  const { focus } = plan();
  return [...plan().ancestors(focus.value), plan().node(focus.value)].reverse().find((node) => node?.category === category)?.id ?? null;
}

const groupOf = () => nearest("Threads (Users)");

/** Runs the sampler at or above the focus; else the branch, the thread group or the plan. */
function runThis() {
  const node = plan().node(plan().focus.value)!;
  const sampler = nearest("Sampler");
  if (sampler != null) return start("this", sampler);
  if (groupOf() == null) return start("plan", null);
  return node.category === "Threads (Users)" ? start("group", node.id) : start("branch", node.id);
}

/** Lets the user go on that stands still, or begins to debug the thread group of the focus; without one, the plan. */
function debug(pace: Pace) {
  if (running.value?.halted) return goOn(pace);
  const group = groupOf();
  return group == null ? start("plan", null, pace) : start("group", group, pace);
}

const view = (tab: typeof formTab.value) => () => {
  formTab.value = tab;
};

export const ACTIONS: Action[] = [
  { id: "save", title: "Save", run: () => save(plan()), can: hasPlan },
  { id: "saveAll", title: "Save all plans", run: async () => { for (const each of plans.value) if (each.dirty.value) await save(each); }, can: hasPlan },
  { id: "open", title: "Open a plan…", run: () => (overlay.value = "files"), can: isAlone },
  { id: "templates", title: "New from a template…", run: openTemplates, can: () => isAlone() || hasPlan() },
  { id: "close", title: "Close the plan", run: () => closePlan(plan()), can: () => isAlone() && hasPlan() },
  { id: "revert", title: "Revert to the saved plan", run: () => revert(plan()), can: () => isAlone() && hasPlan() && plan().dirty.value },
  { id: "downloadPlan", title: "Download a copy of the plan", run: () => downloadPlan(plan()), can: hasPlan },
  { id: "downloadSelection", title: "Download the selection as a plan", run: () => downloadSelection(plan(), chosen()), can: hasMovable },
  { id: "copyNames", title: "Copy the names of all transactions and samplers", run: () => toClipboard(Promise.resolve(sampleNames(plan())), "Copied the names of transactions and samplers"), can: hasPlan },
  { id: "undo", title: "Undo", run: () => stepBack("undo"), can: () => hasPlan() && plan().canUndo.value != null },
  { id: "redo", title: "Redo", run: () => stepBack("redo"), can: () => hasPlan() && plan().canRedo.value != null },
  { id: "insert", title: "Insert an element here…", run: () => (overlay.value = "insert"), can: hasPlan },
  { id: "copy", title: "Copy", run: () => toClipboard(copyText(), `Copied ${counted(chosen().length, "element")} as JMX text`), can: hasPlan },
  { id: "cutOut", title: "Cut", run: () => toClipboard(cutSelection(), `Cut ${counted(movable().length, "element")}`), can: hasMovable },
  { id: "paste", title: "Paste JMX text, cURL, HAR or raw HTTP", run: fromClipboard, can: hasPlan },
  { id: "duplicate", title: "Duplicate", run: () => make("duplicate", { ids: movable() }), can: hasMovable },
  { id: "remove", title: "Remove", run: () => plan().change("remove", { ids: movable() }), can: hasMovable },
  { id: "rename", title: "Rename", run: () => (plan().renaming.value = plan().focus.value), can: hasPlan },
  { id: "toggle", title: "Enable or disable", run: toggle, can: hasPlan },
  { id: "wrap", title: "Insert a parent around the selection…", run: () => (overlay.value = "wrap"), can: hasMovable },
  { id: "unwrap", title: "Unwrap: replace the element by its children", run: () => make("unwrap", { id: plan().focus.value }), can: hasMovable },
  { id: "changeType", title: "Change the element's type…", run: () => (overlay.value = "type"), can: hasMovable },
  { id: "extract", title: "Extract into a Test Fragment", run: () => make("extract", { ids: movable() }), can: hasMovable },
  { id: "moveToFile", title: "Move into a new included plan…", run: () => moveToFile(plan(), movable(), make), can: hasMovable },
  { id: "moveUp", title: "Move up", run: () => moveBeside(-1), can: hasMovable },
  { id: "moveDown", title: "Move down", run: () => moveBeside(1), can: hasMovable },
  { id: "moveOut", title: "Move out of the parent", run: moveOut, can: hasMovable },
  { id: "moveIn", title: "Move into the element above", run: moveIn, can: hasMovable },
  { id: "runThis", title: "Run the selected element once", run: runThis, can: canRun },
  { id: "runToHere", title: "Run up to the selected element", run: () => start("to_here", plan().focus.value), can: () => canRun() && groupOf() != null },
  { id: "runBranch", title: "Run the branch once", run: () => start("branch", plan().focus.value), can: () => canRun() && groupOf() != null },
  { id: "runGroup", title: "Run the thread group once", run: () => start("group", groupOf()!), can: () => canRun() && groupOf() != null },
  { id: "runPlan", title: "Run the plan once", run: () => start("plan", null), can: canRun },
  { id: "runLoad", title: "Run the plan with its load…", run: () => startLoad(plan(), () => save(plan())), can: hasPlan },
  { id: "stopLoad", title: "Stop the run with load", run: stopLoad, can: () => loadOf(active.value) != null },
  { id: "record", title: "Record into this controller…", run: startRecording, can: canRecord },
  { id: "stopRecording", title: "Stop the recording", run: stopRecording, can: canStopRecording },
  { id: "breakpoint", title: "Set or clear a breakpoint", run: () => toggleBreakpoint(plan(), plan().focus.value), can: hasPlan },
  { id: "debug", title: "Debug: go to the next breakpoint", run: () => debug("run"), can: hasPlan },
  { id: "step", title: "Debug: step to the next element", run: () => debug("step"), can: hasPlan },
  { id: "stepSampler", title: "Debug: step to the next sampler", run: () => debug("sample"), can: hasPlan },
  { id: "stop", title: "Stop the run", run: stop, can: () => running.value != null },
  { id: "extractValue", title: "Extract the selected text of the response…", run: extractSelection, can: hasPlan },
  { id: "results", title: "Show results", run: () => showDock("results") },
  { id: "clear", title: "Clear the results", run: clear },
  { id: "find", title: "Search", run: () => { search.value = { isReplace: false, asked: search.value.asked + 1 }; showDock("search"); }, can: hasPlan },
  { id: "replace", title: "Search and replace", run: () => { search.value = { isReplace: true, asked: search.value.asked + 1 }; showDock("search"); }, can: hasPlan },
  { id: "resetFind", title: "Reset the filter of the tree", run: () => (plan().filter.value = ""), can: hasPlan },
  { id: "palette", title: "All actions", run: () => (overlay.value = "palette") },
  { id: "goToElement", title: "Go to an element…", run: () => (overlay.value = "nodes"), can: hasPlan },
  { id: "functions", title: "Function helper…", run: openFunctions, can: hasPlan },
  { id: "back", title: "Go back", run: () => plan().travel(-1), can: () => hasPlan() && plan().canGo.value.back },
  { id: "forward", title: "Go forward", run: () => plan().travel(1), can: () => hasPlan() && plan().canGo.value.forward },
  { id: "nextFinding", title: "Next finding", run: () => stepFinding(1), can: hasPlan },
  { id: "previousFinding", title: "Previous finding", run: () => stepFinding(-1), can: hasPlan },
  { id: "definition", title: "Go to the element that the field inherits from", run: goToDefinition, can: hasPlan },
  { id: "uses", title: "Show uses of the element's variables", run: view("uses"), can: hasPlan },
  { id: "result", title: "Show the element's last result", run: view("result"), can: hasPlan },
  { id: "xml", title: "Show the element's XML", run: view("xml"), can: hasPlan },
  { id: "form", title: "Show the element's form", run: view("form"), can: hasPlan },
  { id: "changes", title: "Show changes since the last commit, or from another file", run: () => (middle.value = middle.value === "changes" ? "element" : "changes"), can: hasPlan },
  { id: "conflict", title: "Resolve a conflict value by value", run: () => (middle.value = "conflict"), can: hasPlan },
  { id: "findings", title: "Show findings", run: () => showDock("findings") },
  { id: "variables", title: "Show variables in scope", run: () => showDock("variables") },
  { id: "dock", title: "Show or hide the side panel", run: () => (dock.value = { ...dock.value, isOpen: !dock.value.isOpen }) },
  { id: "expandAll", title: "Expand all", run: () => plan().fold(plan().nodes.keys(), true), can: hasPlan },
  { id: "collapseAll", title: "Collapse all", run: () => { plan().fold(plan().nodes.keys(), false); plan().select([plan().root], plan().root); }, can: hasPlan },
  { id: "expandBranch", title: "Expand the branch", run: () => plan().fold(branch(plan().focus.value), true), can: hasPlan },
  { id: "collapseBranch", title: "Collapse the branch", run: () => plan().fold(branch(plan().focus.value), false), can: hasPlan },
  { id: "selectAll", title: "Select all rows", run: () => plan().select(plan().rows.value.map((row) => row.id), plan().focus.value), can: hasPlan },
  { id: "selectSameClass", title: "Select all of the same class", run: selectSameClass, can: hasPlan },
  { id: "selectFindings", title: "Select all elements with findings", run: () => plan().select(plan().counts.value.keys(), plan().focus.value), can: hasPlan },
  { id: "classes", title: "Show classes or types in the tree", run: () => (showsClasses.value = !showsClasses.value) },
  { id: "nextPane", title: "Go to the next pane", run: () => stepPane(1) },
  { id: "previousPane", title: "Go to the previous pane", run: () => stepPane(-1) },
  { id: "nextPlan", title: "Show the next plan", run: () => stepPlan(1), can: () => plans.value.length > 1 },
  { id: "previousPlan", title: "Show the previous plan", run: () => stepPlan(-1), can: () => plans.value.length > 1 },
  { id: "theme", title: "Use the other colours", run: toggleTheme },
  { id: "help", title: "Keys and help", run: () => (overlay.value = "help") },
  ...QUICK.map(([name, title], digit): Action => ({ id: `quick${digit}`, title: `Add ${title}`, run: () => quickInsert(name, title), can: hasPlan })),
];

function goToDefinition() {
  const property = document.activeElement?.closest<HTMLElement>("[data-property]")?.dataset.property;
  const field = plan().element.value?.fields.find((each) => each.property === property);
  if (field?.effective) visit(field.effective.from, field.property);
  else tell({ text: "This field inherits no value from another element" });
}

export function run(id: string) {
  const action = ACTIONS.find((each) => each.id === id);
  if (action && (action.can?.() ?? true)) void action.run();
}
