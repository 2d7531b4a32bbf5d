// A chart: a uPlot canvas with a heading, a legend that follows the cursor, and the keyboard.

import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { elapsed, timeOfDay, zone } from "./format";
import { clock } from "./clock";
import { SaveChart } from "./save";
import { cssColour } from "./theme";

export interface Line {
  name: string;
  values: (number | null)[];
  /** The index of the colour in the palette. */
  colour: number;
  dashed?: boolean;
  filled?: boolean;
  points?: boolean;
  /** Whether the line continues over missing values. */
  joined?: boolean;
  /** How a value of the axis on the right is written; without it, the line belongs to the axis on the left. */
  right?: (value: number) => string;
}

export interface ChartProps {
  id: string;
  title: string;
  hint?: string;
  x: number[];
  lines: Line[];
  value: (value: number) => string;
  /** Whether the lines are stacked. */
  stacked?: boolean;
  /** Start of the run in seconds since the Unix epoch. If it is set, x is such a time, and the chart shares zoom
   * and cursor with all charts over time. */
  from?: number;
  xValue?: (value: number) => string;
  /** What x is, for the legend. */
  xName?: string;
  xSplits?: number[];
  logY?: boolean;
  logX?: boolean;
  marks?: { at: number; text: string }[];
  /** Ranges of x that are shaded. */
  stretches?: [number, number][];
  rects?: Rect[];
  yRange?: [number, number];
  /** Whether the ticks of the axis are powers of two. */
  binary?: boolean;
  height?: number;
  /** Whether values are added while the chart is displayed. */
  live?: boolean;
  /** The text that stands in place of the legend for a point. */
  describe?: (x: number, y: number) => string;
}

/** A filled box, in the units of the axes; `strength` is from 0 to 1. */
export interface Rect {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  strength: number;
}

const lineVariable = (index: number) => `--line-${(index % 8) + 1}`;
const lineColour = (index: number) => cssColour(lineVariable(index));

/** The charts on the page, each with its element, and what has to be done before somebody sees it. */
const drawn = new Map<uPlot, { element: HTMLElement; height: number; isSeen: boolean; update?: () => void }>();

/** Draws what has changed while nobody saw the chart. */
function bringUpToDate(plot: uPlot) {
  const known = drawn.get(plot);
  const { update } = known ?? {};
  if (known) known.update = undefined;
  update?.();
}

const watched = new Map<Element, uPlot>();
const sight = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    const plot = watched.get(target);
    const known = plot && drawn.get(plot);
    if (!known) continue;
    known.isSeen = isIntersecting;
    if (isIntersecting) bringUpToDate(plot);
  }
});

/** Draws the charts again, because what their axes show has changed. */
export function redrawCharts() {
  [...drawn.keys()].forEach((plot) => plot.redraw(false, true));
}

/** Draws a chart as wide as its element, in the colours of the theme. */
function fit(plot: uPlot) {
  const { element, height } = drawn.get(plot)!;
  bringUpToDate(plot);
  plot.setSize({ width: element.clientWidth || 600, height });
  plot.redraw();
}

let screenTheme: string | undefined;
/** Lays the page out for paper, in light colours, and draws each chart anew for the width that it has there. */
function toPaper() {
  const root = document.documentElement;
  if (root.classList.contains("paper")) return;
  screenTheme = root.dataset.theme;
  root.dataset.theme = "light";
  root.classList.add("paper");
  document.querySelectorAll<HTMLDetailsElement>("details.printed:not([open])").forEach((folded) => {
    folded.open = true;
    folded.dataset.folded = "";
  });
  [...drawn.keys()].forEach(fit);
}

function toScreen() {
  const root = document.documentElement;
  if (!root.classList.contains("paper")) return;
  root.dataset.theme = screenTheme;
  root.classList.remove("paper");
  document.querySelectorAll<HTMLDetailsElement>("details[data-folded]").forEach((folded) => {
    folded.open = false;
    delete folded.dataset.folded;
  });
  [...drawn.keys()].forEach(fit);
}

