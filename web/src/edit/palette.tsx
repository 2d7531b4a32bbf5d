// The palette: everything that can be done, inserted here or gone to, found by a few letters of it.

import { byLengthAsc, byStartAsc, Fzf } from "fzf";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ACTIONS, insert, offers, run, type Offer } from "./actions";
import { call } from "./client";
import { Icon } from "./icons";
import { bestKey, shownKey } from "./keys";
import type { Plan } from "./plan";
import type { Change, Insertable, Node } from "./protocol";
import { active, files, openPlan, overlay, type Overlay } from "./workspace";
import { ModalBox } from "./modal";

interface Item {
  key: string;
  title: string;
  detail: string;
  icon?: string;
  shortcut?: string;
  group: string;
  /** Gives a question to ask first. */
  run: () => unknown;
}

const MOST_SHOWN = 80;

const TITLES: Record<string, string> = {
  palette: "Find an action, an element to insert or an element of the plan",
  insert: "Insert an element here",
  wrap: "Insert a parent around the selection",
  type: "Change the element's type",
  nodes: "Go to an element",
  files: "Open a plan: type its path, or choose one",
};

const actionItems = (): Item[] =>
  ACTIONS.filter((action) => action.id !== "palette" && (action.can?.() ?? true)).map((action) => ({
    key: `action-${action.id}`,
    title: action.title,
    detail: "",
    group: "Actions",
    shortcut: shownKey(bestKey(action.id)),
    run: () => run(action.id),
  }));

const nodeItems = (plan: Plan): Item[] =>
  [...plan.nodes.values()].map((node) => ({ key: `node-${node.id}`, title: node.name || "(no name)", detail: node.type, icon: node.category, group: "Elements of the plan", run: () => plan.goTo(node.id) }));

const kindItems = (found: Insertable[], act: (each: Insertable) => unknown): Item[] =>
  found.map((each) => ({ key: `class-${each.class}-${each.type}`, title: each.type, detail: each.category, icon: each.category, group: each.category, run: () => act(each) }));

function insertItem({ kind, place, behind }: Offer, prefix: string): Item {
  const group = behind == null ? kind.category : `Behind ${behind}`;
  return { key: `class-${kind.class}-${kind.type}`, title: prefix + kind.type, detail: behind == null ? kind.category : `${kind.category}, behind ${behind}`, icon: kind.category, group, run: () => insert(kind, place) };
}

const fileItems = (): Item[] => files.value.filter((file) => file.plan == null).map((file) => ({ key: file.path, title: file.name, detail: file.path, icon: "Test Plan", group: "Plans in the opened folders", run: () => openPlan(file.path) }));

/** What may replace or hold an element: classes of the menu of `category` that may stand where the element stands. */
const ofKind = (found: Insertable[], node: Node, isWrap: boolean) =>
  found.filter((each) => (isWrap ? ["Logic Controller", "Test Fragment", "Threads (Users)"].includes(each.category) : each.category === node.category && each.class !== node.class));

/** The choices of a mode, and whether more of them are on their way. */
function useItems(mode: NonNullable<Overlay>, ask: (question: TypeQuestion) => void) {
  const items = useSignal<Item[]>([]);
  const isLoading = useSignal(false);
  const fill = (coming: Promise<Item[]>) => {
    isLoading.value = true;
    void coming.then((found) => (items.value = found)).finally(() => (isLoading.value = false));
  };
  useEffect(() => {
    const plan = active.value;
    if (mode === "files" || !plan) {
      items.value = mode === "files" ? fileItems() : actionItems();
      return;
    }
    const node = plan.node(plan.focus.value)!;
    const isAround = mode === "wrap" || mode === "type";
    const fixed = mode === "palette" ? [...actionItems(), ...nodeItems(plan)] : mode === "nodes" ? nodeItems(plan) : [];
    items.value = fixed;
    if (mode === "nodes") return;
    if (!isAround) {
      fill(offers().then((found) => {
        const toInsert = (prefix: string) => found.map((offer) => insertItem(offer, prefix));
        return mode === "insert" ? toInsert("") : [...actionItems(), ...toInsert("Insert "), ...nodeItems(plan)];
      }));
      return;
    }
    fill(call<Insertable[]>("palette", { plan: plan.id, parent: node.parent ?? node.id }).then((found) =>
      mode === "wrap"
        ? kindItems(ofKind(found, node, true), (each) => wrap(plan, each))
        : kindItems(ofKind(found, node, false), async (each) => ask({ node, to: each, ...(await preview(plan, node, each)) }))));
  }, [mode]);
  return { items: items.value, isLoading: isLoading.value };
}

async function wrap(plan: Plan, each: Insertable) {
  const change = await plan.change("wrap", { ids: plan.chosen().filter((id) => id !== plan.root), class: each.class });
  const made = change?.created?.[0];
  if (made != null) {
    plan.goTo(made);
    plan.fold([made], true);
  }
}

