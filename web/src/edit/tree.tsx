// The tree of a plan: the ARIA tree pattern over rows of one height, of which only those in sight are in the document.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { copyText, cutSelection, paste, run } from "./actions";
import { openMenu } from "./menu";
import type { Plan } from "./plan";
import { FILTER_WORDS } from "./rows";
import { tell } from "./tell";
import { dropMark, drags } from "./tree_drag";
import { onTreeKey } from "./tree_keys";
import { TreeRow } from "./tree_row";

export const ROW_PX = 26;
/** Rows beyond the edges, so that a quick scroll shows no gap. */
const BEYOND = 8;

/** Which rows are in sight. */
function useWindow(plan: Plan) {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => (view.value = { top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [plan]);
  return { box, view };
}

/** Scrolls the focused row into sight. */
function useFocusInSight(plan: Plan, box: { current: HTMLDivElement | null }) {
  const at = plan.rowOf.value.get(plan.focus.value) ?? -1;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || at < 0) return;
    const top = at * ROW_PX;
    const isAbove = top < element.scrollTop;
    const isBelow = top + ROW_PX > element.scrollTop + element.clientHeight;
    if (isAbove || isBelow) {
      const isFar = top < element.scrollTop - element.clientHeight || top > element.scrollTop + 2 * element.clientHeight;
      element.scrollTop = isFar ? top - element.clientHeight / 3 : isAbove ? top : top + ROW_PX - element.clientHeight;
    }
  }, [plan, plan.focus.value, at]);
}

async function write(text: Promise<string>) {
  try {
    await navigator.clipboard.writeText(await text);
  } catch {
    tell({ text: "The browser does not let the page write to the clipboard", bad: true });
  }
}

export function Tree({ plan }: { plan: Plan }) {
  const { box, view } = useWindow(plan);
  const rows = plan.rows.value;
  useFocusInSight(plan, box);
  const first = Math.max(0, Math.floor(view.value.top / ROW_PX) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((view.value.top + view.value.height) / ROW_PX) + BEYOND);
  const shown = rows.slice(first, last).map((row, index) => ({ row, at: first + index }));
  // The focused row stays in the document, since a screen reader follows it there.
  const focused = plan.rowOf.value.get(plan.focus.value);
  if (focused != null && (focused < first || focused >= last)) shown.push({ row: rows[focused], at: focused });
  const mark = dropMark.value;
  return (
    <div
      id="tree"
      ref={box}
      class="tree"
      role="tree"
      aria-label={`Elements of ${plan.name}`}
      aria-multiselectable="true"
      aria-activedescendant={focused == null ? undefined : `row-${plan.focus.value}`}
      tabIndex={0}
      onKeyDown={(event) => onTreeKey(event, plan, Math.floor(view.value.height / ROW_PX) - 1)}
      onCopy={(event) => (event.preventDefault(), write(copyText()))}
      onCut={(event) => (event.preventDefault(), write(cutSelection()))}
      onPaste={(event) => {
        event.preventDefault();
        const text = event.clipboardData?.getData("text/plain");
        if (text) void paste(text);
      }}
      {...drags(plan, box)}
    >
      <div class="rows" role="none" style={{ height: `${rows.length * ROW_PX}px` }}>
        {shown.map(({ row, at }) => (
          <TreeRow key={row.id} plan={plan} row={row} top={at * ROW_PX} menu={(x, y) => openMenu(x, y)} />
        ))}
        {mark && <div class={`drop-line ${mark.where} ${mark.refused ? "refused" : ""}`} role="none" style={{ top: `${mark.top}px`, left: `${mark.left}px` }} />}
        {mark?.refused && <div class="drop-why" role="none" style={{ top: `${mark.top + ROW_PX}px`, left: `${mark.left + 12}px` }}>{mark.refused}</div>}
      </div>
    </div>
  );
}

/** The text above the tree that keeps matching elements and those above them. */
export function Filter({ plan }: { plan: Plan }) {
  const input = useRef<HTMLInputElement>(null);
  const hits = plan.filter.value.trim() ? plan.hits.value : null;
  useEffect(() => {
    if (plan.filter.value && document.activeElement?.id === "tree") input.current?.focus();
  }, [plan.filter.value]);
  return (
    <div class="filter">
      <input
        ref={input}
        id="filter"
        type="search"
        placeholder="Filter"
        aria-label="Filter the tree by name, type or class"
        title={`Also ${FILTER_WORDS.join(", ")}`}
        value={plan.filter.value}
        onInput={(event) => (plan.filter.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            plan.filter.value = "";
            document.getElementById("tree")?.focus();
          } else if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            plan.focusFirstHit();
            document.getElementById("tree")?.focus();
          }
        }}
      />
      <span class="count" role="status">
        {hits == null ? "" : hits === 1 ? "1 match" : `${hits} matches`}
      </span>
      <button type="button" class="tool" title="Insert an element here" aria-label="Insert an element here" onClick={() => run("insert")}>
        +
      </button>
    </div>
  );
}
