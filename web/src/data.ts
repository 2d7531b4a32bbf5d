// The data that the program writes into the page. Times are in milliseconds unless the name says otherwise.

export interface Row {
  label: string;
  transaction: boolean;
  count: number;
  errors: number;
  mean: number;
  min: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
  rate: number;
  bytes: number;
  sentBytes: number;
  /** Means of name look-up, TCP, TLS, first byte, body. */
  phases: number[];
  apdex: number | null;
  /** From the intended start: count, median, 95th and 99th percentile, maximum. */
  response: [number, number, number, number, number] | null;
  curve: [number, number][];
  distribution: [number, number, number][];
  steps?: LabelSteps;
}

export interface LabelSteps {
  /** The number of each step since the Unix epoch, as the difference from the step before. */
  at: number[];
  count: number[];
  errors: number[];
  mean: number[];
  p50: number[];
  p95: number[];
  p99: number[];
}

type Column = (number | null)[];

export interface Steps {
  stepS: number;
  at: number[];
  count: number[];
  errors: number[];
  started: number[];
  intended: number[];
  users: number[];
  bytes: number[];
  sentBytes: number[];
  mean: Column;
  p50: Column;
  p90: Column;
  p95: Column;
  p99: Column;
  max: Column;
  /** Means of name look-up, TCP, TLS, first byte, body. */
  phases: Column[];
  codes: [string, number[]][];
  heat: { stepS: number; from: number; columns: number; lowest: number; rows: number; cells: [number, number, number][] };
}

export interface FailedSample {
  label: string;
  thread_name: string;
  start_ms: number;
  elapsed_ms: number;
  code: string;
  message: string;
  assertions: string[];
  url?: string;
  method?: string;
  request_headers?: string;
  request_body?: string;
  response_headers?: string;
  response_body?: string;
}

export interface ErrorKind {
  label: string;
  code: string;
  message: string;
  count: number;
  first?: FailedSample;
}

export interface Threshold {
  text: string;
  outcome: "ok" | "FAILED" | "not judged";
  value: number | null;
  limit: number;
  unit: string;
  /** The outcome in one sentence, without its word. */
  told: string;
}

export type Outcome = "PASSED" | "NOT JUDGED" | "FAILED";

export interface Reason {
  what: string;
  measured: string;
  remedy: string;
  spans_ms: [number, number][];
}

export interface Connections {
  opened: number;
  reused: number;
  handshakes_full: number;
  handshakes_resumed: number;
  closed_by_us: number;
  closed_by_peer: number;
}

/** Measurements of the load generator; every line has a value for each time. */
export interface HealthGroup {
  name: string;
  unit: string;
  at_ms: number[];
  lines: { name: string; values: (number | null)[] }[];
}

/** An agent of a run on several machines; times in milliseconds. */
export interface RunAgent {
  name: string;
  state: string;
  users: number;
  samples: number;
  late_ms: number | null;
  offset_ms: number | null;
  bound_ms: number | null;
  verdict: string | null;
}

/** Where the time of samples went, measured on those that were timed in all their parts. */
export interface TimeUse {
  samples: number;
  cpu_us: number | null;
  parts: { name: string; mean_us: number; is_own_work: boolean }[];
}

export interface Report {
  kind: "report";
  tool: string;
  name: string;
  plan: { path: string; sha256: string } | null;
  startedMs: number;
  endedMs: number;
  /** JMeter's `report_title`. */
  title: string | null;
  targets: string[];
  /** Set on the command line. */
  properties: [string, string][];
  /** The assumption behind a merge of runs. */
  merged: string | null;
  environment: [string, string][];
  verdict: { state: string; reasons: Reason[] } | null;
  thresholds: Threshold[];
  /** Whether the run passed its thresholds; null if it has none. */
  outcome: Outcome | null;
  connections: Connections | null;
  plannedUsers: [number, number][];
  marks: { at_ms: number; text: string }[];
  health: HealthGroup[];
  agents: RunAgent[];
  timeUse: TimeUse | null;
  satisfiedMs: number;
  toleratedMs: number;
  errors: ErrorKind[];
  total: Row;
  labels: Row[];
  steps: Steps;
  labelStepS: number;
}

