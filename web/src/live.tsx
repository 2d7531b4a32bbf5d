// A run that is under way: the sum so far, new seconds as they arrive, and the orders that steer the run. At the end it becomes
// the report.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart, type Line } from "./chart";
import { unpack, type ErrorKind, type Report, type Row, type Steps } from "./data";
import { Errors } from "./errors";
import { bytes, clock, count, duration, elapsed, percent, short, time } from "./format";
import { Generator } from "./generator";
import { ReportPage } from "./report";
import { LabelTable } from "./table";
import { Header, useTheme } from "./theme";
import { Thresholds } from "./thresholds";
import { Verdict, spoiltStretches } from "./verdict";

interface Standing {
  phase: "starting" | "running" | "paused" | "stopping" | "ended";
  elapsed_ms: number;
  planned_ms: number | null;
  planned_users: number;
  active: number;
  started: number;
  finished: number;
  rate: number;
}

interface Standings {
  standing: Standing;
  groups: { name: string; active: number }[];
  readonly: boolean;
}

interface Second {
  at: number;
  endedMs: number;
  count: number;
  errors: number;
  users: number;
  bytes: number;
  sentBytes: number;
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  codes: [string, number][];
  starts: [number, number, number][];
  connections: Report["connections"];
  total: Row;
  rows: Row[];
}

type Facts = Pick<Report, "verdict" | "thresholds" | "health" | "agents">;

/** The most steps on the page. Beyond this, the page requests the sum again, which has fewer and longer steps. */
const MOST_STEPS = 1500;

/** Adds the token from the page's own URL to each request. */
const address = (path: string) => `api/${path}${location.search}`;

type Link = "connecting" | "open" | "lost" | "ended";

/** The data of the page. It is requested again when the connection was lost. */
function useRun() {
  const [report, setReport] = useState<Report | null>(null);
  const [finished, setFinished] = useState<Report | null>(null);
  const [standings, setStandings] = useState<Standings | null>(null);
  const [link, setLink] = useState<Link>("connecting");
  const [attempt, setAttempt] = useState(0);
  const steps = report?.steps.at.length ?? 0;
  useEffect(() => {
    const source = new EventSource(address("events"));
    const on = <T,>(name: string, take: (content: T) => void) => source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
    on<Report>("state", (state) => {
      setReport(state);
      setLink("open");
      document.documentElement.dataset.ready = "true";
    });
    on<Second>("second", (second) => setReport((now) => now && withSecond(now, second)));
    on<Report["marks"][0]>("mark", (mark) => setReport((now) => now && { ...now, marks: [...now.marks, mark] }));
    on<ErrorKind[]>("errors", (kinds) => setReport((now) => now && { ...now, errors: withFirsts(now.errors, kinds) }));
    on<Facts>("facts", (facts) => setReport((now) => now && { ...now, ...facts }));
    on<Standings>("standing", setStandings);
    on<string>("ended", (payload) => {
      source.close();
      setLink("ended");
      if (payload) unpack<Report>(payload).then(setFinished);
    });
    // The browser reconnects on its own; the server then starts with the sum.
    source.onerror = () => setLink((now) => (now === "ended" ? now : "lost"));
    return () => source.close();
  }, [attempt]);
  useEffect(() => {
    if (steps > MOST_STEPS) setAttempt((now) => now + 1);
  }, [steps > MOST_STEPS]);
  return { report, finished, standings, link };
}

/** Combines new kinds with the known first samples: the server sends the first sample of a kind only once. */
function withFirsts(known: ErrorKind[], kinds: ErrorKind[]): ErrorKind[] {
  const key = (kind: ErrorKind) => [kind.label, kind.code, kind.message].join("\0");
  const firsts = new Map(known.map((kind) => [key(kind), kind.first]));
  return kinds.map((kind) => ({ ...kind, first: kind.first ?? firsts.get(key(kind)) }));
}

/** The report with an additional second. */
function withSecond(report: Report, second: Second): Report {
  const rows = new Map(second.rows.map((row) => [`${row.transaction}${row.label}`, row]));
  const labels = report.labels.map((row) => {
    const key = `${row.transaction}${row.label}`;
    const newer = rows.get(key);
    rows.delete(key);
    return newer ? { ...newer, curve: row.curve, distribution: row.distribution, steps: row.steps } : row;
  });
  return {
    ...report,
    endedMs: second.endedMs,
    connections: second.connections,
    total: { ...second.total, curve: report.total.curve, distribution: report.total.distribution },
    labels: [...labels, ...rows.values()],
    steps: withStep(report.steps, second),
  };
}

const NAMES = ["count", "errors", "users", "bytes", "sentBytes", "mean", "p50", "p90", "p95", "p99", "max"] as const;

/** Adds a second as a step of its own, even if earlier steps are longer: its rates are per second. Late samples of a second
 * that is already there appear in the numbers when the sum is requested again. */
