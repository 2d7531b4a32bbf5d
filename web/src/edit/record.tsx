// A recording into the plan: its requests as they come, and the values that may become variables.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { bytes, counted, time } from "../format";
import { ask } from "./ask";
import { call } from "./client";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Id } from "./protocol";
import { askToRecord } from "./record_settings";
import "./record.css";
import { refused } from "./runs";
import { tell } from "./tell";
import { active, dock, plans, showDock, visit } from "./workspace";

interface Row {
  number: number;
  method: string;
  url: string;
  status: number | null;
  elapsed_ms: number;
  bytes: number;
  content_type: string;
  complete: boolean;
  left_out: string | null;
}

interface Proposal {
  number: number;
  variable: string;
  value: string;
  kind: string;
  expression: string;
  found: number;
  matches: number;
  from: Id;
  used_in: Id[];
  proof: string;
  extractor: Id | null;
  refused: boolean;
}

interface Recording {
  recording: number;
  plan: number;
  into: Id;
  state: "recording" | "paused" | "ending" | "done" | "failed";
  name: string;
  address: string | null;
  certificate: string | null;
  is_new: boolean;
  earlier: number[];
  notes: string[];
  created: Id[];
  requests: number;
  left_out: string[];
  proposals: Proposal[];
  proving: boolean;
  remarks: string[];
  message: string | null;
}

interface State {
  recording: Recording;
  rows: Row[];
}

/** The last recording into each plan. */
const states = signal<ReadonlyMap<number, State>>(new Map());

function put(plan: number, state: State | null) {
  const all = new Map(states.value);
  if (state) all.set(plan, state);
  else all.delete(plan);
  states.value = all;
}

const stateOf = (plan: Plan | null) => (plan ? states.value.get(plan.id) : undefined);
export const hasRecording = (plan: Plan) => stateOf(plan) != null;
const isOver = ({ state }: Recording) => state === "done" || state === "failed";
/** The recording that goes on, in whatever plan. */
const underWay = () => [...states.value.values()].find((each) => !isOver(each.recording));

function take(recording: Recording) {
  const before = states.value.get(recording.plan);
  const isSame = before?.recording.recording === recording.recording;
  put(recording.plan, { recording, rows: isSame ? before.rows : [] });
  if (isSame && !isOver(before.recording) && isOver(recording)) ended(recording);
}

/** Shows what was inserted. */
function ended(recording: Recording) {
  const plan = plans.value.find((each) => each.id === recording.plan);
  if (recording.state === "failed") return tell({ text: recording.message ?? "Nothing was recorded", bad: true });
  const created = recording.created.filter((id) => plan?.node(id));
  const first = created.find((id) => plan!.node(id)!.children.length) ?? created[0];
  if (plan && first != null) {
    plan.fold([recording.into, ...created], true);
    if (plan === active.value) visit(first, null, plan);
  }
  tell({ text: `${counted(recording.requests, "request")} came into the plan. Undo takes all of them back` });
}

/** Rows that have arrived and are not shown yet: a page loads hundreds at once. */
const SHOW_MS = 50;
let arrived: { plan: number; recording: number; row: Row }[] = [];
let timer = 0;

function takeRows() {
  timer = 0;
  const all = arrived;
  arrived = [];
  for (const plan of new Set(all.map((each) => each.plan))) {
    const state = states.value.get(plan);
    if (!state) continue;
    const rows = [...state.rows];
    for (const { recording, row } of all) if (recording === state.recording.recording) rows[row.number] = row;
    put(plan, { ...state, rows });
  }
}

export const handlers = {
  record_row: (one: { plan: number; recording: number; row: Row }) => {
    arrived.push(one);
    timer ||= window.setTimeout(takeRows, SHOW_MS);
  },
  record_changed: ({ recording }: { recording: Recording }) => take(recording),
  record_closed: ({ plan, recording }: { plan: number; recording: number }) => {
    if (states.value.get(plan)?.recording.recording === recording) put(plan, null);
  },
};

/** Takes the recordings that the program has. */
export async function restoreRecordings() {
  for (const { id } of plans.value) put(id, await call<State | null>("record_state", { plan: id }).catch(() => null));
}

const HOLDERS = new Set(["Logic Controller", "Threads (Users)", "Test Fragment"]);

/** The controller or thread group at or above the focus. */
function holder(plan: Plan): Id | null {
  const way = [...plan.ancestors(plan.focus.value), plan.node(plan.focus.value)].reverse();
  return way.find((node) => node && HOLDERS.has(node.category))?.id ?? null;
}

export const canRecord = () => active.value != null && !active.value.facts.readOnly && holder(active.value) != null;
export const canStopRecording = () => underWay() != null;

export function startRecording() {
  const going = underWay();
  if (going) {
    showDock("recording");
    return tell({ text: "A recording goes on", hint: "Stop it before the next one", bad: true });
  }
  const plan = active.value!;
  const into = holder(plan);
  if (into != null) void askToRecord(plan, into, (order) => begin(plan, into, order));
}

async function begin(plan: Plan, into: Id, order: object) {
  await plan.settled();
  take(await call<Recording>("record", { plan: plan.id, into, ...order }));
  showDock("recording");
}

