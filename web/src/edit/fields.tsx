// The fields of a form: one control for each kind of property, and below it what is inherited, found and explained.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { fix } from "./actions";
import { Code, SHORT } from "./code";
import { CompletedInput } from "./complete";
import { ConditionBuilder, isCondition } from "./condition";
import { useDraft } from "./draft";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Field, Finding, Id } from "./protocol";
import { BodyField, BodySwitch, fits, IS_BODY, isInLine, PARAMETERS, SPECIAL } from "./special";
import { TableField } from "./table_field";
import { openPlan, visit, wantedField } from "./workspace";

/** A field of one element, or the same one of many. */
export interface FieldProps {
  plan: Plan;
  ids: Id[];
  field: Field;
  /** Whether the elements have different values. */
  isMixed?: boolean;
}

interface ControlProps extends FieldProps {
  isReadOnly: boolean;
  inputId: string;
  describedBy: string;
  set: (value: string | null, join?: boolean) => Promise<unknown>;
}

/** The value that acts if the property is not in the file. */
const inherited = (field: Field) => field.effective?.value ?? field.default ?? "";

const isExpression = (text: string | null) => text != null && text.includes("${");

function TextControl({ plan, ids, field, isMixed, inputId, describedBy, set, type, isReadOnly }: ControlProps & { type?: string }) {
  const draft = useDraft(field.value ?? "", (text, join) => set(text, join));
  const isNumber = field.kind === "number" || field.kind === "whole";
  const isWrong = isNumber && draft.value !== "" && !isExpression(draft.value) && !Number.isFinite(Number(draft.value));
  return (
    <>
      <CompletedInput
        target={{ plan: plan.id, id: ids[0] }}
        value={draft.value}
        isLong={!type && (field.value ?? "").includes("\n")}
        choices={field.kind === "choice" ? undefined : field.choices?.map((choice) => choice.value)}
        input={{
          id: inputId,
          type: type ?? "text",
          class: isNumber ? "number" : "",
          placeholder: isMixed ? "several values" : inherited(field),
          "aria-describedby": describedBy,
          "aria-invalid": isWrong || field.findings.some((finding) => finding.severity === "error"),
          inputMode: undefined,
          readOnly: isReadOnly,
        }}
        onValue={draft.type}
        onLeave={draft.leave}
        onEnter={() => void draft.commit()}
        onEscape={draft.discard}
      />
      {isWrong && <p class="note bad">“{draft.value}” is neither a number nor an expression</p>}
    </>
  );
}

/** A button that turns a control into a text, for an expression such as `${__P(secure)}`. */
function AsText({ isText, toggle }: { isText: boolean; toggle: () => void }) {
  return (
    <button type="button" class={`tool ${isText ? "on" : ""}`} aria-pressed={isText} title="Write an expression" aria-label="Write an expression" onClick={toggle}>
      <Icon name="expression" />
    </button>
  );
}

function FlagControl(props: ControlProps) {
  const { field, inputId, describedBy, set, isMixed, isReadOnly } = props;
  const text = field.value ?? inherited(field);
  const isOther = !["true", "false", ""].includes(text);
  const [asText, setAsText] = useState(isOther);
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = isMixed ?? false;
  });
  const isText = asText || isOther;
  // The box keeps what was chosen until the program has answered.
  const draft = useDraft(text, (chosen) => set(chosen));
  const choose = (chosen: boolean) => {
    draft.type(String(chosen));
    draft.leave();
  };
  return (
    <span class="with-tool">
      {isText ? (
        <TextControl {...props} />
      ) : (
        <input ref={box} id={inputId} type="checkbox" checked={draft.value === "true"} aria-describedby={describedBy} disabled={isReadOnly} onChange={(event) => choose(event.currentTarget.checked)} />
      )}
      {!isOther && <AsText isText={isText} toggle={() => setAsText(!asText)} />}
    </span>
  );
}