function withStep(steps: Steps, second: Second): Steps {
  const last = steps.at.length - 1;
  if (last >= 0 && second.at <= steps.at[last]) return steps;
  const next: Steps = { ...steps, at: [...steps.at, second.at] };
  const factor: Record<string, number> = { count: steps.stepS, errors: steps.stepS, bytes: steps.stepS, sentBytes: steps.stepS };
  for (const name of NAMES) {
    const value = second[name];
    (next[name] as (number | null)[]) = [...steps[name], value == null ? null : value * (factor[name] ?? 1)];
  }
  const started = second.starts.find(([at]) => at === second.at);
  next.started = [...steps.started, (started?.[1] ?? 0) * steps.stepS];
  next.intended = [...steps.intended, (started?.[2] ?? 0) * steps.stepS];
  return next;
}

export function LivePage() {
  const { report, finished, standings, link } = useRun();
  if (finished) return <ReportPage report={finished} />;
  if (!report) return <p class="note quiet">{link === "lost" ? "The run does not answer. It has ended, or the address lacks its token." : "Connecting to the run…"}</p>;
  return <LiveReport report={report} standings={standings} link={link} />;
}

function LiveReport({ report, standings, link }: { report: Report; standings: Standings | null; link: Link }) {
  const [theme, toggle] = useTheme();
  const [chosen, setChosen] = useState<Row | null>(null);
  const standing = standings?.standing;
  const sections: [string, string][] = [
    ["summary", "Summary"],
    ["control", "Control"],
    ["time", "Over time"],
    ["labels", "Labels"],
    ["errors", "Errors"],
    ["generator", "Load generator"],
  ];
  if (report.thresholds.length > 0) sections.splice(2, 0, ["thresholds", "Thresholds"]);
  const shownRow = chosen && (report.labels.find((row) => row.label === chosen.label && row.transaction === chosen.transaction) ?? null);
  return (
    <>
      <Header name={report.name} detail={[clock(report.startedMs), standing ? stood(standing) : ""].filter(Boolean).join(" · ")} theme={theme} toggle={toggle} sections={sections} />
      <main class="live">
        <LinkState link={link} />
        <section id="summary" aria-label="Summary">
          <Verdict report={report} />
          <Tiles report={report} standing={standing} />
        </section>
        <section id="control">
          <h2>Control</h2>
          {standings && <Control standings={standings} />}
          <Marks report={report} />
        </section>
        {report.thresholds.length > 0 && (
          <section id="thresholds">
            <h2>Thresholds</h2>
            <Thresholds thresholds={report.thresholds} />
          </section>
        )}
        <LiveCharts report={report} theme={theme} />
        <section id="labels">
          <h2>Labels</h2>
          <LabelTable report={report} chosen={shownRow} choose={setChosen} stretch={null} />
        </section>
        <section id="errors">
          <h2>Errors</h2>
          <Errors report={report} chosen={shownRow} />
        </section>
        <section id="generator">
          <h2>Load generator</h2>
          <Generator report={report} theme={theme} />
        </section>
      </main>
      <footer>
        <p>{report.tool}. This page follows the run and becomes its report when it ends. Percentiles are those of all samples up to now.</p>
      </footer>
    </>
  );
}

const PHASES = { starting: "starting", running: "running", paused: "paused", stopping: "ending", ended: "ended" };

function stood(standing: Standing): string {
  const planned = standing.planned_ms ? ` of ${elapsed(standing.planned_ms / 1000)}` : "";
  return `${PHASES[standing.phase]}, ${elapsed(standing.elapsed_ms / 1000)}${planned}`;
}

function LinkState({ link }: { link: Link }) {
  if (link === "open" || link === "connecting") return null;
  return (
    <p class="verdict degraded" role="status" id="link">
      {link === "lost" ? "The run does not answer. These are its last numbers; the page tries again." : "The run has ended. Its report is being made."}
    </p>
  );
}

