// Parts of a request and its response, for the debugger and for the editor: texts, bodies in several views, and what the elements did.

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

export const Sign = ({ good }: { good: boolean }) => (
  <span class={good ? "good" : "bad"}>
    <span aria-hidden="true">{good ? "✓" : "✗"}</span>
    <span class="hidden">{good ? "passed" : "failed"}</span>
  </span>
);

export function Block({ name, text }: { name: string; text: string }) {
  if (!text) return null;
  return (
    <>
      <h3>{name}</h3>
      <pre tabIndex={0} role="group" aria-label={name}>
        {text}
      </pre>
    </>
  );
}

/** A way to show a body. */
export interface BodyView {
  name: string;
  show: () => ComponentChildren;
}

/** A body as a tree that folds, as text, as a page, and in further views of the caller, of which the first is shown first. */
export function BodyViews({ text, contentType, more = [] }: { text: string; contentType: string; more?: BodyView[] }) {
  const folded = useMemo(() => fold(text, contentType), [text, contentType]);
  const views: BodyView[] = [
    ...(folded ? [{ name: "folded", show: () => folded }] : []),
    ...(text ? [{ name: "text", show: () => <pre tabIndex={0} role="group" aria-label="Body" id="body">{text}</pre> }] : []),
    // The frame runs no scripts, submits no forms and has an origin of its own. The page's policy blocks whatever it tries to load.
    ...(/html/i.test(contentType) ? [{ name: "page", show: () => <iframe sandbox="" title="The response as a page" srcdoc={text} /> }] : []),
    ...more,
  ];
  const [chosen, setChosen] = useState("");
  const shown = views.find((view) => view.name === chosen) ?? views[0];
  if (!shown) return null;
  return (
    <>
      <h3>
        Body{" "}
        <span class="views">
          {views.map(({ name }) => (
            <button type="button" key={name} class={`link ${name === shown.name ? "now" : ""}`} aria-pressed={name === shown.name} onClick={() => setChosen(name)}>
              {name}
            </button>
          ))}
        </span>
      </h3>
      {shown.show()}
    </>
  );
}

/** JSON and XML as a tree that folds; nothing for other texts. */
export function fold(body: string, contentType: string): JSX.Element | null {
  const text = body.trim();
  if (/^[{[]/.test(text)) {
    try {
      return <Json name="" value={JSON.parse(text)} depth={0} />;
    } catch {
      return null;
    }
  }
  if (/xml/i.test(contentType) && text.startsWith("<") && !/html/i.test(contentType)) {
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    if (!parsed.querySelector("parsererror")) return <Xml element={parsed.documentElement} depth={0} />;
  }
  return null;
}

function Json({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const head = name ? <b>{name}: </b> : null;
  if (value === null || typeof value !== "object") {
    return (
      <p class="leaf">
        {head}
        <code>{JSON.stringify(value)}</code>
      </p>
    );
  }
  const entries = Object.entries(value);
  return (
    <details class="fold" open={depth < 2}>
      <summary>
        {head}
        {Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}
      </summary>
      {entries.map(([key, inner]) => (
        <Json name={key} value={inner} depth={depth + 1} />
      ))}
    </details>
  );
}

function Xml({ element, depth }: { element: Element; depth: number }) {
  const attributes = [...element.attributes].map((attribute) => ` ${attribute.name}="${attribute.value}"`).join("");
  const children = [...element.children];
  if (children.length === 0) {
    return (
      <p class="leaf">
        <code>{`<${element.tagName}${attributes}>`}</code> {element.textContent}
      </p>
    );
  }
  return (
    <details class="fold" open={depth < 2}>
      <summary>
        <code>{`<${element.tagName}${attributes}>`}</code>
      </summary>
      {children.map((child) => (
        <Xml element={child} depth={depth + 1} />
      ))}
    </details>
  );
}

/** An element that ran for a sample, and the variables that it changed. */
export interface Step {
  part: string;
  name: string;
  class: string;
  /** The element in the plan, where that is known. */
  id?: number | null;
  changes: { name: string; before?: string | null; after?: string | null }[];
}

export function Steps({ steps, go }: { steps: Step[]; go?: (id: number) => void }) {
  return (
    <ol class="steps">
      {steps.map((step) => (
        <li>
          {go && step.id != null ? (
            <button type="button" class="link" onClick={() => go(step.id!)}>
              {step.name}
            </button>
          ) : (
            <b>{step.name}</b>
          )}{" "}
          <span class="badge">{step.class.split(".").pop()}</span> <small class="hint">{step.part}</small>
          {step.changes.map((change) => (
            <p class="change">
              <b>{change.name}</b> {change.before != null && <del>{change.before || "(empty)"}</del>} {change.after != null ? <ins>{change.after || "(empty)"}</ins> : "removed"}
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}