export async function stopRecording() {
  const going = underWay();
  if (going) await call("record_stop", { recording: going.recording.recording }).catch(refused);
}

function Place({ plan, id }: { plan: Plan; id: Id }) {
  plan.version.value;
  const node = plan.node(id);
  return node ? <button type="button" class="link" onClick={() => visit(id, null, plan)}>{node.name || node.type}</button> : <span class="note">a removed element</span>;
}

function Going({ recording }: { recording: Recording }) {
  const [name, setName] = useState("");
  const { address, certificate } = recording;
  const isPaused = recording.state === "paused";
  const send = (method: string, more: object) => void call(method, { recording: recording.recording, ...more }).catch(refused);
  return (
    <>
      {address && (
        <section class="standing" aria-label="Proxy">
          <p>Set <code>{address}</code> as the proxy for HTTP and HTTPS, then visit the site.</p>
          {certificate ? (
            <>
              <p class="note">{recording.is_new ? "The certificate for HTTPS is new: import it in the browser as an authority for websites." : "The browser must trust the certificate for HTTPS."} It is at <a class="link" href={`http://${address}/ca.pem`}>http://{address}/ca.pem</a></p>
              <p class="note">{certificate}</p>
            </>
          ) : (
            <p class="note">HTTPS passes without being read: no domain was named.</p>
          )}
        </section>
      )}
      <div class="record-controls">
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => send("record_pause", { paused: !isPaused })}>{isPaused ? "Go on" : "Pause"}</button>
        <button type="button" class="button main" disabled={recording.state === "ending"} onClick={() => void stopRecording()}>Stop and insert</button>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim()) send("record_name", { name });
            setName("");
          }}
        >
          <input aria-label="Transaction name" placeholder={recording.name ? `Transaction: ${recording.name}` : "Transaction name"} value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
          <button type="submit" class="button">Begin</button>
        </form>
      </div>
    </>
  );
}

function path(url: string): string {
  try {
    const { pathname, search } = new URL(url);
    return pathname + search;
  } catch {
    return url;
  }
}

function RecordedRow({ row }: { row: Row }) {
  const isBad = row.status === 0 || (row.status ?? 0) >= 400;
  return (
    <li class={row.left_out ? "left-out" : ""} title={row.url}>
      <b>{row.method}</b>
      <span class="recorded-path">{path(row.url)}</span>
      <code class={isBad ? "bad" : ""}>{row.status === 0 ? "failed" : (row.status ?? "…")}</code>
      <small>{row.complete ? time(row.elapsed_ms) : ""}</small>
      <small>{row.complete ? bytes(row.bytes) : ""}</small>
      {row.left_out && <small class="why">left out: {row.left_out}</small>}
    </li>
  );
}

/** The most requests in the list: the last ones. */
const MOST_SHOWN = 300;

function Rows({ rows }: { rows: Row[] }) {
  const [keptOnly, setKeptOnly] = useState(false);
  const all = rows.filter(Boolean);
  const left = all.filter((row) => row.left_out).length;
  const shown = keptOnly ? all.filter((row) => !row.left_out) : all;
  return (
    <section aria-label="Requests">
      <div class="rows-head">
        <h3>{counted(all.length - left, "request")}{left ? `, ${left} left out` : ""}</h3>
        {left > 0 && <button type="button" class={`toggle ${keptOnly ? "on" : ""}`} aria-pressed={keptOnly} onClick={() => setKeptOnly(!keptOnly)}>Kept only</button>}
      </div>
      {shown.length > MOST_SHOWN && <p class="note">The last {MOST_SHOWN} are shown.</p>}
      <ol class="recorded" aria-live="off">{shown.slice(-MOST_SHOWN).map((row) => <RecordedRow key={row.number} row={row} />)}</ol>
    </section>
  );
}

const PROOFS: Record<string, [text: string, tone: string]> = {
  recording: ["found in this recording", ""],
  replays: ["differs in two replays, and all requests answer as recorded", "good"],
  users: ["the extractor yields each user's value", "good"],
  changes: ["differs in two replays, but a request answers otherwise", "warn"],
  same: ["the same each time: it needs no variable", "warn"],
  missed: ["the extractor finds nothing in a replay", "bad"],
  unreached: ["a replay does not come so far", "bad"],
};

const shortened = (text: string) => (text.length > 48 ? `${text.slice(0, 48)}…` : text);

