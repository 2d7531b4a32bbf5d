// The menu of a row, with the keys that do the same.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ACTIONS, run } from "./actions";
import { bestKey, shownKey } from "./keys";

const OF_ROW = [["runThis", "runToHere", "runGroup", "breakpoint"], ["insert", "record", "wrap", "changeType", "unwrap", "extract", "moveToFile"], ["cutOut", "copy", "paste", "duplicate"], ["rename", "toggle", "remove"], ["moveUp", "moveDown", "expandBranch", "collapseBranch", "selectSameClass"]];

const OF_RUN = [["runThis", "runToHere", "runBranch", "runGroup", "runPlan"], ["debug", "step", "stepSampler", "breakpoint"], ["runLoad", "stopLoad"], ["record", "stopRecording"]];

interface Place {
  x: number;
  y: number;
  title: string;
  items: string[][];
  /** What has the focus when the menu closes. */
  opener: HTMLElement | null;
}

const place = signal<Place | null>(null);

export function openMenu(x: number, y: number) {
  place.value = { x, y, title: "Actions on the selection", items: OF_ROW, opener: document.getElementById("tree") };
}

export function openRunMenu(opener: HTMLElement) {
  const { left, bottom } = opener.getBoundingClientRect();
  place.value = { x: left, y: bottom + 4, title: "Run", items: OF_RUN, opener };
}

function close() {
  const opener = place.value?.opener;
  place.value = null;
  opener?.focus();
}

function onKey(event: KeyboardEvent, menu: HTMLElement) {
  const items = [...menu.querySelectorAll<HTMLElement>("[role=menuitem]:not([aria-disabled=true])")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const step: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 };
  event.stopPropagation();
  if (event.key in step) items[step[event.key] % items.length].focus();
  else if (event.key === "Escape" || event.key === "Tab") close();
  else return;
  event.preventDefault();
}

export function Menu() {
  const menu = useRef<HTMLDivElement>(null);
  const at = place.value;
  useLayoutEffect(() => {
    const box = menu.current;
    if (!box || !at) return;
    box.style.left = `${Math.min(at.x, innerWidth - box.offsetWidth - 8)}px`;
    box.style.top = `${Math.min(at.y, innerHeight - box.offsetHeight - 8)}px`;
    box.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [at]);
  if (!at) return null;
  return (
    <div class="cover" onMouseDown={close} onContextMenu={(event) => (event.preventDefault(), close())}>
      <div ref={menu} class="menu" role="menu" aria-label={at.title} onMouseDown={(event) => event.stopPropagation()} onKeyDown={(event) => onKey(event, menu.current!)}>
        {at.items.map((group, index) => (
          <div role="group" key={index}>
            {group.map((id) => {
              const action = ACTIONS.find((each) => each.id === id)!;
              const isOff = !(action.can?.() ?? true);
              return (
                <button type="button" role="menuitem" tabIndex={-1} aria-disabled={isOff} key={id} onClick={() => !isOff && (close(), run(id))}>
                  <span>{action.title}</span>
                  <kbd>{shownKey(bestKey(id))}</kbd>
                </button>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
