// What is known of the selection: the form of an element, of many at once, the XML, and the uses.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { run } from "./actions";
import { callAll, RpcError } from "./client";
import { CompletedInput } from "./complete";
import { Curve } from "./curve";
import { useDraft } from "./draft";
import { FieldRow, FindingNote, Prose } from "./fields";
import { Icon } from "./icons";
import { bestKey, shownKey } from "./keys";
import type { Plan } from "./plan";
import type { ElementView, Field, Id } from "./protocol";
import { IS_BODY, PARAMETERS } from "./special";
import { tell } from "./tell";
import { ResultView } from "./result";
import { Uses } from "./uses";
import { formTab, middle, visit, type FormTab } from "./workspace";
import { XmlView } from "./xml_view";

/** JMeter saves every element's comments in this property. */
const COMMENTS = "TestPlan.comments";
const NAME = "TestElement.name";
const ENABLED = "TestElement.enabled";
/** Properties that the head of the form shows. */
const IN_HEAD = new Set([COMMENTS, NAME, ENABLED]);
/** The most elements whose values are compared. */
const MOST_COMPARED = 500;

export function Breadcrumbs({ plan }: { plan: Plan }) {
  const above = plan.ancestors(plan.focus.value);
  const node = plan.node(plan.focus.value);
  const { back, forward } = plan.canGo.value;
  return (
    <div class="crumbs">
      <button type="button" class="tool" disabled={!back} aria-label="Go back" title={`Go back (${shownKey(bestKey("back"))})`} onClick={() => run("back")}>
        <Icon name="back" />
      </button>
      <button type="button" class="tool" disabled={!forward} aria-label="Go forward" title={`Go forward (${shownKey(bestKey("forward"))})`} onClick={() => run("forward")}>
        <Icon name="forward" />
      </button>
      <nav aria-label="Path of the element">
        <ol>
          {above.map((each) => (
            <li key={each.id}>
              <button type="button" class="crumb" onClick={() => plan.goTo(each.id)}>
                {each.name || each.type}
              </button>
            </li>
          ))}
          <li aria-current="location">{node?.name || node?.type}</li>
        </ol>
      </nav>
    </div>
  );
}

function Head({ plan, element }: { plan: Plan; element: ElementView }) {
  const node = plan.node(element.node.id) ?? element.node;
  const comments = element.fields.find((field) => field.property === COMMENTS);
  const name = useDraft(node.name, (text) => plan.change("rename", { id: node.id, name: text }));
  const note = useDraft(comments?.value ?? "", (text, join) => plan.change("set", { id: node.id, property: COMMENTS, value: text || null, join }));
  const target = { plan: plan.id, id: node.id };
  return (
    <div class="head">
      <div class="kind-line">
        <Icon name={node.category} />
        <h2>{node.type}</h2>
        <code>{node.class}</code>
        <label class="switch">
          <input type="checkbox" checked={node.enabled} disabled={plan.facts.readOnly} onChange={() => void plan.change("enable", { ids: [node.id], enabled: !node.enabled })} />
          Enabled
        </label>
      </div>
      {element.help && (
        <p class="note about">
          <Prose text={element.help} />
          {element.differs && <> <strong>Unlike JMeter:</strong> <Prose text={element.differs} /></>}
        </p>
      )}
      <div class="field" data-property={NAME}>
        <div class="label">
          <label for="name">Name</label>
        </div>
        <div class="control">
          <CompletedInput target={target} value={name.value} input={{ id: "name", readOnly: plan.facts.readOnly }} onValue={name.type} onLeave={name.leave} onEnter={() => void name.commit()} onEscape={name.discard} />
        </div>
      </div>
      <div class="field" data-property={COMMENTS}>
        <div class="label">
          <label for="comments">Comments</label>
        </div>
        <div class="control">
          <textarea id="comments" rows={Math.min(6, note.value.split("\n").length)} value={note.value} readOnly={plan.facts.readOnly} onInput={(event) => note.type(event.currentTarget.value)} onBlur={note.leave} onKeyDown={(event) => event.key === "Escape" && !note.discard() && document.getElementById("tree")?.focus()} />
        </div>
      </div>
    </div>
  );
}

