// The outcome of the thresholds, and how far each value is from its limit.

import type { Threshold } from "./data";
import { short, spaced } from "./format";

export function Thresholds({ thresholds }: { thresholds: Threshold[] }) {
  const met = thresholds.filter((threshold) => threshold.is_met).length;
  return (
    <div class="card scroll" tabIndex={0} role="group" aria-label="Thresholds">
      <table>
        <caption>
          {met} of {thresholds.length} met. The run fails if one of these is true.
        </caption>
        <thead>
          <tr>
            <th scope="col">Threshold</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col">Margin</th>
          </tr>
        </thead>
        <tbody>
          {thresholds.map((threshold) => (
            <tr>
              <th scope="row">
                <code>{threshold.text}</code>
              </th>
              <td>
                <span class={`badge ${threshold.is_met ? "good" : "bad"}`}>{threshold.is_met ? "✓ met" : "✗ not met"}</span>
              </td>
              <td class="number">{threshold.value == null ? "no samples" : short(threshold.value) + spaced(threshold.unit)}</td>
              <td class="number">{short(threshold.limit) + spaced(threshold.unit)}</td>
              <td>
                <Margin threshold={threshold} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Margin({ threshold }: { threshold: Threshold }) {
  if (threshold.value == null) return <>–</>;
  const distance = threshold.value - threshold.limit;
  const told = distance === 0 ? "at the limit" : `${short(Math.abs(distance))}${spaced(threshold.unit)} ${distance > 0 ? "above" : "below"}`;
  if (threshold.limit === 0) return <>{told}</>;
  const share = threshold.value / threshold.limit;
  return (
    <span class="margin">
      <span class="track" aria-hidden="true">
        <i class={threshold.is_met ? "good" : "bad"} style={{ width: `${Math.min(100, share * 66)}%` }} />
        <u />
      </span>
      {told}
    </span>
  );
}