function ProposalItem({ plan, recording, proposal }: { plan: Plan; recording: Recording; proposal: Proposal }) {
  const [name, setName] = useState<string | null>(null);
  const { number, variable, used_in, refused: isRefused } = proposal;
  // Undo may have taken the extractor away.
  plan.version.value;
  const accepted = proposal.extractor != null && plan.node(proposal.extractor) != null;
  const [proof, tone] = PROOFS[proposal.proof] ?? [proposal.proof, ""];
  const accept = async () => {
    const change = await plan.change("record_accept", { recording: recording.recording, number, name: name?.trim() || variable });
    if (change) tell({ text: `\${${name?.trim() || variable}} is sent by ${counted(used_in.length, "request")}` });
  };
  const refuse = () => void call("record_refuse", { recording: recording.recording, number, refused: !isRefused }).catch(refused);
  return (
    <li class={`found-value ${accepted ? "accepted" : isRefused ? "refused" : ""}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void accept();
        }}
      >
        <p class="value-head">
          {accepted || isRefused ? <code class="expression">{`\${${variable}}`}</code> : <input aria-label={`Variable for ${shortened(proposal.value)}`} value={name ?? variable} required spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
          <code title={proposal.value}>{shortened(proposal.value)}</code>
        </p>
        <p class="note">
          {proposal.kind} <code>{proposal.expression}</code>{proposal.matches > 1 && ` (match ${proposal.found} of ${proposal.matches})`} in <Place plan={plan} id={proposal.from} />, sent by {used_in.map((id, at) => <>{at > 0 && ", "}<Place plan={plan} id={id} /></>)}
        </p>
        <p class={`note ${tone}`}>{proof}</p>
        <p class="buttons">
          {accepted ? (
            <span class="note good">Accepted: <Place plan={plan} id={proposal.extractor!} /></span>
          ) : (
            <>
              {!isRefused && <button type="submit" class="button main">Accept<span class="hidden"> {variable}</span></button>}
              <button type="button" class="button" onClick={refuse}>{isRefused ? "Open again" : "Refuse"}<span class="hidden"> {variable}</span></button>
            </>
          )}
        </p>
      </form>
    </li>
  );
}

function Proposals({ plan, recording }: { plan: Plan; recording: Recording }) {
  const { proposals, proving, remarks, earlier } = recording;
  const verify = (more: object) => void call("record_verify", { recording: recording.recording, ...more }).catch(refused);
  const compare = () => ask({ title: "Compare with another user's recording", label: "HAR in the plan's folder", value: "", verb: "Compare", run: (har) => verify({ har }) });
  if (!proposals.length) return recording.requests > 0 ? <p class="note">No request sends a value of an earlier response.</p> : null;
  return (
    <section aria-label="Values that change from visit to visit">
      <h3>{counted(proposals.length, "value")} of responses {proposals.length === 1 ? "is" : "are"} sent again</h3>
      <p class="buttons">
        <button type="button" class="button" disabled={proving} title="Sends the requests of the visit twice to the site" onClick={() => verify({})}>{proving ? "Trying…" : "Prove by two replays"}</button>
        {earlier.length > 0 && <button type="button" class="button" disabled={proving} title="The same visit by another user shows which values change" onClick={() => verify({ with: earlier.at(-1) })}>Compare with the recording before</button>}
        <button type="button" class="button" disabled={proving} title="A recording of the same visit by another user, such as record --har writes" onClick={compare}>Compare with a HAR…</button>
      </p>
      {remarks.map((remark) => <p key={remark} class="note warn">{remark}</p>)}
      <ul>{proposals.map((proposal) => <ProposalItem key={proposal.number} plan={plan} recording={recording} proposal={proposal} />)}</ul>
    </section>
  );
}

function Over({ plan, recording }: { plan: Plan; recording: Recording }) {
  if (recording.state === "failed") {
    const again = () => void call("record_stop", { recording: recording.recording, into: holder(plan) ?? recording.into }).catch(refused);
    return (
      <section class="standing" aria-label="Nothing was inserted">
        <p class="bad">{recording.message}</p>
        <p class="buttons"><button type="button" class="button" onClick={again}>Insert into the selected controller</button></p>
      </section>
    );
  }
  return (
    <>
      <p class="note">{counted(recording.requests, "request")} inserted into <Place plan={plan} id={recording.into} />. Undo takes all of them back in one step.</p>
      {recording.left_out.length > 0 && (
        <details>
          <summary>Left out</summary>
          <ul>{recording.left_out.map((line) => <li key={line} class="note">{line}</li>)}</ul>
        </details>
      )}
      <Proposals plan={plan} recording={recording} />
    </>
  );
}

const STATES = { recording: "Recording", paused: "Paused", ending: "Ending…", done: "Recorded", failed: "Not inserted" };

export function RecordPanel({ plan }: { plan: Plan }) {
  const state = stateOf(plan);
  if (!state) return <p class="note">Nothing was recorded into this plan.</p>;
  const { recording, rows } = state;
  const close = async () => {
    await call("record_close", { recording: recording.recording }).catch(refused);
    dock.value = { ...dock.value, tab: "findings" };
  };
  return (
    <div class="recording">
      <div class="run-head">
        <p role="status" class={`record-state ${recording.state}`}>{STATES[recording.state]}{recording.name && !isOver(recording) ? `: ${recording.name}` : ""}</p>
        <span class="gap" />
        {isOver(recording) && <button type="button" class="tool" aria-label="Forget the recording" title="Forget the recording; its requests stay" onClick={() => void close()}><Icon name="close" /></button>}
      </div>
      {isOver(recording) ? <Over plan={plan} recording={recording} /> : <Going recording={recording} />}
      {recording.notes.map((note, at) => <p key={at} class="note warn">{note}</p>)}
      <Rows rows={rows} />
    </div>
  );
}
