// A field for code: CodeMirror with the languages of JMeter's plans.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { java } from "@codemirror/lang-java";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { xml } from "@codemirror/lang-xml";
import { bracketMatching, indentOnInput, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, MatchDecorator, ViewPlugin, Decoration, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { completions, type Target } from "./complete";

const LANGUAGES: Record<string, () => Extension> = {
  groovy: () => StreamLanguage.define(groovy),
  java: () => java(),
  beanshell: () => java(),
  javascript: () => javascript(),
  condition: () => javascript(),
  json: () => json(),
  xml: () => xml(),
  sql: () => StreamLanguage.define(standardSQL),
};

/** Languages with short texts, which need no numbers of lines. */
export const SHORT = new Set(["condition", "regex", "jsonpath", "jmespath", "xpath", "css"]);

const marks = new MatchDecorator({ regexp: /\$\{[^}\n]*\}/g, decoration: Decoration.mark({ class: "expression" }) });
const expressions = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = marks.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = marks.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function proposals(target: () => Target) {
  return async (context: CompletionContext) => {
    if (!context.explicit && !context.matchBefore(/\$\{[^}\n]*/)) return null;
    const found = await completions(target(), context.state.doc.toString(), context.pos).catch(() => []);
    if (!found.length) return null;
    return { from: found[0].start, to: found[0].end, filter: false, options: found.map(({ insert, label, detail }) => ({ label, detail, apply: insert })) };
  };
}

interface Props {
  label: string;
  language: string;
  value: string;
  target: Target;
  isReadOnly?: boolean;
  placeholder?: string;
  onValue?: (text: string) => void;
  onLeave?: () => void;
}

export function Code(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  latest.current = props;
  const shown = useRef(props.value);
  useEffect(() => {
    const isShort = SHORT.has(props.language);
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: props.value,
        extensions: [
          isShort ? [] : [lineNumbers(), highlightActiveLine()],
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches(),
          search({ top: true }),
          syntaxHighlighting(classHighlighter),
          expressions,
          EditorView.lineWrapping,
          EditorState.readOnly.of(props.isReadOnly ?? false),
          autocompletion({ override: [proposals(() => latest.current.target)], icons: false }),
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap.filter((binding) => !["Mod-/", "Mod-Enter"].includes(binding.key ?? "")), { key: "Escape", run: () => (document.getElementById("tree")?.focus(), true) }]),
          EditorView.contentAttributes.of({ "aria-label": props.label }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const text = update.state.doc.toString();
            if (text === shown.current) return;
            shown.current = text;
            latest.current.onValue?.(text);
          }),
          EditorView.domEventHandlers({ blur: () => latest.current.onLeave?.() }),
          LANGUAGES[props.language]?.() ?? [],
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, [props.language, props.isReadOnly]);
  // A value that came from elsewhere replaces the text. This runs before the next key does, so that what is typed is never taken
  // for a value from elsewhere.
  useLayoutEffect(() => {
    const view = editor.current;
    if (!view || props.value === shown.current) return;
    shown.current = props.value;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: props.value } });
  }, [props.value]);
  return <div ref={place} class={`code ${SHORT.has(props.language) ? "short" : ""}`} />;
}
