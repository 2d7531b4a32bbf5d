// Which keys do what. One table serves the page, the palette and the overview of keys.

import { kept } from "./kept";

export type KeySet = "As JMeter" | "As VS Code";
export const keySet = kept<KeySet>("keys", "As JMeter");

/** Where a key acts: everywhere, or in the tree only. */
type Where = "page" | "tree";

interface Binding {
  action: string;
  where: Where;
  /** The keys of each set. The later ones of a list are for windows where the browser takes the first. */
  jmeter: string[];
  code?: string[];
}

const BINDINGS: Binding[] = [
  { action: "save", where: "page", jmeter: ["Ctrl+S"] },
  { action: "saveAll", where: "page", jmeter: ["Ctrl+Shift+S"], code: ["Ctrl+Alt+S"] },
  { action: "open", where: "page", jmeter: ["Ctrl+O"] },
  { action: "undo", where: "page", jmeter: ["Ctrl+Z"] },
  { action: "redo", where: "page", jmeter: ["Ctrl+Shift+Z", "Ctrl+Y"] },
  { action: "runThis", where: "page", jmeter: ["Ctrl+Enter"] },
  { action: "runToHere", where: "page", jmeter: ["Ctrl+Shift+Enter"] },
  { action: "runPlan", where: "page", jmeter: ["Ctrl+Shift+N", "Ctrl+Alt+R"] },
  { action: "runLoad", where: "page", jmeter: ["Ctrl+R"] },
  { action: "record", where: "page", jmeter: ["Alt+Shift+R"] },
  { action: "breakpoint", where: "page", jmeter: ["F9"] },
  { action: "debug", where: "page", jmeter: ["F5"] },
  { action: "step", where: "page", jmeter: ["F10"] },
  { action: "stepSampler", where: "page", jmeter: ["Ctrl+F10"] },
  { action: "stop", where: "page", jmeter: ["Ctrl+.", "Ctrl+,"] },
  { action: "clear", where: "page", jmeter: ["Ctrl+E", "Ctrl+Shift+E"] },
  { action: "extractValue", where: "page", jmeter: ["Alt+E"] },
  { action: "results", where: "page", jmeter: ["Alt+R"] },
  { action: "palette", where: "page", jmeter: ["Ctrl+K"], code: ["Ctrl+Shift+P", "F1", "Ctrl+K"] },
  { action: "goToElement", where: "page", jmeter: ["Ctrl+P"] },
  { action: "find", where: "page", jmeter: ["Ctrl+F", "Ctrl+Shift+F"] },
  { action: "replace", where: "page", jmeter: ["Ctrl+H"], code: ["Ctrl+H", "Ctrl+Shift+H"] },
  { action: "resetFind", where: "page", jmeter: ["Ctrl+Alt+F"] },
  { action: "back", where: "page", jmeter: ["Ctrl+["], code: ["Ctrl+[", "Ctrl+Alt+-"] },
  { action: "forward", where: "page", jmeter: ["Ctrl+]"], code: ["Ctrl+]", "Ctrl+Shift+-"] },
  { action: "nextFinding", where: "page", jmeter: ["F8"] },
  { action: "previousFinding", where: "page", jmeter: ["Shift+F8"] },
  { action: "definition", where: "page", jmeter: ["F12"] },
  { action: "uses", where: "page", jmeter: ["Shift+F12"] },
  { action: "nextPane", where: "page", jmeter: ["F6"] },
  { action: "previousPane", where: "page", jmeter: ["Shift+F6"] },
  { action: "findings", where: "page", jmeter: ["Alt+F"], code: ["Ctrl+Shift+M"] },
  { action: "changes", where: "page", jmeter: ["Alt+C"], code: ["Alt+C"] },
  { action: "variables", where: "page", jmeter: ["Alt+V"] },
  { action: "functions", where: "page", jmeter: ["Ctrl+Shift+F1"] },
  { action: "classes", where: "page", jmeter: ["Ctrl+W", "Alt+W"] },
  { action: "help", where: "page", jmeter: ["F1", "?"], code: ["?"] },
  { action: "nextPlan", where: "page", jmeter: ["Ctrl+PageDown", "Alt+PageDown"] },
  { action: "previousPlan", where: "page", jmeter: ["Ctrl+PageUp", "Alt+PageUp"] },
  { action: "toggle", where: "page", jmeter: ["Ctrl+T", "Ctrl+/"], code: ["Ctrl+/"] },
  { action: "insert", where: "page", jmeter: ["Insert", "Ctrl+I"] },
  { action: "duplicate", where: "tree", jmeter: ["Ctrl+Shift+C", "Alt+Shift+ArrowDown"], code: ["Alt+Shift+ArrowDown"] },
  { action: "rename", where: "tree", jmeter: ["F2"] },
  { action: "remove", where: "tree", jmeter: ["Delete"] },
  { action: "moveUp", where: "tree", jmeter: ["Alt+ArrowUp"] },
  { action: "moveDown", where: "tree", jmeter: ["Alt+ArrowDown"] },
  { action: "moveOut", where: "tree", jmeter: ["Alt+ArrowLeft"] },
  { action: "moveIn", where: "tree", jmeter: ["Alt+ArrowRight"] },
  { action: "collapseAll", where: "tree", jmeter: ["Ctrl+-"] },
  { action: "expandAll", where: "tree", jmeter: ["Ctrl+Shift+-"], code: ["Ctrl+Shift+="] },
  { action: "collapseBranch", where: "tree", jmeter: ["Shift+ArrowLeft"] },
  { action: "expandBranch", where: "tree", jmeter: ["Shift+ArrowRight"] },
  { action: "selectAll", where: "tree", jmeter: ["Ctrl+A"] },
  { action: "selectSameClass", where: "tree", jmeter: ["Ctrl+Shift+A", "Alt+A"] },
  ...Array.from({ length: 10 }, (_, digit): Binding => ({ action: `quick${digit}`, where: "page", jmeter: [`Ctrl+${digit}`, `Alt+${digit}`] })),
];

