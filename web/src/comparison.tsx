// The comparison of runs.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Chart } from "./chart";
import type { ComparedLabel, ComparedRun, Comparison, Difference, Threshold } from "./data";
import { boundsOf, count, curveOf, elapsed, NINES_AT, percent, percentileName, short, time } from "./format";
import { Header, useTheme } from "./theme";
import { Tools, hasWords, useChoice } from "./tools";

const WORDS: Record<string, string> = { worse: "worse", better: "better", same: "no difference", unclear: "unclear", added: "new", removed: "gone", refused: "not compared" };

export function ComparisonPage({ comparison }: { comparison: Comparison }) {
  const [theme, toggle] = useTheme();
  const sections = comparison.others.map((other, index) => [`run-${index}`, other.name] as [string, string]);
  return (
    <>
      <Header name={`Compared with ${comparison.base}`} detail={`${comparison.others.length} run${comparison.others.length > 1 ? "s" : ""}`} theme={theme} toggle={toggle} sections={sections} />
      <main>
        {comparison.others.map((other, index) => (
          <section id={`run-${index}`} key={other.name}>
            <h2>
              {other.name} <span class={`badge ${badge(other.finding)}`}>{WORDS[other.finding]}</span>
            </h2>
            <p class="sentence">{other.sentence}.</p>
            {other.refusals.map((refusal) => (
              <p class="note">Because {refusal}.</p>
            ))}
            <Verdicts comparison={comparison} other={other} />
            {other.notes.map((note) => (
              <p class="hint note">{note}</p>
            ))}
            <Differs base={comparison.base} other={other} />
            {other.finding !== "refused" && <Numbers base={comparison.base} other={other} theme={theme} index={index} />}
            <Limits base={comparison.base} other={other} />
            <ErrorKinds base={comparison.base} other={other} />
          </section>
        ))}
      </main>
      <footer>
        <p>{comparison.tool}. A difference counts when its 95 % interval excludes zero, its windows rank apart (Mann–Whitney, held to a bound that all tests share: Holm), and it is large enough to matter. Bars show the intervals; the line in the middle is no change, the ends are 50 %.</p>
      </footer>
    </>
  );
}

/** The table of labels, and the charts of the label that is chosen there. */
function Numbers({ base, other, theme, index }: { base: string; other: ComparedRun; theme: string; index: number }) {
  const [chosen, setChosen] = useState<ComparedLabel | null>(null);
  const label = chosen ?? other.total;
  const common = { label, base, other: other.name, theme };
  return (
    <>
      <Labels labels={[other.total, ...other.labels]} chosen={label} choose={(label) => setChosen(label === other.total ? null : label)} />
      <div class="charts">
        <OverTime {...common} id={`chart-times-${index}`} title="95th percentile" value={time} at={1} />
        <OverTime {...common} id={`chart-rates-${index}`} title="Rate" value={(rate) => `${short(rate)}/s`} at={2} />
        <Curves {...common} id={`chart-curves-${index}`} />
      </div>
    </>
  );
}

/** Both runs over the time since their start. */
function OverTime(props: { label: ComparedLabel; base: string; other: string; theme: string; id: string; title: string; value: (value: number) => string; at: 1 | 2 }) {
  const { label, base, other, theme, id, title, value, at } = props;
  const chart = useMemo(() => {
    const x = [...new Set(label.over_time.flatMap((points) => points.map(([second]) => second)))].sort((a, b) => a - b);
    const lines = label.over_time.map((points, side) => {
      const known = new Map(points.map((point) => [point[0], point[at]]));
      return { name: side ? other : base, values: x.map((second) => known.get(second) ?? null), colour: side ? 2 : 4, dashed: !side, joined: true };
    });
    return { x, lines };
  }, [label, theme, at]);
  if (chart.x.length < 2) return null;
  return <Chart id={id} title={`${title} of ${label.label}`} hint="Both runs, by the time since their start" x={chart.x} lines={chart.lines} value={value} xName="time" xValue={elapsed} height={260} />;
}

