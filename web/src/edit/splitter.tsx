import { sizes } from "./workspace";

/** Where panes meet: dragged, or moved by the arrows. */
export function Splitter({ name, side, least, most }: { name: "tree" | "dock" | "dockHeight"; side: 1 | -1; least: number; most: number }) {
  const isFlat = name === "dockHeight";
  const set = (size: number) => (sizes.value = { ...sizes.value, [name]: Math.round(Math.max(least, Math.min(most, size))) });
  const drag = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    bar.setPointerCapture(event.pointerId);
    const from = isFlat ? event.clientY : event.clientX;
    const before = sizes.value[name];
    const moved = (next: PointerEvent) => set(before + side * ((isFlat ? next.clientY : next.clientX) - from));
    bar.addEventListener("pointermove", moved);
    bar.addEventListener("lostpointercapture", () => bar.removeEventListener("pointermove", moved), { once: true });
  };
  const onKey = (event: KeyboardEvent) => {
    const step: Record<string, number> = isFlat ? { ArrowUp: -16, ArrowDown: 16 } : { ArrowLeft: -16, ArrowRight: 16 };
    if (!(event.key in step)) return;
    event.preventDefault();
    set(sizes.value[name] + side * step[event.key]);
  };
  const titles = { tree: "Width of the tree", dock: "Width of the panel", dockHeight: "Height of the panel" };
  return <div class={`splitter ${name}`} role="separator" tabIndex={0} aria-orientation={isFlat ? "horizontal" : "vertical"} aria-label={titles[name]} aria-valuenow={sizes.value[name]} aria-valuemin={least} aria-valuemax={most} onPointerDown={drag} onKeyDown={onKey} />;
}
