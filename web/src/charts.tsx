// The charts of a run, and those of one label.

import { useMemo, useState } from "preact/hooks";
import { Chart, redrawCharts, resetZoom, type Line, type Rect } from "./chart";
import { clock } from "./clock";
import { labelColumns, perSecond, rowWithin, totalWithin, type Report, type Row } from "./data";
import { NINES_AT, bytes, count, curveOf, elapsed, percent, percentileName, short, time } from "./format";
import type { Stretch } from "./overlay";
import { spoiltStretches } from "./verdict";

type Values = (number | null)[];

const line = (name: string, values: Values, colour: number, more: Partial<Line> = {}): Line => ({ name, values, colour, ...more });

/** The parts of a sample, in order. Result files know only `connect` (which then includes `DNS` and `TLS`) and the last two. */
const PHASES = ["DNS", "connect", "TLS", "first byte", "body"];
const PHASE_COLOURS = [6, 4, 2, 0, 1];

/** The parts that took any time. */
const seenPhases = (row: Row) => PHASES.map((_, phase) => phase).filter((phase) => row.phases[phase] > 0);

/** How to zoom, and which times the axes show. */
function OverTimeTools() {
  const [isClock, setClock] = useState(clock.isShown());
  const choose = (wanted: boolean) => {
    clock.show(wanted);
    setClock(wanted);
    redrawCharts();
  };
  return (
    <p class="hint screen">
      Drag across a chart to zoom all of them.{" "}
      <button type="button" class="link" onClick={resetZoom}>
        Show the whole run
      </button>{" "}
      <label>
        <input type="checkbox" id="clock" checked={isClock} onChange={(event) => choose(event.currentTarget.checked)} /> Time of day
      </label>
    </p>
  );
}

/** The charts of all samples. While the run goes on, those that a second can extend. */
export function RunCharts({ report, theme, live = false, stretch = null }: { report: Report; theme: string; live?: boolean; stretch?: Stretch }) {
  const { steps } = report;
  const from = report.startedMs / 1000;
  const marks = useMemo(() => report.marks.map((mark) => ({ at: mark.at_ms / 1000, text: mark.text })), [report]);
  const charts = useMemo(() => {
    const rates = (values: number[]) => (live ? values.map((value) => value / steps.stepS) : perSecond(report, steps.at, values, steps.stepS));
    // A line of some of the samples beside lines of all of them would look like missing load.
    const sum = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
    const [intended, scheduled] = [sum(steps.intended), sum(steps.scheduled)];
    // Run files of earlier versions do not have the starts of the scheduled samples alone.
    const isWhole = intended > 0 && (scheduled || intended) >= 0.99 * sum(steps.started);
    const planned = plannedUsers(report, steps.at);
    const codes = steps.codes.slice(0, 8);
    return {
      rate: [
        line("completed", rates(steps.count), 0, { filled: true }),
        line("sent", rates(steps.started), 4, { dashed: true }),
        ...(isWhole ? [line("intended", rates(steps.intended), 6, { dashed: true })] : []),
        line("failed", rates(steps.errors), 3),
      ],
      schedule: scheduled > 0 && !isWhole ? [line("started", rates(steps.scheduled), 0, { filled: true }), line("intended", rates(steps.intended), 6, { dashed: true })] : null,
      users: [line("users", steps.users, 1, { filled: true }), ...(planned ? [line("planned", planned, 6, { dashed: true })] : [])],
      times: [line("median", steps.p50, 0), line("90th", steps.p90, 4), line("95th", steps.p95, 2), line("99th", steps.p99, 3)],
      codes: codes.map(([code, values], index) => line(code || "(none)", rates(values), codeColour(code, index))),
      bytes: [line("received", rates(steps.bytes), 0), line("sent", rates(steps.sentBytes), 4)],
      phases: seenPhases(report.total).map((phase) => line(PHASES[phase], steps.phases[phase], PHASE_COLOURS[phase])),
    };
  }, [report, theme]);
  const heat = useMemo(() => heatRects(report), [report.steps.heat, theme]);
  const load = useMemo(() => loadPoints(report, stretch, live), [report, theme, stretch]);
  // The periods of a run that goes on are not known.
  const total = useMemo(() => (stretch && !live ? totalWithin(report, stretch) : report.total), [report, stretch]);
  const step = steps.stepS === 1 ? "each second" : `steps of ${steps.stepS} s`;
  const stretches = useMemo(() => spoiltStretches(report), [report]);
  const common = { x: steps.at, from, marks, stretches, live };
  return (
    <>
      <section id="time">
        <h2>Over time</h2>
        <OverTimeTools />
        {stretches.length > 0 && (
          <p class="hint">
            <i class="stretch" aria-hidden="true" /> Shaded: the verdict names these stretches.
          </p>
        )}
        <div class="charts">
          <Chart id="chart-times" title="Response time percentiles" hint={`Of the samples that ended in ${step}`} lines={charts.times} value={time} {...common} />
          <Chart id="chart-rate" title="Rate" hint="Samples a second" lines={charts.rate} value={short} {...common} />
          {charts.schedule && <Chart id="chart-schedule" title="Schedule" hint="Of the samples with an intended start: how many should have started a second, and how many did" lines={charts.schedule} value={short} {...common} />}
          {steps.users.some((users) => users > 0) && <Chart id="chart-users" title="Users" hint="Running at a time" lines={charts.users} value={short} {...common} />}
          {heat && <Chart id="chart-heat" title="Heat map of response times" hint="The stronger the colour, the more samples took that long" lines={heat.lines} value={time} logY {...common} x={heat.x} rects={heat.rects} yRange={heat.range} describe={heat.describe} />}
          <Chart id="chart-codes" title="Response codes" hint="Samples a second" lines={charts.codes} value={short} stacked {...common} />
          {seenPhases(report.total).length > 1 && <Chart id="chart-phases" title="Where the time went" hint="Mean times of the parts of a sample" lines={charts.phases} value={time} stacked {...common} />}
          {report.total.bytes + report.total.sentBytes > 0 && <Chart id="chart-bytes" title="Bytes" hint="A second" lines={charts.bytes} value={bytes} binary {...common} />}
          {load && <Chart id="chart-load" title="Response time against rate" hint="Each point is a step of the run; a knee shows where the server reaches its capacity" x={load.x} lines={load.lines} value={time} xName="rate" xValue={(v) => `${short(v)}/s`} live={live} />}
        </div>
      </section>
      {!live && <LabelsTogether report={report} theme={theme} />}
      <Spread row={total} theme={theme} live={live} />
    </>
  );
}

