// Runs of the plan, or of a part of it: one user, once. The program runs them and keeps what was sent and received.

import { computed, signal } from "@preact/signals";
import { call, RpcError } from "./client";
import { flush } from "./flush";
import type { Plan } from "./plan";
import type { Id, Pace, RunHalt, RunKind, RunOutcome, RunSample, RunSampleDetail, Variable } from "./protocol";
import { tell } from "./tell";
import { active, formTab, plans, showDock } from "./workspace";

export interface Run {
  number: number;
  plan: number;
  kind: RunKind;
  /** The element that it was asked for. */
  id: Id | null;
  samples: RunSample[];
  outcome: RunOutcome | null;
  /** Where a user stands still. */
  halted: RunHalt | null;
}

/** A sample, and the way to one of its sub-results. */
export interface Chosen {
  run: number;
  number: number;
  path: number[];
}

/** The program keeps as many. */
const MOST_RUNS = 20;

export const runs = signal<Run[]>([]);
const shownRun = signal<number | null>(null);
export const chosen = signal<Chosen | null>(null);

/** The runs of the shown plan. */
export const ownRuns = computed(() => runs.value.filter((run) => run.plan === active.value?.id));
export const shown = computed<Run | null>(() => ownRuns.value.find((run) => run.number === shownRun.value) ?? ownRuns.value.at(-1) ?? null);
export const running = computed<Run | null>(() => runs.value.find((run) => !run.outcome) ?? null);

/** The last sample of each element in the shown run. */
export const lastOf = computed(() => new Map((shown.value?.samples ?? []).flatMap((sample) => (sample.id == null ? [] : [[sample.id, sample] as const]))));

export function showRun(number: number) {
  shownRun.value = number;
  chosen.value = null;
}

/** Shows a sample, and selects its element in the tree. */
export function choose(run: Run, sample: RunSample, path: number[]) {
  const plan = active.value!;
  if (sample.id != null && plan.focus.value !== sample.id) plan.goTo(sample.id);
  chosen.value = { run: run.number, number: sample.number, path };
  formTab.value = "result";
}

/** The sample that belongs to the selection: the one that was chosen, or the last one of the element. */
export function sampleOf(plan: Plan): { run: Run; number: number; path: number[] } | null {
  const run = shown.value;
  if (!run) return null;
  const focus = plan.focus.value;
  // An element within a sampler shows the sampler's.
  const holders = [...plan.ancestors(focus).map((node) => node.id), focus].reverse();
  const own = chosen.value?.run === run.number ? run.samples.find((sample) => sample.number === chosen.value!.number) : undefined;
  if (own && (own.id == null || holders.includes(own.id))) return { run, number: own.number, path: chosen.value!.path };
  const last = holders.map((id) => lastOf.value.get(id)).find((sample) => sample != null);
  return last ? { run, number: last.number, path: [] } : null;
}

/** Values of variables at the end of the last run of each plan, and those that the user gave. */
const values = new Map<number, Record<string, string>>();
export interface Question {
  plan: Plan;
  kind: RunKind;
  id: Id | null;
  pace: Pace | null;
  names: string[];
  known: Record<string, string>;
}
export const question = signal<Question | null>(null);

/** Elements that act on the samplers beside them and below. */
const ACTS_IN_SCOPE = new Set(["Config Element", "Timer", "Pre Processors", "Post Processors", "Assertions"]);
/** Elements that set variables before a sampler in their scope is sent. */
const SETS_BEFORE = new Set(["Config Element", "Pre Processors"]);

/** In a script, the name of a variable that no element sets is one of the script's own. */
const IN_SCRIPTS = /^(script|BeanShell.*)$/;

interface Need {
  name: string;
  /** What the plan says that it is at first. */
  value: string | null;
}

/** The variables that a part reads, and that nothing sets that runs with it. */
async function missing(plan: Plan, id: Id): Promise<Need[]> {
  const found = await call<Variable[]>("variables", { plan: plan.id, id });
  const above = new Set(plan.ancestors(id).map((node) => node.id));
  const isWithin = (each: Id) => each === id || plan.ancestors(each).some((node) => node.id === id);
  const category = (each: Id) => plan.node(each)?.category ?? "";
  const isBeside = (each: Id) => above.has(plan.node(each)?.parent ?? -1) && ACTS_IN_SCOPE.has(category(each));
  const isSampler = category(id) === "Sampler";
  const sets = (each: Id) => {
    // A Test Plan and a thread group have variables of their own.
    if (above.has(each)) return true;
    // A sampler's own extractors set their variables too late for it.
    return isWithin(each) ? !isSampler || SETS_BEFORE.has(category(each)) : isBeside(each) && SETS_BEFORE.has(category(each));
  };
  return found
    .filter(({ read_by, set_by }) => read_by.some((reader) => (isWithin(reader.id) || isBeside(reader.id)) && (set_by.length > 0 || !IN_SCRIPTS.test(reader.property ?? ""))))
    .filter(({ set_by }) => !set_by.some((setter) => sets(setter.id)))
    .map(({ name, value }) => ({ name, value: value ?? null }));
}

/** A short run that is about to end is waited for, since one key after the other asks for runs. */
const ENDS_MS = 2000;

function isFree(): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), ENDS_MS);
    const unwatch = running.subscribe((run) => {
      if (run) return;
      clearTimeout(timer);
      // The subscription is made only after its first call.
      queueMicrotask(() => unwatch());
      done(true);
    });
  });
}

