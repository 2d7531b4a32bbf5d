// The load generator's health: the measurements behind its verdict, and its connections.

import { useMemo } from "preact/hooks";
import { Chart } from "./chart";
import type { Connections, HealthGroup, Report, RunAgent, TimeUse } from "./data";
import { bytes, count, percent, short, time } from "./format";
import { spoiltStretches } from "./verdict";

const HINTS: Record<string, string> = {
  "Schedule delay": "How late users started due work, such as the sample after a timer",
  CPU: "Cores used, and threads that waited for a core",
  Stalls: "The longest delay of anything that was due",
  Sockets: "At the end of each second",
  Java: "How many users were in Java code at a time, on average",
  Arrivals: "Iterations that the schedule asked for; some never start because all users of the thread group are busy",
  "CPU of each core": "Used by any program",
};

export function Generator({ report, theme, live = false }: { report: Report; theme: string; live?: boolean }) {
  const stretches = useMemo(() => spoiltStretches(report), [report]);
  return (
    <>
      {report.agents.length > 0 && <Agents agents={report.agents} samples={report.total.count} />}
      {report.connections && <ConnectionTiles connections={report.connections} />}
      <UserCost report={report} />
      {report.timeUse && <TimeUseTable use={report.timeUse} />}
      {report.health.length === 0 ? (
        <p class="card quiet">There are no measurements of the load generator over time.</p>
      ) : (
        <div class="charts">
          {report.health.map((group, index) => (
            <HealthChart key={group.name} id={`chart-health-${index}`} group={group} report={report} stretches={stretches} theme={theme} live={live} />
          ))}
        </div>
      )}
    </>
  );
}

/** Each agent of a run on several machines: its part, its clock and its verdict. */
function Agents({ agents, samples }: { agents: RunAgent[]; samples: number }) {
  const number = (value: number | null, show: (value: number) => string) => <td class="number">{value == null ? "–" : show(value)}</td>;
  return (
    <div class="card" id="agents">
      <h3>Agents</h3>
      <p class="hint">The machines that sent the load. They start at the same instant; each clock is known to within the bound.</p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Agents">
        <table>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">State</th>
              {["Users", "Samples", "Share", "Started late", "Clock"].map((name) => (
                <th scope="col" class="number">
                  {name}
                </th>
              ))}
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr>
                <th scope="row">{agent.name}</th>
                <td class={agent.state.startsWith("lost") || agent.state.startsWith("silent") ? "bad" : ""}>{agent.state}</td>
                {number(agent.users, count)}
                {number(agent.samples, count)}
                {number(samples > 0 ? agent.samples / samples : null, percent)}
                {number(agent.late_ms, (late) => `${late.toFixed(1)} ms`)}
                {number(agent.offset_ms, (offset) => `${offset >= 0 ? "+" : ""}${offset.toFixed(1)} ± ${(agent.bound_ms ?? 0).toFixed(1)} ms`)}
                <td>{agent.verdict ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** The bytes, the CPU time and the memory per user. */
function UserCost({ report }: { report: Report }) {
  const users = report.steps.users.reduce((a, b) => Math.max(a, b), 0);
  const line = (group: string, name: string) => {
    const found = report.health.find((health) => health.name === group);
    return { at: found?.at_ms ?? [], values: (found?.lines.find((line) => line.name === name)?.values ?? []).map((value) => value ?? 0) };
  };
  const cpu = line("CPU", "this program");
  const cpuS = cpu.values.reduce((sum, cores, i) => sum + (cores * (cpu.at[i] - (cpu.at[i - 1] ?? report.startedMs))) / 1000, 0);
  const mib = Math.max(0, ...line("Memory", "in RAM").values);
  const lengthS = Math.max((report.endedMs - report.startedMs) / 1000, 1e-3);
  if (users === 0) return null;
  const tiles: [string, string, string][] = [
    ["Received per user", bytes(report.total.bytes / users), `sent ${bytes(report.total.sentBytes / users)}`],
  ];
  if (cpuS > 0) tiles.push(["CPU per user", `${short((cpuS / lengthS / users) * 1000)} ms/s`, `${time(cpuS * 1000)} in all`]);
  if (mib > 0) tiles.push(["Peak memory", bytes(mib * 1024 * 1024), `${bytes((mib * 1024 * 1024) / users)} a user`]);
  return (
    <dl class="tiles" id="user-cost">
      {tiles.map(([name, value, detail]) => (
        <div class="card tile">
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The parts of a sample's time: waiting, and the generator's own work. */
function TimeUseTable({ use }: { use: TimeUse }) {
  const longest = Math.max(...use.parts.map((part) => part.mean_us));
  const groups: [string, boolean][] = [
    ["The exchange", false],
    ["The generator’s own work", true],
  ];
  return (
    <div class="card" id="time-use">
      <h3>Where a sample’s time goes</h3>
      <p class="hint">
        Mean of {count(use.samples)} samples that were timed in all their parts.
        {use.cpu_us != null && ` The generator used ${time(use.cpu_us / 1000)} of CPU a sample in all.`}
      </p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Where a sample’s time goes">
        <table>
          {groups.map(([name, isOwn]) => (
            <tbody>
              <tr>
                <th scope="rowgroup" colSpan={3}>
                  {name}
                </th>
              </tr>
              {use.parts
                .filter((part) => part.is_own_work === isOwn)
                .map((part) => (
                  <tr>
                    <th scope="row">{part.name}</th>
                    <td class="number">{time(part.mean_us / 1000)}</td>
                    <td class="share">
                      <i class={`bar ${isOwn ? "own" : ""}`} aria-hidden="true" style={{ width: `${(part.mean_us / longest) * 100}%` }} />
                    </td>
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      </div>
    </div>
  );
}

function HealthChart(props: { id: string; group: HealthGroup; report: Report; stretches: [number, number][]; theme: string; live: boolean }) {
  const { id, group, report, stretches, theme } = props;
  const data = useMemo(
    () => ({
      x: group.at_ms.map((at) => at / 1000),
      lines: group.lines.map((line, index) => ({ name: line.name, values: line.values, colour: [0, 2, 3, 4, 5][index % 5], filled: group.lines.length === 1 })),
    }),
    [group, theme],
  );
  const hint = HINTS[group.name.split(",")[0]] ?? "";
  const value = (v: number) => `${short(v)}${group.unit === "%" ? " %" : group.unit ? ` ${group.unit}` : ""}`;
  return <Chart id={id} title={group.name} hint={hint} x={data.x} lines={data.lines} value={value} from={report.startedMs / 1000} stretches={stretches} height={180} live={props.live} />;
}

function ConnectionTiles({ connections: c }: { connections: Connections }) {
  const exchanges = c.opened + c.reused;
  const handshakes = c.handshakes_full + c.handshakes_resumed;
  const tiles: [string, string, string][] = [
    ["Connections opened", count(c.opened), `for ${count(exchanges)} exchanges`],
    ["On an open connection", percent(exchanges ? c.reused / exchanges : 0), `${count(c.reused)} exchanges`],
    ["TLS handshakes", count(handshakes), handshakes ? `${count(c.handshakes_full)} full, ${count(c.handshakes_resumed)} resumed` : "no TLS"],
    ["Closed", count(c.closed_by_us + c.closed_by_peer), `${count(c.closed_by_us)} by this side, ${count(c.closed_by_peer)} by servers`],
  ];
  return (
    <dl class="tiles" id="connections">
      {tiles.map(([name, value, detail]) => (
        <div class="card tile">
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