addEventListener("beforeprint", toPaper);
addEventListener("afterprint", toScreen);
// A browser's tools for developers emulate paper without these events.
matchMedia("print").addEventListener("change", (media) => (media.matches ? toPaper() : toScreen()));

export function Chart(props: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = document.documentElement.dataset.theme;
  const now = useRef(props);
  now.current = props;
  const shape = props.live ? [props.lines.map((line) => line.name).join("\0"), props.marks?.length] : [props.x, props.lines, props.rects];

  // Drawn together with its element: if the element were empty for a while, a key press on it would be lost.
  useLayoutEffect(() => {
    const element = holder.current;
    if (!element) return;
    const made = draw(element, props, () => now.current);
    plot.current = made;
    drawn.set(made, { element, height: props.height ?? 220, isSeen: true });
    watched.set(element, made);
    sight.observe(element);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: props.height ?? 220 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      sight.unobserve(element);
      watched.delete(element);
      drawn.delete(made);
      made.destroy();
    };
  }, [...shape, theme]);
  useLayoutEffect(() => {
    const made = plot.current;
    if (!props.live || !made) return;
    const update = () => {
      const { min, max } = made.scales.x;
      const known = made.data[0];
      // A part that the user chose stays; the whole run grows.
      const chosen = now.current.from == null ? null : shown;
      const isWhole = !chosen && (min == null || max == null || (min <= known[0] && max >= known[known.length - 1]));
      made.setData(dataOf(now.current), isWhole);
      // A chart that was made just now has not taken its range yet.
      if (chosen) made.setScale("x", { min: chosen[0], max: chosen[1] });
      else if (!isWhole) made.redraw();
    };
    const state = drawn.get(made);
    if (state) state.update = update;
    if (state?.isSeen) bringUpToDate(made);
  }, [props.live && props.x, props.live && props.lines, props.live && props.rects]);

  const points = props.rects?.length ?? props.lines.reduce((sum, line) => sum + line.values.filter((v) => v != null).length, 0);
  return (
    <figure class="card chart" id={props.id} data-points={points}>
      <figcaption>
        <SaveChart props={props} plot={plot} />
        <h3>{props.title}</h3>
        {props.hint && <p class="hint">{props.hint}</p>}
      </figcaption>
      <div
        class="plot"
        ref={holder}
        tabIndex={0}
        role="group"
        aria-label={`${props.title}. Arrow keys move along the chart${props.from == null ? "" : ", plus and minus zoom, zero shows everything"}${props.lines.length > 1 ? ", digits hide lines" : ""}.`}
        onKeyDown={(event) => plot.current && moveByKey(event, plot.current)}
      />
      <p class="hidden said" role="status" />
    </figure>
  );
}

/** The cumulative values of stacked lines, from the bottom. */
function stack(lines: Line[]): (number | null)[][] {
  const sums = new Array<number>(lines[0]?.values.length ?? 0).fill(0);
  return lines.map((line) => line.values.map((value, index) => (sums[index] += value ?? 0)));
}

const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

function dataOf(props: ChartProps): uPlot.AlignedData {
  const columns = props.stacked ? stack(props.lines) : props.lines.map((line) => line.values);
  const data = [props.x, ...columns];
  // A run that ended within one step still needs a visible range of time.
  const isMoment = props.from != null && props.x.length === 1;
  return (isMoment ? data.map((column, index) => [column[0], index ? null : props.x[0] + 1]) : data) as uPlot.AlignedData;
}

