// The function helper: a form for each function, the call that it writes, and what the engine makes of it.

import { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, RpcError } from "./client";
import { CompletedInput } from "./complete";
import { ModalBox } from "./modal";
import type { Plan } from "./plan";
import type { Evaluation, FunctionCall, FunctionEntry, FunctionPlace, Id } from "./protocol";
import { refused } from "./runs";
import { toClipboard } from "./tasks";
import { active } from "./workspace";

/** A field that takes the call, and its cursor. */
interface Target {
  text: string;
  offset: number;
  put: (start: number, end: number, text: string) => void;
}

type Place = Target & FunctionPlace;

interface Asked {
  plan: Plan;
  id: Id;
  /** Nothing if no field had the focus. */
  field: Target | null;
}

/** The functions, and the place of the cursor in the field, as the program answers. */
interface Known {
  all: FunctionEntry[];
  place: Place | null;
}

const asked = signal<Asked | null>(null);
let known: Promise<FunctionEntry[]> | null = null;

const isText = (element: Element | null): element is HTMLInputElement | HTMLTextAreaElement => element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && !["checkbox", "radio"].includes(element.type));

/** The field with the focus, if it belongs to the plan. */
function focused(): Target | null {
  const field = document.activeElement;
  if (!document.getElementById("form")?.contains(field)) return null;
  const code = field instanceof HTMLElement ? EditorView.findFromDOM(field) : null;
  if (code) {
    if (code.state.readOnly) return null;
    return {
      text: code.state.doc.toString(),
      offset: code.state.selection.main.head,
      put: (from, to, insert) => {
        code.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });
        code.focus();
      },
    };
  }
  if (!isText(field) || field.readOnly) return null;
  return {
    text: field.value,
    offset: field.selectionEnd ?? field.value.length,
    put: (start, end, text) => {
      field.focus();
      field.setRangeText(text, start, end, "end");
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    },
  };
}

/** Opens the helper for the field with the focus. */
export function openFunctions() {
  const plan = active.value!;
  asked.value = { plan, id: plan.focus.value, field: focused() };
}

async function load({ field }: Asked): Promise<Known> {
  known ??= call<FunctionEntry[]>("functions", {});
  try {
    const asked = field && call<FunctionPlace>("function_at", { text: field.text, offset: field.offset });
    const [all, found] = await Promise.all([known, asked]);
    return { all, place: found && { ...found, ...field! } };
  } catch (error) {
    known = null;
    throw error;
  }
}

const close = () => (asked.value = null);

export function FunctionDialog() {
  const own = asked.value;
  if (!own) return null;
  return (
    <ModalBox title="Function helper" close={close}>
      <Helper key={own} asked={own} />
    </ModalBox>
  );
}

/** The argument of each parameter; null for those that are left out. */
type Given = (string | null)[];

/** As many inputs as the call has arguments, at least one for each parameter. */
const inputsOf = (entry: FunctionEntry, old: string[] = []): Given => Array.from({ length: Math.max(entry.parameters.length, old.length) }, (_, at) => old[at] ?? (entry.parameters[at]?.required ? "" : null));

/** The arguments up to the last one that is given. */
const argumentsOf = (given: Given): string[] => {
  const count = given.reduce((last, each, at) => (each == null ? last : at + 1), 0);
  return given.slice(0, count).map((each) => each ?? "");
};

