// Formats numbers for people.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number): string {
  return grouped.format(value);
}

/** A number of things: `1 sample`, `1,200 samples`. */
export function counted(value: number, word: string): string {
  return `${count(value)} ${value === 1 ? word : `${word}s`}`;
}

/** Three significant digits, grouped when large. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000 || size === 0) return grouped.format(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3;
  return value.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

export function time(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return "–";
  if (ms >= 60_000) return duration(ms / 1000);
  if (ms >= 10_000) return `${short(ms / 1000)} s`;
  if (ms > 0 && ms < 1) return `${short(ms * 1000)} µs`;
  return `${short(ms)} ms`;
}

export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.01) return "<0.01 %";
  return `${value >= 10 || value === 0 ? value.toFixed(value === 100 || value === 0 ? 0 : 1) : value.toFixed(2)} %`;
}

/** The position of a percentile on an axis where each further nine takes the same space. */
export function nines(percentile: number): number {
  return -Math.log10(1 - Math.min(percentile, 99.9995) / 100);
}

/** Positions on that axis, with their names. */
const NINES: [number, string][] = [
  [0, "0 %"],
  [nines(50), "50 %"],
  [1, "90 %"],
  [2, "99 %"],
  [3, "99.9 %"],
  [4, "99.99 %"],
  [5, "99.999 %"],
];
/** The positions that an axis labels. 0 % is left out, because it would overlap 50 %. */
export const NINES_AT = NINES.slice(1).map(([at]) => at);

export function percentileName(at: number): string {
  const named = NINES.find(([place]) => Math.abs(place - at) < 0.01);
  return named ? named[1] : at > 5 ? "100 %" : `${Number((100 * (1 - 10 ** -at)).toPrecision(5))} %`;
}

/** A percentile curve on that axis, up to the highest percentile that this many samples can have. The
 * last point is the maximum. */
export function curveOf(points: [number, number][], samples: number): [number, number][] {
  const most = 100 * (1 - 1 / Math.max(samples, 2));
  const last = points[points.length - 1];
  const curve = points.filter(([p]) => p < most).map(([p, ms]) => [nines(p), ms] as [number, number]);
  return last ? [...curve, [nines(most), last[1]]] : curve;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${short(value)} ${units[unit]}`;
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (h > 0) return `${h} h ${m} min`;
  if (m > 0) return `${m} min ${s} s`;
  return seconds < 10 ? `${short(seconds)} s` : `${s} s`;
}

/** Time since the start, for axes. */
export function elapsed(seconds: number): string {
  const sign = seconds < 0 ? "-" : "";
  const whole = Math.abs(Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return h > 0 ? `${sign}${h}:${two(m)}:${two(s)}` : `${sign}${m}:${two(s)}`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The reader's own time zone at a moment, as its difference from UTC. */
export function zone(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "−" : "+"}${h}${m ? `:${two(m)}` : ""}`;
}

/** The time of day, without its zone, for texts beside another one that names it. */
export function timeOfDay(ms: number): string {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function clock(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${timeOfDay(ms)} ${zone(ms)}`;
}

/** How many samples it takes for one of them to lie beyond a percentile. With fewer, the percentile is the maximum by another name. */
const LEAST = { p50: 1, p90: 10, p95: 20, p99: 100, p999: 1000 };

/** A percentile of a row, unless the row has too few samples for it. */
export function percentileOf(row: { count: number } & Record<keyof typeof LEAST, number>, name: keyof typeof LEAST): number | null {
  return row.count >= LEAST[name] ? row[name] : null;
}

/** Samples a second. One sample has no rate. */
export function rateOf(row: { count: number; rate: number }): string {
  return row.count > 1 ? short(row.rate) : "–";
}

/** The 95 % interval of a number in the unit of the number: `196 … 209`. Empty if it is not known. */
export function intervalOf(row: { intervals?: Record<string, [number, number | null] | undefined> }, name: string): string {
  const bounds = row.intervals?.[name];
  if (!bounds) return "";
  return boundsOf(bounds, name === "rate" ? short : time);
}

/** The bounds of an interval, with their unit. */
export function boundsOf([low, high]: [number, number | null], text: (value: number) => string): string {
  if (high == null) return `≥ ${text(low)}`;
  // Bounds of one unit name it once, behind the second.
  const [first, second] = [text(low), text(high)];
  const unit = second.match(/ (µs|ms|s|%)$/)?.[0] ?? "";
  return `${unit && first.endsWith(unit) && !first.slice(0, -unit.length).includes(" ") ? first.slice(0, -unit.length) : first} … ${second}`;
}