/** Two columns of texts under the names of both runs. */
function SideBySide(props: { id: string; title: string; base: string; other: string; rows: { head: string; cells: ComponentChildren[]; isBad?: boolean }[] }) {
  if (props.rows.length === 0) return null;
  return (
    <div class="card scroll side" tabIndex={0} role="group" aria-label={props.title} id={props.id}>
      <table>
        <thead>
          <tr>
            {[props.title, props.base, props.other].map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr>
              <th scope="row">{row.head}</th>
              {row.cells.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Differs({ base, other }: { base: string; other: ComparedRun }) {
  const rows = other.differs.map((one) => ({ head: one.what, cells: [one.before, one.after] }));
  return <SideBySide id="differs" title="What differs besides the numbers" base={base} other={other.name} rows={rows} />;
}

function Limits({ base, other }: { base: string; other: ComparedRun }) {
  const outcome = (one: Threshold | null) =>
    one ? (
      <>
        <span class={`badge ${one.outcome === "ok" ? "good" : one.outcome === "FAILED" ? "bad" : "warn"}`}>{one.outcome}</span> {one.value == null ? "" : `${short(one.value)} ${one.unit}`}
      </>
    ) : (
      "–"
    );
  const rows = other.thresholds.map((one) => ({ head: one.text, cells: [outcome(one.before), outcome(one.after)] }));
  return <SideBySide id="thresholds-compared" title="Thresholds" base={base} other={other.name} rows={rows} />;
}

function ErrorKinds({ base, other }: { base: string; other: ComparedRun }) {
  const told = (failed: number, all: number) => (failed ? `${count(failed)} (${percent(all ? failed / all : 0)})` : "none");
  const rows = other.errors.map((one) => ({ head: [one.code, one.message].filter(Boolean).join(" ") || "(no message)", cells: [told(one.before, other.total.before), told(one.after, other.total.after)] }));
  return <SideBySide id="errors-compared" title="Errors, of all samples" base={base} other={other.name} rows={rows} />;
}

/** The verdicts of both runs on their own numbers. */
function Verdicts({ comparison, other }: { comparison: Comparison; other: Comparison["others"][number] }) {
  const known: [string, string][] = [
    [comparison.base, comparison.base_verdict ?? "none"],
    [other.name, other.verdict ?? "none"],
  ];
  const colour = (state: string) => (state === "VALID" ? "good" : state === "INVALID" ? "bad" : state === "DEGRADED" ? "warn" : "");
  return (
    <p class="hint note">
      Verdicts:{" "}
      {known.map(([name, state]) => (
        <span class="verdict-of">
          {name} <span class={`badge ${colour(state)}`}>{state}</span>{" "}
        </span>
      ))}
    </p>
  );
}

const badge = (finding: string) => (finding === "worse" ? "bad" : finding === "better" ? "good" : "");

const KINDS: [string, string][] = [
  ["all", "All labels"],
  ["changed", "Changed ones"],
];

function Labels({ labels, chosen, choose }: { labels: ComparedLabel[]; chosen: ComparedLabel; choose: (label: ComparedLabel) => void }) {
  const choice = useChoice();
  const { search, kind } = choice;
  const found = useMemo(() => {
    const isFound = hasWords(search);
    return labels.filter((label) => isFound(label.label) && (kind === "all" || label.finding !== "same"));
  }, [labels, search, kind]);
  const metrics = labels[0].differences.map((difference) => difference.metric);
  return (
    <div class="card">
      <Tools what="labels" choice={choice} kinds={KINDS} shown={`${found.length} of ${labels.length}`} />
      <div class="scroll tall" tabIndex={0} role="group" aria-label="Differences by label">
        <table id="label-table">
          <thead>
            <tr>
              <th scope="col">Label</th>
              <th scope="col">Finding</th>
              <th scope="col" class="number">
                Samples
              </th>
              {metrics.map((metric) => (
                <th scope="col" class="number">
                  {metric}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.map((label) => (
              <tr class={label === chosen ? "chosen" : ""}>
                <th scope="row">
                  <button type="button" class="label" aria-pressed={label === chosen} onClick={() => choose(label)} title="Show the charts of this label">
                    {label.label || "(no label)"}
                  </button>{" "}
                  {label.transaction && <span class="badge">transaction</span>}
                </th>
                <td>
                  <span class={`badge ${badge(label.finding)}`}>{WORDS[label.finding]}</span>
                </td>
                <td class="number">
                  {count(label.before)}
                  <small>{count(label.after)}</small>
                </td>
                {metrics.map((metric, index) => (
                  <Cell difference={label.differences[index]} key={metric} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function value(difference: Difference, of: number): string {
  if (difference.unit === "ms") return time(of);
  if (difference.unit === "%") return percent(of / 100);
  return short(of) + difference.unit;
}

/** Formats a change with two significant digits and a sign; for shares, in percentage points. */
function signed(of: number): string {
  const value = Number((of * 100).toPrecision(2));
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value)}`;
}

function Cell({ difference }: { difference?: Difference }) {
  if (!difference) return <td class="number">–</td>;
  const { change, interval, finding } = difference;
  const unit = difference.unit === "%" ? "points" : "%";
  return (
    <td class={`number ${badge(finding)}`}>
      {value(difference, difference.before)} → {value(difference, difference.after)}
      {difference.bounds && (
        <small class="bounds" title="95 % intervals of both values">
          {difference.bounds.map((bounds) => `(${boundsOf(bounds, (of) => value(difference, of))})`).join(" → ")}
        </small>
      )}
      <small>
        {change == null ? "" : `${signed(change)} ${unit}`}
        {interval ? ` (${signed(interval[0])} … ${signed(interval[1])})` : ""}
      </small>
      {interval && <Whisker interval={interval} change={change ?? 0} />}
    </td>
  );
}

/** The change at which a bar reaches its full length. */
const WHISKER = 0.5;

/** The interval of the change, relative to zero in the middle. */
function Whisker({ interval, change }: { interval: [number, number]; change: number }) {
  const place = (of: number) => 50 + (Math.max(-WHISKER, Math.min(WHISKER, of)) / WHISKER) * 50;
  const [from, to] = interval.map(place);
  return (
    <span class="whisker" aria-hidden="true">
      <u />
      <i style={{ left: `${from}%`, width: `${Math.max(1, to - from)}%` }} />
      <b style={{ left: `${place(change)}%` }} />
    </span>
  );
}

function Curves(props: { label: ComparedLabel; base: string; other: string; theme: string; id: string }) {
  const { label, base, other, theme, id } = props;
  const chart = useMemo(() => {
    const curves = label.curves.map((curve, side) => curveOf(curve, side ? label.after : label.before));
    const x = [...new Set(curves.flatMap((curve) => curve.map(([at]) => at)))].sort((a, b) => a - b);
    const values = curves.map((curve) => {
      const known = new Map(curve);
      return x.map((at) => known.get(at) ?? null);
    });
    return {
      x,
      lines: [
        { name: base, values: values[0], colour: 4, dashed: true, joined: true },
        { name: other, values: values[1], colour: 2, joined: true },
      ],
    };
  }, [label, theme]);
  if (label.curves.some((curve) => curve.length === 0)) return null;
  return <Chart id={id} title={`Percentile curves of ${label.label}`} hint="The share of samples that were at least as fast" x={chart.x} lines={chart.lines} value={time} xName="share" xValue={percentileName} xSplits={NINES_AT} height={260} />;
}
