// Light or dark colours, as the reader chose them on this page or on a report.

import { effect, signal } from "@preact/signals";
import { isInEditor } from "./transport";

/** The report's pages keep the choice under the same name. */
const KEY = "drumfire-theme";

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** The colours of the editor that shows the page in a panel. */
const ofEditor = () => (document.body.matches(".vscode-light, .vscode-high-contrast-light") ? "light" : "dark");
const system = matchMedia("(prefers-color-scheme: dark)");
const ofSystem = () => (isInEditor ? ofEditor() : system.matches ? "dark" : "light");
export const theme = signal(chosen() ?? ofSystem());
const follow = () => (theme.value = chosen() ?? ofSystem());
system.addEventListener("change", follow);
if (isInEditor) new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ["class"] });

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function toggleTheme() {
  theme.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // The choice holds for this page.
  }
}
