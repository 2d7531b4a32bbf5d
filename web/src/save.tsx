// Saves charts as PNG, SVG and CSV, and tables as CSV.

import uPlot from "uplot";
import type { ChartProps } from "./chart";
import { cssColour } from "./theme";

/** Hands a file to the browser. */
function save(name: string, content: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const nameOf = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");

type Value = string | number | null;

/** Rows as CSV; a text is quoted if it has to be. */
export function csvOf(rows: Value[][]): string {
  const cell = (value: Value) => {
    const text = value == null || (typeof value === "number" && !Number.isFinite(value)) ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\n").join("");
}

let template = "";

/** Keeps the page as it was loaded, before anything is drawn: it can be saved with other numbers. */
export function keepTemplate() {
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  // A packed program has unpacked itself into a script, which a saved page does again.
  if (page.querySelector("#program")) page.querySelectorAll('script[type="module"]').forEach((script) => script.remove());
  const policy = page.querySelector('meta[http-equiv="Content-Security-Policy"]');
  policy?.setAttribute("content", policy.getAttribute("content")!.replace(/ (connect|frame)-src 'self';/g, ""));
  template = page.outerHTML;
}

/** Saves the page with these packed numbers: a file that needs no program. */
export function savePage(title: string, payload: string) {
  const page = new DOMParser().parseFromString(template, "text/html");
  page.title = title;
  page.getElementById("payload")!.textContent = payload;
  save(`${title.replace(/[^\w.-]+/g, "-")}.html`, new Blob([`<!doctype html>\n${page.documentElement.outerHTML}\n`], { type: "text/html" }));
}

/** A button that saves a table. */
export function SaveTable({ title, rows }: { title: string; rows: () => Value[][] }) {
  return (
    <button type="button" class="link" onClick={() => save(`${nameOf(title)}.csv`, new Blob([csvOf(rows())], { type: "text/csv" }))}>
      Save as CSV
    </button>
  );
}

/** The values that a chart shows, in the range that it shows. */
function rowsOf(props: ChartProps, plot: uPlot): Value[][] {
  const { min = -Infinity, max = Infinity } = plot.scales.x;
  if (props.rects?.length) {
    return [["x_from", "x_to", "y_from", "y_to", "strength"], ...props.rects.map((rect) => [rect.x0, rect.x1, rect.y0, rect.y1, rect.strength])];
  }
  const rows = props.x.map((x, at): Value[] => [x, ...props.lines.map((line) => line.values[at])]);
  return [[props.from == null ? "x" : "time_s", ...props.lines.map((line) => line.name)], ...rows.filter(([x]) => Number(x) >= min! && Number(x) <= max!)];
}

const MARGIN = 34;
const names = (props: ChartProps) => props.lines.filter((line) => line.name);

/** The chart as it is drawn, with its title and the names of its lines. */
function png(props: ChartProps, plot: uPlot) {
  const scale = devicePixelRatio;
  const source = plot.ctx.canvas;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [source.width, source.height + 2 * MARGIN * scale];
  const ctx = canvas.getContext("2d")!;
  ctx.fillStyle = cssColour("--card");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.scale(scale, scale);
  ctx.fillStyle = cssColour("--text");
  ctx.font = "bold 14px system-ui, sans-serif";
  ctx.fillText(props.title, 12, 22);
  ctx.font = "12px system-ui, sans-serif";
  let left = 12;
  for (const line of names(props)) {
    ctx.fillStyle = cssColour(`--line-${(line.colour % 8) + 1}`);
    ctx.fillRect(left, source.height / scale + MARGIN + 14, 12, 3);
    ctx.fillStyle = cssColour("--text");
    ctx.fillText(line.name, left + 17, source.height / scale + MARGIN + 20);
    left += ctx.measureText(line.name).width + 36;
  }
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.drawImage(source, 0, MARGIN * scale);
  canvas.toBlob((blob) => blob && save(`${nameOf(props.title)}.png`, blob));
}

/** The chart as lines and texts. */
export function svgOf(props: ChartProps, plot: uPlot): string {
  const text = (content: string) => content.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const { left, top, width, height } = plot.over.getBoundingClientRect();
  const holder = plot.root.querySelector(".u-wrap")!.getBoundingClientRect();
  const [x0, y0] = [left - holder.left, top - holder.top + MARGIN];
  const x = (value: number) => (x0 + plot.valToPos(value, "x")).toFixed(1);
  const y = (value: number) => (y0 + plot.valToPos(value, "y")).toFixed(1);
  const parts: string[] = [];
  const [soft, grid] = [cssColour("--text-soft"), cssColour("--grid")];
  // uPlot keeps the ticks that it has drawn under these names.
  const ticks = (axis: uPlot.Axis) => {
    const drawn = axis as unknown as { _splits?: number[]; _values?: (string | null)[] };
    return (drawn._splits ?? []).map((at, index) => [at, drawn._values?.[index] ?? ""] as [number, string]);
  };
  for (const [at, name] of ticks(plot.axes[0])) {
    parts.push(`<path d="M${x(at)} ${y0}v${height}" stroke="${grid}"/><text x="${x(at)}" y="${y0 + height + 18}" text-anchor="middle">${text(name)}</text>`);
  }
  for (const [at, name] of ticks(plot.axes[1])) {
    parts.push(`<path d="M${x0} ${y(at)}h${width}" stroke="${grid}"/><text x="${x0 - 8}" y="${Number(y(at)) + 4}" text-anchor="end">${text(name)}</text>`);
  }
  const inside: string[] = (props.rects ?? []).map((rect) => {
    const [a, b, c, d] = [x(rect.x0), x(rect.x1), y(rect.y1), y(rect.y0)].map(Number);
    return `<rect x="${a}" y="${c}" width="${Math.max(1, b - a)}" height="${Math.max(1, d - c)}" fill="${cssColour("--heat-high")}" fill-opacity="${rect.strength.toFixed(2)}"/>`;
  });
  props.lines.forEach((line, index) => {
    const colour = cssColour(`--line-${(line.colour % 8) + 1}`);
    const [xs, ys] = [plot.data[0], plot.data[index + 1]];
    let path = "";
    for (let at = 0; at < xs.length; at++) {
      const value = ys[at];
      if (value == null) continue;
      if (line.points) inside.push(`<circle cx="${x(xs[at])}" cy="${y(value)}" r="3" fill="${colour}"/>`);
      else path += `${path && ys[at - 1] != null ? "L" : "M"}${x(xs[at])} ${y(value)}`;
    }
    if (path) inside.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.75"${line.dashed ? ' stroke-dasharray="5 4"' : ""}/>`);
  });
  let place = 12;
  const legend = names(props).map((line) => {
    const from = place;
    place += 40 + line.name.length * 7;
    return `<rect x="${from}" y="${holder.height + MARGIN + 12}" width="12" height="3" fill="${cssColour(`--line-${(line.colour % 8) + 1}`)}"/><text x="${from + 17}" y="${holder.height + MARGIN + 18}">${text(line.name)}</text>`;
  });
  const [whole, high] = [holder.width, holder.height + 2 * MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="${high}" viewBox="0 0 ${whole} ${high}" font-family="system-ui, sans-serif" font-size="12" fill="${soft}"><rect width="${whole}" height="${high}" fill="${cssColour("--card")}"/><text x="12" y="22" font-size="14" font-weight="bold" fill="${cssColour("--text")}">${text(props.title)}</text>${parts.join("")}<clipPath id="c"><rect x="${x0}" y="${y0}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#c)">${inside.join("")}</g>${legend.join("")}</svg>\n`;
}

/** The ways to save a chart. */
export function SaveChart({ props, plot }: { props: ChartProps; plot: { current: uPlot | null } }) {
  const name = nameOf(props.title);
  const kinds: [string, (plot: uPlot) => void][] = [
    ["CSV", (plot) => save(`${name}.csv`, new Blob([csvOf(rowsOf(props, plot))], { type: "text/csv" }))],
    ["PNG", (plot) => png(props, plot)],
    ["SVG", (plot) => save(`${name}.svg`, new Blob([svgOf(props, plot)], { type: "image/svg+xml" }))],
  ];
  return (
    <details class="save screen">
      <summary aria-label={`Save ${props.title}`}>Save</summary>
      <div>
        {kinds.map(([kind, act]) => (
          <button type="button" class="link" onClick={() => plot.current && act(plot.current)}>
            {kind}
          </button>
        ))}
      </div>
    </details>
  );
}
