// The data that the program writes into the page. Times are in milliseconds unless the name says otherwise.

/** Count, median, 95th and 99th percentile, maximum. */
export type Times = [number, number, number, number, number];

/** The numbers of a row that have intervals. */
export type IntervalName = "p50" | "p90" | "p95" | "p99" | "p999" | "mean" | "rate";

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
  /** How much of the median, the 95th and the 99th percentile passed in the generator; null if the kernel does not tell, missing on
   * a live page. */
  own?: [number, number, number] | null;
  /** Of the samples with an intended start, times from it: count, median, 95th and 99th percentile, maximum. */
  response: Times | null;
  /** Of the same samples, service times; null in run files of earlier versions. */
  scheduled: Times | null;
  /** Of streamed responses; missing without them. */
  stream?: Stream;
  /** Bounds of the 95 % intervals of numbers, by their names; an upper bound is null if too few samples are larger. */
  intervals?: Partial<Record<IntervalName, [number, number | null]>>;
  curve: [number, number][];
  distribution: [number, number, number][];
  steps?: LabelSteps;
  /** Times by period: for each the distance to the one before, the number of buckets, and for each bucket the distance to the one
   * before and its count. Bucket n begins at 2^(n/16) µs. */
  periods?: number[];
}

/** A distribution of times within streamed responses. */
export interface StreamTimes {
  count: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
  max_ms: number;
}

export interface Stream {
  events: number;
  tokens: number;
  /** Null without events. */
  first_event: StreamTimes | null;
  /** Times between events; null if no response had two. */
  gap: StreamTimes | null;
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
  /** Starts of samples that have an intended start. */
  scheduled: number[];
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
  /** Absent in run files of earlier versions. */
  curve?: ErrorCurve;
}

/** When errors ended. */
export interface ErrorCurve {
  firstMs: number;
  lastMs: number;
  stepS: number;
  /** The number of each step since the Unix epoch, as the difference from the step before; empty for rare kinds. */
  at: number[];
  count: number[];
}

export interface CapacityLevel {
  rate: number;
  reached: number;
  holds: boolean;
  outcome: string;
  values: string[];
  /** Median, 95th percentile, failed samples in per cent. */
  measured: [number, number, number] | null;
  span_ms: [number, number];
}

/** What a search for the target's capacity found. Rates are iterations a second. */
export interface Capacity {
  answer: string;
  until: string;
  limits_ms: number[];
  held: number | null;
  broken: number | null;
  levels: CapacityLevel[];
}

export interface Threshold {
  text: string;
  outcome: "ok" | "FAILED" | "not judged";
  value: number | null;
  limit: number;
  unit: string;
  /** The outcome in one sentence, without its word. */
  told: string;
  /** The outcome for people who have not written the threshold; empty in run files of earlier versions. */
  statement: string;
}

