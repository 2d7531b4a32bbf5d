// The outcome of the thresholds in sentences, those that failed first.

import type { Outcome, Threshold } from "./data";

const BADGES: Record<Threshold["outcome"], string> = { ok: "good", FAILED: "bad", "not judged": "warn" };
const ORDER: Threshold["outcome"][] = ["FAILED", "not judged", "ok"];
/** How many sentences are shown before the others are folded. */
const MOST = 5;

export function Thresholds({ thresholds, outcome }: { thresholds: Threshold[]; outcome?: Outcome | null }) {
  const sorted = [...thresholds].sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const kept = thresholds.filter((threshold) => threshold.outcome === "ok").length;
  const rest = sorted.slice(MOST);
  return (
    <div class={`card limits ${outcome ? BADGES[outcome === "PASSED" ? "ok" : outcome === "FAILED" ? "FAILED" : "not judged"] : ""}`} id="thresholds">
      {outcome && (
        <p>
          <strong>{outcome}</strong>{" "}
          {thresholds.length === 0 ? "No sample was taken." : thresholds.length === 1 ? (kept ? "The limit was kept." : outcome === "FAILED" ? "The limit was not kept." : "The limit could not be judged.") : `${kept} of ${thresholds.length} limits were kept.`}
        </p>
      )}
      <List thresholds={sorted.slice(0, MOST)} />
      {rest.length > 0 && (
        <details class="printed">
          <summary>{rest.length} more</summary>
          <List thresholds={rest} />
        </details>
      )}
    </div>
  );
}

function List({ thresholds }: { thresholds: Threshold[] }) {
  if (thresholds.length === 0) return null;
  return (
    <ul>
      {thresholds.map((threshold) => (
        <li title={threshold.told}>
          <span class={`badge ${BADGES[threshold.outcome]}`}>{threshold.outcome}</span> <span class={threshold.statement ? "" : "told-threshold"}>{threshold.statement || threshold.told}</span>
        </li>
      ))}
    </ul>
  );
}
