// Search and replace over names and values, with a preview of each replacement and one step of undo.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { counted } from "../format";
import { search } from "./actions";
import { call, RpcError } from "./client";
import { Icon } from "./icons";
import { kept } from "./kept";
import type { Plan } from "./plan";
import type { Hit, Hits, Id } from "./protocol";
import { tell } from "./tell";
import { plans, visit } from "./workspace";

type Scope = "plan" | "branch" | "group" | "all";

const text = kept("search-text", "");
const replacement = kept("search-with", "");
const options = kept("search-options", { regex: false, case: false, word: false, names: true, values: true, scope: "plan" as Scope, class: "" });

interface Found {
  plan: Plan;
  hits: Hit[];
  more: boolean;
}

const WAIT_MS = 60;
/** The most hits that are shown of a plan. */
const MOST_SHOWN = 300;

function scopeOf(plan: Plan): Id | null {
  const focus = plan.focus.value;
  if (options.value.scope === "branch") return focus;
  if (options.value.scope !== "group") return null;
  return [...plan.ancestors(focus), plan.node(focus)].find((node) => node?.category === "Threads (Users)")?.id ?? null;
}

function question(plan: Plan, scope: Id | null) {
  const { regex, case: isCased, word, names, values, class: name } = options.value;
  const where = [names && "names", values && "values"].filter(Boolean);
  return { plan: plan.id, text: text.value, regex, case: isCased, word, where, scope, ...(name ? { class: name } : {}) };
}

/** How much of a long text is shown around a hit. */
const [LEAD, TRAIL] = [30, 60];

/** A part of a text in what stands around it. */
function Context({ text, start, end, name }: { text: string; start: number; end: number; name: "before" | "after" }) {
  const from = Math.max(0, start - LEAD);
  return (
    <code class={name}>
      {from > 0 && "…"}
      {text.slice(from, start)}
      <mark>{text.slice(start, end)}</mark>
      {text.slice(end, end + TRAIL)}
      {text.length > end + TRAIL && "…"}
    </code>
  );
}

function HitRow({ plan, hit, isReplace, isChecked, check }: { plan: Plan; hit: Hit; isReplace: boolean; isChecked: boolean; check: (isOn: boolean) => void }) {
  const node = plan.node(hit.id);
  return (
    <li class={isReplace && !isChecked ? "skipped" : ""}>
      {isReplace && <input type="checkbox" checked={isChecked} aria-label={`Replace in ${node?.name}`} onChange={(event) => check(event.currentTarget.checked)} />}
      <button type="button" class="hit-place" onClick={() => visit(hit.id, hit.property, plan)}>
        <span class="hit-name">
          {node && <Icon name={node.category} />}
          {node?.name || node?.type}
          <small>{hit.property ?? "name"}</small>
        </span>
        <Context name="before" text={hit.before} start={hit.start} end={hit.end} />
        {isReplace && hit.after != null && <Context name="after" text={hit.after} start={hit.start} end={hit.end + hit.after.length - hit.before.length} />}
      </button>
    </li>
  );
}

/** Asks again whenever something of the question changes. */
function useFound(plan: Plan, isReplace: boolean) {
  const found = useSignal<Found[] | null>(null);
  const wrong = useSignal<string | null>(null);
  const { scope } = options.value;
  const asked = scope === "all" ? plans.value : [plan];
  const key = JSON.stringify([text.value, isReplace && replacement.value, options.value, scopeOf(plan), isReplace, asked.map((each) => [each.id, each.version.value])]);
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(async () => {
      if (!text.value) {
        found.value = null;
        wrong.value = null;
        return;
      }
      try {
        const answers = await Promise.all(
          asked.map((each) => {
            const asks = question(each, each === plan ? scopeOf(plan) : null);
            return isReplace ? call<Hits>("replace", { ...asks, with: replacement.value, preview: true, skip: [], revision: each.revision }) : call<Hits>("find", asks);
          }),
        );
        if (isOld) return;
        found.value = answers.map((answer, index) => ({ plan: asked[index], ...answer }));
        wrong.value = null;
      } catch (error) {
        if (isOld || !(error instanceof RpcError)) return;
        wrong.value = error.message;
        found.value = null;
      }
    }, WAIT_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [key]);
  return { found: found.value, wrong: wrong.value, key };
}

