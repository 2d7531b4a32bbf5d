// The plan beside another version of it: the last commit, what git would commit, another file, or the other side of a conflict.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { counted } from "../format";
import { call, RpcError } from "./client";
import { flush } from "./flush";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Review, ReviewChange, ReviewElement, VersionItem, Versions } from "./protocol";
import { tell } from "./tell";
import { compared, files, middle, visit } from "./workspace";

/** Longer texts are shown line by line. */
const LONG = 60;
const WAIT_MS = 150;
/** The most elements in the list. */
const MOST_SHOWN = 500;

function told(error: unknown) {
  if (!(error instanceof RpcError)) throw error;
  tell({ text: error.message, hint: error.hint, bad: true });
}

/** Asks again after each change of the plan. */
function useAnswer<T>(plan: Plan, method: string, params: object, again: Signal<number>): { value: T | null; fault: RpcError | null } {
  const found = useSignal<{ value: T | null; fault: RpcError | null }>({ value: null, fault: null });
  const version = plan.version.value;
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(() => {
      call<T>(method, { plan: plan.id, ...params }).then(
        (value) => !isOld && (found.value = { value, fault: null }),
        (fault) => !isOld && fault instanceof RpcError && (found.value = { value: null, fault }),
      );
    }, found.value.value ? WAIT_MS : 0);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [plan, JSON.stringify(params), version, again.value]);
  return found.value;
}

/** The lines of two texts: those that both have, and those of one. */
export function diffLines(before: string, after: string): [" " | "-" | "+", string][] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const [left, right] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const lines: [" " | "-" | "+", string][] = old.slice(0, head).map((line) => [" ", line]);
  lines.push(...between(left, right));
  return [...lines, ...old.slice(old.length - tail).map((line): [" ", string] => [" ", line])];
}

/** More lines are not compared one by one. */
const MOST_LINES = 1000;

function between(left: string[], right: string[]): [" " | "-" | "+", string][] {
  if (left.length * right.length > MOST_LINES * MOST_LINES) return [...left.map((line): ["-", string] => ["-", line]), ...right.map((line): ["+", string] => ["+", line])];
  // The length of the longest common part of what is behind each pair of places.
  const common = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let a = left.length - 1; a >= 0; a--) for (let b = right.length - 1; b >= 0; b--) common[a][b] = left[a] === right[b] ? common[a + 1][b + 1] + 1 : Math.max(common[a + 1][b], common[a][b + 1]);
  const lines: [" " | "-" | "+", string][] = [];
  let [a, b] = [0, 0];
  while (a < left.length || b < right.length) {
    if (a < left.length && b < right.length && left[a] === right[b]) {
      lines.push([" ", left[a]]);
      [a, b] = [a + 1, b + 1];
    } else if (b >= right.length || (a < left.length && common[a + 1][b] >= common[a][b + 1])) lines.push(["-", left[a++]]);
    else lines.push(["+", right[b++]]);
  }
  return lines;
}

function LineDiff({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after);
  const near = (at: number) => lines.slice(Math.max(0, at - 3), at + 4).some(([mark]) => mark !== " ");
  return (
    <pre class="line-diff">
      {lines.map(([mark, text], at) => {
        if (!near(at)) return near(at - 1) ? <span key={at}>⋯</span> : null;
        return mark === "-" ? <del key={at}>{text}</del> : mark === "+" ? <ins key={at}>{text}</ins> : <span key={at}>{text}</span>;
      })}
    </pre>
  );
}

function Value({ text }: { text: string }) {
  return text ? <code>{text}</code> : <span class="none">(nothing)</span>;
}

function Marks({ element }: { element: ReviewElement }) {
  return <>{element.marks.map((mark) => <span key={mark} class={`review-mark ${mark}`}>{mark}</span>)}</>;
}

function ChangeRow({ change, name, restore, jump }: { change: ReviewChange; name: string; restore: (() => void) | null; jump: (() => void) | null }) {
  const isText = change.before !== "" && change.after !== "" && [change.before, change.after].some((text) => text.includes("\n") || text.length > LONG);
  const label = change.label || change.setting;
  return (
    <tr>
      <th scope="row">
        {jump ? <button type="button" class="link" onClick={jump}>{label}</button> : label}
        {change.label && <small>{change.setting}</small>}
      </th>
      {isText ? <td colSpan={2}><LineDiff before={change.before} after={change.after} /></td> : (
        <>
          <td><del><Value text={change.before} /></del></td>
          <td><ins><Value text={change.after} /></ins></td>
        </>
      )}
      <td class="review-act">
        {restore && (
          <button type="button" class="tool" aria-label={`Restore ${label} of ${name}`} title="Take the other version's value" onClick={restore}>
            <Icon name="reset" />
          </button>
        )}
      </td>
    </tr>
  );
}