function matching(all: FunctionEntry[], word: string): FunctionEntry[] {
  const sought = word.trim().replace(/^\$\{/, "").toLowerCase();
  const rank = ({ name, about, parameters }: FunctionEntry) => {
    const bare = name.toLowerCase();
    if (bare.replace(/^__/, "").startsWith(sought.replace(/^__/, ""))) return 0;
    if (bare.includes(sought)) return 1;
    return [about, ...parameters.map(({ label }) => label)].some((text) => text.toLowerCase().includes(sought)) ? 2 : 3;
  };
  return all.filter((each) => rank(each) < 3).sort((a, b) => rank(a) - rank(b));
}

interface Chooser {
  all: FunctionEntry[];
  chosen: FunctionEntry | null;
  word: string;
  setWord: (word: string) => void;
  choose: (entry: FunctionEntry) => void;
  goOn: () => void;
}

function List({ all, chosen, word, setWord, choose, goOn }: Chooser) {
  const list = useRef<HTMLUListElement>(null);
  const found = matching(all, word);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen, word]);
  const onKey = (event: KeyboardEvent) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key === "Enter") goOn();
    else if (event.key in step && found.length) choose(found[Math.max(0, Math.min(found.length - 1, (chosen ? found.indexOf(chosen) : -1) + step[event.key]))]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="function-list">
      <input
        autofocus
        role="combobox"
        aria-label="Find a function"
        placeholder="Find a function"
        aria-expanded="true"
        aria-controls="functions"
        aria-autocomplete="list"
        aria-activedescendant={chosen && found.includes(chosen) ? `function-${chosen.name}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={word}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setWord(typed);
          const first = matching(all, typed)[0];
          if (first && typed.trim()) choose(first);
        }}
        onKeyDown={onKey}
      />
      <ul ref={list} id="functions" role="listbox" aria-label="Functions">
        {found.map((each) => (
          <li key={each.name} id={`function-${each.name}`} role="option" aria-selected={each === chosen} onClick={() => choose(each)}>
            <code>{each.name}</code>
            <small>{each.plugin ? "plugin" : each.java ? "Java" : ""}</small>
          </li>
        ))}
        {all.length > 0 && !found.length && <li class="note" role="option" aria-selected="false">Nothing matches</li>}
      </ul>
    </div>
  );
}

/** Scripts have lines. */
const IS_LONG = /^(script|expression)$/;

interface InputProps {
  asked: Asked;
  entry: FunctionEntry;
  at: number;
  value: string | null;
  set: (value: string | null) => void;
  insert: () => void;
}

function ArgumentInput({ asked: { plan, id }, entry, at, value, set, insert }: InputProps) {
  const parameter = entry.parameters[at] ?? entry.parameters.at(-1)!;
  const isRequired = parameter.required && at < entry.parameters.length;
  const key = `argument-${at}`;
  return (
    <div class="field argument">
      <div class="label">
        <label for={key}>{parameter.label}</label>
        {isRequired && <small class="required">required</small>}
        {!isRequired && !value && (
          <label class="note">
            <input type="checkbox" checked={value != null} onChange={(event) => set(event.currentTarget.checked ? "" : null)} /> Pass an empty text
          </label>
        )}
      </div>
      <div class="control">
        <CompletedInput target={{ plan: plan.id, id }} value={value ?? ""} isLong={IS_LONG.test(parameter.label)} input={{ id: key, "aria-required": isRequired }} onValue={(text) => set(text || (isRequired ? "" : null))} onLeave={() => {}} onEnter={insert} onEscape={() => (close(), true)} />
      </div>
    </div>
  );
}

const WAIT_MS = 120;

/** Sends a request after each change of it, and gives the program's answer. */
export function useEvaluation(request: object | null, again: unknown): { found: Evaluation | null; fault: RpcError | null } {
  const [answer, setAnswer] = useState<{ found: Evaluation | null; fault: RpcError | null }>({ found: null, fault: null });
  useEffect(() => {
    if (!request) return setAnswer({ found: null, fault: null });
    let isOld = false;
    const timer = setTimeout(() => {
      call<Evaluation>("evaluate", request).then(
        (found) => !isOld && setAnswer({ found, fault: null }),
        (fault) => !isOld && fault instanceof RpcError && setAnswer({ found: null, fault }),
      );
    }, WAIT_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(request), again]);
  return answer;
}

/** Whose variables a text saw. */
export const sourceOf = ({ run }: Evaluation) => (run == null ? "with the values that the plan sets at the start" : `with the variables of run ${run}`);

function Samples({ found }: { found: Evaluation }) {
  const seen = Object.entries(found.variables);
  return (
    <div class="samples-of" aria-live="polite">
      {found.fault != null ? <p class={`note ${found.wrong ? "bad" : ""}`}>{sentence(found.fault)}</p> : (
        <ol aria-label="Samples">
          {found.samples.map((sample, index) => <li key={index}><code>{sample}</code>{sample === "" && <span class="note">empty</span>}</li>)}
        </ol>
      )}
      {seen.length > 0 && (
        <p class="note">
          {seen.map(([name, value], index) => (
            <span key={name}>{index > 0 && ", "}<code>{name}</code> {value == null ? "is not set" : <>= <code>{value}</code></>}</span>
          ))}
          {" "}({sourceOf(found)})
        </p>
      )}
    </div>
  );
}

/** A message as a sentence; names between backticks stay. */
export const sentence = (text: string) => {
  const plain = text.replaceAll("`", "");
  return plain.charAt(0) === "_" ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
};

/** The list is there at once, so that no key goes to the field behind it. */
function Helper({ asked: own }: { asked: Asked }) {
  const [told, setTold] = useState<Known | null>(null);
  const [word, setWord] = useState("");
  const [chosen, setChosen] = useState<FunctionEntry | null>(null);
  const typed = useRef("");
  typed.current = word;
  useEffect(() => {
    load(own).then(
      (found) => {
        const called = found.all.find((each) => each.name === found.place?.call?.name);
        setTold(found);
        setChosen((typed.current.trim() ? matching(found.all, typed.current)[0] : called) ?? found.all[0]);
      },
      (error) => (close(), refused(error)),
    );
  }, []);
  const goOn = () => document.querySelector<HTMLElement>(".function-form input, .function-form textarea, .function-helper button.main")?.focus();
  return (
    <div class="function-helper">
      <List all={told?.all ?? []} chosen={chosen} word={word} setWord={setWord} choose={setChosen} goOn={goOn} />
      {told && chosen && <CallForm key={chosen.name} asked={own} place={told.place} chosen={chosen} isFirst={!word} />}
    </div>
  );
}

interface CallProps {
  asked: Asked;
  place: Place | null;
  chosen: FunctionEntry;
  /** Whether nothing was typed yet. */
  isFirst: boolean;
}

function CallForm({ asked: own, place, chosen, isFirst }: CallProps) {
  const { plan, id } = own;
  const old: FunctionCall | null = place?.call ?? null;
  const isOld = old?.name === chosen.name;
  const [given, setGiven] = useState<Given>(() => inputsOf(chosen, isOld ? old!.arguments : []));
  const [tried, setTried] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const request = (nested: boolean) => ({ plan: plan.id, id, function: chosen.name, arguments: argumentsOf(given), nested });
  const { found, fault } = useEvaluation(request(old ? old.nested : (place?.nested ?? false)), tried);
  const isWrong = fault != null || (found?.wrong ?? false);
  // The dialog gives the focus back to the field before the call is written.
  const put = (start: number, end: number, text: string) => {
    close();
    setTimeout(() => place!.put(start, end, text));
  };
  const write = async (isBehind = false) => {
    try {
      const nested = old && !isBehind ? old.nested : old ? old.nested_behind : (place?.nested ?? false);
      // The last key may not be evaluated yet.
      const { text } = await call<Evaluation>("evaluate", { ...request(nested), times: 1 });
      if (!place) {
        close();
        return void toClipboard(Promise.resolve(text), `Copied ${text}`);
      }
      if (!old) put(place.offset, place.offset, text);
      else put(isBehind ? old.end : old.start, old.end, text);
    } catch (error) {
      refused(error);
    }
  };
  useEffect(() => {
    if (isOld && isFirst) form.current?.querySelector<HTMLElement>("input, textarea, button.main")?.focus();
  }, []);
  return (
    <form
      ref={form}
      aria-label={chosen.name}
      onSubmit={(event) => {
        event.preventDefault();
        void write();
      }}
    >
      <div class="function-form">
        <h3><code>{chosen.name}</code></h3>
        <p class="note">
          {chosen.about}
          {chosen.differs && <> <strong>Unlike JMeter:</strong> {sentence(chosen.differs)}</>}
          {chosen.plugin && " JMeter has it with a plugin."}
        </p>
        {given.map((value, at) => (
          <ArgumentInput key={`${chosen.name}-${at}`} asked={own} entry={chosen} at={at} value={value} set={(text) => setGiven(given.map((each, index) => (index === at ? text : each)))} insert={() => void write()} />
        ))}
        {chosen.repeats && <button type="button" class="button" onClick={() => setGiven([...given, null])}>Add an argument</button>}
      </div>
      <div class="function-result">
        <p class="line"><code aria-label="The call">{found?.text ?? ""}</code></p>
        {fault && <p class="note bad" role="alert">{sentence(fault.message)}{fault.hint && `; ${fault.hint}`}</p>}
        {found && <Samples found={found} />}
      </div>
      <p class="buttons">
        {place && <button type="submit" class="button main" disabled={isWrong}>{old ? "Replace the call" : "Insert"}</button>}
        {old && <button type="button" class="button" disabled={isWrong} onClick={() => void write(true)}>Insert behind it</button>}
        <button type={place ? "button" : "submit"} class={`button ${place ? "" : "main"}`} disabled={!found} onClick={(event) => place && (event.preventDefault(), void toClipboard(Promise.resolve(found!.text), `Copied ${found!.text}`))}>Copy</button>
        <button type="button" class="button" disabled={!found || found.fault != null} onClick={() => setTried(tried + 1)}>Evaluate again</button>
        <button type="button" class="button" onClick={close}>Cancel</button>
      </p>
      {!place && <p class="note">No field had the focus, so the call is copied.</p>}
    </form>
  );
}
