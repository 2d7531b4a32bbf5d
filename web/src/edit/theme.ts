// Light or dark colours, as the reader chose them on this page or on a report.

import { effect, signal } from "@preact/signals";

/** The report's pages keep the choice under the same name. */
const KEY = "drumfire-theme";

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const system = matchMedia("(prefers-color-scheme: dark)");
const ofSystem = () => (system.matches ? "dark" : "light");
export const theme = signal(chosen() ?? ofSystem());
system.addEventListener("change", () => (theme.value = chosen() ?? ofSystem()));

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
