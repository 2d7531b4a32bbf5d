// The results of a run: its samples by user and iteration, with their sub-results.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Sign } from "./exchange";
import { counted, time } from "../format";
import { run as act } from "./actions";
import { call } from "./client";
import { Halted } from "./debugging";
import { Icon } from "./icons";
import { bestKey, shownKey } from "./keys";
import { LoadCard } from "./load";
import { ModalBox } from "./modal";
import type { Plan } from "./plan";
import type { RunSample } from "./protocol";
import { answer, choose, clear, ownRuns, question, sampleOf, shown, showRun, stop, type Question, type Run } from "./runs";
import { visit } from "./workspace";

const KINDS: Record<Run["kind"], string> = { this: "One sampler", to_here: "Up to an element", branch: "A branch", group: "A thread group", plan: "The plan once" };

const text = signal("");
const onlyFailed = signal(false);

const WAIT_MS = 150;
/** The most samples in the list. */
const MOST_SHOWN = 1000;

/** The samples that have the text; those of a program that cannot search bodies are found by what the list shows. */
function useFound(run: Run | null): Set<number> | null {
  const [found, setFound] = useState<Set<number> | null>(null);
  const word = text.value.trim();
  const count = run?.samples.length ?? 0;
  useEffect(() => {
    if (!word || !run) return setFound(null);
    let isOld = false;
    const timer = setTimeout(async () => {
      const has = (sample: RunSample): boolean => `${sample.label} ${sample.url} ${sample.code} ${sample.message}`.toLowerCase().includes(word.toLowerCase()) || sample.children.some(has);
      const numbers = await call<number[]>("run_search", { run: run.number, text: word }).catch(() => []);
      if (!isOld) setFound(new Set([...numbers, ...run.samples.filter(has).map((sample) => sample.number)]));
    }, WAIT_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [word, run?.number, count]);
  return found;
}

const hasFailed = (sample: RunSample): boolean => !sample.success || sample.children.some(hasFailed);

interface RowProps {
  run: Run;
  top: RunSample;
  sample: RunSample;
  path: number[];
  /** The sample that is shown. */
  at: ReturnType<typeof sampleOf>;
}

function SampleRow({ run, top, sample, path, at }: RowProps) {
  const isChosen = at?.run === run && at.number === top.number && at.path.join() === path.join();
  return (
    <li>
      <button type="button" class={`sample ${isChosen ? "chosen" : ""}`} aria-pressed={isChosen} onClick={() => choose(run, top, path)}>
        <Sign good={sample.success} />
        <span class="sample-label">{sample.label}</span>
        <code class={sample.success ? "" : "bad"}>{sample.code}</code>
        <small>{time(sample.elapsed_us / 1000)}</small>
      </button>
      {sample.children.length > 0 && <ul>{sample.children.map((child) => <SampleRow key={child.number} run={run} top={top} sample={child} path={[...path, child.number]} at={at} />)}</ul>}
    </li>
  );
}

/** The arrows go from sample to sample. */
function step(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(".sample")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = event.key === "ArrowDown" ? rows[at + 1] : event.key === "ArrowUp" ? rows[at - 1] : undefined;
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
  next.click();
  next.focus();
}

/** Samples that follow each other, of the same user and iteration. */
function parts(samples: RunSample[]): [title: string, samples: RunSample[]][] {
  const found = new Map<string, RunSample[]>();
  const hasIterations = samples.some((sample) => sample.iteration > 1);
  for (const sample of samples) {
    const title = hasIterations ? `${sample.thread}, iteration ${sample.iteration}` : sample.thread;
    const part = found.get(title);
    if (part) part.push(sample);
    else found.set(title, [sample]);
  }
  return [...found];
}

function summary(run: Run): string {
  const { outcome, samples } = run;
  const count = counted(samples.length, "sample");
  if (!outcome) return `${run.halted ? "Stopped" : "Running"}, ${count}`;
  if (outcome.ended === "failed") return outcome.message ?? "The plan cannot run";
  const failed = samples.filter((sample) => !sample.success).length;
  return `${count}, ${failed} failed, ${time(outcome.elapsed_ms)}${outcome.ended === "stopped" ? ", stopped" : ""}`;
}

function RunHead({ run }: { run: Run }) {
  return (
    <div class="run-head">
      <select aria-label="Run" value={run.number} onChange={(event) => showRun(Number(event.currentTarget.value))}>
        {ownRuns.value.map((each) => (
          <option key={each.number} value={each.number}>
            {each.number}: {KINDS[each.kind]}
          </option>
        ))}
      </select>
      {!run.outcome && (
        <button type="button" class="button" onClick={() => void stop()}>
          Stop
        </button>
      )}
      <button type="button" class="tool" aria-label="Clear the results" title={`Clear the results (${shownKey(bestKey("clear"))})`} onClick={clear}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function ResultsPanel({ plan }: { plan: Plan }) {
  const run = shown.value;
  const found = useFound(run);
  if (!run) {
    return (
      <div class="note no-results">
        <LoadCard plan={plan} />
        <p>No results yet. A run sends requests as one user, once, without pauses.</p>
        <p class="buttons">
          <button type="button" class="button" onClick={() => act("runThis")}>Run the selected element</button>
          <button type="button" class="button" onClick={() => act("runPlan")}>Run the plan once</button>
        </p>
      </div>
    );
  }
  const samples = run.samples.filter((sample) => (!found || found.has(sample.number)) && (!onlyFailed.value || hasFailed(sample)));
  const at = sampleOf(plan);
  return (
    <div class="results">
      <LoadCard plan={plan} />
      <RunHead run={run} />
      <Halted run={run} go={(id) => visit(id, null, plan)} />
      <p class={`note ${run.outcome?.ended === "failed" ? "bad" : ""}`} role="status">{summary(run)}</p>
      <div class="run-filter">
        <input type="search" placeholder="Search requests and responses" aria-label="Search requests and responses" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        <button type="button" class={`toggle ${onlyFailed.value ? "on" : ""}`} aria-pressed={onlyFailed.value} onClick={() => (onlyFailed.value = !onlyFailed.value)}>
          Failed only
        </button>
      </div>
      <div onKeyDown={step}>
        {parts(samples.slice(0, MOST_SHOWN)).map(([title, within]) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul class="samples">{within.map((sample) => <SampleRow key={sample.number} run={run} top={sample} sample={sample} path={[]} at={at} />)}</ul>
          </section>
        ))}
      </div>
      {samples.length > MOST_SHOWN && <p class="note">{samples.length - MOST_SHOWN} more samples. Filter the list to see them.</p>}
      {run.samples.length > 0 && !samples.length && <p class="note">No sample matches.</p>}
    </div>
  );
}

/** Asks for the values of variables that a sampler cannot have if it runs alone. */
export function RunQuestion() {
  const asked = question.value;
  return asked && <Values key={`${asked.id}-${asked.kind}`} asked={asked} />;
}

function Values({ asked }: { asked: Question }) {
  const [given, setGiven] = useState(() => Object.fromEntries(asked.names.map((name) => [name, asked.known[name] ?? ""])));
  const close = () => (question.value = null);
  return (
    <ModalBox title="Values for this run" close={close}>
      <p class="note">Elements that do not run now set these variables. The values of the last run are offered.</p>
      <form
        class="values"
        onSubmit={(event) => {
          event.preventDefault();
          void answer(asked, given);
        }}
      >
        {asked.names.map((name, index) => (
          <label key={name} class="field">
            <code>{name}</code>
            <input autofocus={index === 0} value={given[name]} spellcheck={false} onInput={(event) => setGiven({ ...given, [name]: event.currentTarget.value })} />
          </label>
        ))}
        <p class="buttons">
          <button type="submit" class="button main">Run</button>
          <button type="button" class="button" onClick={close}>Cancel</button>
        </p>
      </form>
    </ModalBox>
  );
}