export interface Difference {
  metric: string;
  unit: string;
  before: number;
  after: number;
  /** The relative change, if the first run has a value to relate it to. */
  change: number | null;
  /** Bounds of the 95 % interval of the relative change. */
  interval: [number, number] | null;
  /** The probability of such a difference by chance (Mann-Whitney), if windows could be compared. */
  chance: number | null;
  finding: "worse" | "better" | "same" | "unclear";
}

export interface ComparedLabel {
  label: string;
  transaction: boolean;
  finding: "worse" | "better" | "same" | "unclear" | "added" | "removed";
  before: number;
  after: number;
  differences: Difference[];
  curves: [[number, number][], [number, number][]];
}

export interface Comparison {
  kind: "comparison";
  tool: string;
  base: string;
  base_verdict: string | null;
  others: { name: string; finding: string; verdict: string | null; sentence: string; refusals: string[]; notes: string[]; total: ComparedLabel; labels: ComparedLabel[] }[];
}

/** A run that is under way; its numbers arrive later. */
export interface Live {
  kind: "live" | "debug";
}

/** Reads the numbers from the page. */
export function readPayload(): Promise<Report | Comparison | Live> {
  return unpack(document.getElementById("payload")?.textContent ?? "");
}

/** Unpacks base64 of deflated JSON. */
export async function unpack<T>(text: string): Promise<T> {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json() as Promise<T>;
}

/** A label's steps as columns for a chart; steps without samples are gaps. */
export function labelColumns(steps: LabelSteps, stepS: number) {
  const columns = { at: [] as number[], rate: [] as number[], errors: [] as number[], mean: [] as Column, p50: [] as Column, p95: [] as Column, p99: [] as Column };
  const empty = (at: number) => {
    columns.at.push(at * stepS);
    columns.rate.push(0);
    columns.errors.push(0);
    for (const name of ["mean", "p50", "p95", "p99"] as const) columns[name].push(null);
  };
  let at = 0;
  steps.at.forEach((distance, index) => {
    if (index > 0 && distance > 1) empty(at + 1);
    if (index > 0 && distance > 2) empty(at + distance - 1);
    at += distance;
    columns.at.push(at * stepS);
    columns.rate.push(steps.count[index] / stepS);
    columns.errors.push(steps.errors[index] / stepS);
    for (const name of ["mean", "p50", "p95", "p99"] as const) columns[name].push(steps[name][index]);
  });
  return columns;
}

const NOT_KNOWN = { min: NaN, p50: NaN, p90: NaN, p95: NaN, p99: NaN, p999: NaN, max: NaN, apdex: null };

/** Sums over the steps within a range, in seconds since the Unix epoch. */
function sums(at: number[], count: number[], errors: number[], mean: (number | null)[], stepS: number, [from, to]: [number, number]) {
  let [samples, failed, ms] = [0, 0, 0];
  at.forEach((second, index) => {
    if (second + stepS <= from || second > to) return;
    samples += count[index];
    failed += errors[index];
    ms += count[index] * (mean[index] ?? 0);
  });
  return { count: samples, errors: failed, mean: samples ? ms / samples : NaN, rate: samples / Math.max(to - from, stepS) };
}

/** A label within a range. Its percentiles are not known there. */
export function rowWithin(row: Row, report: Report, stretch: [number, number]): Row {
  if (!row.steps) return { ...row, ...NOT_KNOWN };
  let step = 0;
  const at = row.steps.at.map((distance) => (step += distance) * report.labelStepS);
  const { count, errors, mean } = row.steps;
  return { ...row, ...NOT_KNOWN, ...sums(at, count, errors, mean, report.labelStepS, stretch) };
}

/** All samples within a range. */
export function totalWithin(report: Report, stretch: [number, number]): Row {
  const { at, count, errors, mean, stepS } = report.steps;
  return { ...report.total, ...NOT_KNOWN, ...sums(at, count, errors, mean, stepS, stretch) };
}
