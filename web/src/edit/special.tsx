// Controls of the few properties whose kind alone makes a poor field: a body of a request, rules of a match, a path to a module.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Code } from "./code";
import { useDraft } from "./draft";
import type { Plan } from "./plan";
import type { Field, Id, Node } from "./protocol";
import { newRow } from "./table_field";

export interface SpecialProps {
  plan: Plan;
  id: Id;
  field: Field;
  label: string;
  inputId: string;
  isReadOnly: boolean;
  set: (value: string | null) => Promise<unknown>;
}

export const PARAMETERS = "HTTPsampler.Arguments";
export const IS_BODY = "HTTPSampler.postBodyRaw";

const sameRows = (a: string[][], b: string[][]) => JSON.stringify(a) === JSON.stringify(b);

/** The language of a body, by its first sign. */
const languageOf = (text: string) => (/^\s*[{[]/.test(text) ? "json" : /^\s*</.test(text) ? "xml" : "");

/** A body as it stands. JMeter saves it as the value of a parameter without a name, and joins the values of several. */
export function BodyField({ plan, id, field, label, isReadOnly }: SpecialProps) {
  const { columns, rows } = field.table!;
  const at = columns.findIndex((column) => column.property === "Argument.value");
  const draft = useDraft(rows, (next, join) => plan.change("table", { id, property: field.property, rows: next, join }), sameRows);
  const text = draft.value.map((row) => row[at] ?? "").join("");
  const [language] = useState(() => languageOf(text));
  const write = (body: string) => draft.type([(draft.value[0] ?? newRow(columns)).map((cell, place) => (place === at ? body : cell))]);
  return <Code label={label} language={language} value={text} target={{ plan: plan.id, id }} isReadOnly={isReadOnly} onValue={write} onLeave={draft.leave} />;
}

/** Switches between parameters and a body. */
export function BodySwitch({ plan, id, isBody }: { plan: Plan; id: Id; isBody: boolean }) {
  const choice = (value: boolean, title: string) => (
    <button type="button" class={`toggle ${isBody === value ? "on" : ""}`} aria-pressed={isBody === value} disabled={plan.facts.readOnly} onClick={() => isBody !== value && void plan.change("set", { id, property: IS_BODY, value: String(value) })}>
      {title}
    </button>
  );
  return (
    <span class="toggles" role="group" aria-label="What the request sends">
      {choice(false, "Parameters")}
      {choice(true, "Body Data")}
    </span>
  );
}

/** The bits of a Response Assertion's rule, which JMeter shows as four choices and two boxes. */
const RULES: [bit: number, label: string][] = [[2, "Contains"], [1, "Matches"], [8, "Equals"], [16, "Substring"]];
const [NOT, OR] = [4, 32];

function MatchRules({ field, inputId, isReadOnly, set }: SpecialProps) {
  const bits = Number(field.value ?? field.default ?? 0);
  const rule = RULES.find(([bit]) => bits & bit)?.[0] ?? 2;
  const box = (bit: number, label: string) => (
    <label>
      <input type="checkbox" checked={(bits & bit) !== 0} disabled={isReadOnly} onChange={() => void set(String(bits ^ bit))} /> {label}
    </label>
  );
  return (
    <span class="with-tool rules">
      <select id={inputId} value={rule} disabled={isReadOnly} onChange={(event) => void set(String((bits & (NOT | OR)) | Number(event.currentTarget.value)))}>
        {RULES.map(([bit, label]) => <option key={bit} value={bit}>{label}</option>)}
      </select>
      {box(NOT, "Not")}
      {box(OR, "Or")}
    </span>
  );
}

/** What a Module Controller may run. */
const isModule = (node: Node) => (node.category === "Logic Controller" && node.class !== "ModuleController") || node.category === "Test Fragment";

function ModuleTarget({ plan, id, field, inputId, isReadOnly }: SpecialProps) {
  const rows = field.table?.rows ?? [];
  // The first name is that of the root of JMeter's tree, which no element of the plan is.
  const path = rows.slice(1).map(([name]) => name);
  const pathOf = (node: Node) => [...plan.ancestors(node.id), node].map((each) => each.name);
  const modules = [...plan.nodes.values()].filter(isModule);
  const key = JSON.stringify(path);
  const target = modules.find((node) => JSON.stringify(pathOf(node)) === key);
  const choose = (chosen: string) => {
    const node = plan.node(Number(chosen));
    if (node) void plan.change("table", { id, property: field.property, rows: [rows[0] ?? ["Test Plan"], ...pathOf(node).map((name) => [name])] });
  };
  return (
    <span class="with-tool">
      <select id={inputId} value={target?.id ?? ""} disabled={isReadOnly} onChange={(event) => choose(event.currentTarget.value)}>
        {!target && <option value="">{path.length ? `${path.slice(1).join(" › ")} (not in the plan)` : "Choose a controller or a fragment"}</option>}
        {modules.map((node) => (
          <option key={node.id} value={node.id}>
            {pathOf(node).slice(1).join(" › ")}
          </option>
        ))}
      </select>
      {target && (
        <button type="button" class="button" onClick={() => plan.goTo(target.id)}>
          Go to it
        </button>
      )}
    </span>
  );
}

/** Properties with a control of their own. */
export const SPECIAL: Record<string, (props: SpecialProps) => JSX.Element> = {
  "Assertion.test_type": MatchRules,
  "ModuleController.node_path": ModuleTarget,
};

/** Whether a property that is a table has a control in one line. */
export const isInLine = (property: string) => property in SPECIAL;

/** Whether a rule can be shown as choices: an expression cannot. */
export const fits = (field: Field) => field.table != null || /^\d*$/.test(field.value ?? "");
