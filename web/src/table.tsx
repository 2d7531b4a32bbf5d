// The table of labels: search, sort, and choose one to see its charts.

import { useMemo, useState } from "preact/hooks";
import { rowWithin, totalWithin, type Report, type Row } from "./data";
import { count, percent, short, time } from "./format";
import type { Stretch } from "./overlay";
import { Tools, hasWords, useChoice } from "./tools";

interface Column {
  head: string;
  value: (row: Row) => number | string | null;
  text: (row: Row) => string;
  title?: string;
}

const share = (row: Row) => (row.count ? row.errors / row.count : 0);

const COLUMNS: Column[] = [
  { head: "Label", value: (row) => row.label.toLowerCase(), text: (row) => row.label },
  { head: "Samples", value: (row) => row.count, text: (row) => count(row.count) },
  { head: "Failed", value: share, text: (row) => percent(share(row)) },
  { head: "Rate/s", value: (row) => row.rate, text: (row) => short(row.rate) },
  { head: "Mean", value: (row) => row.mean, text: (row) => time(row.mean) },
  { head: "Min", value: (row) => row.min, text: (row) => time(row.min) },
  { head: "Median", value: (row) => row.p50, text: (row) => time(row.p50) },
  { head: "90th", value: (row) => row.p90, text: (row) => time(row.p90) },
  { head: "95th", value: (row) => row.p95, text: (row) => time(row.p95) },
  { head: "99th", value: (row) => row.p99, text: (row) => time(row.p99) },
  { head: "99.9th", value: (row) => row.p999, text: (row) => time(row.p999) },
  { head: "Max", value: (row) => row.max, text: (row) => time(row.max) },
  { head: "APDEX", value: (row) => row.apdex, text: (row) => (row.apdex == null ? "–" : row.apdex.toFixed(3)) },
];

/** A number of a row. Without samples nothing but their number is known, and a zero would look like a measurement. */
function cell(column: Column, row: Row): string {
  return row.count || column.head === "Samples" ? column.text(row) : "–";
}

export function LabelTable(props: { report: Report; chosen: Row | null; choose: (row: Row | null) => void; stretch: Stretch }) {
  const { report, chosen, choose, stretch } = props;
  const choice = useChoice();
  const { search, kind } = choice;
  const [sort, setSort] = useState<[number, boolean] | null>(null);
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
    if (sort) {
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
  const slowest = Math.max(...report.labels.map((row) => row.p95), 1e-9);
  return (
    <div class="card">
      <Tools what="labels" choice={choice} kinds={kinds} shown={`${rows.length} of ${report.labels.length}`} />
      {stretch && <p class="hint within">Samples, failures, rate and mean of the chosen stretch. Percentiles are known only for the whole run.</p>}
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
            {rows.map((row) => (
              <LabelRow row={row} shown={shown(row)} isChosen={row === chosen} choose={choose} slowest={slowest} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              {COLUMNS.map((column, index) => (index ? <td class="number">{cell(column, total)}</td> : <th scope="row">All samples{hasTransactions && <small>without transactions</small>}</th>))}
            </tr>
          </tfoot>
        </table>
      </div>
    </div>
  );
}

function LabelRow(props: { row: Row; shown: Row; isChosen: boolean; choose: (row: Row | null) => void; slowest: number }) {
  const { row, shown, isChosen, choose, slowest } = props;
  return (
    <tr class={isChosen ? "chosen" : ""}>
      <th scope="row">
        <button type="button" class="label" aria-pressed={isChosen} onClick={() => choose(isChosen ? null : row)} title="Show the charts of this label">
          {row.label || "(no label)"}
        </button>
        {row.transaction && <span class="badge">transaction</span>}
      </th>
      {COLUMNS.slice(1).map((column) => (
        <td class={`number ${column.head === "Failed" && shown.errors > 0 ? "bad" : ""}`}>
          {cell(column, shown)}
          {column.head === "95th" && shown === row && <i class="bar95" aria-hidden="true" style={{ width: `${(row.p95 / slowest) * 100}%` }} />}
        </td>
      ))}
    </tr>
  );
}
