// The messages between the editor's page and the program, which owns the plan: docs/reference/edit.md.

import type { Step } from "./exchange";

/** Identifies an element while the plan is open. It outlives edits and is never used again. */
export type Id = number;

export interface Node {
  id: Id;
  parent: Id | null;
  children: Id[];
  class: string;
  /** The label that users of JMeter know, such as `HTTP Request`. */
  type: string;
  name: string;
  enabled: boolean;
  /** The title of JMeter's menu that lists such elements. */
  category: string;
  findings: { error: number; warning: number };
  runs: "native" | "java" | "skipped" | "refused" | null;
  /** Against the last commit of git, where the plan is in a repository. */
  git?: "added" | "changed" | null;
}

export interface Fix {
  title: string;
  ops: Op[];
}

export interface Finding {
  severity: "error" | "warning" | "advice";
  id: Id;
  property?: string | null;
  message: string;
  hint?: string | null;
  line: number;
  fixes?: Fix[];
}

export type Op = { op: string } & Record<string, unknown>;

export interface Choice {
  value: string;
  label: string;
}

export interface Column {
  property: string;
  label: string;
  kind: string;
  /** What a new row has. */
  default?: string | null;
  choices?: Choice[];
}

export interface Field {
  property: string;
  label: string;
  kind: string;
  language?: string;
  /** Nothing if the property is not in the file. */
  value: string | null;
  default: string | null;
  effective?: { value: string; from: Id; name: string } | null;
  choices?: Choice[];
  help?: string | null;
  section?: string | null;
  secret?: boolean;
  read_only?: boolean;
  table?: { columns: Column[]; rows: string[][] } | null;
  findings: Finding[];
  file?: { exists: boolean; path: string; first: string[] } | null;
}

export interface ElementView {
  node: Node;
  fields: Field[];
  xml: string;
  line: number;
  /** Whether nothing but the file tells the element's properties. */
  generic: boolean;
  help?: string | null;
  /** What Drumfire does differently from JMeter. */
  differs?: string | null;
}

export interface Change {
  revision: number;
  nodes: Node[];
  removed: Id[];
  created?: Id[];
  findings?: Finding[];
  dirty: boolean;
  can_undo: string | null;
  can_redo: string | null;
}

export interface OpenedPlan {
  plan: number;
  revision: number;
  root: Id;
  nodes: Node[];
  path: string;
  version: string | null;
  encoding: string | null;
  read_only: boolean;
  /** Why it can only be read, or why undo will not survive the end of the program. */
  note?: string | null;
  dirty: boolean;
  /** Whether a conflict waits for `resolve`. */
  conflict?: boolean;
  can_undo?: string | null;
  can_redo?: string | null;
}

export interface FileEntry {
  plan: number | null;
  path: string;
  name: string;
  dirty: boolean;
}

export interface Insertable {
  class: string;
  type: string;
  category: string;
}

export interface Hit {
  id: Id;
  property: string | null;
  before: string;
  after?: string;
  start: number;
  end: number;
}

export interface Hits {
  hits: Hit[];
  more: boolean;
}

export interface Variable {
  name: string;
  set_by: { id: Id; how: string }[];
  read_by: { id: Id; property: string | null }[];
  value?: string | null;
  never_set: boolean;
}

export interface Completion {
  insert: string;
  label: string;
  detail: string;
  start?: number | null;
  end?: number | null;
}

/** A setting that was changed here, and otherwise in the file. */
export interface Conflict {
  /** The names from the Test Plan down. */
  element: string;
  setting: string;
  ours: string;
  theirs: string;
  id: Id | null;
}

/** A setting that differs from another version of the plan. */
export interface ReviewChange {
  label: string;
  setting: string;
  property: string;
  before: string;
  after: string;
}

export interface ReviewElement {
  /** Nothing if the plan no longer has it. */
  id: Id | null;
  /** Its number in the other version; nothing if it is new. */
  old: number | null;
  path: string;
  level: number;
  name: string;
  type: string;
  category: string;
  /** Nothing if only elements below it differ. */
  marks: string[];
  from: string | null;
  changes: ReviewChange[];
  staged: boolean;
}

export interface Review {
  revision: number;
  against: string;
  stageable: boolean;
  elements: ReviewElement[];
}