/** Keys that Chromium keeps for itself in a tab, so that the page never sees them. */
export const RESERVED = new Set(["Ctrl+T", "Ctrl+W", "Ctrl+N", "Ctrl+Shift+N", "Ctrl+Shift+T", "Ctrl+Shift+C", "Ctrl+PageDown", "Ctrl+PageUp", "Ctrl+Shift+A", ...Array.from({ length: 8 }, (_, digit) => `Ctrl+${digit + 1}`)]);

/** The clipboard's keys: the browser sends events of its own for them. */
export const CLIPBOARD: Record<string, string> = { copy: "Ctrl+C", cutOut: "Ctrl+X", paste: "Ctrl+V" };

const keysOf = (binding: Binding) => (keySet.value === "As VS Code" ? (binding.code ?? binding.jmeter) : binding.jmeter);

export function keysFor(action: string): string[] {
  if (CLIPBOARD[action]) return [CLIPBOARD[action]];
  const binding = BINDINGS.find((each) => each.action === action);
  return binding ? keysOf(binding) : [];
}

/** The key that works in this window: a window without tabs has all of them. */
export function bestKey(action: string): string {
  const keys = keysFor(action);
  const isApp = matchMedia("(display-mode: standalone)").matches;
  return (isApp ? keys[0] : (keys.find((key) => !RESERVED.has(key)) ?? keys[0])) ?? "";
}

const isMac = navigator.platform.startsWith("Mac");

/** A key as it is printed on the keyboard. */
export function shownKey(key: string): string {
  const named = key.replace("Arrow", "").replace("PageDown", "PgDn").replace("PageUp", "PgUp").replace("Delete", "Del");
  return isMac ? named.replace("Ctrl", "⌘").replace("Alt", "⌥") : named;
}

/** The text of a pressed key, such as `Ctrl+Shift+Z`. */
function pressed(event: KeyboardEvent): string {
  const code = event.code;
  // Letters and digits by their key, whatever Shift and Alt make of them; other signs as they are typed.
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
  const isLetter = /^[a-z]$/i.test(event.key);
  const named: Record<string, string> = { Minus: "-", Equal: "=", NumpadSubtract: "-", NumpadAdd: "=" };
  const key = digit ?? (isLetter ? event.key.toUpperCase() : event.altKey && /^Key[A-Z]$/.test(code) ? code.slice(3) : (named[code] ?? event.key));
  const isSign = key.length === 1 && !/[A-Z0-9=-]/.test(key);
  const parts = [(isMac ? event.metaKey : event.ctrlKey) && "Ctrl", event.altKey && "Alt", event.shiftKey && !isSign && "Shift", key];
  return parts.filter(Boolean).join("+");
}

/** The action of a key at a place, if there is one. */
export function actionOf(event: KeyboardEvent, isInTree: boolean): string | null {
  const key = pressed(event);
  const found = BINDINGS.find((binding) => (binding.where === "page" || isInTree) && keysOf(binding).includes(key));
  return found?.action ?? null;
}
