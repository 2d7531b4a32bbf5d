// The outcome of the thresholds, in the sentences of the terminal.

import type { Threshold } from "./data";

const BADGES: Record<Threshold["outcome"], string> = { ok: "good", FAILED: "bad", "not judged": "warn" };

export function Thresholds({ thresholds }: { thresholds: Threshold[] }) {
  return (
    <div class="card scroll" tabIndex={0} role="group" aria-label="Thresholds">
      <table>
        <tbody>
          {thresholds.map((threshold) => (
            <tr>
              <td>
                <span class={`badge ${BADGES[threshold.outcome]}`}>{threshold.outcome}</span>
              </td>
              <th scope="row" class="told-threshold">
                {threshold.told}
              </th>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
