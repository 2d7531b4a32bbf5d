// An opened plan as the page sees it. The program owns the plan; this is a copy of its tree, beside what is open, selected and scrolled.

import { batch, computed, signal, type Signal } from "@preact/signals";
import { call, RpcError } from "./client";
import { STALE, type Change, type Conflict, type ElementView, type Finding, type Id, type Node, type OpenedPlan } from "./protocol";
import { flatten, matches, type Row } from "./rows";
import { tell } from "./tell";

/** A plan with at most this many elements opens with all of its branches open. */
const OPENS_WHOLE = 400;
/** How many levels of a larger plan are open at first. */
const OPEN_LEVELS = 2;
/** The page asks for findings itself if the program has not sent them by then. */
const FINDINGS_MS = 1500;
/** How many places `back` knows. */
const MOST_PLACES = 100;

export type Counts = { error: number; warning: number };

export class Plan {
  readonly id: number;
  readonly nodes = new Map<Id, Node>();
  root: Id = 0;
  revision = 0;
  readonly path: Signal<string>;
  readonly facts: { version: string | null; encoding: string | null; readOnly: boolean };
  /** Counts the changes of the tree. */
  readonly version = signal(0);
  readonly dirty = signal(false);
  readonly canUndo = signal<string | null>(null);
  readonly canRedo = signal<string | null>(null);
  readonly open = signal<ReadonlySet<Id>>(new Set());
  readonly selected = signal<ReadonlySet<Id>>(new Set());
  /** The row with the keyboard's focus; the form shows it. */
  readonly focus = signal<Id>(0);
  /** Where a selection with Shift begins. */
  anchor: Id = 0;
  readonly filter = signal("");
  readonly renaming = signal<Id | null>(null);
  /** Elements that the next paste moves. */
  readonly cut = signal<ReadonlySet<Id>>(new Set());
  readonly findings = signal<Finding[] | null>(null);
  /** What differs from the last commit of git, once the program has told it. */
  readonly marks = signal<ReadonlyMap<Id, "added" | "changed"> | null>(null);
  readonly conflicts = signal<Conflict[]>([]);
  readonly element = signal<ElementView | null>(null);
  private places: Id[] = [];
  private place = -1;
  readonly canGo = signal({ back: false, forward: false });
  private queue: Promise<unknown> = Promise.resolve();
  private findingsTimer = 0;
  private loads = 0;

  constructor(opened: OpenedPlan) {
    this.id = opened.plan;
    this.path = signal(opened.path);
    this.facts = { version: opened.version, encoding: opened.encoding, readOnly: opened.read_only };
    this.take(opened);
    this.open.value = new Set(this.firstOpen());
    this.goTo(opened.root);
    void this.askFindings();
  }

  get name(): string {
    return this.path.value.split(/[\\/]/).pop() ?? this.path.value;
  }

  node(id: Id): Node | undefined {
    return this.nodes.get(id);
  }

  private take(opened: OpenedPlan) {
    this.nodes.clear();
    for (const node of opened.nodes) this.nodes.set(node.id, node);
    this.root = opened.root;
    this.revision = opened.revision;
    batch(() => {
      this.dirty.value = opened.dirty;
      this.canUndo.value = opened.can_undo ?? null;
      this.canRedo.value = opened.can_redo ?? null;
      this.version.value += 1;
    });
  }

  private *firstOpen(): Generator<Id> {
    const isSmall = this.nodes.size <= OPENS_WHOLE;
    for (const node of this.nodes.values()) {
      if (node.children.length && (isSmall || this.ancestors(node.id).length < OPEN_LEVELS)) yield node.id;
    }
  }

  /** The elements above an element, from the root. */
  ancestors(id: Id): Node[] {
    const above: Node[] = [];
    for (let at = this.nodes.get(id)?.parent; at != null; at = this.nodes.get(at)?.parent) {
      const node = this.nodes.get(at);
      if (!node) break;
      above.unshift(node);
    }
    return above;
  }

  private readonly matched = computed(() => {
    this.version.value;
    return matches(this.nodes, this.root, this.filter.value, this.counts.value);
  });

  /** The rows of the tree that are not hidden in a closed branch or by the filter. */
  readonly rows = computed<Row[]>(() => {
    this.version.value;
    return flatten(this.nodes, this.root, this.open.value, this.matched.value);
  });

