// A debugging session: the samples of one user, the steps that led to each, and where the user is
// halted.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Block, BodyViews, Sign, Steps, type Step } from "./exchange";
import { counted, time } from "./format";
import { Tester } from "./tester";
import { Header, useTheme } from "./theme";

interface Brief {
  number: number;
  threadName: string;
  label: string;
  code: string;
  message: string;
  success: boolean;
  elapsedUs: number;
  elements: string[];
  children: Brief[];
}

interface Halted {
  part: string;
  name: string;
  class: string;
  threadName: string;
  variables: Record<string, string>;
}

/** A sample, and the way to one of its sub-results: redirects, embedded resources, samples of a transaction. */
interface Chosen {
  number: number;
  path: number[];
}

interface Overview {
  samples: Brief[];
  halted: Halted | null;
  breakpoints: string[];
  over: boolean;
}

interface Exchange {
  label: string;
  code: string;
  message: string;
  success: boolean;
  elapsedUs: number;
  latencyMs: number;
  connectMs: number;
  sentBytes: number;
  receivedBytes: number;
  url: string;
  method: string;
  requestHeaders: string;
  cookies: string;
  requestBody: string;
  responseHeaders: string;
  contentType: string;
  responseBody: string;
  isBinary: boolean;
  assertions: { name: string; fault: string | null }[];
  curl: string | null;
  children: Exchange[];
}

interface Detail {
  number: number;
  threadName: string;
  sample: Exchange;
  steps: Step[];
  variables: Record<string, string>;
}

const address = (path: string) => `api/debug${path}${location.search}`;

async function get<T>(path: string): Promise<T> {
  return (await fetch(address(path))).json() as Promise<T>;
}

async function post<T>(path: string, body: object = {}): Promise<T & { error?: string }> {
  const answer = await fetch(address(path), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return answer.json() as Promise<T & { error?: string }>;
}

export function DebugPage() {
  const [theme, toggle] = useTheme();
  const [overview, setOverview] = useState<Overview | null>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [isLost, setLost] = useState(false);
  const [search, setSearch] = useState("");
  const load = useCallback(() => get<Overview>("").then((next) => (setOverview(next), setLost(false)), () => setLost(true)), []);
  useEffect(() => {
    const source = new EventSource(`api/events${location.search}`);
    let asked = 0;
    // Several changes in quick succession trigger only one request.
    const soon = () => {
      clearTimeout(asked);
      asked = window.setTimeout(load, 60);
    };
    source.addEventListener("debug", soon);
    source.addEventListener("state", soon);
    source.onerror = () => setLost(true);
    load().then(() => (document.documentElement.dataset.ready = "true"));
    return () => source.close();
  }, []);
  const found = useSearch(overview?.samples ?? [], search);
  const latest = overview?.samples.length ?? 0;
  // The detail follows the user until the reader looks at an earlier sample.
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current && latest > 0) setChosen({ number: overview!.samples[latest - 1].number, path: [] });
  }, [latest]);
  const choose = (next: Chosen) => {
    follows.current = next.number === overview?.samples[latest - 1]?.number;
    setChosen(next);
  };
  useKeys(overview, found, chosen, choose, follows);
  if (!overview) return <p class="note quiet">Connecting to the session…</p>;
  const state = isLost ? "not answering" : overview.over ? "over" : overview.halted ? `stopped before ${overview.halted.name}` : "running";
  return (
    <>
      <Header name="Debugger" detail={`${counted(overview.samples.length, "sample")}, ${state}`} theme={theme} toggle={toggle} sections={[["samples", "Samples"], ["detail", "Detail"]]} />
      <main class="debug">
        {isLost && (
          <p class="verdict degraded" role="status">
            The session does not answer. It has ended, or the address lacks its token.
          </p>
        )}
        <Steering overview={overview} go={() => (follows.current = true)} />
        <div class="panes">
          <section id="samples" aria-label="Samples">
            <div class="card">
              <div class="tools">
                <input type="search" placeholder="Search requests and responses" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
                <span class="hint" role="status">
                  {found.length} of {overview.samples.length}
                </span>
              </div>
              {usersOf(found).map(([threadName, samples]) => (
                <>
                  <h2 class="user">{userName(threadName)}</h2>
                  <ol class="tree">
                    {samples.map((sample) => (
                      <li key={sample.number}>
                        <Node sample={sample} number={sample.number} path={[]} chosen={chosen} choose={choose} />
                      </li>
                    ))}
                  </ol>
                </>
              ))}
            </div>
          </section>
          <section id="detail" aria-label="Detail">
            {chosen == null ? <p class="card quiet">Choose a sample.</p> : <SampleDetail key={[chosen.number, ...chosen.path].join(".")} chosen={chosen} />}
          </section>
        </div>
      </main>
    </>
  );
}