/** Something to look at first, as the program found it. */
export interface Finding {
  kind: string;
  text: string;
  evidence: string;
  /** The label, and whether it is a transaction. */
  label: [string, boolean] | null;
  span_ms: [number, number] | null;
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

/** A number in each run of a repeated run. */
export interface RepeatedNumber {
  name: string;
  values: number[];
  median: number;
  low: number;
  high: number;
  differs: boolean;
}

/** The parts of an elapsed time in milliseconds; `server_ms` is null if no server named its own time. */
export interface TimeParts {
  generator_ms: number;
  connect_ms: number;
  tls_ms: number;
  server_ms: number | null;
  wait_ms: number;
  transfer_ms: number;
}

/** The traced samples of a label. */
export interface TracedLabel {
  label: string;
  slowest_percent: { samples: number; of: number; elapsed_ms: number; parts: TimeParts };
  server_timing: { name: string; samples: number; mean_ms: number; max_ms: number }[];
}

/** A slow sample with its trace. */
export interface SlowTrace {
  label: string;
  trace_id: string;
  link: string | null;
  start_ms: number;
  elapsed_ms: number;
  code: string;
  parts: TimeParts;
  server_timing: [string, number][];
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
  /** How much of the times passed in the generator, in a sentence. */
  ownPart?: string | null;
  /** Whether servers counted as many requests as were sent, a sentence each. */
  counts?: string[];
  thresholds: Threshold[];
  /** Whether the run passed its thresholds; null if it has none. */
  outcome: Outcome | null;
  connections: Connections | null;
  plannedUsers: [number, number][];
  marks: { at_ms: number; text: string }[];
  health: HealthGroup[];
  agents: RunAgent[];
  timeUse: TimeUse | null;
  capacity: Capacity | null;
  satisfiedMs: number;
  toleratedMs: number;
  errors: ErrorKind[];
  findings: Finding[];
  /** The part that the statistics leave out, in one sentence without its end. */
  leftOut?: string;
  /** How exactly the 95th percentile is known, in one sentence. */
  runLength: string | null;
  /** How the runs of a repeated run differ. */
  repeats?: { runs: number; numbers: RepeatedNumber[]; sentence: string } | null;
  /** The findings of tracing (`--trace`). */
  traces?: { total: TracedLabel; labels: TracedLabel[]; slowest: SlowTrace[] };
  total: Row;
  labels: Row[];
  steps: Steps;
  labelStepS: number;
  /** The length of the periods of all rows, in seconds. */
  periodS: number;
}

/** Whether the page was made from a result file, which describes neither the machine nor the plan. */
export const isResultFile = (report: Report) => report.environment.length === 0 && !report.plan;

export interface Difference {
  metric: string;
  unit: string;
  before: number;
  after: number;
  /** Bounds of the 95 % intervals of both values; an upper bound is null if too few samples are larger. */
  bounds: [[number, number | null], [number, number | null]] | null;
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
  /** Of both runs: seconds since the start, 95th percentile, samples a second. */
  over_time: [[number, number | null, number][], [number, number | null, number][]];
}

export interface ComparedRun {
  name: string;
  finding: string;
  verdict: string | null;
  sentence: string;
  refusals: string[];
  notes: string[];
  differs: { what: string; before: string; after: string }[];
  thresholds: { text: string; before: Threshold | null; after: Threshold | null }[];
  errors: { code: string; message: string; before: number; after: number }[];
  total: ComparedLabel;
  labels: ComparedLabel[];
}

export interface Comparison {
  kind: "comparison";
  tool: string;
  base: string;
  base_verdict: string | null;
  others: ComparedRun[];
}

/** A run that is under way; its numbers arrive later. */
export interface Live {
  kind: "live";
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

/** Rates from counts of steps. The run covers only a part of its first and its last step: such a step has the rate of that part, or
 * none if the part is too short to tell. */
export function perSecond(report: Report, at: number[], values: number[], stepS: number): Column {
  const [from, to] = [report.startedMs / 1000, report.endedMs / 1000];
  return values.map((value, index) => {
    const covered = Math.min(at[index] + stepS, to) - Math.max(at[index], from);
    if (values.length > 1 && covered < stepS / 2) return null;
    return value / Math.max(Math.min(covered, stepS), 0.001);
  });
}

/** A label's steps as columns for a chart; steps without samples are gaps. */
export function labelColumns(report: Report, steps: LabelSteps) {
  const stepS = report.labelStepS;
  const columns = { at: [] as number[], count: [] as number[], failed: [] as number[], mean: [] as Column, p50: [] as Column, p95: [] as Column, p99: [] as Column };
  const empty = (at: number) => {
    columns.at.push(at * stepS);
    columns.count.push(0);
    columns.failed.push(0);
    for (const name of ["mean", "p50", "p95", "p99"] as const) columns[name].push(null);
  };
  let at = 0;
  steps.at.forEach((distance, index) => {
    if (index > 0 && distance > 1) empty(at + 1);
    if (index > 0 && distance > 2) empty(at + distance - 1);
    at += distance;
    columns.at.push(at * stepS);
    columns.count.push(steps.count[index]);
    columns.failed.push(steps.errors[index]);
    for (const name of ["mean", "p50", "p95", "p99"] as const) columns[name].push(steps[name][index]);
  });
  const rates = (values: number[]) => perSecond(report, columns.at, values, stepS);
  return { ...columns, rate: rates(columns.count), errors: rates(columns.failed) };
}

const NOT_KNOWN = { min: NaN, max: NaN, apdex: null, intervals: undefined };

/** The bounds of a bucket in milliseconds. */
const edge = (bucket: number) => 2 ** (bucket / 16) / 1000;

/** The counts of a row's buckets in the periods whose middle is within a range. */
function bucketsWithin(row: Row, periodS: number, [from, to]: [number, number]): Map<number, number> {
  const counts = new Map<number, number>();
  const list = row.periods ?? [];
  let [place, period] = [0, 0];
  while (place < list.length) {
    period += list[place];
    const middle = (period + 0.5) * periodS;
    const end = place + 2 + 2 * list[place + 1];
    let bucket = 0;
    for (place += 2; place < end; place += 2) {
      bucket += list[place];
      if (middle >= from && middle <= to) counts.set(bucket, (counts.get(bucket) ?? 0) + list[place + 1]);
    }
  }
  return counts;
}

const CURVE = [0, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 85, 90, 91, 92, 93, 94, 95, 96, 97, 98, 98.5, 99, 99.25, 99.5, 99.75, 99.9, 99.95, 99.975, 99.99, 99.999, 100];

/** Percentiles, curve and distribution of counted buckets. */
function timesOf(counts: Map<number, number>) {
  const sorted = [...counts].sort((a, b) => a[0] - b[0]);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  const percentile = (percent: number): number => {
    let wanted = (percent / 100) * all;
    for (const [bucket, count] of sorted) {
      if (wanted <= count) return edge(bucket) + (edge(bucket + 1) - edge(bucket)) * (wanted / count);
      wanted -= count;
    }
    return sorted.length ? edge(sorted[sorted.length - 1][0] + 1) : NaN;
  };
  const bars = new Map<number, number>();
  for (const [bucket, count] of sorted) bars.set(Math.floor(bucket / 4), (bars.get(Math.floor(bucket / 4)) ?? 0) + count);
  return {
    p50: percentile(50),
    p90: percentile(90),
    p95: percentile(95),
    p99: percentile(99),
    p999: percentile(99.9),
    curve: all ? CURVE.map((percent): [number, number] => [percent, percentile(percent)]) : [],
    distribution: [...bars].map(([bar, count]): [number, number, number] => [edge(bar * 4), edge(bar * 4 + 4), count]),
  };
}

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

/** A label within a range: its percentiles are those of the periods in it. */
export function rowWithin(row: Row, report: Report, stretch: [number, number]): Row {
  const times = timesOf(bucketsWithin(row, report.periodS, stretch));
  if (!row.steps) return { ...row, ...NOT_KNOWN, ...times };
  let step = 0;
  const at = row.steps.at.map((distance) => (step += distance) * report.labelStepS);
  const { count, errors, mean } = row.steps;
  return { ...row, ...NOT_KNOWN, ...times, ...sums(at, count, errors, mean, report.labelStepS, stretch) };
}

/** All samples within a range. */
export function totalWithin(report: Report, stretch: [number, number]): Row {
  const { at, count, errors, mean, stepS } = report.steps;
  const counts = new Map<number, number>();
  for (const row of report.labels.filter((row) => !row.transaction)) {
    for (const [bucket, count] of bucketsWithin(row, report.periodS, stretch)) counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  }
  return { ...report.total, ...NOT_KNOWN, ...timesOf(counts), ...sums(at, count, errors, mean, stepS, stretch) };
}
