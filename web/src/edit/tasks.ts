// Actions that take several steps, or hand something to the user outside the page.

import { ask } from "./ask";
import { call, RpcError } from "./client";
import { flush } from "./flush";
import type { Plan } from "./plan";
import type { Id } from "./protocol";
import { tell } from "./tell";

/** The text on its way to the clipboard, which is what a paste meanwhile means. */
let onItsWay: Promise<string> | null = null;

/** What to paste, given what the clipboard has. */
export const pasted = (text: string): Promise<string> => onItsWay?.catch(() => text) ?? Promise.resolve(text);

export async function toClipboard(text: Promise<string>, told: string) {
  const way = text.then(async (found) => {
    await navigator.clipboard.writeText(found);
    return found;
  });
  onItsWay = way;
  void way.finally(() => onItsWay === way && (onItsWay = null)).catch(() => {});
  try {
    await way;
    tell({ text: told });
  } catch (error) {
    tell({ text: error instanceof RpcError ? error.message : "The browser does not let the page write to the clipboard", bad: true });
  }
}

/** Hands a text to the browser as a file. */
function download(name: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Downloads the plan as the editor holds it. Its bytes are those of the file only in UTF-8. */
export async function downloadPlan(plan: Plan) {
  await flush();
  await plan.settled();
  const { text } = await call<{ text: string }>("text", { plan: plan.id });
  const isOther = plan.facts.encoding && !/^(utf-?8|us-ascii)$/i.test(plan.facts.encoding);
  if (isOther) return tell({ text: `The plan is encoded in ${plan.facts.encoding}, which a download does not keep`, hint: "Save it and copy the file", bad: true });
  download(plan.name, text);
}

export async function downloadSelection(plan: Plan, ids: Id[]) {
  const { text } = await call<{ text: string }>("copy", { plan: plan.id, ids });
  download(`${(plan.node(ids[0])?.name ?? "").replace(/[^\w.-]+/g, "-") || "selection"}.jmx`, text);
}

/** The names of transactions and samplers, a line each, as JMeter exports them for its report's filter. */
export const sampleNames = (plan: Plan): string => [...plan.order().keys()].map((id) => plan.node(id)!).filter((node) => node.enabled && (node.category === "Sampler" || node.class === "TransactionController")).map((node) => node.name).join("\n");

/** Goes back to the saved file step by step, so that redo brings the changes back. */
export async function revert(plan: Plan) {
  await flush();
  for (const step of ["undo", "redo"] as const) {
    const can = step === "undo" ? plan.canUndo : plan.canRedo;
    let steps = 0;
    while (plan.dirty.value && can.value != null && (await plan.change(step, {}))) steps += 1;
    if (!plan.dirty.value) return tell({ text: `${plan.name} is as it was saved`, hint: step === "undo" && steps ? "Redo brings the changes back" : null });
  }
  tell({ text: `No step leads back to the saved ${plan.name}`, hint: "Close the plan and open it again", bad: true });
}

/** Asks where the selection goes, and moves it there. */
export function moveToFile(plan: Plan, ids: Id[], make: (method: string, params: object) => Promise<void>) {
  const name = plan.node(ids[0])?.name ?? "part";
  ask({ title: "Move the selection into a new plan", label: "File beside this plan", value: `${name.replace(/[^\w.-]+/g, "-").toLowerCase()}.jmx`, verb: "Move", run: (path) => make("move_to_file", { ids, path }) });
}
