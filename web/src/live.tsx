// A run that is under way: the sum so far, new seconds as they arrive, and the orders that steer the run. At the end it becomes
// the report.

import { useEffect, useRef, useState } from "preact/hooks";
import { LabelCharts, RunCharts } from "./charts";
import { unpack, type ErrorKind, type Report, type Row, type Steps } from "./data";
import { Errors } from "./errors";
import { bytes, clock, count, duration, elapsed, percent, percentileOf, short, time } from "./format";
import { Generator } from "./generator";
import { Overlay, useStretch } from "./overlay";
import { useChosen } from "./place";
import { ReportPage, Streams } from "./report";
import { savePage } from "./save";
import { LabelTable } from "./table";
import { Header, useTheme } from "./theme";
import { Thresholds } from "./thresholds";
import { Verdict } from "./verdict";

interface Standing {
  phase: "starting" | "running" | "paused" | "stopping" | "ended";
  elapsed_ms: number;
  planned_ms: number | null;
  planned_users: number;
  active: number;
  started: number;
  finished: number;
  rate: number;
  has_rates: boolean;
}

interface Group {
  name: string;
  active: number;
  planned: number;
  ordered: number | null;
  has_arrivals: boolean;
}

interface Standings {
  standing: Standing;
  groups: Group[];
  readonly: boolean;
  run_file: string | null;
  /** Whether the program waits after the run until the page is closed. */
  stays: boolean;
  files: string[];
}

/** A label's numbers as a list, as `LiveRow` of the program describes it. */
type RowList = [string, boolean, number, number, [number, number, number, number, number, number, number, number, number], [number, number], number[], number | null, [Row["response"], Row["scheduled"]], Row["stream"] | null];

/** The row with numbers from a list. Curve and distribution stay as they were. */
function rowOf(list: RowList, known?: Row): Row {
  const [label, transaction, count, errors, [mean, min, p50, p90, p95, p99, p999, max, rate], [bytes, sentBytes], phases, apdex, [response, scheduled], stream] = list;
  const { curve = [], distribution = [], steps } = known ?? {};
  return { label, transaction, count, errors, mean, min, p50, p90, p95, p99, p999, max, rate, bytes, sentBytes, phases, apdex, response, scheduled, ...(stream && { stream }), curve, distribution, steps };
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
  phases: (number | null)[];
  heat: [number, number][];
  starts: [number, number, number, number][];
  connections: Report["connections"];
  total: Row;
  rows: RowList[];
}

/** Health is absent if it is not due. */
type Facts = Partial<Pick<Report, "health">> & Pick<Report, "verdict" | "thresholds" | "agents">;

/** The most steps on the page. Beyond this, the page requests the sum again, which has fewer and longer steps. */
const MOST_STEPS = 1500;

/** Adds the token from the page's own URL to each request. */
const address = (path: string) => `api/${path}${location.search}`;

/** How the page is connected: `silent` if the connection stands and nothing arrives, as from a process that was stopped. */
type Link = "connecting" | "open" | "silent" | "lost" | "ended";

/** The program sends its state every second. After this many seconds without an event, the page does not call the run running. */
const SILENT_S = 3;

/** How long the run has been silent, in whole seconds; 0 while it answers. */
function useSilence(heard: { current: number }, isOver: boolean): number {
  const [silence, setSilence] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      const silentS = Math.floor((Date.now() - heard.current) / 1000);
      setSilence(isOver || silentS < SILENT_S ? 0 : silentS);
    }, 500);
    return () => clearInterval(timer);
  }, [isOver]);
  return silence;
}