/** Runs a part of the plan, after asking for the values that it cannot have alone. With a pace, users stand still at breakpoints. */
export async function start(kind: RunKind, id: Id | null, pace: Pace | null = null) {
  const plan = active.value!;
  await flush();
  await plan.settled();
  if (!(await isFree())) return tell({ text: "A run is under way", hint: "Press Ctrl+. to stop it", bad: true });
  try {
    const needs = id != null && (kind === "this" || kind === "branch") ? await missing(plan, id) : [];
    const names = needs.map(({ name }) => name);
    const atFirst = needs.flatMap(({ name, value }) => (value == null ? [] : [[name, value] as const]));
    const known = { ...Object.fromEntries(atFirst), ...values.get(plan.id) };
    if (names.some((name) => !(name in known))) question.value = { plan, kind, id, pace, names, known };
    else await request(plan, kind, id, pace, Object.fromEntries(names.map((name) => [name, known[name]])));
  } catch (error) {
    refused(error);
  }
}

/** Runs with the values that the user gave. */
export async function answer({ plan, kind, id, pace }: Question, given: Record<string, string>) {
  question.value = null;
  values.set(plan.id, { ...values.get(plan.id), ...given });
  await request(plan, kind, id, pace, given).catch(refused);
}

async function request(plan: Plan, kind: RunKind, id: Id | null, pace: Pace | null, variables: Record<string, string>) {
  showDock("results");
  if (kind === "this") {
    if (id != null && !plan.ancestors(plan.focus.value).some((node) => node.id === id)) plan.goTo(id);
    formTab.value = "result";
  }
  chosen.value = null;
  const { run } = await call<{ run: number }>("run", { plan: plan.id, kind, ...(id == null ? {} : { id }), ...(pace && { pace }), variables });
  begun(run, plan.id, kind, id);
}

export function refused(error: unknown) {
  if (!(error instanceof RpcError)) throw error;
  tell({ text: error.message, hint: error.hint, bad: true });
}

export async function stop() {
  const run = running.value;
  if (run) await call("run_stop", { run: run.number }).catch(refused);
}

export function clear() {
  runs.value = runs.value.filter((run) => !run.outcome);
  chosen.value = null;
}

/** Notes a run. The answer to the request and the notification may come in any order. */
function begun(number: number, plan: number, kind: RunKind, id: Id | null) {
  if (runs.value.some((run) => run.number === number)) return;
  runs.value = [...runs.value, { number, plan, kind, id, samples: [], outcome: null, halted: null }].slice(-MOST_RUNS);
  if (plan === active.value?.id) shownRun.value = number;
}

const change = (number: number, to: (run: Run) => Run) => (runs.value = runs.value.map((run) => (run.number === number ? to(run) : run)));

/** Samples that have arrived and are not shown yet: a quick run sends thousands a second. */
const SHOW_MS = 50;
let arrived: { run: number; sample: RunSample }[] = [];
let timer = 0;

function take() {
  clearTimeout(timer);
  timer = 0;
  const all = arrived;
  arrived = [];
  for (const number of new Set(all.map((each) => each.run))) {
    const samples = all.filter((each) => each.run === number).map((each) => each.sample);
    change(number, (run) => ({ ...run, samples: [...run.samples, ...samples] }));
  }
}

export const handlers = {
  run_started: ({ plan, run, kind, id }: { plan: number; run: number; kind: RunKind; id: Id | null }) => begun(run, plan, kind, id),
  run_sample: (one: { run: number; sample: RunSample }) => {
    arrived.push(one);
    timer ||= window.setTimeout(take, arrived.length === 1 && !shown.value?.samples.length ? 0 : SHOW_MS);
  },
  run_halted: ({ run, halted }: { run: number; halted: RunHalt | null }) => {
    take();
    edits.value = {};
    change(run, (each) => ({ ...each, halted }));
    const plan = plans.value.find((each) => each.id === runs.value.find((one) => one.number === run)?.plan);
    if (!halted || !plan) return;
    showDock("results");
    if (halted.id != null) plan.goTo(halted.id);
  },
  run_ended: ({ run, outcome }: { run: number; outcome: RunOutcome }) => {
    take();
    change(run, (each) => ({ ...each, outcome, halted: null }));
    if (outcome.ended === "failed") tell({ text: outcome.message ?? "The plan cannot run", bad: true });
    void keepValues(run);
  },
};

/** New values for the variables of the user that stands still. */
export const edits = signal<Record<string, string | null>>({});

/** Lets the user go on that stands still. */
export async function goOn(pace: Pace) {
  const run = running.value;
  if (run?.halted) await call("run_go", { run: run.number, pace, edits: edits.value }).catch(refused);
}

/** Keeps the variables after the last sample, for samplers that run alone later. */
async function keepValues(number: number) {
  const run = runs.value.find((each) => each.number === number);
  const last = run?.samples.at(-1);
  if (!run || !last) return;
  try {
    const { variables } = await call<RunSampleDetail>("run_sample_detail", { run: number, number: last.number, length: 0 });
    values.set(run.plan, { ...values.get(run.plan), ...variables });
  } catch {
    // A run alone asks for the values.
  }
}

/** Takes the runs that the program still has. A page that is opened, not loaded again, shows them. */
export async function restore() {
  const navigation = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined;
  for (const { id } of plans.value) {
    const found = await call<(Omit<Run, "number" | "plan"> & { run: number })[]>("runs", { plan: id }).catch(() => []);
    runs.value = [...runs.value, ...found.map(({ run, ...each }) => ({ ...each, number: run, plan: id, outcome: each.outcome ?? null, halted: each.halted ?? null }))];
  }
  if (ownRuns.value.length === 0 || navigation?.type === "reload") return;
  showDock("results");
  const at = running.value?.halted?.id;
  if (at != null) active.value?.goTo(at);
}
