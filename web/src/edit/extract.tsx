// From a text of a response to an extractor: which extractors would find it, and where the plan sends it.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../format";
import { call, RpcError } from "./client";
import { ModalBox } from "./modal";
import type { Plan } from "./plan";
import type { Id, RunProposal, RunProposals } from "./protocol";
import { refused, sampleOf } from "./runs";
import type { Place } from "./sample";
import { tell } from "./tell";
import { active, visit } from "./workspace";

interface Chosen {
  plan: Plan;
  place: Place;
  sampler: Id;
  text: string;
  /** Where the text stands in the body, in bytes. */
  at: number | null;
}

const asked = signal<Chosen | null>(null);
/** The text that is selected in a response. */
export const selection = signal("");

/** The longest text that a variable is made of. */
const LONGEST = 10_000;

/** The selection in the shown response. */
function selected(): { text: string; at: number | null } | null {
  const range = getSelection()?.rangeCount ? getSelection()!.getRangeAt(0) : null;
  const response = document.getElementById("response");
  const text = range?.toString() ?? "";
  if (!range || !response?.contains(range.commonAncestorContainer) || !text.trim() || text.length > LONGEST) return null;
  const body = document.getElementById("body");
  if (body?.firstChild && range.startContainer === body.firstChild) {
    return { text, at: new TextEncoder().encode(body.firstChild.textContent!.slice(0, range.startOffset)).length };
  }
  // A folded tree shows texts of JSON in their quotation marks.
  const bare = text.trim();
  try {
    const value: unknown = JSON.parse(bare);
    if (typeof value === "string" && value) return { text: value, at: null };
  } catch {
    // The selection is no whole text of JSON.
  }
  return { text: bare, at: null };
}

document.addEventListener("selectionchange", () => (selection.value = selected()?.text ?? ""));

/** Asks for an extractor for the selected text of the shown response. */
export function extractSelection() {
  const plan = active.value!;
  const place = sampleOf(plan);
  const found = selected();
  if (!place || !found) return tell({ text: "No text of a response is selected", hint: "Select one in the tab Result", bad: true });
  if (place.path.length) return tell({ text: "An extractor reads the response of the whole sample", hint: "Select the text in the sample above", bad: true });
  const sampler = place.run.samples.find((sample) => sample.number === place.number)?.id;
  if (sampler == null) return tell({ text: "The sampler is in another plan", hint: "Open that plan, and run it there", bad: true });
  asked.value = { plan, place: { ...place, run: place.run.number }, sampler, ...found };
}

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function proof({ found }: RunProposal): { text: string; isWhole: boolean; values: string } {
  const values = found.flatMap(({ value }) => (value == null ? [] : [value]));
  const isWhole = values.length === found.length;
  return { text: `found in ${values.length} of ${counted(found.length, "response")}`, isWhole, values: [...new Set(values)].join("\n") };
}

function ProposalRow({ proposal, isChosen, choose }: { proposal: RunProposal; isChosen: boolean; choose: () => void }) {
  const { text, isWhole, values } = proof(proposal);
  return (
    <label class={`proposal ${isChosen ? "chosen" : ""}`}>
      <input type="radio" name="proposal" checked={isChosen} onChange={choose} />
      <span class="proposal-kind">{proposal.kind}</span>
      <code>{proposal.expression}</code>
      <small>
        <span class={proposal.matches === 1 ? "good" : "warn"}>{proposal.matches === 1 ? "the only match" : `match ${proposal.number} of ${proposal.matches}`}</span>
        <span class={isWhole ? "good" : "bad"} title={values}>{text}</span>
        <span>{proposal.cost_us} µs</span>
      </small>
    </label>
  );
}

export function ExtractDialog() {
  return asked.value && <Dialog key={`${asked.value.place.run}.${asked.value.place.number}.${asked.value.text}`} chosen={asked.value} />;
}

function Dialog({ chosen }: { chosen: Chosen }) {
  const { plan, place, sampler, text, at } = chosen;
  const [found, setFound] = useState<RunProposals | null>(null);
  const [picked, setPicked] = useState(0);
  const [name, setName] = useState<string | null>(null);
  /** Which of the values that are sent gives way to the variable. */
  const [replaced, setReplaced] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const close = () => (asked.value = null);
  const propose = (more: object) => call<RunProposals>("run_propose", { run: place.run, number: place.number, text, ...(at != null && { at }), ...more });
  useEffect(() => {
    propose({}).then(setFound, (error) => (close(), refused(error)));
  }, []);
  useEffect(() => list.current?.querySelector<HTMLElement>("input")?.focus(), [found != null]);
  const proposal = found?.proposals[picked];
  const value = found?.sent[replaced];
  const sent = value?.uses.reduce((sum, use) => sum + use.count, 0) ?? 0;
  const insert = async () => {
    if (!proposal) return;
    const variable = name?.trim() || proposal.name;
    try {
      const named = variable === proposal.name ? proposal : (await propose({ name: variable })).proposals[picked];
      close();
      const change = await plan.change("extract_value", { id: sampler, element: named.element, name: variable, value: value?.value ?? text });
      const created = change?.created?.find((id) => plan.node(id));
      if (created == null) return;
      visit(created, null, plan);
      tell({ text: `\${${variable}} takes the value from the response, and is sent in ${counted(sent, "place")}` });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      refused(error);
    }
  };
  return (
    <ModalBox title={`Extract “${short(text)}”`} close={close}>
      {found && !found.proposals.length && <p class="note">No extractor yields exactly this text. Select a shorter one.</p>}
      {proposal && (
        <form
          class="values extraction"
          onSubmit={(event) => {
            event.preventDefault();
            void insert();
          }}
        >
          <div ref={list} role="radiogroup" aria-label="Extractors">
            {found!.proposals.map((each, index) => <ProposalRow key={index} proposal={each} isChosen={index === picked} choose={() => setPicked(index)} />)}
          </div>
          <label class="field">
            Variable
            <input value={name ?? proposal.name} spellcheck={false} required onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          {value ? (
            <>
              <label class="field">
                In place of
                <select value={replaced} onChange={(event) => setReplaced(Number(event.currentTarget.value))}>
                  {found!.sent.map((each, index) => (
                    <option key={each.value} value={index}>
                      {short(each.value)}{each.value === text ? "" : ", which is sent under this name"}
                    </option>
                  ))}
                </select>
              </label>
              <details class="sent">
                <summary>It is sent in {counted(sent, "place")}</summary>
                <ul>
                  {value.uses.map((use, index) => (
                    <li key={index}>
                      <button type="button" class="link" onClick={() => (close(), visit(use.id, use.property, plan))}>{plan.node(use.id)?.name}</button> <code>{use.property}</code>
                    </li>
                  ))}
                </ul>
              </details>
            </>
          ) : (
            <p class="note">The plan sends neither this text nor another value under its name.</p>
          )}
          <p class="buttons">
            <button type="submit" class="button main">{sent ? "Insert and replace" : "Insert"}</button>
            <button type="button" class="button" onClick={close}>Cancel</button>
          </p>
        </form>
      )}
    </ModalBox>
  );
}