/** The data of the page. It is requested again when the connection was lost. */
function useRun() {
  const [report, setReport] = useState<Report | null>(null);
  const [finished, setFinished] = useState<[Report, string] | null>(null);
  const [standings, setStandings] = useState<Standings | null>(null);
  const [link, setLink] = useState<Link>("connecting");
  const [attempt, setAttempt] = useState(0);
  const heard = useRef(Date.now());
  const steps = report?.steps.at.length ?? 0;
  useEffect(() => {
    const source = new EventSource(address("events"));
    const on = <T,>(name: string, take: (content: T) => void) => source.addEventListener(name, (event) => {
        heard.current = Date.now();
        take(JSON.parse((event as MessageEvent<string>).data));
      });
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
      if (payload) unpack<Report>(payload).then((report) => setFinished([report, payload]));
    });
    // The browser reconnects on its own; the server then starts with the sum.
    source.onerror = () => setLink((now) => (now === "ended" ? now : "lost"));
    return () => source.close();
  }, [attempt]);
  useEffect(() => {
    if (steps > MOST_STEPS) setAttempt((now) => now + 1);
  }, [steps > MOST_STEPS]);
  const silence = useSilence(heard, link === "ended");
  return { report, finished, standings, link: link === "open" && silence ? ("silent" as const) : link, silence };
}

/** Combines new kinds with the known first samples: the server sends the first sample of a kind only once. */
function withFirsts(known: ErrorKind[], kinds: ErrorKind[]): ErrorKind[] {
  const key = (kind: ErrorKind) => [kind.label, kind.code, kind.message].join("\0");
  const firsts = new Map(known.map((kind) => [key(kind), kind.first]));
  return kinds.map((kind) => ({ ...kind, first: kind.first ?? firsts.get(key(kind)) }));
}

/** The report with an additional second. */
function withSecond(report: Report, second: Second): Report {
  const rows = new Map(second.rows.map((row) => [`${row[1]}${row[0]}`, row]));
  const labels = report.labels.map((row) => {
    const key = `${row.transaction}${row.label}`;
    const newer = rows.get(key);
    rows.delete(key);
    return newer ? rowOf(newer, row) : row;
  });
  const { total } = second;
  // The program sends the curve of all samples from time to time.
  const { curve, distribution } = total.curve.length ? total : report.total;
  return {
    ...report,
    endedMs: second.endedMs,
    connections: second.connections,
    total: { ...total, curve, distribution },
    labels: [...labels, ...[...rows.values()].map((row) => rowOf(row))],
    steps: { ...withStep(report.steps, second), codes: withCodes(report.steps, second), heat: withHeat(report.steps.heat, second) },
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
  next.scheduled = [...steps.scheduled, (started?.[3] ?? 0) * steps.stepS];
  next.phases = steps.phases.map((column, phase) => [...column, second.phases[phase]]);
  return next;
}

/** The heat map with another second, in its column of the map. */
function withHeat(heat: Steps["heat"], second: Second): Steps["heat"] {
  if (second.heat.length === 0) return heat;
  const isFirst = heat.cells.length === 0;
  const known = isFirst ? { ...heat, stepS: 1, from: second.at } : heat;
  const column = Math.floor((second.at - known.from) / known.stepS);
  if (column < 0) return heat;
  const rows = second.heat.map(([row]) => row);
  const lowest = Math.min(...rows, ...(isFirst ? [] : [known.lowest]));
  const highest = Math.max(...rows, ...(isFirst ? [] : [known.lowest + known.rows - 1]));
  const shift = isFirst ? 0 : known.lowest - lowest;
  const moved = shift ? known.cells.map(([column, row, n]): [number, number, number] => [column, row + shift, n]) : known.cells;
  // Several seconds may share a column, which is one of the last cells.
  const counts = new Map(second.heat.map(([row, n]) => [row - lowest, n]));
  const cells = moved.filter(([of]) => of < column);
  for (const [of, row, n] of moved.slice(cells.length)) if (of === column) counts.set(row, (counts.get(row) ?? 0) + n);
  const added = [...counts].map(([row, n]): [number, number, number] => [column, row, n]);
  return { ...known, lowest, rows: highest - lowest + 1, columns: Math.max(known.columns, column + 1), cells: [...cells, ...added] };
}

/** The response codes with those of another second. */
function withCodes(steps: Steps, second: Second): Steps["codes"] {
  const last = steps.at.length - 1;
  if (last >= 0 && second.at <= steps.at[last]) return steps.codes;
  const counts = new Map(second.codes);
  const known = steps.codes.map(([code, column]): Steps["codes"][0] => {
    const count = counts.get(code) ?? 0;
    counts.delete(code);
    return [code, [...column, count * steps.stepS]];
  });
  const empty = steps.at.map(() => 0);
  return [...known, ...[...counts].map(([code, count]): Steps["codes"][0] => [code, [...empty, count * steps.stepS]])];
}

export function LivePage() {
  const { report, finished, standings, link, silence } = useRun();
  if (finished) {
    return (
      <ReportPage report={finished[0]}>
        <AtTheEnd report={finished[0]} payload={finished[1]} standings={standings} />
      </ReportPage>
    );
  }
  if (!report) return <p class="note quiet">{link === "lost" ? "The run does not answer. It has ended, or the address lacks its token." : "Connecting to the run…"}</p>;
  return <LiveReport report={report} standings={standings} link={link} silence={silence} />;
}

/** What can be saved of a run that has ended. */
function AtTheEnd({ report, payload, standings }: { report: Report; payload: string; standings: Standings | null }) {
  const [told, setTold] = useState("");
  const close = () => order("close").then((why) => setTold(why || "The program has ended. This page stays as it is."));
  const isOpen = standings?.stays && !told;
  return (
    <>
      <button type="button" class="order" id="save-page" onClick={() => savePage(report.title ?? report.name, payload)}>
        Save page
      </button>
      {isOpen &&
        standings.files.map((name, number) => (
          <a class="order" download={name} href={address(`files/${number}`)}>
            {name}
          </a>
        ))}
      {isOpen && !standings.readonly && (
        <button type="button" class="order" title="The program waits for this, or for Ctrl-C" onClick={close}>
          Close
        </button>
      )}
      <span class="hint" role="status">
        {told || (standings?.stays ? "" : "The program has ended. Reloading would lose the page: save it.")}
      </span>
    </>
  );
}

/** A label over time. It is asked for every two seconds, because the program does not send all labels over time. */
function useLabel(row: Row | null): { report: Pick<Report, "labelStepS">; row: Row } | null {
  const [detail, setDetail] = useState<{ labelStepS: number; row: Row } | null>(null);
  const { label, transaction } = row ?? {};
  useEffect(() => {
    setDetail(null);
    if (label == null) return;
    const load = () =>
      fetch(address("label"), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ label, transaction }) }).then(async (answer) => answer.ok && setDetail(await answer.json()), () => {});
    load();
    const timer = setInterval(load, 2000);
    return () => clearInterval(timer);
  }, [label, transaction]);
  return detail && { report: { labelStepS: detail.labelStepS }, row: detail.row };
}