function Options({ plan }: { plan: Plan }) {
  const set = (change: Partial<typeof options.value>) => (options.value = { ...options.value, ...change });
  const toggle = (name: "regex" | "case" | "word" | "names" | "values", sign: string, title: string) => (
    <button type="button" class={`toggle ${options.value[name] ? "on" : ""}`} aria-pressed={options.value[name]} title={title} aria-label={title} onClick={() => set({ [name]: !options.value[name] })}>
      {sign}
    </button>
  );
  const classes = [...new Set([...plan.nodes.values()].map((node) => node.class))].sort();
  return (
    <div class="search-options">
      <span role="group" aria-label="How to match" class="toggles">
        {toggle("case", "Aa", "Match case")}
        {toggle("word", "Word", "Whole word")}
        {toggle("regex", ".*", "Regular expression (Rust's syntax)")}
      </span>
      <span role="group" aria-label="Where to search" class="toggles">
        {toggle("names", "Names", "Search names")}
        {toggle("values", "Values", "Search values")}
      </span>
      <select aria-label="Scope" value={options.value.scope} onChange={(event) => set({ scope: event.currentTarget.value as Scope })}>
        <option value="plan">Whole plan</option>
        <option value="group">This thread group</option>
        <option value="branch">This branch</option>
        <option value="all">All open plans</option>
      </select>
      <select aria-label="Class of elements" value={options.value.class} onChange={(event) => set({ class: event.currentTarget.value })}>
        <option value="">All classes</option>
        {classes.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </div>
  );
}

function summary(found: Found[] | null, wrong: string | null): string {
  if (wrong) return wrong;
  if (!found) return text.value ? "Searching" : "";
  const hits = found.reduce((sum, each) => sum + each.hits.length, 0);
  const elements = found.reduce((sum, each) => sum + new Set(each.hits.map((hit) => hit.id)).size, 0);
  const more = found.some((each) => each.more) ? "more than " : "";
  return hits ? `${more}${counted(hits, "hit")} in ${counted(elements, "element")}` : "Nothing found";
}

export function SearchPanel({ plan }: { plan: Plan }) {
  const input = useRef<HTMLInputElement>(null);
  const { isReplace, asked } = search.value;
  const skipped = useSignal<Set<string>>(new Set());
  const { found, wrong, key } = useFound(plan, isReplace);
  useEffect(() => {
    if (!asked) return;
    input.current?.focus();
    input.current?.select();
  }, [asked]);
  useEffect(() => {
    skipped.value = new Set();
  }, [key]);
  const isChecked = (each: Found, at: number) => !skipped.value.has(`${each.plan.id}-${at}`);
  const check = (each: Found, at: number, isOn: boolean) => {
    const next = new Set(skipped.value);
    if (isOn) next.delete(`${each.plan.id}-${at}`);
    else next.add(`${each.plan.id}-${at}`);
    skipped.value = next;
  };
  const count = (found ?? []).reduce((sum, each) => sum + each.hits.filter((_, at) => isChecked(each, at)).length, 0);
  const replaceAll = async () => {
    for (const each of found ?? []) {
      const skip = each.hits.map((_, at) => at).filter((at) => !isChecked(each, at));
      if (skip.length === each.hits.length) continue;
      await each.plan.change("replace", { ...question(each.plan, each.plan === plan ? scopeOf(plan) : null), with: replacement.value, preview: false, skip });
    }
    tell({ text: `Replaced ${counted(count, "hit")}` });
  };
  return (
    <div class="search">
      <input ref={input} type="search" class="find" placeholder="Search" aria-label="Search" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && document.querySelector<HTMLElement>(".hits .hit-place")?.focus()} />
      {isReplace && <input class="find" placeholder="Replace with" aria-label="Replace with" title="$1 or ${name} for a group of a regular expression" value={replacement.value} onInput={(event) => (replacement.value = event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && event.ctrlKey && (event.preventDefault(), void replaceAll())} />}
      <Options plan={plan} />
      <div class="search-line">
        <p class={`note ${wrong ? "bad" : ""}`} role="status">{summary(found, wrong)}</p>
        {isReplace ? (
          <button type="button" class="button main" disabled={!count} onClick={() => void replaceAll()}>
            Replace {count || ""}
          </button>
        ) : (
          <button type="button" class="link" onClick={() => (search.value = { ...search.value, isReplace: true })}>
            Replace…
          </button>
        )}
      </div>
      {found?.map((each) => (
        <section key={each.plan.id} aria-label={each.plan.name}>
          {found.length > 1 && each.hits.length > 0 && <h3>{each.plan.name}</h3>}
          <ul class="hits" onKeyDown={stepHit}>
            {each.hits.slice(0, MOST_SHOWN).map((hit, at) => (
              <HitRow key={at} plan={each.plan} hit={hit} isReplace={isReplace} isChecked={isChecked(each, at)} check={(isOn) => check(each, at, isOn)} />
            ))}
          </ul>
          {each.hits.length > MOST_SHOWN && <p class="note">{each.hits.length - MOST_SHOWN} more {isReplace ? "are replaced too" : "are not shown"}.</p>}
        </section>
      ))}
    </div>
  );
}

/** The arrows go from hit to hit. */
function stepHit(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const places = [...event.currentTarget.querySelectorAll<HTMLElement>(".hit-place")];
  const at = places.indexOf(document.activeElement as HTMLElement);
  const next = event.key === "ArrowDown" ? at + 1 : event.key === "ArrowUp" ? at - 1 : -1;
  if (at < 0 || next < 0 || !places[next]) return;
  event.preventDefault();
  places[next].focus();
}