/** Fields by section, in their order. */
function sections(fields: Field[]): [string, Field[]][] {
  const found = new Map<string, Field[]>();
  // The switch over the parameters sets it.
  const hasBody = fields.some((field) => field.property === PARAMETERS);
  for (const field of fields) {
    if (IN_HEAD.has(field.property) || (hasBody && field.property === IS_BODY && !field.value?.includes("${"))) continue;
    const name = field.section ?? "";
    found.set(name, [...(found.get(name) ?? []), field]);
  }
  return [...found];
}

function Sections({ plan, ids, fields, mixed }: { plan: Plan; ids: Id[]; fields: Field[]; mixed?: Set<string> }) {
  return (
    <>
      {sections(fields).map(([title, within]) => (
        <section key={title} class="section" aria-label={title || "Properties"}>
          {title && !within.some((field) => field.label === title) && <h3>{title}</h3>}
          {within.map((field) => (
            <FieldRow key={`${ids[0]}-${field.property}`} plan={plan} ids={ids} field={field} isMixed={mixed?.has(field.property)} />
          ))}
        </section>
      ))}
    </>
  );
}

function ElementForm({ plan, element }: { plan: Plan; element: ElementView }) {
  const { node, fields } = element;
  const known = new Set(fields.map((field) => field.property));
  const others = (plan.findings.value ?? []).filter((finding) => finding.id === node.id && !(finding.property && known.has(finding.property)));
  return (
    <>
      <Head key={node.id} plan={plan} element={element} />
      {others.map((finding, index) => (
        <FindingNote key={index} finding={finding} />
      ))}
      {element.generic && <p class="note generic">Drumfire has no form for this class. These are its properties in the file; those that you do not change stay as they are.</p>}
      <Curve element={element} />
      <Sections plan={plan} ids={[node.id]} fields={fields} />
    </>
  );
}

/** The fields that all of these elements have, and those whose values differ. */
export function common(elements: ElementView[]): { fields: Field[]; mixed: Set<string> } {
  const [first, ...rest] = elements.map((element) => new Map(element.fields.map((field) => [field.property, field])));
  const mixed = new Set<string>();
  const fields: Field[] = [];
  for (const [property, field] of first ?? []) {
    const others = rest.map((each) => each.get(property));
    // The rows of a table belong to one element.
    if (field.table || others.some((other) => !other || other.kind !== field.kind)) continue;
    const isMixed = others.some((other) => other?.value !== field.value);
    if (isMixed) mixed.add(property);
    fields.push(isMixed ? { ...field, value: field.kind === "code" ? "" : null, findings: [], effective: null } : { ...field, findings: [] });
  }
  return { fields, mixed };
}

function BulkForm({ plan, ids }: { plan: Plan; ids: Id[] }) {
  const elements = useSignal<ElementView[]>([]);
  const compared = ids.slice(0, MOST_COMPARED);
  const version = plan.version.value;
  useEffect(() => {
    let isOld = false;
    callAll<ElementView>(compared.map((id) => ["element", { plan: plan.id, id }])).then(
      (found) => {
        if (!isOld) elements.value = found;
      },
      // An element that went while it was asked for is no trouble of the user's.
      (error) => !isOld && error instanceof RpcError && tell({ text: error.message, hint: error.hint, bad: true }),
    );
    return () => {
      isOld = true;
    };
  }, [ids.join(), version]);
  const { fields, mixed } = common(elements.value);
  const types = [...new Set(ids.map((id) => plan.node(id)?.type))];
  const anyEnabled = ids.some((id) => plan.node(id)?.enabled);
  return (
    <>
      <div class="head">
        <div class="kind-line">
          <h2>{ids.length} elements</h2>
          <span class="types">{types.slice(0, 4).join(", ")}{types.length > 4 ? ", …" : ""}</span>
          <label class="switch">
            <input type="checkbox" checked={anyEnabled} disabled={plan.facts.readOnly} onChange={() => void plan.change("enable", { ids, enabled: !anyEnabled })} />
            Enabled
          </label>
        </div>
        <p class="note">A change here sets the property of all {ids.length} elements. One undo takes it back.</p>
        {ids.length > MOST_COMPARED && <p class="note">The values of the first {MOST_COMPARED} are compared.</p>}
      </div>
      {elements.value.length > 0 && !fields.some((field) => !IN_HEAD.has(field.property)) && <p class="note">The selected elements have no property in common.</p>}
      <Sections plan={plan} ids={ids} fields={fields} mixed={mixed} />
    </>
  );
}