interface TypeQuestion {
  node: Node;
  to: Insertable;
  kept: string[];
  lost: string[];
}

const preview = (plan: Plan, node: Node, to: Insertable) => call<{ kept: string[]; lost: string[] }>("change_type", { plan: plan.id, id: node.id, class: to.class, preview: true, revision: plan.revision });

/** Lists what a change of type keeps and loses, before it is made. */
function TypeDialog({ question, close }: { question: TypeQuestion; close: () => void }) {
  const { node, to, kept, lost } = question;
  const change = async () => {
    close();
    await active.value!.change("change_type", { id: node.id, class: to.class, preview: false }).then((made: Change | null) => made?.created?.[0] != null && active.value!.goTo(made.created[0]));
  };
  const list = (title: string, properties: string[]) => (
    <div>
      <h3>{title}</h3>
      {properties.length ? <ul>{properties.map((property) => <li key={property}><code>{property}</code></li>)}</ul> : <p class="note">Nothing</p>}
    </div>
  );
  return (
    <ModalBox title={`${node.name}: ${node.type} becomes ${to.type}`} close={close}>
      <div class="kept-lost">
        {list("Kept", kept)}
        {list("Lost", lost)}
      </div>
      <p class="buttons">
        <button type="button" class="button main" onClick={() => void change()}>Change the type</button>
        <button type="button" class="button" onClick={close}>Cancel</button>
      </p>
    </ModalBox>
  );
}

function Marked({ title, positions }: { title: string; positions: Set<number> }) {
  return <>{[...title].map((letter, index) => (positions.has(index) ? <b key={index}>{letter}</b> : letter))}</>;
}

function Chooser({ mode, ask, close }: { mode: NonNullable<Overlay>; ask: (question: TypeQuestion) => void; close: () => void }) {
  const { items, isLoading } = useItems(mode, ask);
  /** Enter was pressed before there was a choice; the first one that comes is meant. */
  const isAwaited = useRef(false);
  const text = useSignal("");
  const at = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const finder = useMemo(() => new Fzf(items, { selector: (item) => `${item.title} ${item.detail}`, limit: MOST_SHOWN, casing: "case-insensitive", tiebreakers: [byLengthAsc, byStartAsc] }), [items]);
  const found = text.value.trim() ? finder.find(text.value.trim()) : items.slice(0, mode === "palette" ? ACTIONS.length : MOST_SHOWN).map((item) => ({ item, positions: new Set<number>() }));
  useLayoutEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at.value, text.value]);
  const choose = (item: Item | undefined) => {
    if (!item && mode === "files" && text.value.trim()) {
      close();
      return void openPlan(text.value.trim());
    }
    isAwaited.current = !item && isLoading;
    if (!item) return;
    close();
    void item.run();
  };
  useLayoutEffect(() => {
    if (isAwaited.current && found.length) choose(found[at.value]?.item);
  }, [items]);
  const onKey = (event: KeyboardEvent) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in step) at.value = Math.max(0, Math.min(found.length - 1, at.value + step[event.key]));
    else if (event.key === "Enter") choose(found[at.value]?.item);
    else return;
    event.preventDefault();
  };
  return (
    <ModalBox title={TITLES[mode]} close={close} isPalette>
      <input
        class="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={found.length ? `palette-${at.value}` : undefined}
        aria-label={TITLES[mode]}
        placeholder={TITLES[mode]}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
          isAwaited.current = false;
        }}
        onKeyDown={onKey}
      />
      <ul ref={list} id="palette-list" class="palette-list" role="listbox" aria-label="Choices">
        {found.map(({ item, positions }, index) => [
          !text.value && item.group !== found[index - 1]?.item.group && (
            <li key={item.group} class="group" role="presentation">
              {item.group}
            </li>
          ),
          <li key={item.key} id={`palette-${index}`} role="option" aria-selected={index === at.value} onMouseMove={() => (at.value = index)} onClick={() => choose(item)}>
            {item.icon ? <Icon name={item.icon} /> : <span class="icon" />}
            <span class="title"><Marked title={item.title} positions={positions} /></span>
            {(text.value || item.detail !== item.group) && <small>{item.detail}</small>}
            {item.shortcut && <kbd>{item.shortcut}</kbd>}
          </li>,
        ])}
        {!found.length && <li class="none" role="option" aria-selected="false">{mode === "files" && text.value ? "Press Enter to open this path" : "Nothing matches"}</li>}
      </ul>
    </ModalBox>
  );
}

export function Palette() {
  const question = useSignal<TypeQuestion | null>(null);
  const mode = overlay.value;
  const close = () => (overlay.value = null);
  return (
    <>
      {mode && mode !== "help" && <Chooser key={mode} mode={mode} ask={(asked) => (question.value = asked)} close={close} />}
      {question.value && <TypeDialog question={question.value} close={() => (question.value = null)} />}
    </>
  );
}
