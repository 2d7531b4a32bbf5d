// The charts of a run, and those of one label.

import { useMemo } from "preact/hooks";
import { Chart, resetZoom, type Line, type Rect } from "./chart";
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

function ZoomHint() {
  return (
    <p class="hint">
      Drag across a chart to zoom all of them.{" "}
      <button type="button" class="link" onClick={resetZoom}>
        Show the whole run
      </button>
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
  const heat = useMemo(() => (live ? null : heatRects(report)), [report, theme]);
  const load = useMemo(() => (live ? null : loadPoints(report, stretch)), [report, theme, stretch]);
  const total = useMemo(() => (stretch ? totalWithin(report, stretch) : report.total), [report, stretch]);
  const step = steps.stepS === 1 ? "each second" : `steps of ${steps.stepS} s`;
  const stretches = useMemo(() => spoiltStretches(report), [report]);
  const common = { x: steps.at, from, marks, stretches, live };
  return (
    <>
      <section id="time">
        <h2>Over time</h2>
        <ZoomHint />
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
          {heat && <Chart id="chart-heat" title="Heat map of response times" hint="The stronger the colour, the more samples took that long" lines={[line("", heat.x.map(() => null), 0)]} value={time} logY {...common} x={heat.x} rects={heat.rects} yRange={heat.range} describe={heat.describe} />}
          <Chart id="chart-codes" title="Response codes" hint="Samples a second" lines={charts.codes} value={short} stacked {...common} />
          {!live && seenPhases(report.total).length > 1 && <Chart id="chart-phases" title="Where the time went" hint="Mean times of the parts of a sample" lines={charts.phases} value={time} stacked {...common} />}
          {report.total.bytes + report.total.sentBytes > 0 && <Chart id="chart-bytes" title="Bytes" hint="A second" lines={charts.bytes} value={bytes} binary {...common} />}
          {load && <Chart id="chart-load" title="Response time against rate" hint="Each point is a step of the run; a knee shows where the server reaches its capacity" x={load.x} lines={[line("95th", load.y, 2, { points: true })]} value={time} xValue={(v) => `${short(v)}/s`} />}
        </div>
      </section>
      {!live && <Spread row={total} theme={theme} />}
    </>
  );
}

export function LabelCharts(props: { report: Report; row: Row; close: () => void; theme: string; stretch: Stretch }) {
  const { report, row, close, theme, stretch } = props;
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
        <ZoomHint />
        {columns && lines && (
          <div class="charts">
            <Chart id="chart-label-times" title="Response time percentiles" hint={`Steps of ${report.labelStepS} s`} x={columns.at} lines={lines.times} value={time} from={from} marks={marks} stretches={stretches} />
            <Chart id="chart-label-rate" title="Rate" hint="Samples a second" x={columns.at} lines={lines.rate} value={short} from={from} marks={marks} stretches={stretches} />
          </div>
        )}
        {phases.length > 1 && <p class="hint">Where the time went, on average: {phases.map((phase) => `${PHASES[phase]} ${time(row.phases[phase])}`).join(", ")}.</p>}
      </section>
      <Spread row={within} theme={theme} />
    </>
  );
}

/** The distribution of a row's times. */
function Spread({ row, theme }: { row: Row; theme: string }) {
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
  }, [row, theme]);
  const curve = useMemo(() => {
    const points = curveOf(row.curve, row.count);
    return { x: points.map(([at]) => at), lines: [line("response time", points.map(([, ms]) => ms), 2, { filled: true })] };
  }, [row, theme]);
  const barLines = useMemo(() => [line("", bars?.values ?? [], 0)], [bars]);
  return (
    <section id="spread">
      <h2>Distribution</h2>
      <div class="charts">
        {bars && <Chart id="chart-distribution" title="Distribution of response times" hint="Samples by time, on a logarithmic axis" x={bars.x} lines={barLines} value={short} xValue={time} logX rects={bars.rects} yRange={[0, bars.highest * 1.08]} describe={bars.describe} />}
        {row.curve.length > 0 && <Chart id="chart-curve" title="Percentile curve" hint="The share of samples that were at least as fast" x={curve.x} lines={curve.lines} value={time} xValue={percentileName} xSplits={NINES_AT} />}
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
  return { x, rects, range, describe };
}

/** 95th percentile against rate, sorted by rate. */
function loadPoints(report: Report, stretch: Stretch) {
  const { steps } = report;
  const rates = perSecond(report, steps.at, steps.count, steps.stepS);
  const isShown = (at: number) => !stretch || (at >= stretch[0] && at <= stretch[1]);
  const points = steps.at.map((at, i) => [isShown(at) ? rates[i] : null, steps.p95[i]]).filter((point): point is [number, number] => point[0] != null && point[1] != null);
  if (points.length < 3) return null;
  points.sort((a, b) => a[0] - b[0]);
  return { x: points.map(([r]) => r), y: points.map(([, p]) => p) };
}