/** A sample or sub-result with those below it. */
function Node(props: { sample: Omit<Brief, "number" | "threadName" | "elements">; number: number; path: number[]; chosen: Chosen | null; choose: (chosen: Chosen) => void }) {
  const { sample, number, path, chosen, choose } = props;
  const isChosen = chosen?.number === number && chosen.path.join() === path.join();
  return (
    <>
      <button type="button" class={`node ${isChosen ? "chosen" : ""}`} aria-pressed={isChosen} onClick={() => choose({ number, path })}>
        <Sign good={sample.success} /> {path.length ? sample.label : <b>{sample.label}</b>} <code>{sample.code}</code> <small>{time(sample.elapsedUs / 1000)}</small>
      </button>
      {sample.children.length > 0 && (
        <ul class="tree">
          {sample.children.map((child, place) => (
            <li>
              <Node sample={child} number={number} path={[...path, place]} chosen={chosen} choose={choose} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The samples of each user, in the order of the users' first samples. */
function usersOf(samples: Brief[]): [string, Brief[]][] {
  const users = new Map<string, Brief[]>();
  for (const sample of samples) users.set(sample.threadName, [...(users.get(sample.threadName) ?? []), sample]);
  return [...users];
}

/** The thread group and the user of a thread, whose name JMeter makes of the group's name and two numbers. */
function userName(threadName: string): string {
  const parts = /^(.*) \d+-(\d+)$/.exec(threadName);
  return parts ? `${parts[1]}, user ${parts[2]}` : threadName;
}

const STEERING: [string, string, string][] = [
  ["s", "step", "Step"],
  ["n", "sample", "Next sample"],
  ["c", "run", "Continue"],
];

/** The keys of the page. They do nothing while the reader writes. */
function useKeys(overview: Overview | null, found: Brief[], chosen: Chosen | null, choose: (chosen: Chosen) => void, follows: { current: boolean }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isWriting = (event.target as HTMLElement).closest("input, textarea, select");
      if (isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
      const pace = STEERING.find(([key]) => key === event.key)?.[1];
      const place = found.findIndex((sample) => sample.number === chosen?.number);
      const next = event.key === "j" ? found[place + 1] : event.key === "k" ? found[place - 1] : undefined;
      if (pace && overview?.halted) {
        follows.current = true;
        // The button knows the variables that were edited.
        document.getElementById(`go-${pace}`)?.click();
      }
      if (next) choose({ number: next.number, path: [] });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [overview, found, chosen]);
}

/** Samples whose label, elements, request or response contain the text. Contents are fetched only
 * once. */
function useSearch(samples: Brief[], search: string): Brief[] {
  const [texts, setTexts] = useState<Map<number, string>>(new Map());
  const wanted = search.trim().toLowerCase();
  useEffect(() => {
    if (!wanted) return;
    const missing = samples.filter((sample) => !texts.has(sample.number));
    if (missing.length === 0) return;
    Promise.all(missing.map((sample) => get<Detail>(`/samples/${sample.number}`))).then((details) =>
      setTexts((known) => new Map([...known, ...details.map((detail) => [detail.number, JSON.stringify(detail).toLowerCase()] as [number, string])])),
    );
  }, [wanted !== "", samples.length]);
  return useMemo(() => {
    if (!wanted) return samples;
    return samples.filter((sample) => `${sample.label} ${sample.elements.join(" ")} ${texts.get(sample.number) ?? ""}`.toLowerCase().includes(wanted));
  }, [samples, wanted, texts]);
}

function Steering({ overview, go }: { overview: Overview; go: () => void }) {
  const { halted } = overview;
  const [edits, setEdits] = useState<Record<string, string>>({});
  const [names, setNames] = useState("");
  useEffect(() => setEdits({}), [halted?.name, halted?.part]);
  const step = (pace: string) => (go(), post("/go", { pace, edits }));
  const breakAt = (text: string) => post("/break", { names: text.split(",").map((name) => name.trim()).filter(Boolean) });
  return (
    <section id="steering" class="card control" aria-label="Steering">
      <div class="orders">
        {STEERING.map(([key, pace, text]) => (
          <button type="button" class="order" id={`go-${pace}`} disabled={!halted} aria-keyshortcuts={key} onClick={() => step(pace)}>
            {text} <kbd>{key}</kbd>
          </button>
        ))}
        <button type="button" class="order" disabled={overview.over} onClick={() => post("/end")}>
          End the run
        </button>
        <button type="button" class="order" onClick={() => post("/close")}>
          Close
        </button>
        <form
          class="field"
          onSubmit={(event) => {
            event.preventDefault();
            breakAt(names || overview.breakpoints.join(", "));
          }}
        >
          <label>
            Stop before elements
            <input class="wide" placeholder="names, separated by commas" value={names || overview.breakpoints.join(", ")} onInput={(event) => setNames(event.currentTarget.value)} />
          </label>
          <button type="submit" class="order">
            Set breakpoints
          </button>
        </form>
      </div>
      {halted && (
        <div id="halted">
          <p class="sentence">
            Stopped before the {halted.part} <b>{halted.name}</b> <span class="badge">{halted.class.split(".").pop()}</span> of {userName(halted.threadName)}
          </p>
          <Variables values={halted.variables} edits={edits} edit={(name, value) => setEdits({ ...edits, [name]: value })} />
        </div>
      )}
    </section>
  );
}

function Variables(props: { values: Record<string, string>; edits?: Record<string, string>; edit?: (name: string, value: string) => void }) {
  const { values, edits, edit } = props;
  const names = Object.keys(values);
  const [added, setAdded] = useState("");
  if (names.length === 0 && !edit) return <p class="quiet">No variables.</p>;
  const shown = edit ? [...new Set([...names, ...Object.keys(edits ?? {})])] : names;
  return (
    <div class="scroll tall" tabIndex={0} role="group" aria-label="Variables">
      <table class="variables">
        <tbody>
          {shown.map((name) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{edit ? <input aria-label={`Value of ${name}`} value={edits?.[name] ?? values[name]} onInput={(event) => edit(name, event.currentTarget.value)} /> : <code>{values[name]}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {edit && (
        <form
          class="field"
          onSubmit={(event) => {
            event.preventDefault();
            if (added) edit(added, "");
            setAdded("");
          }}
        >
          <label>
            New variable <input value={added} onInput={(event) => setAdded(event.currentTarget.value)} />
          </label>
          <button type="submit" class="order">
            Add
          </button>
        </form>
      )}
    </div>
  );
}

type Tab = "Request" | "Response" | "Elements" | "Variables" | "Try an expression";
const EXCHANGE: Tab[] = ["Request", "Response"];
const OF_SAMPLE: Tab[] = ["Elements", "Variables", "Try an expression"];
/** The tab stays the same from one sample to the next. */
let shownTab: Tab = "Response";

function SampleDetail({ chosen: { number, path } }: { chosen: Chosen }) {
  const [detail, setDetail] = useState<Detail | null>(null);
  const tabs = path.length ? EXCHANGE : [...EXCHANGE, ...OF_SAMPLE];
  const [tab, setShown] = useState<Tab>(tabs.includes(shownTab) ? shownTab : "Response");
  const setTab = (tab: Tab) => (setShown(tab), (shownTab = tab));
  useEffect(() => void get<Detail>(`/samples/${number}`).then(setDetail), [number]);
  if (!detail) return <p class="card quiet">…</p>;
  const parents = path.map((_, length) => path.slice(0, length).reduce((sample, place) => sample.children[place], detail.sample));
  const sample = path.reduce((sample, place) => sample.children[place], detail.sample);
  return (
    <div class="card" id="sample">
      <div class="sample-head">
        <h2>
          <Sign good={sample.success} /> {sample.label}
        </h2>
        {parents.length > 0 && <p class="hint">Part of {parents.map((parent) => parent.label).join(" › ")}</p>}
        <p class="hint">
          {sample.code} {sample.message} · {time(sample.elapsedUs / 1000)}, connect {sample.connectMs} ms, first byte {sample.latencyMs} ms · {sample.sentBytes} bytes sent, {sample.receivedBytes} received · {userName(detail.threadName)}
        </p>
        {sample.assertions.map((assertion) => (
          <p class={assertion.fault == null ? "" : "assertion"}>
            <Sign good={assertion.fault == null} /> {assertion.name}
            {assertion.fault != null && `: ${assertion.fault}`}
          </p>
        ))}
      </div>
      <div class="tabs" role="tablist">
        {tabs.map((name) => (
          <button type="button" role="tab" aria-selected={tab === name} class={tab === name ? "chosen" : ""} onClick={() => setTab(name)}>
            {name}
          </button>
        ))}
      </div>
      <div class="tab" role="tabpanel" aria-label={tab}>
        {tab === "Request" && <Request sample={sample} />}
        {tab === "Response" && <Response sample={sample} />}
        {tab === "Elements" && <Steps steps={detail.steps} />}
        {tab === "Variables" && <Variables values={detail.variables} />}
        {tab === "Try an expression" && <Tester label={sample.label} test={(kind, expression) => test(number, kind, expression)} />}
      </div>
    </div>
  );
}

function Request({ sample }: { sample: Exchange }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <Block name="Line" text={[sample.method, sample.url].filter(Boolean).join(" ")} />
      <Block name="Headers" text={sample.requestHeaders} />
      <Block name="Cookies" text={sample.cookies} />
      <Block name="Body" text={sample.requestBody} />
      {sample.curl && (
        <>
          <Block name="As cURL" text={sample.curl} />
          <button type="button" class="order" onClick={() => navigator.clipboard.writeText(sample.curl!).then(() => setCopied(true))}>
            {isCopied ? "Copied" : "Copy"}
          </button>
        </>
      )}
    </>
  );
}

function Response({ sample }: { sample: Exchange }) {
  return (
    <>
      <Block name="Headers" text={sample.responseHeaders} />
      {sample.isBinary ? <p class="hint">The body is not text.</p> : sample.responseBody && <BodyViews text={sample.responseBody} contentType={sample.contentType} />}
    </>
  );
}

async function test(sample: number, kind: string, expression: string): Promise<string[]> {
  const { found, error } = await post<{ found?: string[] }>("/test", { sample, kind, expression });
  if (error) throw new Error(error);
  return found ?? [];
}