function Tiles({ report, standing }: { report: Report; standing?: Standing }) {
  const { total, steps } = report;
  const last = steps.at.length - 1;
  const now = (values: (number | null)[]) => (last >= 0 ? (values[last] ?? 0) : 0);
  const share = total.count ? total.errors / total.count : 0;
  const known = (ms: number) => (total.count ? ms : null);
  const planned = standing?.planned_users ? `of ${count(standing.planned_users)} planned` : "running now";
  const tiles: [string, string, string, string?][] = [
    ["Users", count(standing?.active ?? now(steps.users)), planned],
    ["Rate", `${short(now(steps.count) / steps.stepS)}/s`, `${short(total.rate)}/s on average`],
    ["Samples", count(total.count), `in ${duration((standing?.elapsed_ms ?? 0) / 1000)}`],
    ["Failed", total.count ? percent(share) : "–", `${count(total.errors)} samples`, total.errors > 0 ? "bad" : total.count ? "good" : ""],
    ["Median", time(known(total.p50)), `last second ${time(steps.p50[last])}`],
    ["95th", time(known(total.p95)), `last second ${time(steps.p95[last])}`],
    ["99th", time(known(total.p99)), `last second ${time(steps.p99[last])}`],
    ["Received", bytes(total.bytes), `sent ${bytes(total.sentBytes)}`],
  ];
  return (
    <dl class="tiles" id="tiles">
      {tiles.map(([name, value, detail, kind]) => (
        <div class={`card tile ${kind ?? ""}`}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Marks({ report }: { report: Report }) {
  const latest = report.marks.slice(-6).reverse();
  if (latest.length === 0) return null;
  return (
    <ul class="marks" id="marks" aria-label="What happened">
      {latest.map((mark) => (
        <li>
          <span class="when">{elapsed((mark.at_ms - report.startedMs) / 1000)}</span> {mark.text}
        </li>
      ))}
    </ul>
  );
}

const line = (name: string, values: (number | null)[], colour: number, more: Partial<Line> = {}): Line => ({ name, values, colour, ...more });

function LiveCharts({ report, theme }: { report: Report; theme: string }) {
  const { steps } = report;
  const charts = useMemo(() => {
    const perSecond = (values: number[]) => values.map((value) => value / steps.stepS);
    return {
      times: [line("median", steps.p50, 0), line("95th", steps.p95, 2), line("99th", steps.p99, 3)],
      rate: [line("completed", perSecond(steps.count), 0, { filled: true }), line("failed", perSecond(steps.errors), 3)],
      users: [line("users", steps.users, 1, { filled: true })],
    };
  }, [steps, theme]);
  const marks = useMemo(() => report.marks.map((mark) => ({ at: mark.at_ms / 1000, text: mark.text })), [report.marks]);
  const stretches = useMemo(() => spoiltStretches(report), [report.verdict]);
  const common = { x: steps.at, from: report.startedMs / 1000, marks, stretches, live: true };
  return (
    <section id="time">
      <h2>Over time</h2>
      <div class="charts">
        <Chart id="chart-times" title="Response time percentiles" hint="Of the samples that ended in each second" lines={charts.times} value={time} {...common} />
        <Chart id="chart-rate" title="Rate" hint="Samples a second" lines={charts.rate} value={short} {...common} />
        <Chart id="chart-users" title="Users" hint="Running at a time" lines={charts.users} value={short} {...common} />
      </div>
    </section>
  );
}

/** Sends an order. Returns why it was refused; empty if it was accepted. */
async function order(name: string, body: object = {}): Promise<string> {
  try {
    const answer = await fetch(address(name), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return answer.ok ? "" : ((await answer.json()) as { error: string }).error;
  } catch {
    return "The run does not answer.";
  }
}

function Control({ standings: { standing, groups, readonly } }: { standings: Standings }) {
  const [told, setTold] = useState("");
  const give = (name: string, body?: object) => order(name, body).then((why) => setTold(why));
  if (readonly) return <p class="card quiet">This page cannot control the run.</p>;
  const isOver = standing.phase === "stopping" || standing.phase === "ended";
  const isPaused = standing.phase === "paused";
  return (
    <div class="card control">
      <div class="orders">
        <button type="button" class="order" disabled={isOver} onClick={() => give(isPaused ? "resume" : "pause")}>
          {isPaused ? "Resume" : "Pause"}
        </button>
        <Sure text="Stop" hint="Users finish their sample" disabled={standing.phase === "ended" || isOver} act={() => give("stop")} />
        <Sure text="Stop now" hint="Samples are aborted" disabled={standing.phase === "ended"} act={() => give("stop-now")} />
        <Field label="Rate factor" action="Change rate" value={short(standing.rate)} set={(text) => give("rate", { factor: Number(text) })} />
        <Field label="Mark" action="Add mark" value="" placeholder="what happened" wide set={(text) => text && give("mark", { text })} />
      </div>
      <div class="orders">
        {groups.map((group) => (
          <Field label={`Users of ${group.name}`} action="Change users" now={count(group.active)} value={String(group.active)} set={(text) => give("users", { group: group.name, users: Number(text) })} />
        ))}
      </div>
      <p class="told" role="status">
        {told}
      </p>
    </div>
  );
}

/** A button that must be pressed twice, so that a slip does not end a run. */
function Sure({ text, hint, disabled, act }: { text: string; hint: string; disabled: boolean; act: () => void }) {
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    if (!asked) return;
    const timer = setTimeout(() => setAsked(false), 4000);
    return () => clearTimeout(timer);
  }, [asked]);
  return (
    <button type="button" class={`order ${asked ? "sure" : ""}`} title={hint} disabled={disabled} onClick={() => (asked ? (setAsked(false), act()) : setAsked(true))}>
      {asked ? `${text}: sure?` : text}
    </button>
  );
}

/** A value to change. The user's input stays while the run goes on. */
function Field(props: { label: string; action: string; value: string; now?: string; placeholder?: string; wide?: boolean; set: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        props.set((typed ?? props.value).trim());
        setTyped(null);
        input.current?.blur();
      }}
    >
      <label>
        {props.label} {props.now != null && <b>{props.now}</b>}
        <input ref={input} class={props.wide ? "wide" : ""} value={typed ?? props.value} placeholder={props.placeholder} onInput={(event) => setTyped(event.currentTarget.value)} onBlur={() => typed === "" && setTyped(null)} />
      </label>
      <button type="submit" class="order" aria-label={`${props.action}: ${props.label}`}>
        {props.action}
      </button>
    </form>
  );
}
