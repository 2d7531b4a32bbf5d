// Users, rate, failures and response time in one chart, and the range of time that the page shows.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Chart, resetZoom, showStretch, watchStretch, type Line } from "./chart";
import { perSecond, type Report } from "./data";
import { elapsed } from "./format";
import { readPlace, writePlace } from "./place";

/** From and to, in seconds since the Unix epoch; `null` is the whole run. */
export type Stretch = [number, number] | null;

/** The range that the charts over time show. */
export function useStretch(report: Report): Stretch {
  const [stretch, setStretch] = useState<Stretch>(null);
  useEffect(() => {
    const first = report.steps.at[0];
    const last = report.steps.at[report.steps.at.length - 1];
    const start = report.startedMs / 1000;
    const place = readPlace();
    if (place.from != null && place.to != null && place.to > place.from) showStretch(Math.max(first, start + place.from), Math.min(last, start + place.to));
    return watchStretch((from, to) => {
      const isWhole = from <= first && to >= last;
      setStretch((now) => (isWhole ? null : now && now[0] === from && now[1] === to ? now : [from, to]));
      const second = (at: number) => Math.round((at - start) * 10) / 10;
      writePlace(isWhole ? { from: undefined, to: undefined } : { from: second(from), to: second(to) });
    });
  }, [report]);
  return stretch;
}

/** Each line as a share of its own maximum, so that lines that rise and fall together are easy to see. */
export function Overlay({ report, stretch, theme }: { report: Report; stretch: Stretch; theme: string }) {
  const { steps } = report;
  const lines = useMemo(() => {
    const rates = (values: number[]) => perSecond(report, steps.at, values, steps.stepS);
    const all: [string, (number | null)[], number, boolean][] = [
      ["users", steps.users, 1, false],
      ["rate", rates(steps.count), 0, false],
      ["failed", rates(steps.errors), 3, false],
      ["95th percentile", steps.p95, 2, true],
    ];
    return all
      .map(([name, values, colour, dashed]): Line | null => {
        const most = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
        return most > 0 ? { name, values: values.map((value) => (value == null ? null : (value / most) * 100)), colour, dashed } : null;
      })
      .filter((line): line is Line => line !== null);
  }, [report, theme]);
  const from = report.startedMs / 1000;
  const stretches = useMemo<[number, number][]>(() => [], []);
  return (
    <>
      <Chart id="chart-overlay" title="All together" hint="Each line is a percentage of its own maximum. Drag across it to choose a stretch: all charts and the table of labels follow." x={steps.at} lines={lines} value={(v) => `${Math.round(v)} %`} from={from} stretches={stretches} height={170} />
      <StretchFields report={report} stretch={stretch} />
    </>
  );
}

/** Input fields for the range, for users who do not drag. */
function StretchFields({ report, stretch }: { report: Report; stretch: Stretch }) {
  const start = report.startedMs / 1000;
  const first = report.steps.at[0] ?? start;
  const last = report.steps.at[report.steps.at.length - 1] ?? start;
  const [from, to] = stretch ?? [first, last];
  const set = (from: number, to: number) => to > from && showStretch(Math.max(first, from), Math.min(last, to));
  const seconds = (at: number) => Math.max(0, Math.round(at - start));
  return (
    <p class="stretch-fields" id="stretch">
      <label>
        From second <input type="number" min={0} value={seconds(from)} onChange={(event) => set(start + Number(event.currentTarget.value), to)} />
      </label>
      <label>
        to second <input type="number" min={1} value={seconds(to)} onChange={(event) => set(from, start + Number(event.currentTarget.value))} />
      </label>
      <span class="hint" role="status">
        {stretch ? `${elapsed(from - start)} to ${elapsed(to - start)} is shown` : "The whole run is shown"}
      </span>
      {stretch && (
        <button type="button" class="link" onClick={resetZoom}>
          Clear the stretch
        </button>
      )}
    </p>
  );
}