function ChoiceControl(props: ControlProps) {
  const { field, inputId, describedBy, set, isMixed, isReadOnly } = props;
  const choices = field.choices ?? [];
  const isOther = field.value != null && !choices.some((choice) => choice.value === field.value);
  const [asText, setAsText] = useState(false);
  const isText = asText || (isOther && isExpression(field.value));
  const labelOf = (value: string) => choices.find((choice) => choice.value === value)?.label || value;
  const NONE = "\0none";
  return (
    <span class="with-tool">
      {isText ? (
        <TextControl {...props} />
      ) : (
        <select id={inputId} aria-describedby={describedBy} disabled={isReadOnly} value={isMixed || field.value == null ? NONE : field.value} onChange={(event) => event.currentTarget.value !== NONE && void set(event.currentTarget.value)}>
          {(isMixed || field.value == null) && <option value={NONE}>{isMixed ? "several values" : labelOf(inherited(field)) || "(not set)"}</option>}
          {isOther && <option value={field.value!}>{field.value}</option>}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label || choice.value || "(empty)"}
            </option>
          ))}
        </select>
      )}
      <AsText isText={isText} toggle={() => setAsText(!asText)} />
    </span>
  );
}

function CodeControl({ plan, ids, field, set, isMixed, isReadOnly }: ControlProps) {
  const draft = useDraft(field.value ?? "", (text, join) => set(text, join));
  return (
    <>
      {isMixed && <p class="note">The elements have several values; typing replaces them all</p>}
      <Code label={field.label} language={field.language ?? ""} value={draft.value} target={{ plan: plan.id, id: ids[0] }} isReadOnly={isReadOnly} onValue={draft.type} onLeave={draft.leave} />
    </>
  );
}

function FileControl(props: ControlProps) {
  const { file } = props.field;
  const isKnown = file && (props.field.value ?? "") !== "" && !isExpression(props.field.value);
  return (
    <>
      <TextControl {...props} />
      {isKnown && (
        <p class={`note ${file.exists ? "good" : "bad"}`}>
          {file.exists ? "Found" : "Not found"}: <code>{file.path}</code>
          {file.exists && file.path.endsWith(".jmx") && (
            <button type="button" class="fix" onClick={() => void openPlan(file.path)}>
              Open the plan
            </button>
          )}
        </p>
      )}
      {isKnown && file.exists && file.first.length > 0 && (
        <pre class="first-rows" tabIndex={0} aria-label={`First rows of ${file.path}`}>
          {file.first.join("\n")}
        </pre>
      )}
    </>
  );
}

function SecretControl(props: ControlProps) {
  const [isShown, setIsShown] = useState(false);
  return (
    <span class="with-tool">
      <TextControl {...props} type={isShown ? "text" : "password"} />
      <button type="button" class={`tool ${isShown ? "on" : ""}`} aria-pressed={isShown} aria-label={`Show ${props.field.label}`} title="Show" onClick={() => setIsShown(!isShown)}>
        <Icon name="eye" />
      </button>
    </span>
  );
}

function Control(props: ControlProps) {
  if (props.field.secret) return <SecretControl {...props} />;
  switch (props.field.kind) {
    case "flag":
      return <FlagControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} />;
    case "code":
      return <CodeControl {...props} />;
    case "file":
      return <FileControl {...props} />;
    case "secret":
      return <SecretControl {...props} />;
    default:
      return <TextControl {...props} />;
  }
}

