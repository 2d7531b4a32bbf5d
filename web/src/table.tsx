// The table of labels: search, sort, and choose one to see its charts.

import type { VNode } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { rowWithin, totalWithin, type IntervalName, type Report, type Row } from "./data";
import { count, duration, intervalOf, percent, percentileOf, rateOf, time } from "./format";
import type { Stretch } from "./overlay";
import { Tools, hasWords, useChoice } from "./tools";

interface Column {
  head: string;
  value: (row: Row) => number | string | null;
  text: (row: Row) => string;
  /** The number whose interval stands below it. */
  interval?: IntervalName;
}

const percentileColumn = (head: string, name: Parameters<typeof percentileOf>[1]): Column => ({
  head,
  value: (row) => percentileOf(row, name),
  text: (row) => time(percentileOf(row, name)),
  interval: name,
});

const share = (row: Row) => (row.count ? row.errors / row.count : 0);

const COLUMNS: Column[] = [
  { head: "Label", value: (row) => row.label.toLowerCase(), text: (row) => row.label },
  { head: "Samples", value: (row) => row.count, text: (row) => count(row.count) },
  { head: "Failed", value: share, text: (row) => percent(share(row)) },
  { head: "Rate/s", value: (row) => row.rate, text: (row) => rateOf(row), interval: "rate" },
  { head: "Mean", value: (row) => row.mean, text: (row) => time(row.mean), interval: "mean" },
  { head: "Min", value: (row) => row.min, text: (row) => time(row.min) },
  percentileColumn("Median", "p50"),
  percentileColumn("90th", "p90"),
  percentileColumn("95th", "p95"),
  percentileColumn("99th", "p99"),
  percentileColumn("99.9th", "p999"),
  { head: "Max", value: (row) => row.max, text: (row) => time(row.max) },
  { head: "APDEX", value: (row) => row.apdex, text: (row) => (row.apdex == null ? "–" : row.apdex.toFixed(3)) },
];

/** A number of a row. Without samples nothing but their number is known, and a zero would look like a measurement. */
function cell(column: Column, row: Row): string {
  return row.count || column.head === "Samples" ? column.text(row) : "–";
}

/** How many rows a page of a run that goes on shows at first. */
const FEW = 60;

/** The interval of a number, below it. */
function Bounds({ column, row }: { column: Column; row: Row }) {
  const text = column.interval ? intervalOf(row, column.interval) : "";
  return text ? <small class="bounds">{text}</small> : null;
}

/** Why a cell has no number. */
function reasonOf(column: Column, row: Row): string | undefined {
  const isMissing = row.count > 0 && column.interval?.startsWith("p") && percentileOf(row, column.interval as Parameters<typeof percentileOf>[1]) == null;
  return isMissing ? `Not enough samples for the ${column.head.toLowerCase()} percentile` : undefined;
}

interface Drawn {
  shown: Row;
  isChosen: boolean;
  element: VNode;
}

