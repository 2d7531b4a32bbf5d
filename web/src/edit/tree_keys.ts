// The keys of the tree that move its focus; keys that change the plan are in the table of keys.

import { openMenu } from "./menu";
import type { Plan } from "./plan";

/** The row that a key leads to, if it is a key that moves the focus. */
function target(key: string, at: number, page: number, last: number): number | null {
  switch (key) {
    case "ArrowUp":
      return at - 1;
    case "ArrowDown":
      return at + 1;
    case "PageUp":
      return Math.max(at - page, 0);
    case "PageDown":
      return Math.min(at + page, last);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

/** Closes the branch or goes to the parent; opens the branch or goes to its first child. */
function sideways(plan: Plan, key: "ArrowLeft" | "ArrowRight", at: number) {
  const row = plan.rows.value[at];
  const node = plan.node(row.id)!;
  if (key === "ArrowRight") {
    if (row.isOpen === false) plan.fold([row.id], true);
    else if (row.isOpen) focusRow(plan, at + 1);
  } else if (row.isOpen && !plan.filter.value) plan.fold([row.id], false);
  else if (node.parent != null) focusRow(plan, plan.rowOf.value.get(node.parent) ?? at);
}

function focusRow(plan: Plan, at: number) {
  const row = plan.rows.value[at];
  if (row) plan.select([row.id], row.id);
}

export function onTreeKey(event: KeyboardEvent, plan: Plan, page: number) {
  if (event.defaultPrevented || event.altKey) return;
  const rows = plan.rows.value;
  const at = plan.rowOf.value.get(plan.focus.value) ?? 0;
  const isCtrl = event.ctrlKey || event.metaKey;
  const to = target(event.key, at, page, rows.length - 1);
  if (to != null) {
    event.preventDefault();
    const row = rows[to];
    if (!row) return;
    if (event.shiftKey) plan.selectTo(row.id);
    else if (isCtrl) plan.focus.value = row.id;
    else plan.select([row.id], row.id);
    return;
  }
  const isPlain = !isCtrl && !event.shiftKey;
  if (isPlain && (event.key === "ArrowLeft" || event.key === "ArrowRight")) sideways(plan, event.key, at);
  else if (event.key === " ") toggleSelected(plan);
  else if (isPlain && event.key === "Enter") document.querySelector<HTMLElement>("#form input:not([disabled]), #form textarea")?.focus();
  else if (event.key === "*") plan.fold(siblings(plan), true);
  else if (event.key === "Escape") plan.filter.value = "";
  else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) menuAtFocus(plan);
  else if (!isCtrl && event.key.length === 1 && event.key !== "?") plan.filter.value += event.key;
  else return;
  event.preventDefault();
}

function toggleSelected(plan: Plan) {
  const selected = new Set(plan.selected.value);
  if (!selected.delete(plan.focus.value)) selected.add(plan.focus.value);
  plan.select(selected, plan.focus.value);
}

function siblings(plan: Plan): number[] {
  return plan.node(plan.node(plan.focus.value)?.parent ?? -1)?.children ?? [plan.root];
}

function menuAtFocus(plan: Plan) {
  const box = document.getElementById(`row-${plan.focus.value}`)?.getBoundingClientRect();
  if (box) openMenu(box.left + 48, box.bottom);
}
