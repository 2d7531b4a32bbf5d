// Failed samples by kind across labels, each with when it occurred, its labels and its first sample.

import { useMemo } from "preact/hooks";
import type { ErrorKind, FailedSample, Report, Row } from "./data";
import { clock, count, elapsed, percent, time } from "./format";
import type { Stretch } from "./overlay";
import { Tools, hasWords, useChoice } from "./tools";

/** The errors with one code and message. */
interface Group {
  code: string;
  message: string;
  /** Of the labels that are looked at, the most frequent first. */
  kinds: ErrorKind[];
  count: number;
  firstMs: number | null;
  lastMs: number | null;
  first?: FailedSample;
  curve: [number, number][];
  stepS: number;
}

/** How many errors of a kind ended in a range. Kinds without a curve count as a whole. */
function countWithin(kind: ErrorKind, stretch: Stretch): number {
  if (!stretch || !kind.curve?.at.length) return kind.count;
  const { at, count, stepS } = kind.curve;
  let step = 0;
  return at.reduce((sum, distance, index) => {
    step += distance;
    const middle = (step + 0.5) * stepS;
    return middle >= stretch[0] && middle <= stretch[1] ? sum + count[index] : sum;
  }, 0);
}

function groupOf(kinds: ErrorKind[], stretch: Stretch): Group {
  const curves = kinds.flatMap((kind) => (kind.curve ? [kind.curve] : []));
  const stepS = Math.max(1, ...curves.map((curve) => curve.stepS));
  const counts = new Map<number, number>();
  for (const curve of curves) {
    let step = 0;
    curve.at.forEach((distance, index) => {
      step += distance;
      const at = Math.floor((step * curve.stepS) / stepS) * stepS;
      counts.set(at, (counts.get(at) ?? 0) + curve.count[index]);
    });
  }
  const earliest = [...kinds].filter((kind) => kind.first).sort((a, b) => a.first!.start_ms - b.first!.start_ms)[0];
  return {
    code: kinds[0].code,
    message: kinds[0].message,
    kinds,
    count: kinds.reduce((sum, kind) => sum + countWithin(kind, stretch), 0),
    firstMs: curves.length ? Math.min(...curves.map((curve) => curve.firstMs)) : null,
    lastMs: curves.length ? Math.max(...curves.map((curve) => curve.lastMs)) : null,
    first: earliest?.first,
    curve: [...counts].sort((a, b) => a[0] - b[0]),
    stepS,
  };
}

function groupsOf(known: ErrorKind[], stretch: Stretch): Group[] {
  const groups = new Map<string, ErrorKind[]>();
  for (const kind of known) {
    const key = `${kind.code}\0${kind.message}`;
    groups.set(key, [...(groups.get(key) ?? []), kind]);
  }
  const all = [...groups.values()].map((kinds) => groupOf(kinds, stretch));
  return all.filter((group) => group.count > 0).sort((a, b) => b.count - a.count);
}

const FIELDS = ["code", "message", "label", "count", "first_ms", "last_ms"];

export function Errors({ report, chosen, stretch }: { report: Report; chosen: Row | null; stretch: Stretch }) {
  const choice = useChoice();
  const known = useMemo(() => (chosen ? report.errors.filter((kind) => kind.label === chosen.label) : report.errors), [report.errors, chosen?.label]);
  const labels = useMemo(() => [...new Set(known.map((kind) => kind.label))], [known]);
  const groups = useMemo(() => groupsOf(known.filter((kind) => choice.kind === "all" || kind.label === choice.kind), stretch), [known, choice.kind, stretch]);
  const found = useMemo(() => {
    const isFound = hasWords(choice.search);
    return groups.filter((group) => isFound(`${group.code} ${group.message} ${group.kinds.map((kind) => kind.label).join(" ")}`));
  }, [groups, choice.search]);
  const all = useMemo(() => report.errors.reduce((sum, kind) => sum + countWithin(kind, stretch), 0), [report.errors, stretch]);
  if (report.total.count === 0) return <p class="card quiet">No sample was taken.</p>;
  if (known.length === 0) return <p class="card quiet">No sample {chosen ? `of ${chosen.label} ` : ""}failed.</p>;
  if (groups.length === 0 && stretch) return <p class="card quiet">No sample {chosen ? `of ${chosen.label} ` : ""}failed in the chosen period.</p>;
  const kinds: [string, string][] = [["all", "All labels"], ...labels.map((label) => [label, label || "(no label)"] as [string, string])];
  const table = () => [FIELDS, ...found.flatMap((group) => group.kinds.map((kind) => [kind.code, kind.message, kind.label, countWithin(kind, stretch), kind.curve?.firstMs ?? null, kind.curve?.lastMs ?? null]))];
  return (
    <div class="card" id="error-list">
      <Tools what="errors" choice={choice} kinds={labels.length > 1 ? kinds : undefined} shown={`${found.length} of ${groups.length} kinds`} table={table} />
      {stretch && <p class="hint within">The numbers are those of the chosen period.</p>}
      {found.slice(0, 200).map((group) => (
        <Kind group={group} all={all} report={report} stretch={stretch} key={`${group.code}\0${group.message}`} />
      ))}
      {found.length > 200 && <p class="hint">and {found.length - 200} more kinds</p>}
    </div>
  );
}