function Element({ plan, element, review, again }: { plan: Plan; element: ReviewElement; review: Review; again: Signal<number> }) {
  const { id, old, path, changes, marks, name } = element;
  const [isNew, isGone, isMoved] = ["added", "removed", "moved"].map((mark) => marks.includes(mark));
  const restore = async (setting: string | null) => {
    await flush();
    await plan.change("restore", { against: review.against, id, old, path, setting });
  };
  const stage = async () => {
    await flush();
    await plan.settled();
    try {
      await call("stage", { plan: plan.id, id, path });
      tell({ text: plan.dirty.value ? `Staged ${name}. The plan itself is not saved` : `Staged ${name}` });
    } catch (error) {
      told(error);
    }
    again.value += 1;
  };
  const goTo = (property: string | null) => {
    middle.value = "element";
    visit(id!, property, plan);
  };
  const canChange = !plan.facts.readOnly;
  const act = isNew ? "Remove again" : isGone ? "Bring back" : "Restore all values";
  return (
    <li class={`review-element ${marks.length ? "" : "above"}`} style={{ "--level": Math.min(element.level, 12) }}>
      <div class="review-head">
        <Icon name={element.category} />
        {id == null ? <b class="gone">{name || "(no name)"}</b> : <button type="button" class="link" onClick={() => goTo(null)}>{name || element.type}</button>}
        <small>{element.type}</small>
        <Marks element={element} />
        {element.from != null && <small>from {element.from}</small>}
        {element.staged && <span class="review-mark staged">staged</span>}
        <span class="gap" />
        {marks.length > 0 && canChange && (isNew || isGone || changes.length > 0) && <button type="button" class="button" aria-label={`${act}: ${name}`} onClick={() => void restore(null)}>{act}</button>}
        {isMoved && canChange && <button type="button" class="button" aria-label={`Move back: ${name}`} onClick={() => void restore("place")}>Move back</button>}
        {review.stageable && marks.length > 0 && !element.staged && <button type="button" class="button" aria-label={`Stage ${name}`} title="Write this element to git's index" onClick={() => void stage()}>Stage</button>}
      </div>
      {changes.length > 0 && <Changes element={element}>{changes.map((change) => <ChangeRow key={change.setting} change={change} name={name} jump={id == null ? null : () => goTo(change.property || null)} restore={canChange && !isNew && !isGone ? () => void restore(change.setting) : null} />)}</Changes>}
    </li>
  );
}

/** The values of an element. Those of a new or removed one are folded. */
function Changes({ element, children }: { element: ReviewElement; children: preact.ComponentChildren }) {
  const table = (
    <table class="review-values">
      <thead><tr><th scope="col">Setting</th><th scope="col">Other version</th><th scope="col">Here</th><td /></tr></thead>
      <tbody>{children}</tbody>
    </table>
  );
  const isWhole = element.marks.includes("added") || element.marks.includes("removed");
  if (!isWhole) return table;
  return <details><summary>{counted(element.changes.length, "setting")}</summary>{table}</details>;
}

