// Dragging elements: before, after or into another one, within a plan or to another.

import { signal } from "@preact/signals";
import { move } from "./actions";
import { call } from "./client";
import type { Plan } from "./plan";
import type { Id, Insertable, Node } from "./protocol";

/** Where a drop would put the elements. */
export interface Mark {
  where: "before" | "into" | "after";
  top: number;
  left: number;
  /** Why it may not. */
  refused: string | null;
}

export const dropMark = signal<Mark | null>(null);

let dragged: { plan: Plan; ids: Id[] } | null = null;
/** The categories that elements of a class may hold; nothing while the program is asked. */
const holds = new Map<string, Set<string> | null>();
const OPENS_MS = 600;
const ROW_PX = 26;
let hovered: { id: Id; since: number } | null = null;

/** Why a parent may not hold the dragged elements, as far as it is known by now. */
function refusal(plan: Plan, parent: Node): string | null {
  if (!dragged) return null;
  const within = dragged.plan === plan && [parent, ...plan.ancestors(parent.id)].some((node) => dragged!.ids.includes(node.id));
  if (within) return "An element cannot be within itself";
  const allowed = holds.get(parent.class);
  if (allowed === undefined) {
    holds.set(parent.class, null);
    void call<Insertable[]>("palette", { plan: plan.id, parent: parent.id }).then((found) => holds.set(parent.class, new Set(found.map((each) => each.category))));
  }
  const misfit = allowed ? dragged.ids.map((id) => dragged!.plan.node(id)).find((node) => node && !allowed.has(node.category)) : undefined;
  return misfit ? `${parent.type} cannot hold ${misfit.type}` : null;
}

function place(plan: Plan, target: Node, where: Mark["where"]): { parent: Node; index: number } {
  const parent = plan.node(target.parent ?? -1);
  if (where === "into" || !parent) return { parent: target, index: target.children.length };
  return { parent, index: parent.children.indexOf(target.id) + (where === "after" ? 1 : 0) };
}

function markAt(plan: Plan, event: DragEvent, box: HTMLElement): { mark: Mark; target: Node } | null {
  const offset = event.clientY - box.getBoundingClientRect().top + box.scrollTop;
  const at = Math.floor(offset / ROW_PX);
  const row = plan.rows.value[at];
  const target = row && plan.node(row.id);
  if (!target) return null;
  const part = offset / ROW_PX - at;
  const where = target.parent == null ? "into" : part < 0.28 ? "before" : part > 0.72 && !row.isOpen ? "after" : "into";
  const refused = refusal(plan, place(plan, target, where).parent);
  return { target, mark: { where, refused, top: (at + (where === "after" ? 1 : 0)) * ROW_PX, left: 6 + (row.level - 1) * 16 } };
}

async function drop(plan: Plan, target: Node, where: Mark["where"], isCopy: boolean) {
  const from = dragged!;
  const { parent, index } = place(plan, target, where);
  if (from.plan === plan && !isCopy) return move(from.ids, parent.id, index);
  const { text } = await call<{ text: string }>("copy", { plan: from.plan.id, ids: from.ids });
  const change = await plan.change("paste", { parent: parent.id, index, text });
  if (!change) return;
  plan.fold([parent.id], true);
  if (change.created?.length) plan.select(change.created, change.created[0]);
  if (!isCopy) await from.plan.change("remove", { ids: from.ids });
}

/** Opens a closed branch over which the drag rests. */
function openUnder(plan: Plan, id: Id) {
  if (hovered?.id !== id) hovered = { id, since: performance.now() };
  else if (performance.now() - hovered.since > OPENS_MS) plan.fold([id], true);
}

/** The tree's handlers. */
export function drags(plan: Plan, box: { current: HTMLElement | null }) {
  const end = () => {
    dropMark.value = null;
  };
  return {
    onDragStart: (event: DragEvent) => {
      const id = Number((event.target as HTMLElement).dataset?.id);
      if (!plan.selected.value.has(id)) plan.goTo(id);
      dragged = { plan, ids: plan.chosen().filter((each) => each !== plan.root) };
      event.dataTransfer!.effectAllowed = "copyMove";
      event.dataTransfer!.setData("text/plain", dragged.ids.map((each) => plan.node(each)?.name).join("\n"));
    },
    onDragOver: (event: DragEvent) => {
      if (!dragged) return;
      const found = markAt(plan, event, box.current!);
      dropMark.value = found?.mark ?? null;
      if (!found) return;
      if (found.mark.where === "into") openUnder(plan, found.target.id);
      if (found.mark.refused) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = event.ctrlKey ? "copy" : "move";
    },
    onDragLeave: (event: DragEvent) => {
      if (!box.current!.contains(event.relatedTarget as globalThis.Node | null)) end();
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      const found = dragged && markAt(plan, event, box.current!);
      end();
      if (found && !found.mark.refused) void drop(plan, found.target, found.mark.where, event.ctrlKey);
    },
    onDragEnd: () => {
      end();
      dragged = null;
    },
  };
}
