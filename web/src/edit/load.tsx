// A run of the saved plan with its load, whose live page opens beside the editor.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call } from "./client";
import { ModalBox } from "./modal";
import type { Plan } from "./plan";
import type { ElementView } from "./protocol";
import { refused } from "./runs";
import { tell } from "./tell";
import { active, plans, showDock } from "./workspace";

/** The live pages of the plans that run with their load. */
const pages = signal<ReadonlyMap<number, string>>(new Map());
/** A thread group that would send, with what it says of its users. */
interface Group {
  name: string;
  users: string;
}
const question = signal<{ plan: Plan; groups: Group[]; save: () => Promise<unknown> } | null>(null);

export const loadOf = (plan: Plan | null) => (plan ? pages.value.get(plan.id) : undefined);

function set(plan: number, url: string | null) {
  const all = new Map(pages.value);
  if (url) all.set(plan, url);
  else all.delete(plan);
  pages.value = all;
}

export const handlers = {
  load_started: ({ plan, url }: { plan: number; url: string }) => set(plan, url),
  load_ended: ({ plan, message }: { plan: number; message: string | null }) => {
    set(plan, null);
    if (message) tell({ text: "The run with load has failed", hint: message, bad: true });
  },
};

/** Takes the runs with load that the program has. */
export async function restoreLoads() {
  for (const { id } of plans.value) set(id, (await call<{ url: string } | null>("load_state", { plan: id }).catch(() => null))?.url ?? null);
}

/** The properties that decide how many users a thread group has. */
const USERS = /(num_threads|TargetLevel|Threads?Schedule|threads_schedule|load_profile)$/i;

async function groups(plan: Plan): Promise<Group[]> {
  const own = [...plan.nodes.values()].filter((node) => node.category === "Threads (Users)" && node.enabled && !plan.ancestors(node.id).some((above) => !above.enabled));
  return Promise.all(
    own.map(async (node) => {
      const { fields } = await call<ElementView>("element", { plan: plan.id, id: node.id });
      const field = fields.find(({ property }) => USERS.test(property));
      const value = field?.value ?? field?.effective?.value ?? field?.default;
      return { name: node.name, users: value && !field?.table ? `${value} ${value === "1" ? "user" : "users"}` : node.type };
    }),
  );
}

/** Asks before the plan runs with its load. */
export async function startLoad(plan: Plan, save: () => Promise<unknown>) {
  const url = loadOf(plan);
  if (url) return open(url, "_blank", "noopener");
  try {
    question.value = { plan, groups: await groups(plan), save };
  } catch (error) {
    refused(error);
  }
}

export async function stopLoad() {
  const plan = active.value;
  if (plan) await call("load_stop", { plan: plan.id }).catch(refused);
}

export function LoadQuestion() {
  return question.value && <Dialog key={question.value.plan.id} {...question.value} />;
}

function Dialog({ plan, groups, save }: { plan: Plan; groups: Group[]; save: () => Promise<unknown> }) {
  const [isStarting, setStarting] = useState(false);
  const close = () => (question.value = null);
  const run = async () => {
    setStarting(true);
    try {
      if (plan.dirty.value) await save();
      const { url } = await call<{ url: string }>("load", { plan: plan.id });
      set(plan.id, url);
      showDock("results");
      // A browser that opens no window leaves the link in the results.
      open(url, "_blank", "noopener");
    } catch (error) {
      refused(error);
    }
    close();
  };
  return (
    <ModalBox title={`Run ${plan.name} with its load`} close={close}>
      <form
        class="values"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {groups.length ? (
          <ul aria-label="Thread groups">{groups.map((group, index) => <li key={index}><b>{group.name}</b>: {group.users}</li>)}</ul>
        ) : (
          <p class="note">No thread group is enabled.</p>
        )}
        {plan.dirty.value && <p class="note">The plan is saved first.</p>}
        <p class="buttons">
          <button type="submit" class="button main" autofocus disabled={isStarting}>{isStarting ? "Starting…" : "Run"}</button>
          <button type="button" class="button" onClick={close}>Cancel</button>
        </p>
      </form>
    </ModalBox>
  );
}

/** The run with load in the results. */
export function LoadCard({ plan }: { plan: Plan }) {
  const url = loadOf(plan);
  if (!url) return null;
  return (
    <section class="standing load" aria-label="Run with load">
      <p role="status">The plan runs with its load, or its page is still open.</p>
      <p class="buttons">
        <a class="button main" href={url} target="_blank" rel="noopener">Open the live page</a>
        <button type="button" class="button" onClick={() => void stopLoad()}>Stop and close</button>
      </p>
    </section>
  );
}
