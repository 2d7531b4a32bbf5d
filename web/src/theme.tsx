import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Outcome } from "./data";
import { goTo } from "./place";

export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** The colours that the reader chose on an earlier page. A browser may keep no such choice, above all for files. */
const chosen = {
  get: () => {
    try {
      return localStorage.getItem("drumfire-theme");
    } catch {
      return null;
    }
  },
  set: (theme: string) => {
    try {
      localStorage.setItem("drumfire-theme", theme);
    } catch {
      // The choice holds for this page.
    }
  },
};

/** The colours in use, and a button to change them. */
export function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(() => (document.documentElement.dataset.theme ??= chosen.get() ?? system()));
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    chosen.set(next);
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
