// A text field that completes variables and functions after `${`.

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { call } from "./client";
import type { Completion, Id } from "./protocol";

export interface Target {
  plan: number;
  id: Id;
}

/** What the program proposes at a place of a text. */
export async function completions(target: Target, text: string, offset: number): Promise<(Completion & { start: number; end: number })[]> {
  const found = await call<Completion[]>("complete", { ...target, text, offset });
  const begins = text.lastIndexOf("${", offset - 1);
  const closes = text[offset] === "}" ? offset + 1 : offset;
  return found.map((each) => ({ ...each, start: each.start ?? (begins < 0 ? offset : begins), end: each.end ?? closes }));
}

/** Whether the text before the caret is within an expression. */
export function isInExpression(before: string): boolean {
  const begins = before.lastIndexOf("${");
  return begins >= 0 && !before.slice(begins).includes("}");
}

const WAIT_MS = 40;
const MOST_SHOWN = 50;

interface Props {
  target: Target;
  value: string;
  /** Attributes of the input. */
  input: Record<string, unknown>;
  isLong?: boolean;
  /** Values that are proposed for the whole field. */
  choices?: string[];
  onValue: (text: string) => void;
  onLeave: () => void;
  onEnter: () => void;
  /** Tells whether there was something to give up. */
  onEscape: () => boolean;
}

export function CompletedInput(props: Props) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const found = useSignal<Awaited<ReturnType<typeof completions>>>([]);
  const at = useSignal(0);
  const caret = useSignal<[number, number] | null>(null);
  const timer = useRef(0);
  const listId = useId();
  const isOpen = found.value.length > 0;
  useLayoutEffect(() => {
    if (caret.value == null) return;
    field.current!.setSelectionRange(...caret.value);
    caret.value = null;
  }, [caret.value]);
  // A list below the edge of the form is scrolled into sight.
  useLayoutEffect(() => list.current?.scrollIntoView({ block: "nearest" }), [isOpen]);
  useLayoutEffect(() => list.current?.children[at.value]?.scrollIntoView({ block: "nearest" }), [at.value]);

  const close = () => {
    clearTimeout(timer.current);
    found.value = [];
  };
  const ask = (isAsked: boolean) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(async () => {
      const { value, selectionStart } = field.current!;
      const offset = selectionStart ?? value.length;
      if (!isAsked && !isInExpression(value.slice(0, offset))) return close();
      const proposed = await completions(props.target, value, offset).catch(() => []);
      if (field.current !== document.activeElement || field.current!.value !== value) return;
      at.value = 0;
      found.value = proposed.slice(0, MOST_SHOWN);
    }, isAsked ? 0 : WAIT_MS);
  };
  const propose = () => {
    field.current!.focus();
    at.value = Math.max(0, props.choices!.indexOf(field.current!.value));
    found.value = props.choices!.map((choice) => ({ insert: choice, label: choice || "(empty)", detail: "", start: 0, end: field.current!.value.length }));
  };
  const choose = (index: number) => {
    const { insert, start, end } = found.value[index];
    const text = field.current!.value;
    props.onValue(text.slice(0, start) + insert + text.slice(end));
    // The first argument of a function is selected, so that typing replaces it.
    const argument = /^(\$\{\w+\()([^,)]*)/.exec(insert);
    const from = start + (argument ? argument[1].length : insert.length);
    field.current!.value = text.slice(0, start) + insert + text.slice(end);
    caret.value = [from, from + (argument?.[2].length ?? 0)];
    close();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === " " && event.ctrlKey) ask(true);
    else if (!isOpen && event.key === "ArrowDown" && props.choices?.length) propose();
    else if (isOpen && event.key === "ArrowDown") at.value = (at.value + 1) % found.value.length;
    else if (isOpen && event.key === "ArrowUp") at.value = (at.value + found.value.length - 1) % found.value.length;
    else if (isOpen && (event.key === "Enter" || event.key === "Tab")) choose(at.value);
    else if (isOpen && event.key === "Escape") close();
    else if (event.key === "Escape") {
      if (!props.onEscape()) document.getElementById("tree")?.focus();
    } else if (event.key === "Enter" && !props.isLong && !event.ctrlKey && !event.altKey && !event.metaKey) props.onEnter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // A password has no role that lists anything.
  const listing = props.isLong || props.input.type === "password" ? {} : { role: "combobox", "aria-expanded": isOpen };
  const attributes: object = {
    ...props.input,
    ...listing,
    ref: field,
    value: props.value,
    spellcheck: false,
    autocomplete: "off",
    "aria-autocomplete": props.input.type === "password" ? undefined : "list",
    "aria-controls": isOpen ? listId : undefined,
    "aria-activedescendant": isOpen ? `${listId}-${at.value}` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => {
      props.onValue(event.currentTarget.value);
      ask(false);
    },
    onBlur: () => {
      close();
      props.onLeave();
    },
    onKeyDown: onKey,
  };
  return (
    <span class="completed">
      {props.isLong ? <textarea {...attributes} rows={Math.min(12, Math.max(2, props.value.split("\n").length))} /> : <input {...attributes} />}
      {props.choices && !props.input.readOnly && (
        <button type="button" class="proposals" tabIndex={-1} aria-hidden="true" title="Show the choices" onMouseDown={(event) => (event.preventDefault(), isOpen ? close() : propose())} />
      )}
      {isOpen && (
        <ul ref={list} class="completions" id={listId} role="listbox" aria-label="Proposals">
          {found.value.map((each, index) => (
            <li
              key={each.label}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === at.value}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(index);
              }}
            >
              <code>{each.label}</code>
              <small>{each.detail}</small>
            </li>
          ))}
        </ul>
      )}
    </span>
  );
}
