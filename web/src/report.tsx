// The report of a run.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { resetZoom, showStretch } from "./chart";
import { Errors } from "./errors";
import { CapacitySection } from "./capacity";
import { LabelCharts, RunCharts } from "./charts";
import { isResultFile, type Finding, type IntervalName, type Report, type StreamTimes, type Times } from "./data";
import { Findings } from "./findings";
import { bytes, clock, count, duration, intervalOf, percent, percentileOf, rateOf, time } from "./format";
import { Generator } from "./generator";
import { Overlay, useStretch } from "./overlay";
import { goTo, useChosen, useSection } from "./place";
import { Repeats } from "./repeats";
import { LabelTable } from "./table";
import { Header, useTheme } from "./theme";
import { Thresholds } from "./thresholds";
import { TracesSection } from "./traces";
import { Verdict } from "./verdict";

/** The report; `children` stand in its header. */
export function ReportPage({ report, children }: { report: Report; children?: ComponentChildren }) {
  const [theme, toggle] = useTheme();
  const [chosen, setChosen] = useChosen(report);
  useSection();
  const sections = useMemo(() => {
    const all: [string, string, boolean][] = [
      ["summary", "Summary", true],
      ["capacity", "Capacity", report.capacity != null],
      ["labels", "Labels", true],
      ["together", "Overview", report.labels.length > 0],
      ["time", "Over time", report.labels.length > 0],
      ["spread", "Distribution", report.labels.length > 0],
      ["traces", "Slowest 1 %", report.traces != null],
      ["errors", "Errors", true],
      ["generator", "Load generator", report.connections != null || report.health.length > 0 || report.agents.length > 0],
      ["environment", "Environment", true],
    ];
    return all.filter(([, , shown]) => shown).map(([id, text]) => [id, text] as [string, string]);
  }, [report]);
  const stretch = useStretch(report);
  /** Sets the period and the label of a finding, and goes to its charts. */
  const show = (finding: Finding) => {
    const row = finding.label && report.labels.find((row) => row.label === finding.label![0] && row.transaction === finding.label![1]);
    setChosen(row ?? null);
    const [first, last] = [report.steps.at[0], report.steps.at[report.steps.at.length - 1]];
    if (finding.span_ms) {
      const [from, to] = finding.span_ms.map((ms) => ms / 1000);
      // What is around it shows what it differs from.
      const around = (to - from) / 4;
      showStretch(Math.max(first, from - around), Math.min(last, to + around));
    } else {
      resetZoom();
    }
    const section = finding.kind === "errors" ? "errors" : finding.kind === "generator" ? "generator" : finding.kind === "knee" ? "together" : "time";
    setTimeout(() => goTo(section));
  };
  const lengthS = (report.endedMs - report.startedMs) / 1000;
  const name = report.title ?? report.name;
  // A live page becomes the report without being loaded again.
  useEffect(() => {
    document.title = [report.outcome, name, "Drumfire"].filter(Boolean).join(" – ");
  }, [report, name]);
  const when = report.startedMs > 0 ? [clock(report.startedMs), duration(lengthS)] : [];
  return (
    <>
      <Header
        outcome={report.outcome}
        name={name}
        detail={[report.title ? report.name : "", report.targets.slice(0, 3).join(", ") + (report.targets.length > 3 ? ` and ${report.targets.length - 3} more` : ""), ...when].filter(Boolean).join(" · ")}
        theme={theme}
        toggle={toggle}
        sections={sections}
      >
        {children}
      </Header>
      <main>
        <section id="summary" aria-label="Summary">
          {report.outcome && <Thresholds thresholds={report.thresholds} outcome={report.outcome} />}
          <Verdict report={report} />
          <Findings report={report} show={show} />
          {report.labels.length === 0 && <p class="card quiet note">No sample was taken.</p>}
          {report.merged && <p class="hint note">Merging {report.merged}.</p>}
          {report.leftOut && <p class="card quiet note">{report.leftOut[0].toUpperCase() + report.leftOut.slice(1)}. The charts over time show the whole run.</p>}
          <Tiles report={report} lengthS={lengthS} />
          {report.repeats && <Repeats repeats={report.repeats} />}
          {report.total.intervals && (
            <p class="hint note">
              In brackets: the 95 % interval of the number above.{report.runLength && ` The ${report.runLength}.`}
            </p>
          )}
          {report.labels.length > 0 && !report.leftOut && <ServiceAndResponse report={report} />}
          <Streams report={report} />
        </section>
        {report.capacity && <CapacitySection report={report} capacity={report.capacity} theme={theme} />}
        <section id="labels">
          <h2>Labels</h2>
          <LabelTable report={report} chosen={chosen} choose={setChosen} stretch={stretch} />
        </section>
        {report.labels.length > 0 && (
          <section id="together">
            <h2>Overview</h2>
            <Overlay report={report} stretch={stretch} theme={theme} />
          </section>
        )}
        {chosen ? (
          <LabelCharts key={chosen.label + chosen.transaction} report={report} row={chosen} close={() => setChosen(null)} theme={theme} stretch={stretch} />
        ) : (
          report.labels.length > 0 && <RunCharts report={report} theme={theme} stretch={stretch} />
        )}
        {report.traces && <TracesSection traces={report.traces} />}
        <section id="errors">
          <h2>Errors</h2>
          <Errors report={report} chosen={chosen} stretch={stretch} />
        </section>
        {(report.connections || report.health.length > 0 || report.agents.length > 0) && (
          <section id="generator">
            <h2>Load generator</h2>
            <Generator report={report} theme={theme} />
          </section>
        )}
        <section id="environment">
          <h2>Environment</h2>
          <Environment report={report} />
        </section>
      </main>
      <footer>
        <p>
          {report.tool}. Percentiles are those of all samples of the run. Times are service times, from the start of a request to the last byte of its response.
        </p>
      </footer>
    </>
  );
}

