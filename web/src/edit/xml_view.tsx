// The XML of an element, which can be edited as text.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call, RpcError } from "./client";
import { Code } from "./code";
import type { Plan } from "./plan";
import { METHOD_NOT_FOUND, type Change, type ElementView } from "./protocol";

/** Whether the program takes XML. */
const isTaken = signal(true);

export function XmlView({ plan, element }: { plan: Plan; element: ElementView }) {
  const [text, setText] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<RpcError | null>(null);
  const isReadOnly = plan.facts.readOnly || !isTaken.value;
  const set = async () => {
    try {
      plan.apply(await call<Change>("set_xml", { plan: plan.id, id: element.node.id, text, revision: plan.revision }));
      setRefusal(null);
      setText(null);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === METHOD_NOT_FOUND) isTaken.value = false;
      setRefusal(error);
    }
  };
  return (
    <div class="xml-view">
      <p class="note">
        {element.node.class} begins in line {element.line} of {plan.name}. {isReadOnly ? "This view cannot be edited." : "Nothing changes until you apply the text."}
      </p>
      {refusal && (
        <p class="note bad" role="alert">
          {refusal.message}
          {refusal.hint && <>. {refusal.hint}</>}
        </p>
      )}
      <Code label={`XML of ${element.node.name}`} language="xml" value={text ?? element.xml} target={{ plan: plan.id, id: element.node.id }} isReadOnly={isReadOnly} onValue={setText} />
      {text != null && text !== element.xml && (
        <p class="buttons">
          <button type="button" class="button main" onClick={() => void set()}>Apply</button>
          <button type="button" class="button" onClick={() => (setText(null), setRefusal(null))}>Discard</button>
        </p>
      )}
    </div>
  );
}
