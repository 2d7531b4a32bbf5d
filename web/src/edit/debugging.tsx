// Debugging: breakpoints in the margin of the tree, and the user that stands still before an element.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { run as act } from "./actions";
import { call } from "./client";
import { Icon } from "./icons";
import { bestKey, shownKey } from "./keys";
import type { Plan } from "./plan";
import type { Id } from "./protocol";
import { edits, refused, running, type Run } from "./runs";
import { tell } from "./tell";
import { plans } from "./workspace";

/** The breakpoints of each plan. */
const breakpoints = signal<ReadonlyMap<number, ReadonlySet<Id>>>(new Map());

const take = (plan: number, ids: Id[]) => (breakpoints.value = new Map([...breakpoints.value, [plan, new Set(ids)]]));

export const handlers = { breakpoints: ({ plan, ids }: { plan: number; ids: Id[] }) => take(plan, ids) };

/** Takes the breakpoints that the program has. */
export async function restoreBreakpoints() {
  for (const { id } of plans.value) take(id, await call<Id[]>("breakpoints", { plan: id }).catch(() => []));
}

/** Elements that have a turn of their own, before which a user can stand still. */
const HAS_TURN = new Set(["Sampler", "Timer", "Pre Processors", "Post Processors", "Assertions"]);

/** The first element, from this one down, before which a user can stand still. A controller or a thread group has none: its first sampler counts. */
function placeOf(plan: Plan, id: Id): Id | null {
  const node = plan.node(id);
  if (!node) return null;
  if (HAS_TURN.has(node.category)) return id;
  const below = (each: Id): Id | null => {
    const child = plan.node(each);
    if (!child || !child.enabled) return null;
    return child.category === "Sampler" ? each : first(child.children);
  };
  const first = (children: Id[]): Id | null => children.map(below).find((found) => found != null) ?? null;
  return first(node.children);
}

export async function toggleBreakpoint(plan: Plan, id: Id) {
  const at = placeOf(plan, id);
  if (at == null) return tell({ text: `A user never stops at ${plan.node(id)?.name || "this element"}`, hint: "Choose a sampler, or an element that acts on one", bad: true });
  const ids = new Set([...(breakpoints.value.get(plan.id) ?? [])].filter((each) => plan.node(each)));
  if (!ids.delete(at)) ids.add(at);
  try {
    take(plan.id, await call<Id[]>("breakpoints", { plan: plan.id, ids: [...ids] }));
  } catch (error) {
    refused(error);
  }
}

const isSet = (plan: Plan, id: Id) => breakpoints.value.get(plan.id)?.has(id) ?? false;
const isHalted = (plan: Plan, id: Id) => running.value?.plan === plan.id && running.value.halted?.id === id;

/** The left edge of a row: the breakpoint, and the place where the user stands. */
export function Margin({ plan, id }: { plan: Plan; id: Id }) {
  return (
    <span
      class={`margin ${isSet(plan, id) ? "set" : ""} ${isHalted(plan, id) ? "halted" : ""}`}
      title={isSet(plan, id) ? "Clear the breakpoint" : "Set a breakpoint"}
      onClick={(event) => {
        event.stopPropagation();
        void toggleBreakpoint(plan, id);
      }}
      onDblClick={(event) => event.stopPropagation()}
    />
  );
}

/** The margin in words. */
export function MarginWords({ plan, id }: { plan: Plan; id: Id }) {
  const told = [isSet(plan, id) && "breakpoint", isHalted(plan, id) && "the user stands here"].filter(Boolean).join(", ");
  return told ? <span class="hidden">{told}</span> : null;
}

function Edited({ name, value }: { name: string; value: string | null }) {
  const own = edits.value[name];
  const isRemoved = name in edits.value && own == null;
  const set = (to: string | null) => (edits.value = { ...edits.value, [name]: to });
  return (
    <tr class={name in edits.value ? "edited" : ""}>
      <th scope="row">{isRemoved ? <del>{name}</del> : name}</th>
      <td>
        <input aria-label={`Value of ${name}`} spellcheck={false} disabled={isRemoved} value={own ?? value ?? ""} onInput={(event) => set(event.currentTarget.value)} />
      </td>
      <td>
        <button type="button" class="tool" aria-label={isRemoved ? `Keep ${name}` : `Remove ${name}`} title={isRemoved ? "Keep the variable" : "Remove the variable"} onClick={() => set(isRemoved ? (value ?? "") : null)}>
          <Icon name={isRemoved ? "undo" : "close"} />
        </button>
      </td>
    </tr>
  );
}

const STEERING: [id: string, text: string][] = [["debug", "Continue"], ["step", "Step"], ["stepSampler", "Next sampler"], ["stop", "Stop"]];

/** Where the user stands, its variables, and the ways to go on. */
export function Halted({ run, go }: { run: Run; go: (id: Id) => void }) {
  const [added, setAdded] = useState("");
  const { halted } = run;
  if (!halted) return null;
  const names = [...new Set([...Object.keys(halted.variables), ...Object.keys(edits.value)])];
  return (
    <section class="standing" aria-label="The user stands still">
      <p role="status">
        Stopped before the {halted.part}{" "}
        {halted.id == null ? <b>{halted.name}</b> : <button type="button" class="link" onClick={() => go(halted.id!)}>{halted.name}</button>}
        <small> {halted.thread}</small>
      </p>
      <p class="buttons">
        {STEERING.map(([id, text]) => (
          <button type="button" key={id} class={`button ${id === "debug" ? "main" : ""}`} onClick={() => act(id)}>
            {text} <kbd>{shownKey(bestKey(id))}</kbd>
          </button>
        ))}
      </p>
      <div class="scroll" role="group" aria-label="Variables of the user">
        <table class="pairs">
          <tbody>{names.map((name) => <Edited key={name} name={name} value={halted.variables[name] ?? null} />)}</tbody>
        </table>
      </div>
      <form
        class="added"
        onSubmit={(event) => {
          event.preventDefault();
          if (added.trim() && !(added.trim() in halted.variables)) edits.value = { ...edits.value, [added.trim()]: "" };
          setAdded("");
        }}
      >
        <input aria-label="Name of a new variable" placeholder="New variable" spellcheck={false} value={added} onInput={(event) => setAdded(event.currentTarget.value)} />
        <button type="submit" class="button">Add</button>
      </form>
    </section>
  );
}
