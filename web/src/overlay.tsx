// Users, rate, failures and response time in one chart, and the range of time that the page shows.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart, resetZoom, showStretch, watchStretch, type Line } from "./chart";
import { perSecond, type Report } from "./data";
import { elapsed, short, time } from "./format";
import { readPlace, writePlace } from "./place";

/** From and to, in seconds since the Unix epoch; `null` is the whole run. */
export type Stretch = [number, number] | null;

/** The range that the charts over time show. */
export function useStretch(report: Report): Stretch {
  const [stretch, setStretch] = useState<Stretch>(null);
  // A page of a run that goes on gets a new report each second.
  const now = useRef(report);
  now.current = report;
  useEffect(() => {
    const ends = () => [now.current.steps.at[0], now.current.steps.at[now.current.steps.at.length - 1]];
    const [first, last] = ends();
    const start = report.startedMs / 1000;
    const place = readPlace();
    if (place.from != null && place.to != null && place.to > place.from) showStretch(Math.max(first, start + place.from), Math.min(last, start + place.to));
    return watchStretch((from, to) => {
      const [first, last] = ends();
      const isWhole = from <= first && to >= last;
      setStretch((now) => (isWhole ? null : now && now[0] === from && now[1] === to ? now : [from, to]));
      const second = (at: number) => Math.round((at - start) * 10) / 10;
      writePlace(isWhole ? { from: undefined, to: undefined } : { from: second(from), to: second(to) });
    });
  }, [report.kind, report.startedMs]);
  return stretch;
}

/** Load and times in one chart, so that lines that rise and fall together are easy to see. */
export function Overlay({ report, stretch, theme, live = false }: { report: Report; stretch: Stretch; theme: string; live?: boolean }) {
  const { steps } = report;
  const lines = useMemo(() => {
    const rates = (values: number[]) => (live ? values.map((value) => value / steps.stepS) : perSecond(report, steps.at, values, steps.stepS));
    const all: Line[] = [
      { name: "users", values: steps.users, colour: 1 },
      { name: "rate", values: rates(steps.count), colour: 0 },
      { name: "failed", values: rates(steps.errors), colour: 3 },
      { name: "95th percentile", values: steps.p95, colour: 2, dashed: true, right: time },
    ];
    // While the run goes on, a line that appears would draw the chart anew.
    return all.filter((line) => live || line.values.some((value) => value));
  }, [report, theme]);
  const from = report.startedMs / 1000;
  const stretches = useMemo<[number, number][]>(() => [], []);
  return (
    <>
      <Chart id="chart-overlay" title="All together" hint={`Users and samples a second on the left axis, times on the right one. Click a name to hide its line. Drag across the chart to choose a stretch: all charts ${live ? "over time" : "and the table of labels"} follow.`} x={steps.at} lines={lines} value={short} from={from} stretches={stretches} height={200} live={live} />
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
  // What the reader types stays while the run goes on.
  const [typed, setTyped] = useState<[string, string] | null>(null);
  const field = (end: 0 | 1, text: string, least: number, change: (second: number) => void) => (
    <label>
      {text}{" "}
      <input
        type="number"
        min={least}
        value={typed?.[end] ?? seconds([from, to][end])}
        onInput={(event) => setTyped([0, 1].map((at) => (at === end ? event.currentTarget.value : String(seconds([from, to][at])))) as [string, string])}
        onChange={(event) => (change(start + Number(event.currentTarget.value)), setTyped(null))}
      />
    </label>
  );
  return (
    <p class="stretch-fields" id="stretch">
      {field(0, "From second", 0, (second) => set(second, to))}
      {field(1, "to second", 1, (second) => set(from, second))}
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
