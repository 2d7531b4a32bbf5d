// The outcome of the thresholds in sentences, those that failed first.

import type { Outcome, Threshold } from "./data";

const BADGES: Record<Threshold["outcome"], string> = { ok: "good", FAILED: "bad", "not judged": "warn" };
const ORDER: Threshold["outcome"][] = ["FAILED", "not judged", "ok"];
/** How many sentences are shown before the others are folded. */
const MOST = 5;

/** How many thresholds had each outcome, in one sentence. */
function told(thresholds: Threshold[]): string {
  if (thresholds.length === 0) return "No sample was taken.";
  const words: Record<Threshold["outcome"], string> = { FAILED: "failed", "not judged": "could not be judged", ok: "passed" };
  const counts = ORDER.map((outcome): [string, number] => [words[outcome], thresholds.filter((threshold) => threshold.outcome === outcome).length]);
  const shown = counts.filter(([, count]) => count > 0);
  if (thresholds.length === 1) return `The threshold ${shown[0][0]}.`;
  if (shown.length === 1) return `All ${thresholds.length} thresholds ${shown[0][0]}.`;
  return `Of ${thresholds.length} thresholds, ${shown.map(([word, count]) => `${count} ${word}`).join(", ")}.`;
}

export function Thresholds({ thresholds, outcome }: { thresholds: Threshold[]; outcome?: Outcome | null }) {
  const sorted = [...thresholds].sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome));
  const rest = sorted.slice(MOST);
  return (
    <div class={`card limits ${outcome ? BADGES[outcome === "PASSED" ? "ok" : outcome === "FAILED" ? "FAILED" : "not judged"] : ""}`} id="thresholds">
      {outcome && (
        <p>
          <strong>{outcome}</strong> {told(thresholds)}
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
