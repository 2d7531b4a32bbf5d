// New plans and elements from templates: own ones, and those of the user's JMeter.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "./client";
import { Prose } from "./fields";
import { ModalBox } from "./modal";
import type { OpenedPlan, TemplateEntry } from "./protocol";
import { refused } from "./runs";
import { isInEditor } from "./transport";
import { active, openPlan } from "./workspace";

const isOpen = signal(false);

export const openTemplates = () => (isOpen.value = true);
const close = () => (isOpen.value = false);

export function TemplateDialog() {
  return isOpen.value ? <Dialog /> : null;
}

const GROUPS = ["Plans", "Elements for the selected element", "Of your JMeter"] as const;
const groupOf = ({ user, part }: TemplateEntry) => GROUPS[user ? 2 : part ? 1 : 0];

const has = ({ name, about, like }: TemplateEntry, word: string) => `${name} ${about} ${like}`.toLowerCase().includes(word.trim().toLowerCase());

/** The name of a file that no opened folder has to have. */
const fileOf = (name: string) => `${name.replace(/[^\w.-]+/g, "-").toLowerCase()}.jmx`;

function List({ all, chosen, choose, goOn }: { all: TemplateEntry[]; chosen: TemplateEntry | null; choose: (entry: TemplateEntry) => void; goOn: () => void }) {
  const [word, setWord] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const found = all.filter((each) => has(each, word));
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen, word]);
  const onKey = (event: KeyboardEvent) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 6, PageUp: -6 };
    if (event.key === "Enter") goOn();
    else if (event.key in step && found.length) choose(found[Math.max(0, Math.min(found.length - 1, (chosen ? found.indexOf(chosen) : -1) + step[event.key]))]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="function-list">
      <input
        autofocus
        role="combobox"
        aria-label="Find a template"
        placeholder="Find a template"
        aria-expanded="true"
        aria-controls="templates"
        aria-autocomplete="list"
        aria-activedescendant={chosen && found.includes(chosen) ? `template-${all.indexOf(chosen)}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={word}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setWord(typed);
          const first = all.find((each) => has(each, typed));
          if (first && (!chosen || !has(chosen, typed))) choose(first);
        }}
        onKeyDown={onKey}
      />
      <ul ref={list} id="templates" class="templates" role="listbox" aria-label="Templates">
        {found.map((each, index) => [
          groupOf(each) !== (found[index - 1] && groupOf(found[index - 1])) && <li key={groupOf(each)} class="group" role="presentation">{groupOf(each)}</li>,
          <li key={`${each.user} ${each.name}`} id={`template-${all.indexOf(each)}`} role="option" aria-selected={each === chosen} onClick={() => choose(each)}>
            <strong>{each.name}</strong>
            <small>{each.about}</small>
          </li>,
        ])}
        {all.length > 0 && !found.length && <li class="note" role="option" aria-selected="false">Nothing matches</li>}
      </ul>
    </div>
  );
}

function Dialog() {
  const [all, setAll] = useState<TemplateEntry[]>([]);
  const [chosen, setChosen] = useState<TemplateEntry | null>(null);
  useEffect(() => {
    call<TemplateEntry[]>("templates", {}).then(
      (found) => {
        // An editor that shows the page makes its files itself.
        const offered = found.filter((each) => each.part || !isInEditor);
        const sorted = GROUPS.flatMap((group) => offered.filter((each) => groupOf(each) === group));
        setAll(sorted);
        setChosen(sorted[0] ?? null);
      },
      (error) => (close(), refused(error)),
    );
  }, []);
  const goOn = () => document.querySelector<HTMLElement>(".template-form input")?.focus();
  return (
    <ModalBox title="New from a template" close={close}>
      <div class="function-helper">
        <List all={all} chosen={chosen} choose={setChosen} goOn={goOn} />
        {chosen && <Values key={`${chosen.user} ${chosen.name}`} chosen={chosen} />}
      </div>
    </ModalBox>
  );
}

function Values({ chosen }: { chosen: TemplateEntry }) {
  const [path, setPath] = useState(() => fileOf(chosen.name));
  const [values, setValues] = useState<Record<string, string>>({});
  const plan = active.value;
  const isPart = chosen.part && plan != null;
  const make = async () => {
    try {
      if (isPart) {
        const node = plan.node(plan.focus.value)!;
        plan.fold([node.id], true);
        close();
        const change = await plan.change("insert_template", { parent: node.id, template: chosen.name, values });
        const created = change?.created?.find((id) => plan.node(id));
        if (created != null) plan.goTo(created);
      } else {
        const { path: made } = await call<OpenedPlan>("new_plan", { path: path.trim(), template: chosen.name, values });
        close();
        await openPlan(made);
      }
    } catch (error) {
      refused(error);
    }
  };
  return (
    <form
      aria-label={chosen.name}
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <div class="function-form template-form">
        <h3>{chosen.name}</h3>
        <p class="note">
          {chosen.about}.
          {chosen.like && ` Of the kind of JMeter’s “${chosen.like.trim()}”.`}
          {chosen.needs && <> It needs <Prose text={chosen.needs} />.</>}
        </p>
        {!isPart && (
          <div class="field argument">
            <div class="label">
              <label for="template-path">File in the opened folder</label>
              <small class="required">required</small>
            </div>
            <div class="control"><input id="template-path" value={path} required spellcheck={false} onInput={(event) => setPath(event.currentTarget.value)} /></div>
          </div>
        )}
        {chosen.parameters.map(({ name, about, value }) => (
          <div class="field argument" key={name}>
            <div class="label"><label for={`template-${name}`}>{name}</label></div>
            <div class="control">
              <input id={`template-${name}`} {...({ type: /password/i.test(name) ? "password" : "text" } as object)} autocomplete="off" spellcheck={false} value={values[name] ?? value} aria-describedby={about ? `template-${name}-about` : undefined} onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })} />
              {about && <p id={`template-${name}-about`} class="note"><Prose text={about} /></p>}
            </div>
          </div>
        ))}
      </div>
      <p class="buttons">
        <button type="submit" class="button main">{isPart ? "Insert" : "Make the plan"}</button>
        <button type="button" class="button" onClick={close}>Cancel</button>
      </p>
    </form>
  );
}