/** The tiles of a run without samples: zeros would look like measurements. */
function withoutSamples(tiles: Tile[]): Tile[] {
  return tiles.map(([name, value, detail]) => (name === "Samples" ? [name, value, detail, "bad"] : [name, "–", ""]));
}

/** Its name, its value, a detail, a state, and the bounds of the value. */
type Tile = [string, string, string, string?, string?];

/** From this many samples on, it says something that none failed. */
const ENOUGH = 100;

function Tiles({ report, lengthS }: { report: Report; lengthS: number }) {
  const { total, steps } = report;
  const share = total.count ? total.errors / total.count : 0;
  const users = steps.users.reduce((a, b) => Math.max(a, b), 0);
  /** The 95 % interval of a number. */
  const within = (name: IntervalName) => {
    const text = intervalOf(total, name);
    return text && `(${text})`;
  };
  const measured: Tile[] = [
    ["Samples", count(total.count), lengthS > 0 ? `in ${duration(lengthS)}` : ""],
    ["Failed", percent(share), `${count(total.errors)} samples`, total.errors > 0 ? "bad" : total.count >= ENOUGH ? "good" : ""],
    ["Rate", total.count > 1 ? `${rateOf(total)}/s` : "–", "a second, on average", "", within("rate")],
    ["Median", time(total.p50), `mean ${time(total.mean)}`, "", within("p50")],
    ["95th", time(percentileOf(total, "p95")), `90th ${time(percentileOf(total, "p90"))}`, "", within("p95")],
    ["99th", time(percentileOf(total, "p99")), `maximum ${time(total.max)}`, "", percentileOf(total, "p99") == null ? "not enough samples" : within("p99")],
    ["Users", count(users), "maximum at a time"],
    ["Received", bytes(total.bytes), `sent ${bytes(total.sentBytes)}`],
  ];
  if (total.apdex != null) measured.splice(6, 0, ["APDEX", total.apdex.toFixed(3), `${time(report.satisfiedMs)} / ${time(report.toleratedMs)}`]);
  const tiles = total.count ? measured : withoutSamples(measured);
  return (
    <dl class="tiles">
      {tiles.map(([name, value, detail, state, bounds]) => (
        <div class={`card tile ${state ?? ""}`}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            {bounds && <small class="bounds">{bounds}</small>}
            <small>{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Service times beside response times, of the same samples: those that a schedule gave an intended start. */
function ServiceAndResponse({ report }: { report: Report }) {
  const { response, scheduled, count: all } = report.total;
  // A result file does not say whether its samples had a schedule.
  if (!response && isResultFile(report)) return null;
  if (!response) {
    return (
      <p class="hint note">
        Samples had no intended start (users sent their next request when the last one was answered), so there is no response time from an intended start: a slow
        server also slowed the load down.
      </p>
    );
  }
  const rows: [string, Times][] = [["Response time: from the intended start", response]];
  if (scheduled) rows.unshift(["Service time: from the actual start", scheduled]);
  return (
    <div class="card scroll" tabIndex={0} role="group" aria-label="Service and response times">
      <table>
        <thead>
          <tr>
            <th scope="col">{count(response[0])}{response[0] < all ? ` of ${count(all)}` : ""} samples with an intended start</th>
            {["median", "95th", "99th", "maximum"].map((head) => (
              <th scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, values]) => (
            <tr>
              <th scope="row">{name}</th>
              {values.slice(1).map((value) => (
                <td class="number">{time(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The labels whose responses were read as streams. */
export function Streams({ report }: { report: Report }) {
  const rows = report.labels.filter((row) => row.stream);
  if (rows.length === 0) return null;
  const heads = ["median", "95th", "99th", "maximum"];
  const cells = (times: StreamTimes | null) => (times ? [times.p50_ms, times.p95_ms, times.p99_ms, times.max_ms].map(time) : heads.map(() => "–"));
  return (
    <div class="card scroll" tabIndex={0} role="group" aria-label="Streams">
      <table id="streams">
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>Streams</th>
            <th scope="col" rowSpan={2} class="number">Events</th>
            <th scope="col" rowSpan={2} class="number">Tokens</th>
            <th scope="colgroup" colSpan={4} class="number">Time to the first event</th>
            <th scope="colgroup" colSpan={4} class="number">Time between events</th>
          </tr>
          <tr>
            {[...heads, ...heads].map((head) => (
              <th scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, stream }) => (
            <tr>
              <th scope="row">{label || "(no label)"}</th>
              <td class="number">{count(stream!.events)}</td>
              <td class="number">{stream!.tokens > 0 ? count(stream!.tokens) : "–"}</td>
              {[...cells(stream!.first_event), ...cells(stream!.gap)].map((text) => (
                <td class="number">{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Environment({ report }: { report: Report }) {
  const rows: [string, string][] = [...report.environment];
  if (report.targets.length > 0) rows.push(["targets", report.targets.join(", ")]);
  for (const [name, value] of report.properties) rows.push([name, value]);
  if (report.plan) rows.push(["plan", report.plan.path], ["plan SHA-256", report.plan.sha256]);
  if (report.startedMs > 0) rows.push(["started", clock(report.startedMs)], ["ended", clock(report.endedMs)]);
  rows.push(["report by", report.tool]);
  return (
    <dl class="card pairs">
      {rows.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
