import { useState } from "preact/hooks";
import type { Outcome } from "./data";

const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** The colours in use, and a button to change them. */
export function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(() => (document.documentElement.dataset.theme ??= system()));
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    setTheme(next);
  };
  return [theme, toggle];
}

const BADGES: Record<Outcome, string> = { PASSED: "good", FAILED: "bad", "NOT JUDGED": "warn" };

export function Header(props: { outcome?: Outcome | null; name: string; detail: string; theme: string; toggle: () => void; sections: [string, string][] }) {
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
        <button type="button" class="plain" onClick={props.toggle} aria-label={`Use ${props.theme === "dark" ? "light" : "dark"} colours`}>
          {props.theme === "dark" ? "☀" : "☾"}
        </button>
      </div>
      <nav aria-label="Sections">
        {props.sections.map(([id, text]) => (
          <a href={`#${id}`} key={id}>
            {text}
          </a>
        ))}
      </nav>
    </header>
  );
}
