// The findings of the program: what to look at first. Each leads to its period and its label.

import type { Finding, Report } from "./data";

/** With fewer samples, no rule can judge a label: twelve periods of twenty samples. */
const FEWEST = 240;

export function Findings({ report, show }: { report: Report; show: (finding: Finding) => void }) {
  if (report.total.count === 0) return null;
  if (report.findings.length === 0) {
    return (
      <p class="hint note" id="findings">
        {report.total.count < FEWEST ? "Too few samples to look for findings." : "Nothing stands out: no slow stretch, drift, wave, knee or kind of error beyond chance."}
      </p>
    );
  }
  return (
    <ul class="card findings" id="findings" aria-label="Findings">
      {report.findings.map((finding) => (
        <li>
          <button type="button" class="found" onClick={() => show(finding)}>
            {finding.text}
          </button>
          <small>{finding.evidence}</small>
        </li>
      ))}
    </ul>
  );
}