function Against({ plan }: { plan: Plan }) {
  const folder = plan.path.value.replace(/[^\\/]*$/, "");
  const others = files.value.filter((file) => file.path !== plan.path.value);
  const choose = (against: string) => (compared.value = against);
  return (
    <label class="against">
      Compare with
      <select value={compared.value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="head">the last commit</option>
        <option value="index">what git would commit</option>
        {others.map((file) => <option key={file.path} value={file.path}>{file.path.startsWith(folder) ? file.path.slice(folder.length) : file.path}</option>)}
      </select>
    </label>
  );
}

function Close({ title }: { title: string }) {
  return (
    <button type="button" class="tool" aria-label={title} title={title} onClick={() => (middle.value = "element", document.getElementById("tree")?.focus())}>
      <Icon name="close" />
    </button>
  );
}

export function ReviewPane({ plan }: { plan: Plan }) {
  const again = useSignal(0);
  const { value: review, fault } = useAnswer<Review>(plan, "review", { against: compared.value }, again);
  const differing = review?.elements.filter((element) => element.marks.length > 0).length ?? 0;
  return (
    <main id="form" class="form-pane review" aria-label="Changes of the plan" tabIndex={-1}>
      <div class="review-bar">
        <h2>Changes</h2>
        <Against plan={plan} />
        <button type="button" class="button" onClick={() => (again.value += 1)}>Compare again</button>
        <span class="gap" />
        <Close title="Close the comparison" />
      </div>
      <div class="view" tabIndex={0} role="region" aria-label="Elements that differ">
        <p class="note" role="status">{fault ? `${fault.message}. ${fault.hint ?? ""}` : !review ? "Comparing…" : differing ? `${differing === 1 ? "1 element differs" : `${differing} elements differ`}. Secrets are masked.` : "Nothing differs."}</p>
        {review && <ul class="review-list">{review.elements.slice(0, MOST_SHOWN).map((element) => <Element key={`${element.id} ${element.old}`} plan={plan} element={element} review={review} again={again} />)}</ul>}
        {review && review.elements.length > MOST_SHOWN && <p class="note">{review.elements.length - MOST_SHOWN} more elements. `drumfire diff --html` writes all of them.</p>}
      </div>
    </main>
  );
}

type Side = "ours" | "theirs";
const SIDE_NAMES: Record<Side, string> = { ours: "Here", theirs: "In the file" };

function VersionRow({ plan, item, chosen, choose }: { plan: Plan; item: VersionItem; chosen: Side | undefined; choose: (side: Side) => void }) {
  const label = item.label || ({ presence: "Whether it is there", place: "Place", name: "Name", enabled: "Enabled" }[item.setting] ?? item.setting);
  const short = item.element.split(" > ").pop();
  const side = (which: Side) => (
    <td class={chosen === which ? "chosen" : ""}>
      <label>
        <input type="radio" name={`${item.element} ${item.id} ${item.setting}`} aria-label={`${label} of ${short}: ${SIDE_NAMES[which]}`} checked={chosen === which} onChange={() => choose(which)} />
        <pre>{item[which] || "(nothing)"}</pre>
      </label>
    </td>
  );
  return (
    <tr class={item.takes ? "" : "open"}>
      <th scope="row">
        {item.id == null ? item.element : <button type="button" class="link" title={item.element} onClick={() => (middle.value = "element", visit(item.id!, null, plan))}>{short}</button>}
        <small>{label}</small>
      </th>
      {side("ours")}
      <td><pre>{item.base || "(nothing)"}</pre></td>
      {side("theirs")}
    </tr>
  );
}

/** The two sides of a conflict with their common version: a version is chosen for each value. */
export function ConflictPane({ plan }: { plan: Plan }) {
  const again = useSignal(0);
  const chosen = useSignal<Record<number, Side>>({});
  const { value: versions, fault } = useAnswer<Versions>(plan, "versions", {}, again);
  const items = versions?.items ?? [];
  useEffect(() => {
    chosen.value = {};
  }, [versions]);
  const of = (index: number): Side | undefined => chosen.value[index] ?? (items[index].takes as Side | null) ?? undefined;
  const open = items.filter((_, index) => !of(index)).length;
  const done = () => {
    plan.conflicts.value = [];
    middle.value = "element";
    tell({ text: "The conflict is resolved. Save the plan to write it" });
  };
  const resolve = async () => {
    const theirs = items.flatMap((_, index) => (of(index) === "theirs" ? [index] : []));
    if (await plan.change("resolve", { take: "each", theirs, revision: versions!.revision })) done();
    else again.value += 1;
  };
  const all = (side: Side) => (chosen.value = Object.fromEntries(items.map((_, index) => [index, side])));
  const none = versions && !items.length;
  return (
    <main id="form" class="form-pane review" aria-label="Conflict" tabIndex={-1}>
      <div class="review-bar">
        <h2>Conflict</h2>
        <button type="button" class="button" disabled={!items.length} onClick={() => all("ours")}>All from here</button>
        <button type="button" class="button" disabled={!items.length} onClick={() => all("theirs")}>All from the file</button>
        <button type="button" class="button main" disabled={!versions || open > 0 || plan.facts.readOnly} onClick={() => void resolve()}>Resolve</button>
        <span class="gap" />
        <Close title="Close the conflict" />
      </div>
      <div class="view" tabIndex={0} role="region" aria-label="Values that differ">
        <p class="note" role="status">
          {fault ? fault.message : !versions ? "Comparing…" : none ? "No value differs: resolve the conflict to save the plan." : open ? `${open} of ${items.length} values need a choice. The others were changed on one side only.` : `All ${items.length} values are chosen.`}
          {versions?.is_marked && " The file has git's conflict markers; saving removes them."}
          {versions && !versions.has_base && " Git knows no common version."}
        </p>
        {items.length > 0 && (
          <table class="versions">
            <thead><tr><th scope="col">Value</th><th scope="col">Here</th><th scope="col">Common version</th><th scope="col">In the file</th></tr></thead>
            <tbody>
              {items.map((item, index) => <VersionRow key={index} plan={plan} item={item} chosen={of(index)} choose={(side) => (chosen.value = { ...chosen.value, [index]: side })} />)}
            </tbody>
          </table>
        )}
      </div>
    </main>
  );
}