  /** How many elements the filter's text is in. */
  readonly hits = computed(() => this.matched.value?.hits.size ?? 0);

  isHit(id: Id): boolean {
    return this.matched.value?.hits.has(id) ?? false;
  }

  focusFirstHit() {
    const row = this.rows.value.find((each) => this.isHit(each.id));
    if (row) this.select([row.id], row.id);
  }

  readonly rowOf = computed(() => new Map(this.rows.value.map((row, index) => [row.id, index])));

  /** What each element's row tells of findings: those of the element, and of a closed branch those within. */
  readonly counts = computed<Map<Id, Counts>>(() => {
    this.version.value;
    const counts = new Map<Id, Counts>();
    const found = this.findings.value;
    const add = (id: Id, more: Counts) => {
      const now = counts.get(id) ?? { error: 0, warning: 0 };
      counts.set(id, { error: now.error + more.error, warning: now.warning + more.warning });
    };
    if (found) for (const { id, severity } of found) add(id, { error: Number(severity === "error"), warning: Number(severity === "warning") });
    else for (const node of this.nodes.values()) if (node.findings.error || node.findings.warning) add(node.id, node.findings);
    return counts;
  });

  readonly countsWithin = computed<Map<Id, Counts>>(() => {
    const within = new Map<Id, Counts>();
    for (const [id, own] of this.counts.value) {
      for (const { id: above } of this.ancestors(id)) {
        const now = within.get(above) ?? { error: 0, warning: 0 };
        within.set(above, { error: now.error + own.error, warning: now.warning + own.warning });
      }
    }
    return within;
  });

  /** The selected elements in the tree's order, without those that are within another. */
  chosen(): Id[] {
    const chosen = this.selected.value;
    const ids = [...chosen].filter((id) => this.nodes.has(id) && !this.ancestors(id).some((above) => chosen.has(above.id)));
    if (ids.length < 2) return ids;
    const order = this.order();
    return ids.sort((a, b) => order.get(a)! - order.get(b)!);
  }

  /** Each element's position from the top of the plan. */
  order(): Map<Id, number> {
    const order = new Map<Id, number>();
    const visit = (id: Id) => {
      order.set(id, order.size);
      this.nodes.get(id)?.children.forEach(visit);
    };
    visit(this.root);
    return order;
  }

  select(ids: Iterable<Id>, focus: Id, anchor = focus) {
    batch(() => {
      this.selected.value = new Set(ids);
      this.focus.value = focus;
    });
    this.anchor = anchor;
    if (this.place >= 0) this.places[this.place] = focus;
  }

  /** Selects the rows from the anchor to this one. */
  selectTo(id: Id) {
    const from = this.rowOf.value.get(this.anchor) ?? 0;
    const to = this.rowOf.value.get(id) ?? from;
    const rows = this.rows.value.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.select(rows.map((row) => row.id), id, this.anchor);
  }

  /** Selects an element, opens the branches above it, and remembers where the user came from. */
  goTo(id: Id) {
    if (!this.nodes.has(id)) return;
    const isOther = this.places[this.place] !== id;
    if (isOther) {
      this.places = [...this.places.slice(Math.max(0, this.place + 2 - MOST_PLACES), this.place + 1), id];
      this.place = this.places.length - 1;
    }
    this.show(id);
  }

  private show(id: Id) {
    const closed = this.ancestors(id).filter((node) => !this.open.value.has(node.id));
    batch(() => {
      if (closed.length) this.open.value = new Set([...this.open.value, ...closed.map((node) => node.id)]);
      if (this.filter.value && !this.rowOf.value.has(id)) this.filter.value = "";
      this.select([id], id);
      this.canGo.value = { back: this.place > 0, forward: this.place < this.places.length - 1 };
    });
  }

  /** Goes to the place before or after, past those that were removed. */
  travel(step: 1 | -1) {
    let to = this.place + step;
    while (to >= 0 && to < this.places.length && !this.nodes.has(this.places[to])) to += step;
    if (to < 0 || to >= this.places.length) return;
    this.place = to;
    this.show(this.places[to]);
  }

  /** Opens or closes branches. */
  fold(ids: Iterable<Id>, isOpen: boolean) {
    const open = new Set(this.open.value);
    for (const id of ids) if (isOpen) open.add(id); else open.delete(id);
    this.open.value = open;
  }

