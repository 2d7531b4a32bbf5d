// Failed samples by label and message, each with its first sample.

import { useMemo } from "preact/hooks";
import type { ErrorKind, FailedSample, Report, Row } from "./data";
import { clock, count, percent, time } from "./format";
import { Tools, hasWords, useChoice } from "./tools";

export function Errors({ report, chosen }: { report: Report; chosen: Row | null }) {
  const choice = useChoice();
  const known = useMemo(() => (chosen ? report.errors.filter((kind) => kind.label === chosen.label) : report.errors), [report, chosen]);
  const labels = useMemo(() => [...new Set(known.map((kind) => kind.label))], [known]);
  const found = useMemo(() => {
    const isFound = hasWords(choice.search);
    const isLabel = (kind: ErrorKind) => choice.kind === "all" || kind.label === choice.kind;
    return known.filter((kind) => isLabel(kind) && isFound(`${kind.code} ${kind.message} ${kind.label}`));
  }, [known, choice.search, choice.kind]);
  if (report.total.count === 0) return <p class="card quiet">No sample was taken.</p>;
  if (known.length === 0) return <p class="card quiet">No sample {chosen ? `of ${chosen.label} ` : ""}failed.</p>;
  const kinds: [string, string][] = [["all", "All labels"], ...labels.map((label) => [label, label || "(no label)"] as [string, string])];
  return (
    <div class="card" id="error-list">
      <Tools what="errors" choice={choice} kinds={labels.length > 1 ? kinds : undefined} shown={`${found.length} of ${known.length} kinds`} table={() => [["label", "code", "message", "count"], ...found.map((kind) => [kind.label, kind.code, kind.message, kind.count])]} />
      {found.slice(0, 200).map((kind) => (
        <Kind kind={kind} all={report.total.errors} key={[kind.label, kind.code, kind.message].join("\0")} />
      ))}
      {found.length > 200 && <p class="hint">and {found.length - 200} more kinds</p>}
    </div>
  );
}

function Kind({ kind, all }: { kind: ErrorKind; all: number }) {
  const head = (
    <>
      <span class="count">
        {count(kind.count)}
        <small>{percent(all ? kind.count / all : 0)}</small>
      </span>
      {kind.label && <span class="badge from">{kind.label}</span>}
      {kind.code && <code>{kind.code}</code>}
      <span class="message">{kind.message || "(no message)"}</span>
    </>
  );
  if (!kind.first) return <p class="kind">{head}</p>;
  return (
    <details class="kind">
      <summary>{head}</summary>
      <First sample={kind.first} />
    </details>
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
