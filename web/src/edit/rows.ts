// The rows of a tree: its elements in order, without those in closed branches, or only those that a filter keeps.

import type { Id, Node } from "./protocol";
import type { Counts } from "./plan";

export interface Row {
  id: Id;
  level: number;
  /** The place among the parent's shown children, from 1, and their number. */
  position: number;
  siblings: number;
  isOpen: boolean | null;
}

/** The elements that a filter keeps: those that match, and those above them. */
export interface Kept {
  hits: Set<Id>;
  kept: Set<Id>;
}

/** Words of the filter that ask for a state instead of a text. */
const STATES: Record<string, (node: Node, counts: Counts | undefined) => boolean> = {
  "is:disabled": (node) => !node.enabled,
  "is:finding": (_, counts) => counts != null,
  "is:java": (node) => node.runs === "java",
  "is:skipped": (node) => node.runs === "skipped" || node.runs === "refused",
};

export const FILTER_WORDS = Object.keys(STATES);

/** Tells whether an element has all words in its name, type or class. */
function matcher(filter: string, counts: Map<Id, Counts>): (node: Node) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (node) => {
    const text = `${node.name}\n${node.type}\n${node.class}`.toLowerCase();
    return words.every((word) => STATES[word]?.(node, counts.get(node.id)) ?? text.includes(word));
  };
}

export function matches(nodes: Map<Id, Node>, root: Id, filter: string, counts: Map<Id, Counts>): Kept | null {
  if (!filter.trim()) return null;
  const hits = new Set<Id>();
  const kept = new Set<Id>([root]);
  const isHit = matcher(filter, counts);
  for (const node of nodes.values()) {
    if (!isHit(node)) continue;
    hits.add(node.id);
    for (let at: Node | undefined = node; at && !kept.has(at.id); at = at.parent == null ? undefined : nodes.get(at.parent)) kept.add(at.id);
  }
  return { hits, kept };
}

export function flatten(nodes: Map<Id, Node>, root: Id, open: ReadonlySet<Id>, filtered: Kept | null): Row[] {
  const rows: Row[] = [];
  const visit = (id: Id, level: number, position: number, siblings: number) => {
    const node = nodes.get(id);
    if (!node) return;
    const children = filtered ? node.children.filter((child) => filtered.kept.has(child)) : node.children;
    const isOpen = children.length ? filtered != null || open.has(id) : null;
    rows.push({ id, level, position, siblings, isOpen });
    if (isOpen) children.forEach((child, index) => visit(child, level + 1, index + 1, children.length));
  };
  visit(root, 1, 1, 1);
  return rows;
}