  /** Takes a change, which may be known already: the answer to a request and a notification may tell of the same one. */
  apply(change: Change) {
    if (change.revision <= this.revision) return;
    // A change between is on its way, and would then be taken for an old one.
    if (change.revision > this.revision + 1) return void this.reload();
    const focused = this.nodes.get(this.focus.value);
    // A change outside may replace an element by one that only differs in its settings.
    const likeIt = change.nodes.find((node) => !this.nodes.has(node.id) && node.name === focused?.name && node.class === focused.class);
    const [own, ...beside] = this.neighbours(this.focus.value);
    const focusBefore = [own, ...(likeIt ? [likeIt.id] : []), ...beside];
    batch(() => {
      for (const id of change.removed) this.nodes.delete(id);
      for (const node of change.nodes) this.nodes.set(node.id, node);
      this.revision = change.revision;
      this.dirty.value = change.dirty;
      this.canUndo.value = change.can_undo;
      this.canRedo.value = change.can_redo;
      this.version.value += 1;
      this.keepSelection(focusBefore);
      if (change.findings) this.findings.value = change.findings;
    });
    if (!change.findings) this.expectFindings();
    if (this.element.value && change.nodes.some((node) => node.id === this.focus.value)) void this.loadElement();
  }

  /** Where the focus goes if its element is removed: the next one, the one before, the parent. */
  private neighbours(id: Id): Id[] {
    const parent = this.nodes.get(this.nodes.get(id)?.parent ?? -1);
    const at = parent?.children.indexOf(id) ?? -1;
    const beside = parent ? [...parent.children.slice(at + 1), ...parent.children.slice(0, Math.max(at, 0)).reverse()] : [];
    return [id, ...beside, ...this.ancestors(id).map((node) => node.id).reverse(), this.root];
  }

  private keepSelection(candidates: Id[]) {
    const kept = [...this.selected.value].filter((id) => this.nodes.has(id));
    const focus = candidates.find((id) => this.nodes.has(id)) ?? this.root;
    if (focus !== this.focus.value || kept.length !== this.selected.value.size) this.select(kept.includes(focus) ? kept : [focus], focus);
    if (this.cut.value.size) this.cut.value = new Set([...this.cut.value].filter((id) => this.nodes.has(id)));
  }

  /** Requests a change, after those requested before. Tells the user if the program refuses it. */
  change(method: string, params: object): Promise<Change | null> {
    const made = this.queue.then(async () => {
      try {
        const change = await call<Change>(method, { plan: this.id, revision: this.revision, ...params });
        this.apply(change);
        return change;
      } catch (error) {
        await this.refused(error);
        return null;
      }
    });
    this.queue = made;
    return made;
  }

  /** Resolves when the changes requested so far are answered. */
  settled(): Promise<unknown> {
    return this.queue;
  }

  private async refused(error: unknown) {
    if (!(error instanceof RpcError)) throw error;
    tell({ text: error.message, hint: error.hint, bad: true });
    if (error.code === STALE) await this.reload();
  }

  /** Takes the program's tree anew: the page missed changes, or asked for one that no longer fits. */
  async reload() {
    const focus = this.neighbours(this.focus.value);
    const opened = await call<OpenedPlan>("tree", { plan: this.id });
    batch(() => {
      this.take(opened);
      this.keepSelection(focus);
    });
    await Promise.all([this.loadElement(), this.askFindings()]);
  }

  private expectFindings() {
    clearTimeout(this.findingsTimer);
    this.findingsTimer = window.setTimeout(() => void this.askFindings(), FINDINGS_MS);
  }

  private async askFindings() {
    try {
      this.takeFindings(await call<Finding[]>("findings", { plan: this.id }));
    } catch {
      // The counts of the nodes stay; the next change asks again.
    }
  }

  takeFindings(findings: Finding[]) {
    clearTimeout(this.findingsTimer);
    this.findings.value = findings;
  }

  /** Requests what the form shows of the focused element. */
  async loadElement() {
    const id = this.focus.value;
    if (!this.nodes.has(id)) return;
    this.loads += 1;
    const load = this.loads;
    try {
      const element = await call<ElementView>("element", { plan: this.id, id });
      // An answer to an earlier request may be older.
      if (load === this.loads) this.element.value = element;
    } catch (error) {
      // The element went while it was asked for; the change that took it is on its way.
      if (error instanceof RpcError && error.code !== STALE) tell({ text: error.message, hint: error.hint, bad: true });
    }
  }
}