/** A value in which the two sides of a conflict differ. */
export interface VersionItem {
  id: Id | null;
  element: string;
  type: string;
  setting: string;
  label: string;
  base: string;
  ours: string;
  theirs: string;
  /** The side that changed it, if only one did. */
  takes: string | null;
}

export interface Versions {
  revision: number;
  has_base: boolean;
  is_marked: boolean;
  items: VersionItem[];
}

/** What runs: one sampler, all up to an element, a branch, a thread group, or the plan; once, with one user. */
export type RunKind = "this" | "to_here" | "branch" | "group" | "plan";

export interface RunSample {
  /** From 1 within the run, or within its parent. */
  number: number;
  id: Id | null;
  iteration: number;
  thread: string;
  label: string;
  success: boolean;
  code: string;
  message: string;
  elapsed_us: number;
  latency_ms: number;
  connect_ms: number;
  sent_bytes: number;
  received_bytes: number;
  method: string;
  url: string;
  content_type: string;
  body_bytes: number;
  /** How many assertions failed. */
  assertions: number;
  children: RunSample[];
}

/** A user that stands still before an element. */
export interface RunHalt {
  id: Id | null;
  part: string;
  name: string;
  class: string;
  thread: string;
  variables: Record<string, string>;
}

/** How far a user goes: to a breakpoint, to the next element, to the next sampler. */
export type Pace = "run" | "step" | "sample";

export interface RunOutcome {
  ended: "done" | "stopped" | "failed";
  samples: number;
  failed: number;
  elapsed_ms: number;
  message?: string | null;
}

/** A part of a response's body: text, or bytes that are none. */
export interface BodyWindow {
  offset: number;
  /** Where the next part begins. */
  next: number;
  /** The bytes of the whole body. */
  size: number;
  text?: string | null;
  base64?: string | null;
}

export interface RunSampleDetail {
  sample: RunSample;
  request: { headers: string; cookies: string; body: string; curl?: string | null };
  response: { headers: string; content_type: string; is_binary: boolean; body: BodyWindow };
  assertions: { name: string; fault?: string | null }[];
  steps: Step[];
  before: Record<string, string>;
  variables: Record<string, string>;
}

/** An extractor that yields a text of a response. */
export interface RunProposal {
  kind: string;
  expression: string;
  /** Which of the matches it yields, from 1. */
  number: number;
  matches: number;
  cost_us: number;
  /** The variable. */
  name: string;
  /** Text of a plan. */
  element: string;
  /** The texts that it yields from the stored responses of the sampler. */
  found: { run: number; number: number; value?: string | null }[];
}

export interface RunProposals {
  proposals: RunProposal[];
  /** The values that the plan sends later: the text, if it does, and those under the names of the proposals. */
  sent: { value: string; uses: { id: Id; property: string; count: number }[] }[];
}

export interface FunctionEntry {
  name: string;
  about: string;
  differs: string;
  plugin: boolean;
  java: boolean;
  effect: string;
  parameters: { label: string; required: boolean }[];
  /** Whether the last parameter may be repeated. */
  repeats: boolean;
}

/** A call in a text, its arguments as a user means them. */
export interface FunctionCall {
  start: number;
  end: number;
  name: string;
  arguments: string[];
  nested: boolean;
  nested_behind: boolean;
}

export interface FunctionPlace {
  call: FunctionCall | null;
  nested: boolean;
}

export interface Evaluation {
  text: string;
  samples: string[];
  fault: string | null;
  /** Whether the text is wrong, and not only not evaluated. */
  wrong: boolean;
  run: number | null;
  variables: Record<string, string | null>;
}

export interface TemplateEntry {
  name: string;
  about: string;
  /** Whether it is one of the user's JMeter. */
  user: boolean;
  /** Whether it makes elements that go into a plan. */
  part: boolean;
  /** JMeter's name for a template of the same kind. */
  like: string;
  needs: string;
  parameters: { name: string; about: string; value: string }[];
}

export interface ConditionRow {
  variable: string;
  operator: string;
  value: string;
}

export interface Condition {
  all: boolean;
  rows: ConditionRow[];
}

/** The code of an error whose request was made for an older revision, and does not fit the newest one. */
export const STALE = -32001;
export const METHOD_NOT_FOUND = -32601;
