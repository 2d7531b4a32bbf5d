// How the runs of a repeated run differ.

import type { Report } from "./data";
import { percent, short, time } from "./format";

const NAMES: Record<string, [string, (value: number) => string]> = {
  p50_ms: ["Median", time],
  p95_ms: ["95th", time],
  p99_ms: ["99th", time],
  mean_ms: ["Mean", time],
  rate_per_s: ["Rate/s", short],
  failed_percent: ["Failed", (value) => percent(value / 100)],
};

export function Repeats({ repeats }: { repeats: NonNullable<Report["repeats"]> }) {
  return (
    <div class="card scroll" tabIndex={0} role="group" aria-label="Between runs" id="repeats">
      <p class="hint within">{repeats.sentence[0].toUpperCase() + repeats.sentence.slice(1)}.</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Between {repeats.runs} runs</th>
            {["middle", "lowest", "highest", "each run"].map((head) => (
              <th scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {repeats.numbers.map((number) => {
            const [name, text] = NAMES[number.name] ?? [number.name, short];
            return (
              <tr>
                <th scope="row">
                  {name}
                  {number.differs && <span class="badge">differs from run to run</span>}
                </th>
                {[number.median, number.low, number.high].map((value) => (
                  <td class="number">{text(value)}</td>
                ))}
                <td class="number">{number.values.map(text).join(", ")}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
