// Conditions of If and While Controllers as rows: a variable, an operator and a value.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { call, RpcError } from "./client";
import { CompletedInput } from "./complete";
import { sentence, sourceOf, useEvaluation } from "./functions";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Condition, ConditionRow, Field, Id, Variable } from "./protocol";
import { ownRuns } from "./runs";

/** The properties that hold conditions. */
export const isCondition = (property: string) => property === "IfController.condition" || property === "WhileController.condition";

/** JMeter keeps in this variable whether the last sample succeeded. */
const LAST = "JMeterThread.last_sample_ok";

const OPERATORS: [name: string, label: string, operands: "none" | "one" | "two"][] = [
  ["equals", "equals", "two"],
  ["differs", "does not equal", "two"],
  ["contains", "contains", "two"],
  ["matches", "matches", "two"],
  ["empty", "is empty", "one"],
  ["not_empty", "is not empty", "one"],
  ["less", "<", "two"],
  ["at_most", "<=", "two"],
  ["more", ">", "two"],
  ["at_least", ">=", "two"],
  ["last_ok", "last sample succeeded", "none"],
  ["last_failed", "last sample failed", "none"],
];

const operands = (row: ConditionRow) => OPERATORS.find(([name]) => name === row.operator)?.[2] ?? "two";

const FIRST: Condition = { all: true, rows: [{ variable: "", operator: "equals", value: "" }] };

const WAIT_MS = 400;

interface Props {
  plan: Plan;
  id: Id;
  field: Field;
  isReadOnly: boolean;
  set: (value: string, join: boolean) => Promise<unknown>;
}

interface RowProps {
  plan: Plan;
  id: Id;
  row: ConditionRow;
  at: number;
  names: string;
  /** The value of the variable now; nothing if it is not known. */
  now?: string | null;
  isReadOnly: boolean;
  set: (row: ConditionRow, isTyped: boolean) => void;
  leave: () => void;
  remove: () => void;
}

function Row({ plan, id, row, at, names, now, isReadOnly, set, leave, remove }: RowProps) {
  const count = operands(row);
  const of = `of row ${at + 1}`;
  return (
    <li class="condition-row">
      {count !== "none" && <input class="mono" aria-label={`Variable ${of}`} placeholder="variable" list={names} value={row.variable} readOnly={isReadOnly} spellcheck={false} autocomplete="off" onInput={(event) => set({ ...row, variable: event.currentTarget.value }, true)} onBlur={leave} />}
      <select aria-label={`Operator ${of}`} value={row.operator} disabled={isReadOnly} onChange={(event) => set({ ...row, operator: event.currentTarget.value }, false)}>
        {OPERATORS.map(([name, label]) => <option key={name} value={name}>{label}</option>)}
      </select>
      {count === "two" && (
        <span class="condition-value">
          <CompletedInput target={{ plan: plan.id, id }} value={row.value} input={{ "aria-label": `Value ${of}`, placeholder: row.operator === "matches" ? "regular expression" : "value or ${variable}", readOnly: isReadOnly, class: "mono" }} onValue={(value) => set({ ...row, value }, true)} onLeave={leave} onEnter={leave} onEscape={() => false} />
        </span>
      )}
      {!isReadOnly && (
        <button type="button" class="tool" aria-label={`Remove row ${at + 1}`} title="Remove the row" onClick={remove}>
          <Icon name="close" />
        </button>
      )}
      {now !== undefined && <small class="note">{now == null ? "is not set" : <>is <code>{now === "" ? "(empty)" : now}</code></>}</small>}
    </li>
  );
}

/** The value of the condition now. */
function Now({ plan, id, text }: { plan: Plan; id: Id; text: string }) {
  const last = ownRuns.value.at(-1);
  const { found } = useEvaluation(text.includes("${") ? { plan: plan.id, id, text, times: 1 } : null, `${last?.number} ${last?.samples.length} ${last?.outcome?.ended}`);
  if (!found || !text.includes("${")) return null;
  if (found.fault != null) return <p class={`note ${found.wrong ? "bad" : ""}`}>{sentence(found.fault)}</p>;
  const [value] = found.samples;
  return (
    <p class="note" aria-live="polite">
      Now: <code class={value === "true" ? "good" : value === "false" ? "" : "bad"}>{value || "(empty)"}</code> {sourceOf(found)}
    </p>
  );
}

