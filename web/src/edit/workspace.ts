// The opened plans, which of them is shown, and what stands beside it.

import { computed, effect, signal } from "@preact/signals";
import { call, callAll, RpcError } from "./client";
import { flush } from "./flush";
import { kept } from "./kept";
import { Plan } from "./plan";
import type { Change, Conflict, FileEntry, Finding, Id, OpenedPlan } from "./protocol";
import { tell } from "./tell";
import { onSave, transport } from "./transport";

export const plans = signal<Plan[]>([]);
const shown = signal(0);
export const active = computed<Plan | null>(() => plans.value.find((plan) => plan.id === shown.value) ?? plans.value[0] ?? null);
/** Plans in the opened folders that could be opened. */
export const files = signal<FileEntry[]>([]);
/** Why there is nothing to show. */
export const failure = signal<RpcError | null>(null);

export type DockTab = "findings" | "variables" | "search" | "results" | "recording";
export const dock = kept<{ tab: DockTab; isOpen: boolean }>("dock", { tab: "findings", isOpen: true });
/** Widths of the tree and of the dock beside the form; height of the dock below it. */
export const sizes = kept("sizes", { tree: 340, dock: 360, dockHeight: 240 });
export type FormTab = "form" | "result" | "xml" | "uses";
export const formTab = signal<FormTab>("form");
/** What the middle of the window shows: the focused element, the changes of the plan, or a conflict. */
export const middle = signal<"element" | "changes" | "conflict">("element");
/** The version that the changes are compared with. */
export const compared = signal("head");
export type Overlay = "palette" | "insert" | "wrap" | "type" | "nodes" | "files" | "help" | null;
export const overlay = signal<Overlay>(null);
/** The element to whose field the form scrolls when it is there. */
export const wantedField = signal<string | null>(null);
/** Whether the tree's rows show the classes instead of the types. */
export const showsClasses = kept("classes", false);

export function showDock(tab: DockTab) {
  dock.value = { tab, isOpen: true };
}

export function activate(plan: Plan) {
  shown.value = plan.id;
}

/** Goes to an element, and to one of its fields if it is named. */
export function visit(id: number, property?: string | null, plan = active.value) {
  if (!plan) return;
  activate(plan);
  plan.goTo(id);
  formTab.value = "form";
  wantedField.value = property ?? null;
}

export async function openPlan(path: string) {
  try {
    const opened = await call<OpenedPlan>("open", { path });
    const there = plans.value.find((plan) => plan.id === opened.plan);
    const plan = there ?? new Plan(opened);
    if (!there && opened.note) tell({ text: opened.note, bad: true });
    if (!there) plans.value = [...plans.value, plan];
    activate(plan);
    middle.value = opened.conflict ? "conflict" : "element";
    await listFiles();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    tell({ text: error.message, hint: error.hint, bad: true });
  }
}

export async function closePlan(plan: Plan) {
  await plan.settled();
  try {
    await call("close", { plan: plan.id });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return tell({ text: error.message, hint: error.hint, bad: true });
  }
  const at = plans.value.indexOf(plan);
  plans.value = plans.value.filter((other) => other !== plan);
  const next = plans.value[Math.min(at, plans.value.length - 1)];
  if (next) activate(next);
  await listFiles();
}

export async function listFiles() {
  files.value = await call<FileEntry[]>("files", {});
}

function ofPlan(id: number): Plan | undefined {
  return plans.value.find((plan) => plan.id === id);
}

/** The files and the opened plans, which edit.html asks for before this script runs. */
async function firstTrees(): Promise<OpenedPlan[]> {
  type First = [FileEntry[], OpenedPlan[]];
  const early = await (window as { early?: Promise<First> }).early?.catch(() => null);
  const [listed, trees] = early ?? (await callAll<FileEntry[] | OpenedPlan[]>([["files", {}], ["trees", {}]]) as First);
  files.value = listed;
  return trees;
}

/** Takes all opened plans from the program and stays up to date. */
export async function start(more: Record<string, (params: never) => void>) {
  try {
    const trees = await firstTrees();
    plans.value = trees.map((each) => new Plan(each));
    if (trees[0]?.conflict) middle.value = "conflict";
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    failure.value = error;
  }
  onSave(async () => {
    await flush();
    await Promise.all(plans.value.map((plan) => plan.settled()));
  });
  transport.listen(
    {
      changed: ({ plan, change }: { plan: number; change: Change }) => ofPlan(plan)?.apply(change),
      findings: ({ plan, findings }: { plan: number; revision: number; findings: Finding[] }) => ofPlan(plan)?.takeFindings(findings),
      forms: ({ plan }: { plan: number }) => void ofPlan(plan)?.loadElement(),
      conflict: ({ plan, conflict }: { plan: number; conflict: Conflict }) => {
        const of = ofPlan(plan);
        if (!of) return;
        // The file may change again before the user has chosen.
        const others = of.conflicts.value.filter((each) => each.element !== conflict.element || each.setting !== conflict.setting);
        of.conflicts.value = [...others, conflict];
      },
      // From an editor that holds the text.
      fault: ({ message }: { message: string }) => tell({ text: `The text beside is no plan: ${message}`, hint: "Changes here wait until it is one again", bad: true }),
      dirty: ({ plan, dirty }: { plan: number; dirty: boolean }) => {
        const of = ofPlan(plan);
        if (of) of.dirty.value = dirty;
      },
      marks: ({ plan, added, changed }: { plan: number; added: Id[]; changed: Id[] }) => {
        const of = ofPlan(plan);
        if (of) of.marks.value = new Map([...added.map((id) => [id, "added"] as const), ...changed.map((id) => [id, "changed"] as const)]);
      },
      ...more,
    },
    () => plans.value.forEach((plan) => void plan.reload()),
  );
}

/** Requests the form of the focused element, at once, but not for each of many that the focus passes. */
const PASSING_MS = 70;
let passing = 0;
effect(() => {
  const plan = active.value;
  if (!plan) return;
  plan.focus.value;
  const since = performance.now() - passing;
  passing = performance.now();
  const timer = setTimeout(() => void plan.loadElement(), since < PASSING_MS ? PASSING_MS : 0);
  return () => clearTimeout(timer);
});

effect(() => {
  const plan = active.value;
  document.title = plan ? `${plan.dirty.value ? "● " : ""}${plan.name} – Drumfire` : "Drumfire";
});