const TABS: [FormTab, string][] = [["form", "Form"], ["result", "Result"], ["xml", "XML"], ["uses", "Uses"]];

function Tabs() {
  const step = (event: KeyboardEvent) => {
    const at = TABS.findIndex(([id]) => id === formTab.value);
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 + TABS.length : -1;
    if (to < 0) return;
    formTab.value = TABS[to % TABS.length][0];
    document.getElementById(`tab-${formTab.value}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views of the element" onKeyDown={step}>
      {TABS.map(([id, title]) => (
        <button type="button" key={id} id={`tab-${id}`} role="tab" aria-selected={formTab.value === id} aria-controls="view" tabIndex={formTab.value === id ? 0 : -1} onClick={() => (formTab.value = id)}>
          {title}
        </button>
      ))}
    </div>
  );
}

/** The most conflicts that are shown at once. */
const MOST_CONFLICTS = 5;

function ConflictBar({ plan }: { plan: Plan }) {
  const conflicts = plan.conflicts.value;
  if (!conflicts.length) return null;
  const take = async (side: "ours" | "theirs") => {
    await plan.change("resolve", { take: side });
    // If that was refused, another tab has chosen before.
    plan.conflicts.value = [];
  };
  return (
    <div class="conflict" role="alert">
      <p>
        <strong>Another program changed settings that you have changed too.</strong> Choose a version; until then the plan cannot be saved.
      </p>
      <table>
        <thead>
          <tr><th scope="col">Setting</th><th scope="col">Here</th><th scope="col">In the file</th></tr>
        </thead>
        <tbody>
          {conflicts.slice(0, MOST_CONFLICTS).map(({ element, setting, ours, theirs, id }, index) => (
            <tr key={index}>
              <th scope="row">
                {id == null ? element : <button type="button" class="link" onClick={() => visit(id, null, plan)}>{plan.node(id)?.name ?? element}</button>}
                <code>{setting}</code>
              </th>
              <td><pre>{ours}</pre></td>
              <td><pre>{theirs}</pre></td>
            </tr>
          ))}
        </tbody>
      </table>
      {conflicts.length > MOST_CONFLICTS && <p class="note">{conflicts.length - MOST_CONFLICTS} more</p>}
      <p class="buttons">
        <button type="button" class="button" onClick={() => void take("ours")}>Keep the version here</button>
        <button type="button" class="button" onClick={() => void take("theirs")}>Take the file's version</button>
        <button type="button" class="button" onClick={() => (middle.value = "conflict")}>Choose value by value…</button>
      </p>
    </div>
  );
}

export function FormPane({ plan }: { plan: Plan }) {
  const view = useRef<HTMLDivElement>(null);
  const element = plan.element.value;
  const ids = [...plan.selected.value];
  const isBulk = ids.length > 1;
  const tab = formTab.value;
  useEffect(() => view.current?.scrollTo(0, 0), [element?.node.id, tab]);
  return (
    <main id="form" class="form-pane" aria-label="Element">
      <Breadcrumbs plan={plan} />
      <ConflictBar plan={plan} />
      {!isBulk && <Tabs />}
      <div ref={view} id="view" class="view" role={isBulk ? undefined : "tabpanel"} aria-labelledby={isBulk ? undefined : `tab-${tab}`} tabIndex={isBulk ? undefined : -1}>
        {isBulk ? <BulkForm plan={plan} ids={ids} /> : !element ? null : tab === "form" ? <ElementForm plan={plan} element={element} /> : tab === "result" ? <ResultView plan={plan} /> : tab === "xml" ? <XmlView key={element.node.id} plan={plan} element={element} /> : <Uses plan={plan} id={element.node.id} />}
      </div>
    </main>
  );
}