function draw(element: HTMLElement, props: ChartProps, now: () => ChartProps): uPlot {
  const text = () => cssColour("--text-soft");
  const grid = { stroke: () => cssColour("--grid"), width: 1 };
  const font = "12px system-ui, sans-serif";
  const { from } = props;
  const xText = props.xValue ?? ((value: number) => (from == null ? String(value) : clock.isShown() ? timeOfDay(value * 1000) : elapsed(value - from)));
  const right = props.lines.find((line) => line.right)?.right;
  const upTo: uPlot.Range.Function = (_, __, max) => [0, (max || 1) * 1.08];
  const series: uPlot.Series[] = props.lines.map((line, index) => ({
    label: line.name,
    scale: line.right ? "right" : "y",
    stroke: () => lineColour(line.colour),
    width: line.points ? 0 : 1.75,
    spanGaps: line.joined,
    dash: line.dashed ? [5, 4] : undefined,
    fill: props.stacked || line.filled ? () => fade(lineColour(line.colour), props.stacked ? 0.55 : 0.16) : undefined,
    paths: line.points ? () => null : undefined,
    points: { show: line.points ?? (line.values.length < 3 ? true : undefined), size: line.points ? 6 : 5, fill: line.points ? () => fade(lineColour(line.colour), 0.6) : undefined },
    value: (_, __, ___, at) => {
      const value = at == null ? null : now().lines[index]?.values[at];
      return value == null ? "–" : (line.right ?? props.value)(value);
    },
  }));
  const bands: uPlot.Band[] = props.stacked ? props.lines.slice(1).map((_, i) => ({ series: [i + 2, i + 1] as [number, number] })) : [];
  const start = from ?? (props.xName === "time" ? 0 : null);
  const xAxisTimes = start == null ? {} : { splits: (u: uPlot) => timeSplits(u, start) };
  const options: uPlot.Options = {
    width: element.clientWidth || 600,
    height: props.height ?? 220,
    padding: [12, 26, 0, 0],
    bands,
    cursor: {
      sync: from == null ? undefined : { key: "time", setSeries: false },
      drag: { x: from != null, y: false, setScale: true },
      points: { size: 7 },
      y: false,
    },
    legend: { live: true, markers: { stroke: (_, index) => (index ? `var(${lineVariable(props.lines[index - 1].colour)})` : "") } },
    scales: {
      x: { time: false, distr: props.logX ? 3 : 1 },
      y: props.yRange
        ? { range: () => now().yRange!, distr: props.logY ? 3 : 1 }
        : { distr: props.logY ? 3 : 1, range: props.logY ? undefined : upTo },
      ...(right ? { right: { range: upTo } } : {}),
    },
    axes: [
      { stroke: text, grid, ticks: grid, font, space: 70, values: (_, splits) => splits.map((v) => (v == null ? "" : xText(v))), ...(props.xSplits ? { splits: () => props.xSplits! } : xAxisTimes) },
      { stroke: text, grid, ticks: grid, font, size: 74, space: 36, incrs: props.binary ? BINARY_STEPS : undefined, values: (_, splits) => splits.map((v) => (v == null ? "" : props.value(v))) },
      ...(right ? [{ scale: "right", side: 1 as const, stroke: text, grid: { show: false }, ticks: grid, font, size: 74, space: 36, values: (_: uPlot, splits: number[]) => splits.map((v) => (v == null ? "" : right(v))) }] : []),
    ],
    series: [{ label: from == null ? (props.xName ?? "") : "time", value: (_, v) => (v == null ? "" : from == null ? xText(v) : moment(v, from)) }, ...series],
    hooks: {
      drawClear: [(u) => drawStretches(u, now().stretches ?? []), (u) => drawRects(u, now().rects ?? [])],
      draw: props.marks?.length ? [(u) => drawMarks(u, props.marks!)] : [],
      setScale: [(u, key) => key === "x" && tellSpan(u, element, from != null)],
      setCursor: [
        ...(props.describe ? [(u: uPlot) => describeCursor(u, element, (x, y) => now().describe?.(x, y) ?? "")] : []),
        ...(props.marks?.length ? [(u: uPlot) => tellMark(u, props.marks!)] : []),
      ],
    },
  };
  const range = shown;
  const made = new uPlot(options, dataOf(props), element);
  if (from != null && range) made.setScale("x", { min: range[0], max: range[1] });
  return made;
}

