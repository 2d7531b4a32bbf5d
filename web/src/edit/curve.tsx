// The load that a thread group or a shaping timer makes, as a curve over the time.

import type { ElementView } from "./protocol";

/** Times in seconds and the level at each; lines go from point to point. */
type Points = [at: number, level: number][];

interface Load {
  points: Points;
  unit: "users" | "requests/s" | "arrivals";
  /** Whether the level stays after the last point, for a time that the settings do not tell. */
  isOpen?: boolean;
}

/** Reads settings as numbers; remembers those that only a run knows. */
class Settings {
  unknown: string[] = [];
  private readonly fields;
  constructor(element: ElementView) {
    this.fields = new Map(element.fields.map((field) => [field.property.split("/").pop()!, field]));
  }
  text(name: string): string {
    const field = this.fields.get(name);
    return field?.value ?? field?.default ?? "";
  }
  number(name: string, absent = 0): number {
    return this.parsed(this.text(name), absent);
  }
  rows(name: string): number[][] {
    return (this.fields.get(name)?.table?.rows ?? []).map((row) => row.map((cell) => this.parsed(cell, 0)));
  }
  private parsed(text: string, absent: number): number {
    if (text.includes("${")) this.unknown.push(text);
    const value = Number(text);
    return text.trim() && Number.isFinite(value) && value >= 0 ? value : absent;
  }
}

function threadGroup(settings: Settings): Load {
  const users = settings.number("ThreadGroup.num_threads", 1);
  const ramp = settings.number("ThreadGroup.ramp_time", 1);
  const hasEnd = settings.text("ThreadGroup.scheduler") === "true";
  const delay = hasEnd ? settings.number("ThreadGroup.delay") : 0;
  const points: Points = [[0, 0], [delay, 0], [delay + ramp, users]];
  if (!hasEnd || !settings.number("ThreadGroup.duration")) return { points, unit: "users", isOpen: true };
  const end = delay + settings.number("ThreadGroup.duration");
  if (end < delay + ramp) return { points: [[0, 0], [delay, 0], [end, (users * (end - delay)) / ramp], [end, 0]], unit: "users" };
  return { points: [...points, [end, users], [end, 0]], unit: "users" };
}

/** The most steps that are drawn one by one. */
const MOST_STEPS = 2000;

function stepping(settings: Settings): Load {
  const users = settings.number("ThreadGroup.num_threads", 1);
  const step = Math.max(settings.number("Start users count", 1), 1, users / MOST_STEPS);
  const [period, ramp] = [settings.number("Start users period"), settings.number("rampUp")];
  const points: Points = [[0, 0]];
  let at = settings.number("Threads initial delay");
  let level = 0;
  points.push([at, 0]);
  const burst = settings.number("Start users count burst");
  for (let next = Math.min(burst || step, users); level < users; next = Math.min(level + step, users)) {
    points.push([at, level], [at + ramp, next]);
    level = next;
    at += level < users ? period + ramp : ramp;
    if (level < users) points.push([at, level]);
  }
  at += settings.number("flighttime");
  points.push([at, level]);
  const down = Math.max(settings.number("Stop users count", 1), 1, users / MOST_STEPS);
  for (; level > 0; at += settings.number("Stop users period")) {
    points.push([at, level]);
    level = Math.max(0, level - down);
    points.push([at, level]);
  }
  return { points, unit: "users" };
}

function ultimate(settings: Settings): Load {
  const rows = settings.rows("ultimatethreadgroupdata");
  const levelOf = ([users = 0, delay = 0, startup = 0, hold = 0, shutdown = 0]: number[], at: number) => {
    const since = at - delay;
    if (since < 0) return 0;
    if (since < startup) return (users * since) / startup;
    if (since <= startup + hold) return users;
    return shutdown ? Math.max(0, users * (1 - (since - startup - hold) / shutdown)) : 0;
  };
  const times = new Set([0]);
  for (const [, delay = 0, startup = 0, hold = 0, shutdown = 0] of rows) {
    for (const at of [delay, delay + startup, delay + startup + hold, delay + startup + hold + shutdown]) {
      times.add(at);
      times.add(at + 1e-6);
    }
  }
  return { points: [...times].sort((a, b) => a - b).map((at) => [at, rows.reduce((sum, row) => sum + levelOf(row, at), 0)]), unit: "users" };
}

function level(settings: Settings, unit: Load["unit"]): Load {
  const second = settings.text("Unit") === "S" ? 1 : 60;
  const target = settings.number("TargetLevel");
  const [ramp, hold] = [settings.number("RampUp") * second, settings.number("Hold") * second];
  const steps = settings.number("Steps");
  const points: Points = [[0, 0]];
  for (let step = 1; step <= Math.min(steps, MOST_STEPS); step += 1) points.push([((step - 1) * ramp) / steps, (target * step) / steps], [(step * ramp) / steps, (target * step) / steps]);
  points.push([ramp, target], [ramp + hold, target], [ramp + hold, 0]);
  return { points, unit };
}

function rows(settings: Settings, property: string, unit: Load["unit"]): Load {
  const points: Points = [];
  let at = 0;
  for (const [start = 0, end = 0, duration = 0] of settings.rows(property)) {
    points.push([at, start], [at + duration, end]);
    at += duration;
  }
  return { points: points.length ? [...points, [at, 0]] : [], unit };
}

const LOADS: Record<string, (settings: Settings) => Load> = {
  ThreadGroup: threadGroup,
  SetupThreadGroup: threadGroup,
  PostThreadGroup: threadGroup,
  "kg.apc.jmeter.threads.SteppingThreadGroup": stepping,
  "kg.apc.jmeter.threads.UltimateThreadGroup": ultimate,
  "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup": (settings) => level(settings, "users"),
  "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup": (settings) => level(settings, "arrivals"),
  "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup": (settings) => rows(settings, "Schedule", "arrivals"),
  "kg.apc.jmeter.timers.VariableThroughputTimer": (settings) => rows(settings, "load_profile", "requests/s"),
};

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return [hours && `${hours} h`, minutes && `${minutes} min`, rest && `${rest} s`].filter(Boolean).join(" ");
}

const [WIDTH, HEIGHT] = [600, 90];

export function Curve({ element }: { element: ElementView }) {
  const load = LOADS[element.node.class];
  if (!load) return null;
  const settings = new Settings(element);
  const { points, unit, isOpen } = load(settings);
  if (settings.unknown.length) return <p class="note curve-note">The load is not drawn, because <code>{settings.unknown[0]}</code> has a value in a run only.</p>;
  const last = points.at(-1)?.[0] ?? 0;
  const most = Math.max(...points.map(([, each]) => each), 0);
  if (!most) return null;
  const end = (isOpen ? last * 1.6 || 1 : last) || 1;
  const drawn: Points = isOpen ? [...points, [end, points.at(-1)![1]]] : points;
  const at = ([time, each]: [number, number]) => `${((time / end) * WIDTH).toFixed(1)} ${(HEIGHT - (each / most) * (HEIGHT - 4)).toFixed(1)}`;
  const line = `M${drawn.map(at).join("L")}`;
  const count = Math.round(most * 10) / 10;
  const amount = `${count} ${count === 1 ? unit.replace(/s(?=$|\/)/, "") : unit}`;
  const told = isOpen ? `${amount} after ${duration(last)}` : `Up to ${amount} for ${duration(last)}`;
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={told}>
        <path class="area" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
        <path class="line" d={line} />
      </svg>
      <figcaption>{told}</figcaption>
    </figure>
  );
}