function Kind({ group, all, report, stretch }: { group: Group; all: number; report: Report; stretch: Stretch }) {
  const moment = (ms: number) => elapsed(Math.max(0, ms - report.startedMs) / 1000);
  const head = (
    <>
      <span class="count">
        {count(group.count)}
        <small>{percent(all ? group.count / all : 0)}</small>
      </span>
      {group.code && <code>{group.code}</code>}
      <span class="message">{group.message || "(no message)"}</span>{" "}
      <small class="where">
        {group.firstMs != null && (group.firstMs === group.lastMs ? `at ${moment(group.firstMs)}` : `${moment(group.firstMs)} to ${moment(group.lastMs!)}`)}
        {group.kinds.some((kind) => kind.label) && ` · ${group.kinds.length === 1 ? group.kinds[0].label : `${group.kinds.length} labels`}`}
      </small>
      <Curve group={group} report={report} />
    </>
  );
  if (!group.first && group.kinds.length === 1) return <p class="kind">{head}</p>;
  return (
    <details class="kind">
      <summary>{head}</summary>
      {group.kinds.length > 1 && (
        <ul class="by-label">
          {group.kinds.slice(0, 50).map((kind) => (
            <li>
              <span class="badge from">{kind.label || "(no label)"}</span> {count(countWithin(kind, stretch))}
              {kind.curve && `, ${moment(kind.curve.firstMs)} to ${moment(kind.curve.lastMs)}`}
            </li>
          ))}
          {group.kinds.length > 50 && <li>and {group.kinds.length - 50} more labels</li>}
        </ul>
      )}
      {group.first && <First sample={group.first} />}
    </details>
  );
}

/** How many points a small curve has. */
const POINTS = 120;

/** The errors over the whole run, from 0 to their own maximum. */
function Curve({ group, report }: { group: Group; report: Report }) {
  const [start, end] = [report.startedMs / 1000, report.endedMs / 1000];
  if (group.curve.length === 0 || end - start < 5 * group.stepS) return null;
  const wide = Math.max(group.stepS, (end - start) / POINTS);
  const bars = new Map<number, number>();
  for (const [at, errors] of group.curve) {
    const bar = Math.max(0, Math.floor((at + group.stepS / 2 - start) / wide));
    bars.set(bar, (bars.get(bar) ?? 0) + errors);
  }
  const most = Math.max(...bars.values());
  const scale = POINTS / ((end - start) / wide);
  const told = `Most in ${Math.round(wide)} s: ${count(most)}`;
  return (
    <svg class="spark bad errors" viewBox={`0 0 ${POINTS} 10`} preserveAspectRatio="none" role="img" aria-label={told}>
      <title>{told}</title>
      {[...bars].map(([bar, errors]) => (
        <rect x={(bar * scale).toFixed(1)} width={Math.max(0.8, scale * 0.9).toFixed(1)} y={(10 - (errors / most) * 9.5).toFixed(1)} height={((errors / most) * 9.5).toFixed(1)} />
      ))}
    </svg>
  );
}

function First({ sample }: { sample: FailedSample }) {
  const request = [[sample.method, sample.url].filter(Boolean).join(" "), sample.request_headers, sample.request_body].filter(Boolean).join("\n").trim();
  const response = [sample.response_headers, sample.response_body].filter(Boolean).join("\n").trim();
  return (
    <div class="first">
      <p class="hint">
        The first: <b>{sample.label}</b>, {sample.thread_name}, {clock(sample.start_ms)}, {time(sample.elapsed_ms)}: {sample.code} {sample.message}
      </p>
      {sample.assertions.map((text) => (
        <p class="assertion">✗ {text}</p>
      ))}
      <Text name="Request" text={request} />
      <Text name="Response" text={response} />
      {!response && <p class="hint">The response was not kept: nothing in the plan reads it.</p>}
      <p class="hint">Secrets are masked. Long texts are cut after 64 KiB.</p>
    </div>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  if (!text) return null;
  return (
    <>
      <h3>{name}</h3>
      <pre tabIndex={0} role="group" aria-label={name}>
        {text}
      </pre>
    </>
  );
}