/** A moment of the run, since its start and by the clock. */
const moment = (at: number, from: number) => `${elapsed(at - from)} (${timeOfDay(at * 1000)} ${zone(at * 1000)})`;

/** Callbacks for the range that the charts over time show. */
const watchers = new Set<(from: number, to: number) => void>();
let pending = 0;

/** Calls `watcher` for each range that is shown from now on. Returns a function that stops this. */
export function watchStretch(watcher: (from: number, to: number) => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** Calls the watchers once per frame, because all charts over time change together. */
function tellWatchers(from: number, to: number) {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => watchers.forEach((watcher) => watcher(from, to)));
}

/** The range that all charts over time show, also those that are drawn later. */
let shown: [number, number] | null = null;

/** Shows a range in all charts over time. */
export function showStretch(from: number, to: number) {
  // Whether the range is a part of the run is judged by the newest data, also of charts outside of the window.
  [...drawn.keys()].forEach(bringUpToDate);
  shown = [from, to];
  for (const plot of uPlot.sync("time").plots) plot.setScale("x", { min: from, max: to });
}

/** Publishes the length of the visible range as an attribute, for tests of the page, and tells the watchers. */
function tellSpan(u: uPlot, element: HTMLElement, isOverTime: boolean) {
  const { min, max } = u.scales.x;
  const figure = element.closest("figure");
  if (figure && min != null && max != null) {
    figure.dataset.span = String(Math.round(max - min));
    figure.dataset.until = String(Math.round(max));
  }
  if (isOverTime && figure?.id === "chart-overlay" && min != null && max != null) {
    const xs = u.data[0];
    shown = min > xs[0] || max < xs[xs.length - 1] ? [min, max] : null;
    tellWatchers(min, max);
  }
}

function fade(colour: string, alpha: number): string {
  const hex = colour.replace("#", "");
  const part = (at: number) => parseInt(hex.slice(at, at + 2), 16);
  return `rgba(${part(0)}, ${part(2)}, ${part(4)}, ${alpha})`;
}

/** Round times since the start, or by the clock. */
function timeSplits(u: uPlot, start: number): number[] {
  const from = start > 0 && clock.isShown() ? new Date(start * 1000).setHours(0, 0, 0, 0) / 1000 : start;
  const [min, max] = [u.scales.x.min! - from, u.scales.x.max! - from];
  const wanted = Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 90));
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800, 2592000, 31536000];
  const step = steps.find((s) => (max - min) / s <= wanted) ?? Math.ceil((max - min) / wanted);
  const splits = [];
  for (let at = Math.ceil(min / step) * step; at <= max; at += step) splits.push(at + from);
  return splits;
}

function drawStretches(u: uPlot, stretches: [number, number][]) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = fade(cssColour("--stretch"), 0.14);
  for (const [from, to] of stretches) {
    const left = Math.max(bbox.left, u.valToPos(from, "x", true));
    const right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

function drawRects(u: uPlot, rects: Rect[]) {
  const [low, high] = [cssColour("--heat-low"), cssColour("--heat-high")].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const rect of rects) {
    const x0 = u.valToPos(rect.x0, "x", true);
    const x1 = u.valToPos(rect.x1, "x", true);
    const y0 = u.valToPos(rect.y0, "y", true);
    const y1 = u.valToPos(rect.y1, "y", true);
    const mix = low.map((from, i) => Math.round(from + (high[i] - from) * rect.strength));
    ctx.fillStyle = `rgb(${mix.join(",")})`;
    ctx.fillRect(Math.floor(x0), Math.floor(y1), Math.max(1, Math.ceil(x1) - Math.floor(x0)), Math.max(1, Math.ceil(y0) - Math.floor(y1)));
  }
  ctx.restore();
}

/** How much of a mark's text is drawn; the rest is shown when the pointer is near its line. */
const LONGEST_MARK = 24;