const METRICS: [string, string, (columns: ReturnType<typeof labelColumns>) => Values][] = [
  ["p95", "95th percentile", (columns) => columns.p95],
  ["p50", "median", (columns) => columns.p50],
  ["mean", "mean", (columns) => columns.mean],
  ["rate", "rate", (columns) => columns.rate],
  ["failed", "failures a second", (columns) => columns.errors],
];

/** With more lines than this, a legend would be longer than the chart. */
const MOST_NAMES = 24;
/** How many labels are told for a moment in place of a legend. */
const MOST_TOLD = 5;

/** A line for each label in one chart, if the reader wants it. */
function LabelsTogether({ report, theme }: { report: Report; theme: string }) {
  const [wanted, setWanted] = useState("");
  const metric = METRICS.find(([name]) => name === wanted);
  const shown = useMemo(() => {
    if (!metric) return null;
    const stepS = report.labelStepS;
    const columns = report.labels.flatMap((row) => (row.steps?.at.length ? [{ row, columns: labelColumns(report, row.steps) }] : []));
    const x = [...new Set(columns.flatMap((one) => one.columns.at))].sort((a, b) => a - b);
    const place = new Map(x.map((at, index) => [at, index]));
    const lines = columns.map(({ row, columns }, index) => {
      const values: Values = x.map(() => null);
      metric[2](columns).forEach((value, at) => (values[place.get(columns.at[at])!] = value));
      return line(row.label || "(no label)", values, index % 8, { joined: true, dashed: index % 16 >= 8 });
    });
    const value = wanted === "rate" || wanted === "failed" ? short : time;
    const describe = (at: number) => {
      const nearest = x.reduce((best, one, index) => (Math.abs(one - at) < Math.abs(x[best] - at) ? index : best), 0);
      const known = lines.flatMap((line) => (line.values[nearest] == null ? [] : [[line.name, line.values[nearest]] as [string, number]]));
      known.sort((a, b) => b[1] - a[1]);
      const told = known.slice(0, MOST_TOLD).map(([name, number]) => `${name} ${value(number)}`);
      return `${elapsed(x[nearest] - report.startedMs / 1000)}: ${told.join(", ") || "no samples"}${known.length > MOST_TOLD ? ` and ${known.length - MOST_TOLD} more` : ""}`;
    };
    return { x, lines, value, stepS, describe: lines.length > MOST_NAMES ? describe : undefined };
  }, [report, theme, wanted]);
  return (
    <section id="labels-together" class={metric ? "" : "screen"}>
      <p class="hint">
        <label>
          All labels in one chart:{" "}
          <select value={wanted} onChange={(event) => setWanted(event.currentTarget.value)}>
            <option value="">not shown</option>
            {METRICS.map(([name, text]) => (
              <option value={name}>{text}</option>
            ))}
          </select>
        </label>
      </p>
      {shown && metric && <Chart id="chart-labels" title={`All labels: ${metric[1]}`} hint={`Steps of ${shown.stepS} s`} x={shown.x} lines={shown.lines} value={shown.value} from={report.startedMs / 1000} height={340} describe={shown.describe} />}
    </section>
  );
}

