// Where the time of the slowest samples went, what servers named, and the slowest traces.

import type { Report, TimeParts, TracedLabel } from "./data";
import { clock, count, time } from "./format";

/** The parts in the order of a bar, each with its name and its colour. */
function partsOf(parts: TimeParts): [string, number, number][] {
  const all: [string, number, number][] = [
    ["generator", parts.generator_ms, 4],
    ["connect", parts.connect_ms, 5],
    ["TLS", parts.tls_ms, 6],
    ["server", parts.server_ms ?? 0, 1],
    [parts.server_ms == null ? "network and server" : "network and queues", parts.wait_ms, 3],
    ["transfer", parts.transfer_ms, 2],
  ];
  return all.filter(([, ms]) => ms >= 0.0005);
}

/** A bar whose pieces are as long as the parts. */
function Bar({ parts }: { parts: TimeParts }) {
  const shown = partsOf(parts);
  const told = shown.map(([name, ms]) => `${name} ${time(ms)}`).join(", ");
  return (
    <span class="parts" role="img" aria-label={told} title={told}>
      {shown.map(([, ms, colour]) => (
        <i style={{ flexGrow: ms, background: `var(--line-${colour})` }} />
      ))}
    </span>
  );
}

/** The largest parts in words. */
function Told({ parts }: { parts: TimeParts }) {
  const largest = partsOf(parts).sort((a, b) => b[1] - a[1]);
  return <small class="hint">{largest.map(([name, ms]) => `${name} ${time(ms)}`).join(", ")}</small>;
}

const metrics = (label: TracedLabel) => label.server_timing.map((metric) => `${metric.name} ${time(metric.mean_ms)} (max ${time(metric.max_ms)}, ${count(metric.samples)}×)`).join(", ");

export function TracesSection({ traces }: { traces: NonNullable<Report["traces"]> }) {
  const rows = [...traces.labels, traces.total];
  const hasMetrics = rows.some((label) => label.server_timing.length > 0);
  return (
    <section id="traces">
      <h2>Slowest 1 %</h2>
      <p class="hint note">
        Where the time of each label&#39;s slowest traced samples went, on average. {hasMetrics ? "The server's own time is what it named in Server-Timing." : "No server named its own time in Server-Timing, so it is part of the wait for the first byte."}
      </p>
      <div class="card scroll" tabIndex={0} role="group" aria-label="Slowest 1 % by part">
        <table id="slowest-parts">
          <thead>
            <tr>
              {["Label", "Samples", "Mean", "Parts"].map((head, index) => (
                <th scope="col" class={index === 1 || index === 2 ? "number" : ""}>
                  {head}
                </th>
              ))}
              {hasMetrics && <th scope="col">Server-Timing, all samples</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((label) => (
              <tr>
                <th scope="row">{label.label}</th>
                <td class="number">
                  {count(label.slowest_percent.samples)} of {count(label.slowest_percent.of)}
                </td>
                <td class="number">{time(label.slowest_percent.elapsed_ms)}</td>
                <td>
                  <Bar parts={label.slowest_percent.parts} />
                  <Told parts={label.slowest_percent.parts} />
                </td>
                {hasMetrics && <td>{metrics(label)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3 class="note">Slowest traces</h3>
      {traces.slowest.length === 0 ? (
        <p class="card quiet">No trace was recorded: the share of --trace is small, or the plan sends its own traceparent.</p>
      ) : (
        <div class="card scroll" tabIndex={0} role="group" aria-label="Slowest traces">
          <table id="slowest-traces">
            <thead>
              <tr>
                {["Label", "Started", "Time", "Code", "Trace", "Parts"].map((head, index) => (
                  <th scope="col" class={index === 2 ? "number" : ""}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {traces.slowest.map((slow) => (
                <tr>
                  <th scope="row">{slow.label}</th>
                  <td>{clock(slow.start_ms)}</td>
                  <td class="number">{time(slow.elapsed_ms)}</td>
                  <td>{slow.code}</td>
                  <td>
                    {slow.link ? (
                      <a href={slow.link} rel="noreferrer">
                        <code>{slow.trace_id}</code>
                      </a>
                    ) : (
                      <code>{slow.trace_id}</code>
                    )}
                  </td>
                  <td>
                    <Bar parts={slow.parts} />
                    <Told parts={slow.parts} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
