// The run's verdict on its own numbers, with when and why.

import { isResultFile, type Reason, type Report } from "./data";
import { elapsed } from "./format";

const MEANING: Record<string, string> = {
  VALID: "No sign that the load generator distorted these numbers.",
  DEGRADED: "The load generator distorted some of these numbers.",
  "too short to judge": "The run was too short to tell whether the load generator distorted these numbers.",
  INVALID: "These numbers say more about the load generator than about the target.",
};

/** How many spans of a reason are listed; the rest are only counted. */
const MOST_SPANS = 4;

/** A reason that held for at least this share of the run is shown as the whole run. */
const MOSTLY = 0.9;

function isAllTheTime(reason: Reason, report: Report): boolean {
  const length = reason.spans_ms.reduce((sum, [from, to]) => sum + to - from, 0);
  return length >= (report.endedMs - report.startedMs) * MOSTLY;
}

function when(reason: Reason, report: Report): string {
  if (isAllTheTime(reason, report)) return "all the time";
  const moment = (ms: number) => elapsed((ms - report.startedMs) / 1000);
  const told = reason.spans_ms.slice(0, MOST_SPANS).map(([from, to]) => `${moment(from)}–${moment(to)}`);
  const more = reason.spans_ms.length - told.length;
  return told.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function Verdict({ report }: { report: Report }) {
  const verdict = report.verdict;
  if (!verdict) {
    return (
      <p class="verdict none" id="verdict">
        <strong>No verdict.</strong> {isResultFile(report) ? "This report was made from a result file, which has no measurements of the load generator." : "The load generator was not monitored in this run."}
      </p>
    );
  }
  const line = (
    <>
      <strong>{verdict.state[0].toUpperCase() + verdict.state.slice(1)}</strong> {MEANING[verdict.state] ?? ""}
      {[...(report.ownPart ? [report.ownPart] : []), ...(report.counts ?? [])].map((text) => ` ${text[0].toUpperCase()}${text.slice(1)}.`)}
    </>
  );
  const kind = `verdict ${verdict.state.toLowerCase().split(" ")[0]}`;
  if (verdict.reasons.length === 0) {
    return (
      <p class={kind} id="verdict">
        {line}
      </p>
    );
  }
  const [first, ...rest] = verdict.reasons;
  return (
    <details class={`${kind} printed`} id="verdict">
      <summary>
        {line} {first.what[0].toUpperCase() + first.what.slice(1)}
        {rest.length > 0 ? `, and ${rest.length} more` : ""}.
      </summary>
      <ul>
          {verdict.reasons.map((reason) => (
            <li>
              <b>{reason.what}</b>
              {reason.spans_ms.length > 0 && <span class="when"> {when(reason, report)}</span>}
              {reason.measured && `: ${reason.measured}`}
              <small>{reason.remedy}</small>
            </li>
          ))}
      </ul>
    </details>
  );
}

/** The spans that spoil numbers, in seconds since the Unix epoch, for the charts. Reasons for the whole run are left
 * out. */
export function spoiltStretches(report: Report): [number, number][] {
  const reasons = (report.verdict?.reasons ?? []).filter((reason) => !isAllTheTime(reason, report));
  const sorted = reasons.flatMap((reason) => reason.spans_ms).sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged[merged.length - 1];
    if (last && from / 1000 <= last[1]) last[1] = Math.max(last[1], to / 1000);
    else merged.push([from / 1000, to / 1000]);
  }
  return merged;
}