export function ConditionBuilder({ plan, id, field, isReadOnly, set }: Props) {
  const text = field.value ?? "";
  const key = useId();
  const [condition, setCondition] = useState<Condition | null>(null);
  const [fault, setFault] = useState<RpcError | null>(null);
  const [names, setNames] = useState<string[]>([]);
  const last = ownRuns.value.at(-1);
  const evaluated = useEvaluation(condition && text.includes("${") ? { plan: plan.id, id, text, times: 1 } : null, `${last?.number} ${last?.samples.length} ${last?.outcome?.ended}`);
  const own = useRef({ written: null as string | null, isJoined: false, timer: 0, latest: null as Condition | null });
  // A text that was not written here is read; what is being typed here stays.
  useEffect(() => {
    if (own.current.written === text) return;
    own.current.written = null;
    let isOld = false;
    void call<Condition | null>("condition_read", { text }).then((read) => {
      if (!isOld) setCondition(read), setFault(null);
    }, () => {});
    return () => {
      isOld = true;
    };
  }, [text]);
  useEffect(() => {
    void call<Variable[]>("variables", { plan: plan.id, id }).then((found) => setNames(found.filter((each) => !each.never_set).map((each) => each.name)), () => {});
  }, [plan.version.value, id]);
  useEffect(() => () => void write(), []);
  const write = async () => {
    clearTimeout(own.current.timer);
    const meant = own.current.latest;
    own.current.latest = null;
    if (!meant) return;
    try {
      const { text: made } = await call<{ text: string }>("condition_write", meant);
      setFault(null);
      own.current.written = made;
      const join = own.current.isJoined;
      own.current.isJoined = true;
      await set(made, join);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      setFault(error);
    }
  };
  const change = (next: Condition, isTyped: boolean) => {
    setCondition(next);
    own.current.latest = next;
    clearTimeout(own.current.timer);
    if (isTyped) own.current.timer = window.setTimeout(write, WAIT_MS);
    else void write();
  };
  if (!condition) {
    return (
      <div class="condition">
        <Now plan={plan} id={id} text={text} />
        {!isReadOnly && (
          <p class="line">
            <button type="button" class="button" onClick={() => (setCondition(FIRST), setTimeout(() => document.querySelector<HTMLElement>(".condition-row input")?.focus()))}>Build it from rows</button>
            {text.trim() !== "" && <span class="note">This condition stays as it is until a row is complete.</span>}
          </p>
        )}
      </div>
    );
  }
  const { all, rows } = condition;
  const replace = (at: number, row: ConditionRow, isTyped: boolean) => change({ all, rows: rows.map((each, index) => (index === at ? row : each)) }, isTyped);
  const seen = evaluated.found?.variables ?? {};
  const nowOf = (row: ConditionRow) => {
    const name = operands(row) === "none" ? LAST : row.variable.replace(/^\$\{(.*)\}$/, "$1");
    return name in seen ? seen[name] : undefined;
  };
  return (
    <div class="condition" role="group" aria-label="Condition as rows" onBlur={(event) => !event.currentTarget.contains(event.relatedTarget as HTMLElement | null) && (own.current.isJoined = false)}>
      {rows.length > 1 && (
        <p class="line">
          <select class="short" aria-label="How the rows are joined" value={String(all)} disabled={isReadOnly} onChange={(event) => change({ all: event.currentTarget.value === "true", rows }, false)}>
            <option value="true">all rows</option>
            <option value="false">any row</option>
          </select>
          <span class="note">must be true</span>
        </p>
      )}
      <datalist id={`${key}-names`}>{names.map((name) => <option key={name} value={name} />)}</datalist>
      <ol>
        {rows.map((row, at) => (
          <Row key={at} plan={plan} id={id} row={row} at={at} names={`${key}-names`} now={nowOf(row)} isReadOnly={isReadOnly} set={(next, isTyped) => replace(at, next, isTyped)} leave={() => void write()} remove={() => (rows.length > 1 ? change({ all, rows: rows.filter((_, index) => index !== at) }, false) : setCondition(null))} />
        ))}
      </ol>
      {!isReadOnly && <button type="button" class="button" onClick={() => setCondition({ all, rows: [...rows, ...FIRST.rows] })}>Add a row</button>}
      {fault && <p class="note bad" role="alert">{sentence(fault.message)}{fault.hint && `; ${fault.hint}`}</p>}
      {!fault && <Now plan={plan} id={id} text={text} />}
    </div>
  );
}