export function LabelTable(props: { report: Report; chosen: Row | null; choose: (row: Row | null) => void; stretch: Stretch; live?: boolean }) {
  const { report, chosen, choose, stretch, live = false } = props;
  const drawn = useRef(new WeakMap<Row, Drawn>());
  const latest = useRef(choose);
  latest.current = choose;
  /** The row of a label. While the run goes on, most labels of hundreds are the same as a second ago, and so are their elements. */
  const rowOf = (row: Row) => {
    const isChosen = row === chosen;
    const known = drawn.current.get(row);
    if (known && known.shown === shown(row) && known.isChosen === isChosen) return known.element;
    const element = <LabelRow key={`${row.transaction}${row.label}`} row={row} shown={shown(row)} isChosen={isChosen} choose={(row) => latest.current(row)} report={live ? null : report} />;
    drawn.current.set(row, { shown: shown(row), isChosen, element });
    return element;
  };
  const choice = useChoice();
  const { search, kind } = choice;
  const [sort, setSort] = useState<[number, boolean] | null>(null);
  const [all, setAll] = useState(false);
  const hasTransactions = report.labels.some((row) => row.transaction);
  const within = useMemo(() => new Map(report.labels.map((row) => [row, stretch ? rowWithin(row, report, stretch) : row])), [report, stretch]);
  const shown = (row: Row) => within.get(row) ?? row;
  const total = useMemo(() => (stretch ? totalWithin(report, stretch) : report.total), [report, stretch]);
  const rows = useMemo(() => {
    const isFound = hasWords(search);
    const wanted = (row: Row) =>
      isFound(row.label) &&
      (kind === "all" || (kind === "failed" ? row.errors > 0 : row.transaction === (kind === "transactions")));
    const found = report.labels.filter(wanted);
    if (!sort) {
      const worst = (row: Row) => (row.count ? row.errors / row.count : 0);
      found.sort((a, b) => worst(b) - worst(a) || b.p95 - a.p95);
    } else {
      const [column, down] = sort;
      const value = COLUMNS[column].value;
      const order = (a: Row, b: Row) => {
        const [x, y] = [value(shown(a)) ?? -1, value(shown(b)) ?? -1];
        return x < y ? -1 : x > y ? 1 : 0;
      };
      found.sort((a, b) => (down ? order(b, a) : order(a, b)));
    }
    return found;
  }, [report, search, kind, sort, within]);
  const kinds: [string, string][] = [["all", "All labels"], ["failed", "With failures"]];
  if (hasTransactions) kinds.push(["samples", "Samplers"], ["transactions", "Transactions"]);
  // A browser lays a table of hundreds of rows out anew whenever a number changes.
  const isShort = live && !all && rows.length > FEW + 10;
  return (
    <div class="card">
      <Tools what="labels" choice={choice} kinds={kinds} shown={`${rows.length} of ${report.labels.length}`} table={() => [FIELDS, ...rows.map((row) => fieldsOf(shown(row)))]} />
      {isShort && (
        <p class="hint within">
          The first {FEW} are shown; a search finds others.{" "}
          <button type="button" class="link" onClick={() => setAll(true)}>
            Show all {count(rows.length)}
          </button>
        </p>
      )}
      {!stretch && report.total.intervals && <p class="hint within">Small numbers are the bounds of 95 % intervals; ≥ stands where too few samples are larger.</p>}
      {stretch && <p class="hint within">The numbers are those of the chosen period. Its percentiles are computed from periods of {duration(report.periodS)}, to 4 %.</p>}
      <div class="scroll tall" tabIndex={0} role="group" aria-label="Table of labels">
        <table id="label-table">
          <thead>
            <tr>
              {COLUMNS.map((column, index) => {
                const [by, down] = sort ?? [-1, false];
                const state = by === index ? (down ? "descending" : "ascending") : "none";
                return (
                  <th scope="col" aria-sort={state} class={index ? "number" : ""}>
                    <button type="button" onClick={() => setSort([index, by === index ? !down : index > 0])}>
                      {column.head}
                      <span aria-hidden="true">{state === "none" ? "" : down ? " ▾" : " ▴"}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {(isShort ? rows.slice(0, FEW) : rows).map(rowOf)}
          </tbody>
          <tfoot>
            <tr>
              {COLUMNS.map((column, index) => (index ? <td class="number" title={reasonOf(column, total)}>{cell(column, total)}<Bounds column={column} row={total} /></td> : <th scope="row">All samples{hasTransactions && <small>without transactions</small>}</th>))}
            </tr>
          </tfoot>
        </table>
      </div>
    </div>
  );
}

/** The columns of the table as a file; times in milliseconds. */
const FIELDS = ["label", "transaction", "samples", "failed", "rate_per_s", "mean_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99_9_ms", "max_ms", "apdex"];

function fieldsOf(row: Row): (string | number | null)[] {
  const known = [row.mean, row.min, row.p50, row.p90, row.p95, row.p99, row.p999, row.max];
  return [row.label, String(row.transaction), row.count, row.errors, row.rate, ...(row.count ? known : known.map(() => null)), row.apdex];
}

/** How many points a small curve has. */
const SPARK_POINTS = 60;

/** Small curves over the whole run, by the column that they stand in: each from 0 to its own maximum. */
function sparksOf(report: Report, row: Row): Record<string, string> {
  const { steps } = row;
  const [first, last] = [report.steps.at[0], report.steps.at[report.steps.at.length - 1] + report.steps.stepS];
  if (!steps || steps.at.length < 3 || last - first < 5 * report.labelStepS) return {};
  const points = Math.min(SPARK_POINTS, Math.floor((last - first) / report.labelStepS));
  const [count, failed, p95] = [0, 1, 2].map(() => new Array<number>(points).fill(0));
  let step = 0;
  steps.at.forEach((distance, index) => {
    step += distance;
    const at = Math.min(points - 1, Math.max(0, Math.floor(((step * report.labelStepS - first) / (last - first)) * points)));
    count[at] += steps.count[index];
    failed[at] += steps.errors[index];
    p95[at] = Math.max(p95[at], steps.p95[index]);
  });
  const x = SPARK_POINTS / points;
  // The run covers only a part of the first and the last point.
  const wide = (last - first) / points;
  const covered = (at: number) => Math.min(first + (at + 1) * wide, report.endedMs / 1000) - Math.max(first + at * wide, report.startedMs / 1000);
  const isCovered = (at: number) => covered(at) >= wide / 2;
  const rate = (values: number[]) => values.map((value, at) => (isCovered(at) ? value / covered(at) : 0));
  const path = (values: number[], isKnown: (at: number) => boolean) => {
    const most = Math.max(...values, 1e-9);
    let isDown = false;
    return values
      .map((value, at) => {
        if (!isKnown(at)) return (isDown = false), "";
        const command = isDown ? "L" : "M";
        isDown = true;
        return `${command}${((at + 0.5) * x).toFixed(1)} ${(9.5 - (value / most) * 9).toFixed(1)}`;
      })
      .join("");
  };
  const sparks: Record<string, string> = { "95th": path(p95, (at) => count[at] > 0), "Rate/s": path(rate(count), isCovered) };
  if (row.errors > 0) sparks.Failed = path(rate(failed), isCovered);
  return sparks;
}

/** Without a report, a row has no curves: those of a run that goes on are not known. */
function LabelRow(props: { row: Row; shown: Row; isChosen: boolean; choose: (row: Row | null) => void; report: Report | null }) {
  const { row, shown, isChosen, choose, report } = props;
  const sparks = useMemo(() => (report ? sparksOf(report, row) : {}), [report, row]) as Record<string, string>;
  return (
    <tr class={isChosen ? "chosen" : ""}>
      <th scope="row">
        <button type="button" class="label" aria-pressed={isChosen} onClick={() => choose(isChosen ? null : row)} title="Show the charts of this label">
          {row.label || "(no label)"}
        </button>
        {row.transaction && <span class="badge">transaction</span>}
      </th>
      {COLUMNS.slice(1).map((column) => (
        <td class={`number ${column.head === "Failed" && shown.errors > 0 ? "bad" : ""}`} title={reasonOf(column, shown)}>
          {cell(column, shown)}
          <Bounds column={column} row={shown} />
          {sparks[column.head] && (
            <svg class={`spark ${column.head === "Failed" ? "bad" : ""}`} viewBox={`0 0 ${SPARK_POINTS} 10`} preserveAspectRatio="none" aria-hidden="true">
              <path d={sparks[column.head]} />
            </svg>
          )}
        </td>
      ))}
    </tr>
  );
}
