// What a search for the target's capacity found: the answer, the levels, and times against the rate.

import { useMemo } from "preact/hooks";
import { Chart, type Line } from "./chart";
import { isResultFile, type Capacity, type Report } from "./data";
import { elapsed, percent, short, time } from "./format";

export function CapacitySection({ report, capacity, theme }: { report: Report; capacity: Capacity; theme: string }) {
  const knee = useMemo(() => {
    const levels = capacity.levels.filter((level) => level.measured).sort((a, b) => a.rate - b.rate);
    const x = levels.map((level) => level.rate);
    const column = (holds: boolean | null, at: 0 | 1) => levels.map((level) => (holds == null || level.holds === holds ? level.measured![at] : null));
    const lines: Line[] = [
      { name: "95th", values: column(null, 1), colour: 6, joined: true, dashed: true },
      { name: "holds", values: column(true, 1), colour: 1, points: true },
      { name: "does not hold", values: column(false, 1), colour: 3, points: true },
    ];
    capacity.limits_ms.forEach((limit) => lines.push({ name: `limit ${time(limit)}`, values: x.map(() => limit), colour: 3, dashed: true }));
    return { x, lines };
  }, [capacity, theme]);
  const reached = useMemo(() => {
    const levels = [...capacity.levels].sort((a, b) => a.rate - b.rate);
    return { x: levels.map((level) => level.rate), lines: [{ name: "samples a second", values: levels.map((level) => level.reached), colour: 0, points: levels.length < 3, filled: true }] as Line[] };
  }, [capacity, theme]);
  const spread: [number, number][] = capacity.held && capacity.broken ? [[capacity.held, capacity.broken]] : [];
  const rate = (value: number) => `${short(value)}/s`;
  return (
    <section id="capacity">
      <h2>Capacity</h2>
      <p class="card quiet sentence" id="capacity-answer">
        {capacity.answer[0].toUpperCase() + capacity.answer.slice(1)}
      </p>
      <p class="hint note">Until {capacity.until}. Rates are iterations a second; {spread.length > 0 ? "the shaded range is between the highest level that held and the lowest that did not." : "no level limits the range from both sides."}</p>
      <div class="charts">
        {knee.x.length > 0 && <Chart id="chart-knee" title="Times against the rate" hint="95th percentile of each level" xName="rate" x={knee.x} lines={knee.lines} value={time} xValue={rate} stretches={spread} height={260} />}
        {reached.x.length > 1 && <Chart id="chart-reached" title="Rate that was reached" hint="Samples a second at each level" xName="rate" x={reached.x} lines={reached.lines} value={short} xValue={rate} stretches={spread} height={260} />}
      </div>
      <div class="card scroll" tabIndex={0} role="group" aria-label="Levels">
        <table id="levels">
          <thead>
            <tr>
              {["Level", "Outcome", "Samples/s", "Median", "95th", "Failed", "Conditions", "Measured"].map((head, index) => (
                <th scope="col" class={index > 1 && index < 6 ? "number" : ""}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {capacity.levels.map((level) => (
              <tr>
                <th scope="row">{rate(level.rate)}</th>
                <td>
                  <span class={`badge ${level.holds ? "good" : "bad"}`}>{level.outcome}</span>
                </td>
                <td class="number">{short(level.reached)}</td>
                <td class="number">{time(level.measured?.[0])}</td>
                <td class="number">{time(level.measured?.[1])}</td>
                <td class="number">{level.measured ? percent(level.measured[2] / 100) : "–"}</td>
                <td>{level.values.join(", ")}</td>
                <td>{isResultFile(report) ? "" : level.span_ms.map((ms) => elapsed((ms - report.startedMs) / 1000)).join("–")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
