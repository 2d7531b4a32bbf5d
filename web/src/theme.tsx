import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Outcome } from "./data";
import { goTo } from "./place";

/** Colours by theme and name: a chart asks for them again and again. */
const colours = new Map<string, string>();

export function cssColour(name: string): string {
  const key = `${document.documentElement.dataset.theme} ${name}`;
  let colour = colours.get(key);
  if (colour == null) colours.set(key, (colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  return colour;
}

const THEME = "drumfire-theme";
const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** What the reader chose on an earlier page. A browser may keep no such choice, above all for files. */
export const chosen = {
  get: (name: string) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set: (name: string, value: string) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // The choice holds for this page.
    }
  },
};

/** The colours in use, and a button to change them. */
export function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(() => (document.documentElement.dataset.theme ??= chosen.get(THEME) ?? system()));
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    chosen.set(THEME, next);
    setTheme(next);
  };
  return [theme, toggle];
}

const BADGES: Record<Outcome, string> = { PASSED: "good", FAILED: "bad", "NOT JUDGED": "warn" };

export function Header(props: { outcome?: Outcome | null; name: string; detail: string; theme: string; toggle: () => void; sections: [string, string][]; children?: ComponentChildren }) {
  return (
    <header>
      <div class="bar">
        <div class="title">
          <span class="brand" aria-hidden="true">
            <i /><i /><i /><i />
          </span>
          <div>
            <h1>
              {props.outcome && <span class={`outcome badge ${BADGES[props.outcome]}`}>{props.outcome}</span>} {props.name}
            </h1>
            <p class="hint">{props.detail}</p>
          </div>
        </div>
        {props.children && <div class="actions">{props.children}</div>}
        <button type="button" class="plain" onClick={props.toggle} aria-label={`Use ${props.theme === "dark" ? "light" : "dark"} colours`}>
          {props.theme === "dark" ? "☀" : "☾"}
        </button>
      </div>
      <nav aria-label="Sections">
        {props.sections.map(([id, text]) => (
          <a
            href={`#${id}`}
            key={id}
            onClick={(event) => {
              event.preventDefault();
              goTo(id);
            }}
          >
            {text}
          </a>
        ))}
      </nav>
    </header>
  );
}