function LiveReport({ report, standings, link, silence }: { report: Report; standings: Standings | null; link: Link; silence: number }) {
  const [theme, toggle] = useTheme();
  const [chosen, setChosen] = useChosen(report);
  const stretch = useStretch(report);
  const standing = standings?.standing;
  const sections: [string, string][] = [
    ["summary", "Summary"],
    ["control", "Control"],
    ["labels", "Labels"],
    ["together", "Overview"],
    ["time", "Over time"],
    ["spread", "Distribution"],
    ["errors", "Errors"],
    ["generator", "Load generator"],
  ];
  if (report.thresholds.length > 0) sections.splice(2, 0, ["thresholds", "Thresholds"]);
  const shownRow = chosen && (report.labels.find((row) => row.label === chosen.label && row.transaction === chosen.transaction) ?? null);
  const detail = useLabel(shownRow);
  const isAnswering = link === "open" || link === "connecting";
  const state = isAnswering ? (standing ? stood(standing) : "") : link === "ended" ? "ended" : silence ? `no answer for ${duration(silence)}` : "no answer";
  useEffect(() => {
    document.title = [state, report.name, "Drumfire"].filter(Boolean).join(" – ");
  }, [state, report.name]);
  const canOrder = isAnswering && standings != null && !standings.readonly;
  return (
    <>
      <Header name={report.name} detail={clock(report.startedMs)} theme={theme} toggle={toggle} sections={sections}>
        <span id="state" class={`badge ${isAnswering ? "" : "bad"}`}>
          {state}
        </span>
        {standings && !standings.readonly && <Sure text="Stop run" hint="Users finish their sample" disabled={!canOrder || isOver(standings.standing)} act={() => order("stop")} />}
      </Header>
      <main class="live">
        <LinkState link={link} silence={silence} file={standings?.run_file ?? null} />
        <section id="summary" aria-label="Summary">
          <Verdict report={report} />
          <Tiles report={report} standings={standings} />
        </section>
        <section id="control">
          <h2>Control</h2>
          {standings && <Control standings={standings} isAnswering={isAnswering} />}
          <Marks report={report} />
        </section>
        {report.thresholds.length > 0 && (
          <section>
            <h2>Thresholds</h2>
            <Thresholds thresholds={report.thresholds} />
          </section>
        )}
        <section id="labels">
          <h2>Labels</h2>
          <LabelTable report={report} chosen={shownRow} choose={setChosen} stretch={null} live />
          <Streams report={report} />
        </section>
        <section id="together">
          <h2>Overview</h2>
          <Overlay report={report} stretch={stretch} theme={theme} live />
        </section>
        {shownRow && detail ? (
          <LabelCharts key={shownRow.label + shownRow.transaction} report={{ ...report, ...detail.report }} row={detail.row} close={() => setChosen(null)} theme={theme} stretch={null} live />
        ) : (
          <RunCharts report={report} theme={theme} stretch={stretch} live />
        )}
        <section id="errors">
          <h2>Errors</h2>
          <Errors report={report} chosen={shownRow} stretch={stretch} />
        </section>
        <section id="generator">
          <h2>Load generator</h2>
          <Generator report={report} theme={theme} live />
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

const isOver = (standing: Standing) => standing.phase === "stopping" || standing.phase === "ended";

function LinkState({ link, silence, file }: { link: Link; silence: number; file: string | null }) {
  if (link === "open" || link === "connecting") return null;
  if (link === "ended") {
    return (
      <p class="verdict degraded" role="status" id="link">
        The run has ended. Its report is being made.
      </p>
    );
  }
  return (
    <div class="verdict invalid" role="status" id="link">
      <p>
        <strong>The run does not answer.</strong> {silence > 0 && `Nothing has arrived for ${duration(silence)}. `}
        {link === "silent" ? "Its process was stopped, or the machine is overloaded." : "It was killed, or the connection is lost."} These are its last numbers; the page tries again.
      </p>
      {file ? (
        <p>
          If it was killed, this command makes its report, up to the last second written: <code>{`drumfire report ${quoted(file)} --report report.html`}</code>
        </p>
      ) : (
        <p>It wrote no run file, so there is no other copy of these numbers: print or save this page.</p>
      )}
    </div>
  );
}

/** A path as a shell takes it. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replace(/'/g, `'\\''`)}'`);

function Tiles({ report, standings }: { report: Report; standings: Standings | null }) {
  const standing = standings?.standing;
  const isOrdered = standings?.groups.some((group) => group.ordered != null);
  const { total, steps } = report;
  const last = steps.at.length - 1;
  const now = (values: (number | null)[]) => (last >= 0 ? (values[last] ?? 0) : 0);
  const share = total.count ? total.errors / total.count : 0;
  const known = (ms: number) => (total.count ? ms : null);
  const planned = standing && (standing.planned_users || isOrdered) ? `of ${count(standing.planned_users)} ${isOrdered ? "ordered" : "planned"}` : "running now";
  const tiles: [string, string, string, string?][] = [
    ["Users", count(standing?.active ?? now(steps.users)), planned],
    ["Rate", `${short(now(steps.count) / steps.stepS)}/s`, `${short(total.rate)}/s on average`],
    ["Samples", count(total.count), `in ${duration((standing?.elapsed_ms ?? 0) / 1000)}`],
    ["Failed", total.count ? percent(share) : "–", `${count(total.errors)} samples`, total.errors > 0 ? "bad" : total.count ? "good" : ""],
    ["Median", time(known(total.p50)), `last second ${time(steps.p50[last])}`],
    ["95th", time(percentileOf(total, "p95")), `last second ${time(steps.p95[last])}`],
    ["99th", time(percentileOf(total, "p99")), `last second ${time(steps.p99[last])}`],
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

/** Sends an order. Returns why it was refused; empty if it was accepted. */
async function order(name: string, body: object = {}): Promise<string> {
  try {
    const answer = await fetch(address(name), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return answer.ok ? "" : ((await answer.json()) as { error: string }).error;
  } catch {
    return "The run does not answer.";
  }
}

/** A number that the user typed; `null` if it is none. */
function numberOf(text: string): number | null {
  const number = Number(text.replace(/[,\s](?=\d{3}\b)/g, ""));
  return text.trim() !== "" && Number.isFinite(number) ? number : null;
}

/** An order for more than this many times the plan's users is asked about, as the program itself does. */
const MANY_TIMES = 10;

function Control({ standings: { standing, groups, readonly }, isAnswering }: { standings: Standings; isAnswering: boolean }) {
  const [told, setTold] = useState("");
  const give = (name: string, body?: object) => order(name, body).then((why) => setTold(why));
  if (readonly) return <p class="card quiet">This page cannot control the run.</p>;
  const isEnding = isOver(standing) || !isAnswering;
  const rate = (text: string) => {
    const factor = numberOf(text);
    if (factor == null) return setTold(`“${text}” is not a number; give a factor such as 0.5 or 2.`);
    give("rate", { factor });
  };
  const users = (group: Group) => (text: string) => {
    const users = numberOf(text);
    if (users == null || users < 0 || !Number.isInteger(users)) return setTold(`“${text}” is not a number of users.`);
    give("users", { group: group.name, users, anyway: isMany(group, text) });
  };
  const isMany = (group: Group, text: string) => (numberOf(text) ?? 0) > MANY_TIMES * Math.max(group.planned, 1);
  const isPaused = standing.phase === "paused";
  return (
    <div class="card control">
      <div class="orders">
        <button type="button" class="order" disabled={isEnding} onClick={() => give(isPaused ? "resume" : "pause")}>
          {isPaused ? "Resume" : "Pause"}
        </button>
        <Sure text="Stop" hint="Users finish their sample" disabled={isEnding} act={() => give("stop")} />
        <Sure text="Stop now" hint="Samples are aborted" disabled={standing.phase === "ended" || !isAnswering} act={() => give("stop-now")} />
        {standing.has_rates && <Field label="Rate factor" action="Change rate" value={String(standing.rate)} disabled={isEnding} set={rate} />}
        <Field label="Mark" disabled={!isAnswering} action="Add mark" value="" placeholder="what happened" wide set={(text) => text && give("mark", { text })} />
      </div>
      <div class="orders">
        {groups
          .filter((group) => !group.has_arrivals)
          .map((group) => (
            <Field
              key={group.name}
              label={`Users of ${group.name}`}
              action="Change users"
              now={`${count(group.active)} of ${count(group.ordered ?? group.planned)}`}
              value={String(group.ordered ?? group.active)}
              disabled={isEnding}
              question={(text) => (isMany(group, text) ? `${count(numberOf(text) ?? 0)}, for ${count(group.planned)} in the plan: sure?` : "")}
              set={users(group)}
            />
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
function Field(props: {
  label: string;
  action: string;
  value: string;
  now?: string;
  placeholder?: string;
  wide?: boolean;
  disabled?: boolean;
  /** What is asked before a value is set; nothing if it is empty. */
  question?: (text: string) => string;
  set: (text: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const text = (typed ?? props.value).trim();
  const question = props.question?.(text) ?? "";
  const isAsked = question !== "" && asked === text;
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        if (question && !isAsked) return setAsked(text);
        props.set(text);
        setTyped(null);
        setAsked(null);
        input.current?.blur();
      }}
    >
      <label>
        {props.label} {props.now != null && <b>{props.now}</b>}
        <input ref={input} class={props.wide ? "wide" : ""} value={typed ?? props.value} disabled={props.disabled} placeholder={props.placeholder} onInput={(event) => setTyped(event.currentTarget.value)} onBlur={() => typed === "" && setTyped(null)} />
      </label>
      <button type="submit" class={`order ${isAsked ? "sure" : ""}`} disabled={props.disabled} aria-label={isAsked ? question : `${props.action}: ${props.label}`}>
        {isAsked ? question : props.action}
      </button>
    </form>
  );
}
