// Variables: those in scope of an element, and those that the element itself sets or reads.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "./client";
import type { Plan } from "./plan";
import type { Id, Variable } from "./protocol";
import { tell } from "./tell";
import { visit } from "./workspace";

/** The most readers that are shown of a variable before the user asks for more. */
const SHOWN = 5;
const WAIT_MS = 120;

/** The variables in scope of an element, again after each change. */
export function useVariables(plan: Plan, id: Id): Variable[] | null {
  const found = useSignal<Variable[] | null>(null);
  const version = plan.version.value;
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(() => {
      call<Variable[]>("variables", { plan: plan.id, id }).then(
        (variables) => {
          if (!isOld) found.value = variables;
        },
        () => {},
      );
    }, found.value ? WAIT_MS : 0);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [plan, id, version]);
  return found.value;
}

function Place({ plan, id, property, how }: { plan: Plan; id: Id; property?: string | null; how?: string }) {
  return (
    <button type="button" class="link" title={property ?? "name"} onClick={() => visit(id, property, plan)}>
      {plan.node(id)?.name || plan.node(id)?.type || "removed"}
      {how && <small>{how}</small>}
    </button>
  );
}

function Readers({ plan, variable }: { plan: Plan; variable: Variable }) {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? variable.read_by : variable.read_by.slice(0, SHOWN);
  return (
    <>
      {shown.map((reader, index) => (
        <li key={index}>
          <Place plan={plan} id={reader.id} property={reader.property} />
        </li>
      ))}
      {shown.length < variable.read_by.length && (
        <li>
          <button type="button" class="link" onClick={() => (isWhole.value = true)}>
            {variable.read_by.length - shown.length} more
          </button>
        </li>
      )}
    </>
  );
}

export function VariableItem({ plan, variable }: { plan: Plan; variable: Variable }) {
  const text = `\${${variable.name}}`;
  return (
    <li class={`variable ${variable.never_set ? "unset" : ""}`}>
      <div class="variable-head">
        <button
          type="button"
          class="variable-name"
          draggable
          title={`Copy ${text}, or drag it into a field`}
          onDragStart={(event) => event.dataTransfer!.setData("text/plain", text)}
          onClick={() => navigator.clipboard.writeText(text).then(() => tell({ text: `Copied ${text}` }), () => tell({ text: "The browser does not let the page write to the clipboard", bad: true }))}
        >
          {text}
        </button>
        {variable.value != null && <code class="value">{variable.value || "(empty)"}</code>}
        {variable.never_set && <span class="badge bad">never set</span>}
      </div>
      <dl>
        {variable.set_by.length > 0 && (
          <>
            <dt>set by</dt>
            <dd>
              <ul>
                {variable.set_by.map((setter, index) => (
                  <li key={index}>
                    <Place plan={plan} id={setter.id} how={setter.how} />
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        <dt>read by</dt>
        <dd>
          <ul>{variable.read_by.length ? <Readers plan={plan} variable={variable} /> : <li class="none">nothing</li>}</ul>
        </dd>
      </dl>
    </li>
  );
}

/** The variables that an element sets, with who reads them, and those that it reads, with who sets them. */
export function Uses({ plan, id }: { plan: Plan; id: Id }) {
  const variables = useVariables(plan, id);
  if (!variables) return null;
  const parts: [string, Variable[]][] = [
    ["Sets", variables.filter((variable) => variable.set_by.some((setter) => setter.id === id))],
    ["Reads", variables.filter((variable) => variable.read_by.some((reader) => reader.id === id))],
  ];
  if (parts.every(([, found]) => !found.length)) return <p class="note">This element neither sets nor reads a variable.</p>;
  return (
    <>
      {parts.map(([title, found]) =>
        found.length ? (
          <section class="section" key={title}>
            <h3>{title}</h3>
            <ul class="variables">{found.map((variable) => <VariableItem key={variable.name} plan={plan} variable={variable} />)}</ul>
          </section>
        ) : null,
      )}
    </>
  );
}