export function LabelCharts(props: { report: Report; row: Row; close: () => void; theme: string; stretch: Stretch; live?: boolean }) {
  const { report, row, close, theme, stretch, live = false } = props;
  const within = useMemo(() => (stretch ? rowWithin(row, report, stretch) : row), [report, row, stretch]);
  const from = report.startedMs / 1000;
  const columns = useMemo(() => (row.steps ? labelColumns(report, row.steps) : null), [row]);
  const lines = useMemo(
    () =>
      columns && {
        times: [line("median", columns.p50, 0), line("95th", columns.p95, 2), line("99th", columns.p99, 3), line("mean", columns.mean, 4, { dashed: true })],
        rate: [line("completed", columns.rate, 0, { filled: true }), line("failed", columns.errors, 3)],
      },
    [columns, theme],
  );
  const marks = useMemo(() => report.marks.map((mark) => ({ at: mark.at_ms / 1000, text: mark.text })), [report]);
  const stretches = useMemo(() => spoiltStretches(report), [report]);
  const phases = seenPhases(row);
  return (
    <>
      <section id="time">
        <h2>
          {row.label}{" "}
          <button type="button" class="link" onClick={close}>
            Back to all labels
          </button>
        </h2>
        <OverTimeTools />
        {columns && lines && (
          <div class="charts">
            <Chart id="chart-label-times" title="Response time percentiles" hint={`Steps of ${report.labelStepS} s`} x={columns.at} lines={lines.times} value={time} from={from} marks={marks} stretches={stretches} live={live} />
            <Chart id="chart-label-rate" title="Rate" hint="Samples a second" x={columns.at} lines={lines.rate} value={short} from={from} marks={marks} stretches={stretches} live={live} />
          </div>
        )}
        {row.own && <p class="hint">Of the median {time(row.own[0])}, of the 95th percentile {time(row.own[1])}, of the 99th {time(row.own[2])} passed in the load generator.</p>}
        {phases.length > 1 && <p class="hint">Where the time went, on average: {phases.map((phase) => `${PHASES[phase]} ${time(row.phases[phase])}`).join(", ")}.</p>}
      </section>
      <Spread row={within} theme={theme} live={live} />
    </>
  );
}

