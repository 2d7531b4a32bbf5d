// How the load generator was doing: what its verdict comes from, and its connections.

import { useMemo } from "preact/hooks";
import { Chart } from "./chart";
import type { Connections, HealthGroup, Report } from "./data";
import { count, percent, short } from "./format";
import { spoiltStretches } from "./verdict";

const HINTS: Record<string, string> = {
  "Schedule delay": "How late users came to what was due, such as the end of a timer",
  CPU: "Cores used, and threads that waited for one",
  Stalls: "The latest that anything due was done",
  Sockets: "At the end of each second",
};

export function Generator({ report, theme }: { report: Report; theme: string }) {
  const stretches = useMemo(() => spoiltStretches(report), [report]);
  return (
    <>
      {report.connections && <ConnectionTiles connections={report.connections} />}
      {report.health.length === 0 ? (
        <p class="card quiet">Nothing is known of the load generator over time.</p>
      ) : (
        <div class="charts">
          {report.health.map((group, index) => (
            <HealthChart key={group.name} id={`chart-health-${index}`} group={group} report={report} stretches={stretches} theme={theme} />
          ))}
        </div>
      )}
    </>
  );
}

function HealthChart(props: { id: string; group: HealthGroup; report: Report; stretches: [number, number][]; theme: string }) {
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
  return <Chart id={id} title={group.name} hint={hint} x={data.x} lines={data.lines} value={value} from={report.startedMs / 1000} stretches={stretches} height={180} />;
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
