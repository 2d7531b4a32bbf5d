import { useLayoutEffect, useRef } from "preact/hooks";
import { time } from "../format";
import { Margin, MarginWords } from "./debugging";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Node } from "./protocol";
import type { Row } from "./rows";
import { lastOf } from "./runs";
import { active, showsClasses } from "./workspace";

/** How elements run that do not run natively. */
const RUNS: Record<string, [text: string, title: string]> = {
  java: ["Java", "Runs in a Java process"],
  skipped: ["skipped", "Does nothing in a run of Drumfire"],
  refused: ["refused", "Drumfire refuses to run the plan because of this element"],
};

const INDENT_PX = 16;
const MARGIN_PX = 16;

function Count({ class: name, count, word }: { class: string; count: number; word: string }) {
  const words = count === 1 ? word : `${word}s`;
  return (
    <span class={`badge ${name}`} title={`${count} ${words}`}>
      {count}
      <span class="hidden"> {words}</span>
    </span>
  );
}

/** A name whose `${…}` are set apart. */
export function Expressions({ text }: { text: string }) {
  return <>{text.split(/(\$\{[^}]*\})/).map((part, index) => (index % 2 ? <span class="expression">{part}</span> : part))}</>;
}

function Badges({ plan, node, isClosed }: { plan: Plan; node: Node; isClosed: boolean }) {
  const within = isClosed ? plan.countsWithin.value.get(node.id) : undefined;
  const own = plan.counts.value.get(node.id);
  const errors = (own?.error ?? 0) + (within?.error ?? 0);
  const warnings = (own?.warning ?? 0) + (within?.warning ?? 0);
  const runs = node.runs ? RUNS[node.runs] : undefined;
  const last = plan === active.value ? lastOf.value.get(node.id) : undefined;
  const mark = plan.marks.value ? plan.marks.value.get(node.id) : node.git;
  return (
    <span class="badges">
      {last && (
        <span class={`last ${last.success ? "good" : "bad"}`} title={`${last.success ? "Passed" : "Failed"} in the shown run: ${last.code}`}>
          {time(last.elapsed_us / 1000)}
        </span>
      )}
      {mark && (
        <span class={`git ${mark}`} title={mark === "added" ? "Not in the last commit" : "Changed since the last commit"}>
          <span aria-hidden="true">{mark === "added" ? "A" : "M"}</span>
          <span class="hidden">{mark}</span>
        </span>
      )}
      {runs && <span class={`runs ${node.runs}`} title={runs[1]}>{runs[0]}</span>}
      {errors > 0 && <Count class="bad" count={errors} word="error" />}
      {warnings > 0 && <Count class="warn" count={warnings} word="warning" />}
    </span>
  );
}

function Rename({ plan, node }: { plan: Plan; node: Node }) {
  const input = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => {
    input.current!.focus();
    input.current!.select();
  }, []);
  const end = (isKept: boolean, isByKey: boolean) => {
    if (isDone.current) return;
    isDone.current = true;
    const name = input.current!.value;
    plan.renaming.value = null;
    if (isByKey) document.getElementById("tree")?.focus();
    if (isKept && name !== node.name) void plan.change("rename", { id: node.id, name });
  };
  return (
    <input
      ref={input}
      class="rename"
      aria-label={`New name of ${node.name}`}
      value={node.name}
      onClick={(event) => event.stopPropagation()}
      onBlur={() => end(true, false)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(true, true);
        if (event.key === "Escape") end(false, true);
      }}
    />
  );
}

/** Selects by a click as lists do: Ctrl adds or takes away, Shift selects up to here. */
function clicked(event: MouseEvent, plan: Plan, node: Node) {
  if (event.shiftKey) return plan.selectTo(node.id);
  if (event.ctrlKey || event.metaKey) {
    const selected = new Set(plan.selected.value);
    if (!selected.delete(node.id)) selected.add(node.id);
    return plan.select(selected, node.id);
  }
  plan.goTo(node.id);
}

export function TreeRow({ plan, row, top, menu }: { plan: Plan; row: Row; top: number; menu: (x: number, y: number) => void }) {
  const node = plan.node(row.id);
  if (!node) return null;
  const isSelected = plan.selected.value.has(node.id);
  const classes = ["row", isSelected && "selected", plan.focus.value === node.id && "focused", !node.enabled && "disabled", plan.cut.value.has(node.id) && "cut", plan.isHit(node.id) && "hit"];
  const shownType = showsClasses.value ? node.class : node.type;
  return (
    <div
      id={`row-${node.id}`}
      data-id={node.id}
      class={classes.filter(Boolean).join(" ")}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.isOpen ?? undefined}
      aria-selected={isSelected}
      draggable={plan.renaming.value == null && node.id !== plan.root}
      style={{ top: `${top}px`, paddingLeft: `${MARGIN_PX + (row.level - 1) * INDENT_PX}px` }}
      onClick={(event) => clicked(event, plan, node)}
      onDblClick={() => row.isOpen != null && plan.fold([node.id], !row.isOpen)}
      onContextMenu={(event) => {
        event.preventDefault();
        if (!isSelected) plan.goTo(node.id);
        menu(event.clientX, event.clientY);
      }}
    >
      <Margin plan={plan} id={node.id} />
      <span
        class={`twist ${row.isOpen == null ? "" : row.isOpen ? "open" : "closed"}`}
        onClick={(event) => {
          event.stopPropagation();
          if (row.isOpen != null) plan.fold([node.id], !row.isOpen);
        }}
      />
      <Icon name={node.category} />
      {plan.renaming.value === node.id ? (
        <Rename plan={plan} node={node} />
      ) : (
        <>
          <span class="name"><Expressions text={node.name || "(no name)"} /></span>
          {shownType !== node.name && <span class="type">{shownType}</span>}
          {!node.enabled && <span class="hidden">disabled</span>}
        </>
      )}
      {!node.enabled && <Icon name="off" />}
      <MarginWords plan={plan} id={node.id} />
      <Badges plan={plan} node={node} isClosed={row.isOpen === false} />
    </div>
  );
}