/** The distribution of a row's times. */
function Spread({ row, theme, live = false }: { row: Row; theme: string; live?: boolean }) {
  const bars = useMemo(() => {
    if (row.distribution.length === 0) return null;
    const highest = Math.max(...row.distribution.map(([, , n]) => n));
    const rects: Rect[] = row.distribution.map(([x0, x1, n]) => ({ x0, x1, y0: 0, y1: n, strength: 0.75 }));
    const x = [row.distribution[0][0], ...row.distribution.map(([, x1]) => x1)];
    const describe = (at: number) => {
      const bar = row.distribution.find(([x0, x1]) => at >= x0 && at < x1);
      return bar ? `${time(bar[0])} to ${time(bar[1])}: ${count(bar[2])} samples (${percent(bar[2] / row.count)})` : "";
    };
    return { rects, x, highest, describe, values: x.map(() => null) };
  }, [row.distribution, theme]);
  const curve = useMemo(() => {
    const points = curveOf(row.curve, row.count);
    return { x: points.map(([at]) => at), lines: [line("response time", points.map(([, ms]) => ms), 2, { filled: true })] };
  }, [row.curve, theme]);
  const barLines = useMemo(() => [line("", bars?.values ?? [], 0)], [bars]);
  return (
    <section id="spread">
      <h2>Distribution</h2>
      <div class="charts">
        {bars && <Chart id="chart-distribution" title="Distribution of response times" hint="Samples by time, on a logarithmic axis" x={bars.x} lines={barLines} value={short} xValue={time} logX rects={bars.rects} yRange={[0, bars.highest * 1.08]} describe={bars.describe} live={live} />}
        {row.curve.length > 0 && <Chart id="chart-curve" title="Percentile curve" hint="The share of samples that were at least as fast" x={curve.x} lines={curve.lines} value={time} xName="share" xValue={percentileName} xSplits={NINES_AT} live={live} />}
      </div>
    </section>
  );
}

function codeColour(code: string, index: number): number {
  if (code.startsWith("2")) return index === 0 ? 0 : 1;
  if (code.startsWith("3")) return 4;
  if (code.startsWith("4")) return 2;
  if (code.startsWith("5") || code.startsWith("Non HTTP")) return 3;
  return 5 + (index % 3);
}

function plannedUsers(report: Report, at: number[]): number[] | null {
  if (report.plannedUsers.length === 0) return null;
  let next = 0;
  let users = 0;
  return at.map((second) => {
    while (next < report.plannedUsers.length && report.plannedUsers[next][0] < (second + report.steps.stepS) * 1000) users = report.plannedUsers[next++][1];
    return users;
  });
}

function heatRects(report: Report) {
  const { heat } = report.steps;
  if (heat.cells.length === 0) return null;
  const edge = (row: number) => 2 ** ((row + heat.lowest) / 3) / 1000;
  const most = Math.log1p(Math.max(...heat.cells.map(([, , n]) => n)));
  const x = Array.from({ length: heat.columns + 1 }, (_, i) => heat.from + i * heat.stepS);
  const rects: Rect[] = heat.cells.map(([column, row, n]) => ({ x0: x[column], x1: x[column + 1], y0: edge(row), y1: edge(row + 1), strength: 0.1 + 0.9 * (Math.log1p(n) / most) }));
  const counts = new Map(heat.cells.map(([column, row, n]) => [`${column} ${row}`, n]));
  const describe = (at: number, ms: number) => {
    const column = Math.floor((at - heat.from) / heat.stepS);
    const row = Math.floor(Math.log2(ms * 1000) * 3) - heat.lowest;
    const n = counts.get(`${column} ${row}`) ?? 0;
    return `${elapsed(x[column] - report.startedMs / 1000)}, ${time(edge(row))} to ${time(edge(row + 1))}: ${count(n)} samples`;
  };
  const range: [number, number] = [edge(-1), edge(heat.rows + 1)];
  return { x, rects, range, describe, lines: [line("", x.map(() => null), 0)] };
}

/** 95th percentile against rate, sorted by rate. */
function loadPoints(report: Report, stretch: Stretch, live: boolean) {
  const { steps } = report;
  const rates = live ? steps.count.map((count) => count / steps.stepS) : perSecond(report, steps.at, steps.count, steps.stepS);
  const isShown = (at: number) => !stretch || (at >= stretch[0] && at <= stretch[1]);
  const points = steps.at.map((at, i) => [isShown(at) ? rates[i] : null, steps.p95[i]]).filter((point): point is [number, number] => point[0] != null && point[1] != null);
  if (points.length < 3) return null;
  points.sort((a, b) => a[0] - b[0]);
  return { x: points.map(([r]) => r), lines: [line("95th", points.map(([, p]) => p), 2, { points: true })] };
}