function tellMark(u: uPlot, marks: { at: number; text: string }[]) {
  const left = u.cursor.left ?? -1;
  const near = left < 0 ? [] : marks.filter((mark) => Math.abs(u.valToPos(mark.at, "x") - left) < 6);
  u.over.title = near.map((mark) => mark.text).join("\n");
}

function drawMarks(u: uPlot, marks: { at: number; text: string }[]) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = cssColour("--text-soft");
  ctx.setLineDash([4, 4]);
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "alphabetic";
  marks.forEach((mark, index) => {
    const x = u.valToPos(mark.at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    // The text is beside its line, on the side with more room. Neighbouring texts are on different heights.
    const isLeft = x > bbox.left + bbox.width / 2;
    ctx.textAlign = isLeft ? "right" : "left";
    const short = mark.text.length > LONGEST_MARK ? `${mark.text.slice(0, LONGEST_MARK - 1)}…` : mark.text;
    ctx.fillText(short, x + (isLeft ? -4 : 4) * devicePixelRatio, bbox.top + (12 + 13 * (index % 3)) * devicePixelRatio);
  });
  ctx.restore();
}

function describeCursor(u: uPlot, element: HTMLElement, describe: (x: number, y: number) => string) {
  const { left, top } = u.cursor;
  const place = element.querySelector(".u-legend");
  if (!place) return;
  const inside = left != null && top != null && left >= 0 && top >= 0;
  place.textContent = inside ? describe(u.posToVal(left, "x"), u.posToVal(top, "y")) : "Move over the chart to read it.";
}

function moveByKey(event: KeyboardEvent, u: uPlot) {
  const xs = u.data[0];
  const { min, max } = u.scales.x;
  if (min == null || max == null) return;
  const span = max - min;
  const at = u.cursor.idx ?? 0;
  const zoom = (factor: number) => {
    const [first, last] = [xs[0], xs[xs.length - 1]];
    const width = Math.min(span * factor, last - first);
    const start = Math.min(Math.max((xs[at] ?? first) - width / 2, first), last - width);
    const next = { min: start, max: start + width };
    for (const plot of uPlot.sync("time").plots) if (next.max > next.min) plot.setScale("x", next);
  };
  const moves: Record<string, () => void> = {
    ArrowRight: () => show(u, Math.min(at + (event.shiftKey ? 10 : 1), xs.length - 1)),
    ArrowLeft: () => show(u, Math.max(at - (event.shiftKey ? 10 : 1), 0)),
    Home: () => show(u, 0),
    End: () => show(u, xs.length - 1),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    "0": resetZoom,
  };
  const number = Number(event.key);
  const hide = number > 0 && number < u.series.length ? () => u.setSeries(number, { show: !u.series[number].show }) : undefined;
  const move = moves[event.key] ?? hide;
  if (move) {
    event.preventDefault();
    move();
    say(u);
  }
}

/** Writes what the legend shows into the text that screen readers hear. The pointer changes no such text, because it moves too often. */
function say(u: uPlot) {
  const place = u.root.closest("figure")?.querySelector(".said");
  const rows = [...u.root.querySelectorAll(".u-series:not(.u-off)")].map((row) => ["u-label", "u-value"].map((part) => row.querySelector(`.${part}`)?.textContent ?? ""));
  const told = rows.map(([name, value]) => [name, value].filter(Boolean).join(" ")).filter(Boolean);
  if (place) place.textContent = told.length ? told.join(", ") : (u.root.querySelector(".u-legend")?.textContent ?? "");
}

function show(u: uPlot, index: number) {
  const line = u.data.slice(1).find((column) => column[index] != null);
  const top = line ? u.valToPos(line[index]!, "y") : 10;
  u.setCursor({ left: u.valToPos(u.data[0][index], "x"), top }, true);
}

/** Shows the whole run in all charts over time. */
export function resetZoom() {
  shown = null;
  for (const plot of uPlot.sync("time").plots) {
    const xs = plot.data[0];
    plot.setScale("x", { min: xs[0], max: xs[xs.length - 1] });
  }
}