/** A message whose parts between backticks are code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

export function FindingNote({ finding, children }: { finding: Finding; children?: ComponentChildren }) {
  return (
    <div class={`finding ${finding.severity}`}>
      <Icon name={finding.severity} />
      <div>
        <span class="hidden">{finding.severity}: </span>
        <Prose text={finding.message} />
        {finding.hint && (
          <small>
            <Prose text={finding.hint} />
          </small>
        )}
        {children}
        {finding.fixes?.map((each) => (
          <button type="button" class="fix" key={each.title} onClick={() => void fix(each.ops)}>
            <Prose text={each.title} />
          </button>
        ))}
      </div>
    </div>
  );
}

function Inherited({ field, plan }: { field: Field; plan: Plan }) {
  if (field.value != null && field.value !== "") return null;
  if (!field.effective) return null;
  const { from, name, value } = field.effective;
  return (
    <p class="note">
      {field.kind === "code" && <code>{value}</code>} from{" "}
      <button type="button" class="link" onClick={() => visit(from, field.property, plan)}>
        {name}
      </button>
    </p>
  );
}

export function FieldRow({ plan, ids, field, isMixed }: FieldProps) {
  const key = useId();
  const [isExplained, setIsExplained] = useState(false);
  const row = useRef<HTMLDivElement>(null);
  const set = (value: string | null, join = false) => plan.change("set", { ...(ids.length === 1 ? { id: ids[0] } : { ids }), property: field.property, value, join });
  const isWanted = wantedField.value === field.property;
  useLayoutEffect(() => {
    if (!isWanted) return;
    wantedField.value = null;
    row.current!.scrollIntoView({ block: "center" });
    row.current!.querySelector<HTMLElement>("input, textarea, select, .cm-content")?.focus();
  }, [isWanted]);
  const isTable = field.table != null;
  const isInOneLine = isInLine(field.property) && fits(field) && !isMixed;
  const isWide = !isInOneLine && (isTable || (field.kind === "code" && !SHORT.has(field.language ?? "")));
  const isCode = field.kind === "code";
  const describedBy = `${key}-notes`;
  const isReadOnly = plan.facts.readOnly || (field.read_only ?? false);
  const special = { plan, id: ids[0], field, label: field.label, inputId: key, isReadOnly, set };
  // Parameters of an HTTP request are its body if the request says so.
  const raw = field.property === PARAMETERS ? plan.element.value?.fields.find((each) => each.property === IS_BODY) : undefined;
  const isSent = raw != null && !isExpression(raw.value);
  const isBody = isSent && (raw.value ?? raw.default) === "true";
  const Special = isBody ? BodyField : isInOneLine ? SPECIAL[field.property] : null;
  return (
    <div ref={row} class={`field ${isWide ? "wide" : ""} ${field.value == null && !isTable ? "absent" : ""}`} data-property={field.property}>
      <div class="label">
        {isWide || isCode ? <span id={`${key}-label`} class={isSent ? "hidden" : undefined}>{field.label}</span> : <label for={key}>{field.label}</label>}
        {isSent && <BodySwitch plan={plan} id={ids[0]} isBody={isBody} />}
        {field.help && (
          <button type="button" class="tool quiet" aria-expanded={isExplained} aria-label={`Help on ${field.label}`} title={field.help} onClick={() => setIsExplained(!isExplained)}>
            <Icon name="help" />
          </button>
        )}
        {field.value != null && !isTable && !isReadOnly && (
          <button type="button" class="tool quiet" aria-label={`Reset ${field.label} to its default`} title={`Take ${field.property} out of the file`} onClick={() => void set(null)}>
            <Icon name="reset" />
          </button>
        )}
      </div>
      <div class="control" role={isCode ? "group" : undefined} aria-labelledby={isCode ? `${key}-label` : undefined}>
        {Special ? <Special {...special} /> : isTable ? <TableField plan={plan} id={ids[0]} field={field} label={field.label} isReadOnly={isReadOnly} /> : <Control plan={plan} ids={ids} field={field} isMixed={isMixed} inputId={key} describedBy={describedBy} set={set} isReadOnly={isReadOnly} />}
        {isCondition(field.property) && ids.length === 1 && <ConditionBuilder plan={plan} id={ids[0]} field={field} isReadOnly={isReadOnly} set={set} />}
        <div id={describedBy} class="notes">
          <Inherited field={field} plan={plan} />
          {field.findings.map((finding, index) => (
            <FindingNote key={index} finding={finding} />
          ))}
          {isExplained && (
            <p class="note help">
              {field.help} <code>{field.property}</code>
            </p>
          )}
        </div>
      </div>
    </div>
  );
}
