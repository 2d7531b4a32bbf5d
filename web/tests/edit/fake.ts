// A small program that speaks the editor's protocol over a plan in memory, for tests of the page alone: at sizes, states and
// refusals that the real program does not give on demand. `drumfire edit` itself is tested in edit.spec.ts.

import { createServer, type Server, type ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AddressInfo } from "node:net";

interface El {
  id: number;
  parent: number | null;
  children: number[];
  class: string;
  name: string;
  enabled: boolean;
  props: Record<string, string>;
  tables: Record<string, string[][]>;
}

type Params = Record<string, any>;

const TYPES: Record<string, [type: string, category: string]> = {
  TestPlan: ["Test Plan", "Test Plan"],
  ThreadGroup: ["Thread Group", "Threads (Users)"],
  HTTPSamplerProxy: ["HTTP Request", "Sampler"],
  DebugSampler: ["Debug Sampler", "Sampler"],
  ConfigTestElement: ["HTTP Request Defaults", "Config Element"],
  HeaderManager: ["HTTP Header Manager", "Config Element"],
  Arguments: ["User Defined Variables", "Config Element"],
  CSVDataSet: ["CSV Data Set Config", "Config Element"],
  AuthManager: ["HTTP Authorization Manager", "Config Element"],
  ConstantTimer: ["Constant Timer", "Timer"],
  RegexExtractor: ["Regular Expression Extractor", "Post Processors"],
  JSR223PostProcessor: ["JSR223 PostProcessor", "Post Processors"],
  JSR223PreProcessor: ["JSR223 PreProcessor", "Pre Processors"],
  ResponseAssertion: ["Response Assertion", "Assertions"],
  IfController: ["If Controller", "Logic Controller"],
  LoopController: ["Loop Controller", "Logic Controller"],
  TransactionController: ["Transaction Controller", "Logic Controller"],
  TestFragmentController: ["Test Fragment", "Test Fragment"],
  ModuleController: ["Module Controller", "Logic Controller"],
  IncludeController: ["Include Controller", "Logic Controller"],
  ResultCollector: ["View Results Tree", "Listener"],
  "com.example.Foreign": ["Foreign", "Sampler"],
};

interface Fact { property: string; label: string; kind: string; section?: string; default?: string; help?: string; language?: string; choices?: { value: string; label: string }[]; columns?: { property: string; label: string; kind: string }[] }

const HTTP: Fact[] = [
  { property: "HTTPSampler.protocol", label: "Protocol [http]", kind: "text", section: "Web Server", default: "http", help: "The protocol of the address: http or https." },
  { property: "HTTPSampler.domain", label: "Server Name or IP", kind: "text", section: "Web Server", help: "The host that the request goes to, without a protocol." },
  { property: "HTTPSampler.port", label: "Port Number", kind: "number", section: "Web Server" },
  { property: "HTTPSampler.method", label: "Method", kind: "choice", section: "HTTP Request", default: "GET", choices: ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"].map((value) => ({ value, label: value })) },
  { property: "HTTPSampler.path", label: "Path", kind: "text", section: "HTTP Request", help: "The path of the address, with or without a query." },
  { property: "HTTPSampler.follow_redirects", label: "Follow Redirects", kind: "flag", section: "HTTP Request", default: "true" },
  { property: "HTTPSampler.use_keepalive", label: "Use KeepAlive", kind: "flag", section: "HTTP Request", default: "true" },
  { property: "HTTPsampler.Arguments", label: "Send Parameters With the Request", kind: "table", section: "HTTP Request", columns: [{ property: "Argument.name", label: "Name", kind: "text" }, { property: "Argument.value", label: "Value", kind: "text" }, { property: "HTTPArgument.always_encode", label: "URL Encode?", kind: "flag" }] },
  { property: "HTTPSampler.connect_timeout", label: "Connect (ms)", kind: "number", section: "Timeouts" },
  { property: "HTTPSampler.response_timeout", label: "Response (ms)", kind: "number", section: "Timeouts" },
];

const SCRIPT: Fact[] = [
  { property: "scriptLanguage", label: "Language", kind: "choice", section: "Script language", default: "groovy", choices: ["groovy", "beanshell", "javascript"].map((value) => ({ value, label: value })) },
  { property: "cacheKey", label: "Cache compiled script if available", kind: "flag", section: "Script", default: "true" },
  { property: "script", label: "Script", kind: "code", language: "groovy", section: "Script" },
];

const FACTS: Record<string, Fact[]> = {
  TestPlan: [{ property: "TestPlan.functional_mode", label: "Functional Test Mode", kind: "flag", default: "false" }, { property: "TestPlan.serialize_threadgroups", label: "Run Thread Groups consecutively", kind: "flag", default: "false" }],
  ThreadGroup: [
    { property: "ThreadGroup.on_sample_error", label: "Action to be taken after a Sampler error", kind: "choice", default: "continue", choices: [{ value: "continue", label: "Continue" }, { value: "stoptest", label: "Stop Test" }] },
    { property: "ThreadGroup.num_threads", label: "Number of Threads (users)", kind: "number", section: "Thread Properties", default: "1", help: "How many users run at once." },
    { property: "ThreadGroup.ramp_time", label: "Ramp-up period (seconds)", kind: "number", section: "Thread Properties", default: "1" },
    { property: "LoopController.loops", label: "Loop Count", kind: "number", section: "Thread Properties", default: "1" },
    { property: "ThreadGroup.scheduler", label: "Specify Thread lifetime", kind: "flag", section: "Thread Properties", default: "false" },
    { property: "ThreadGroup.duration", label: "Duration (seconds)", kind: "number", section: "Thread Properties" },
  ],
  HTTPSamplerProxy: HTTP,
  ConfigTestElement: HTTP.slice(0, 5),
  HeaderManager: [{ property: "HeaderManager.headers", label: "Headers Stored in the Header Manager", kind: "table", columns: [{ property: "Header.name", label: "Name", kind: "text" }, { property: "Header.value", label: "Value", kind: "text" }] }],
  Arguments: [{ property: "Arguments.arguments", label: "User Defined Variables", kind: "table", columns: [{ property: "Argument.name", label: "Name", kind: "text" }, { property: "Argument.value", label: "Value", kind: "text" }, { property: "Argument.desc", label: "Description", kind: "text" }] }],
  CSVDataSet: [
    { property: "filename", label: "Filename", kind: "file", section: "Configure the CSV Data Source" },
    { property: "variableNames", label: "Variable Names (comma-delimited)", kind: "names", section: "Configure the CSV Data Source" },
    { property: "delimiter", label: "Delimiter (use '\\t' for tab)", kind: "text", section: "Configure the CSV Data Source", default: "," },
    { property: "recycle", label: "Recycle on EOF ?", kind: "flag", section: "Configure the CSV Data Source", default: "true" },
  ],
  AuthManager: [{ property: "username", label: "Username", kind: "text" }, { property: "password", label: "Password", kind: "secret" }],
  ConstantTimer: [{ property: "ConstantTimer.delay", label: "Thread Delay (in milliseconds)", kind: "number", default: "300" }],
  RegexExtractor: [
    { property: "RegexExtractor.refname", label: "Name of created variable", kind: "names" },
    { property: "RegexExtractor.regex", label: "Regular Expression", kind: "code", language: "regex" },
    { property: "RegexExtractor.template", label: "Template ($i$ where i is capturing group number, starts at 1)", kind: "text" },
    { property: "RegexExtractor.match_number", label: "Match No. (0 for Random)", kind: "number" },
    { property: "RegexExtractor.default", label: "Default Value", kind: "text" },
  ],
  ResponseAssertion: [{ property: "Asserion.test_strings", label: "Patterns to Test", kind: "table", columns: [{ property: "0", label: "Patterns to Test", kind: "text" }] }],
  IfController: [{ property: "IfController.condition", label: "Expression (must evaluate to true or false)", kind: "code", language: "condition" }],
  LoopController: [{ property: "LoopController.loops", label: "Loop Count", kind: "number", default: "1" }],
  TransactionController: [{ property: "TransactionController.parent", label: "Generate parent sample", kind: "flag", default: "false" }, { property: "TransactionController.includeTimers", label: "Include duration of timer and pre-post processors in generated sample", kind: "flag", default: "false" }],
  JSR223PostProcessor: SCRIPT,
  JSR223PreProcessor: SCRIPT,
};

const COMMENTS: Fact = { property: "TestPlan.comments", label: "Comments", kind: "text" };

export type Shape = [name: string, options: string, children?: Shape[], props?: Record<string, string>, tables?: Record<string, string[][]>];

class RefusedError extends Error {
  constructor(message: string, readonly code = -32602, readonly hint: string | null = null) {
    super(message);
  }
}

/** A plan in memory. */
class FakePlan {
  els = new Map<number, El>();
  revision = 1;
  next = 1;
  root = 0;
  saved = "";
  undos: { text: string; title: string }[] = [];
  redos: { text: string; title: string }[] = [];
  last = "";
  theirs: [id: number, property: string, value: string][] = [];
  constructor(readonly id: number, readonly path: string, shape: Shape) {
    this.root = this.build(shape, null);
    this.saved = this.dump();
  }

  build([name, options, children = [], props = {}, tables = {}]: Shape, parent: number | null): number {
    const id = this.next++;
    const [cls, state] = options.split("!");
    this.els.set(id, { id, parent, children: [], class: cls, name, enabled: state == null, props: { ...props }, tables: structuredClone(tables) });
    this.els.get(id)!.children = children.map((child) => this.build(child, id));
    return id;
  }

  dump = () => JSON.stringify([this.root, [...this.els]]);
  load(text: string) {
    const [root, els] = JSON.parse(text) as [number, [number, El][]];
    this.root = root;
    this.els = new Map(els);
  }

  el(id: number): El {
    const found = this.els.get(id);
    if (!found) throw new RefusedError("This element is no longer in the plan", -32001);
    return found;
  }

  /** Makes a step of undo around a change. */
  step(title: string, act: () => number[] | void, join = false) {
    const before = this.dump();
    const old = new Map(this.els);
    const text = new Map([...this.els].map(([id, el]) => [id, JSON.stringify(el)]));
    const created = act() ?? undefined;
    if (!(join && this.last === title)) this.undos.push({ text: before, title });
    this.last = title;
    this.redos = [];
    return this.changed(text, [...old.keys()], created);
  }

  changed(text: Map<number, string>, ids: number[], created?: number[]) {
    this.revision += 1;
    const nodes = [...this.els.values()].filter((el) => text.get(el.id) !== JSON.stringify(el)).map((el) => this.node(el));
    const removed = ids.filter((id) => !this.els.has(id));
    return { revision: this.revision, nodes, removed, created, findings: this.findings(), ...this.state() };
  }

  travel(from: "undos" | "redos") {
    const to = from === "undos" ? "redos" : "undos";
    const step = this[from].pop();
    if (!step) throw new RefusedError(`There is nothing to ${from === "undos" ? "undo" : "redo"}`);
    this.last = "";
    const text = new Map([...this.els].map(([id, el]) => [id, JSON.stringify(el)]));
    const ids = [...this.els.keys()];
    this[to].push({ text: this.dump(), title: step.title });
    this.load(step.text);
    const change = this.changed(text, ids);
    return { ...change, created: change.nodes.slice(-1).map((node) => node.id) };
  }

  state() {
    return { dirty: this.dump() !== this.saved, can_undo: this.undos.at(-1)?.title ?? null, can_redo: this.redos.at(-1)?.title ?? null };
  }

  node(el: El) {
    const [type, category] = TYPES[el.class] ?? [el.class, "Sampler"];
    return { id: el.id, parent: el.parent, children: el.children, class: el.class, type, name: el.name, enabled: el.enabled, category, findings: { error: 0, warning: 0 }, runs: el.class.startsWith("JSR") ? "java" : el.class.startsWith("com.") ? "refused" : el.class === "ResultCollector" ? "skipped" : "native" };
  }

  opened() {
    return { plan: this.id, revision: this.revision, root: this.root, nodes: [...this.els.values()].map((el) => this.node(el)), path: this.path, version: "5.6.3", encoding: "UTF-8", read_only: false, ...this.state() };
  }

  order(id = this.root): number[] {
    return [id, ...this.el(id).children.flatMap((child) => this.order(child))];
  }

  findings() {
    const found: object[] = [];
    const set = new Set([...this.els.values()].flatMap((el) => this.sets(el)));
    for (const id of this.order()) {
      const el = this.el(id);
      if (el.class.startsWith("com.")) found.push({ severity: "error", id, message: `No jar has the class ${el.class}`, hint: "Give its jar with `--jar`", line: 10 + id, fixes: [{ title: "Disable the element", ops: [{ op: "enable", ids: [id], enabled: false }] }] });
      for (const [property, value] of Object.entries(el.props)) {
        for (const [, name] of value.matchAll(/\$\{(\w+)\}/g)) {
          if (!set.has(name)) found.push({ severity: "warning", id, property, message: `No element sets the variable \`${name}\``, hint: "Define it in User Defined Variables, or extract it from a response", line: 10 + id });
        }
      }
      if (el.class === "HTTPSamplerProxy" && /\d$/.test(el.props["HTTPSampler.port"] ?? "") === false && el.props["HTTPSampler.port"] && !el.props["HTTPSampler.port"].includes("${")) found.push({ severity: "error", id, property: "HTTPSampler.port", message: `The port \`${el.props["HTTPSampler.port"]}\` is not a number`, line: 10 + id, fixes: [{ title: "Remove the port", ops: [{ op: "set", id, property: "HTTPSampler.port", value: null }] }] });
    }
    return found;
  }

  sets(el: El): string[] {
    if (el.class === "Arguments") return (el.tables["Arguments.arguments"] ?? []).map((row) => row[0]);
    return (el.props["RegexExtractor.refname"] ?? el.props["variableNames"] ?? "").split(",").filter(Boolean);
  }

  variables() {
    const names = new Map<string, { set_by: object[]; read_by: object[]; value?: string }>();
    const of = (name: string) => names.get(name) ?? names.set(name, { set_by: [], read_by: [] }).get(name)!;
    for (const id of this.order()) {
      const el = this.el(id);
      for (const name of this.sets(el)) of(name).set_by.push({ id, how: TYPES[el.class][0] });
      for (const row of el.class === "Arguments" ? (el.tables["Arguments.arguments"] ?? []) : []) of(row[0]).value = row[1];
      for (const [property, value] of Object.entries(el.props)) for (const [, name] of value.matchAll(/\$\{(\w+)\}/g)) of(name).read_by.push({ id, property });
    }
    return [...names].map(([name, uses]) => ({ name, ...uses, never_set: !uses.set_by.length }));
  }

  element(id: number) {
    const el = this.el(id);
    const defaults = [...this.els.values()].find((each) => each.class === "ConfigTestElement");
    const facts = FACTS[el.class] ?? Object.keys(el.props).map((property): Fact => ({ property, label: property, kind: "text" }));
    const fields = [COMMENTS, ...facts].map((fact) => {
      const value = el.props[fact.property] ?? null;
      const from = el.class === "HTTPSamplerProxy" && !value ? defaults?.props[fact.property] : undefined;
      const { columns, ...rest } = fact;
      return {
        ...rest,
        default: fact.default ?? null,
        value,
        secret: fact.kind === "secret",
        findings: this.findings().filter((each: any) => each.id === id && each.property === fact.property),
        effective: from ? { value: from, from: defaults!.id, name: defaults!.name } : null,
        table: columns ? { columns, rows: el.tables[fact.property] ?? [] } : null,
        file: fact.kind === "file" && value ? { exists: value === "users.csv", path: `/plans/${value}`, first: ["user,password", "anna,secret1", "ben,secret2"] } : null,
      };
    });
    const xml = `<${el.class} testname="${el.name}" enabled="${el.enabled}">\n${Object.entries(el.props).map(([name, value]) => `  <stringProp name="${name}">${value.replaceAll("<", "&lt;")}</stringProp>`).join("\n")}\n</${el.class}>`;
    return { node: this.node(el), fields, xml, line: 10 + id, generic: !FACTS[el.class] };
  }

  take(id: number): Shape {
    const el = this.el(id);
    return [el.name, el.class + (el.enabled ? "" : "!off"), el.children.map((child) => this.take(child)), { ...el.props }, structuredClone(el.tables)];
  }

  put(shapes: Shape[], parent: number, index: number): number[] {
    const ids = shapes.map((shape) => this.build(shape, parent));
    this.el(parent).children.splice(index, 0, ...ids);
    return ids;
  }

  drop(id: number, isGone = true) {
    const el = this.el(id);
    if (el.parent != null) this.el(el.parent).children = this.el(el.parent).children.filter((child) => child !== id);
    if (isGone) for (const each of this.order(id)) this.els.delete(each);
  }

  holds(parent: number): string[] {
    const category = this.node(this.el(parent)).category;
    const all = Object.keys(TYPES).filter((name) => name !== "TestPlan" && !name.startsWith("com."));
    const of = (name: string) => TYPES[name][1];
    if (category === "Test Plan") return all.filter((name) => !["Sampler", "Logic Controller"].includes(of(name)));
    if (["Threads (Users)", "Logic Controller"].includes(category)) return all.filter((name) => of(name) !== "Threads (Users)");
    if (category === "Sampler") return all.filter((name) => !["Threads (Users)", "Sampler", "Logic Controller"].includes(of(name)));
    return [];
  }

  *texts(params: Params): Generator<{ el: El; property: string | null; text: string; put: (text: string) => void }> {
    for (const id of this.order(params.scope ?? this.root)) {
      const el = this.el(id);
      if (params.class && el.class !== params.class) continue;
      if (params.where.includes("names")) yield { el, property: null, text: el.name, put: (text) => (el.name = text) };
      if (params.where.includes("values")) for (const property of Object.keys(el.props)) yield { el, property, text: el.props[property], put: (text) => (el.props[property] = text) };
    }
  }

  pattern(params: Params): RegExp {
    const source = params.regex ? params.text : params.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    try {
      return new RegExp(params.word ? `\\b(?:${source})\\b` : source, params.case ? "g" : "gi");
    } catch {
      throw new RefusedError(`\`${params.text}\` is not a regular expression`);
    }
  }

  find(params: Params, replacement?: string) {
    const pattern = this.pattern(params);
    const hits = [];
    for (const { el, property, text } of this.texts(params)) {
      for (const match of text.matchAll(pattern)) hits.push({ id: el.id, property, before: text, start: match.index, end: match.index + match[0].length, ...(replacement == null ? {} : { after: text.slice(0, match.index) + match[0].replace(new RegExp(pattern.source, pattern.flags.replace("g", "")), replacement) + text.slice(match.index + match[0].length) }) });
    }
    return { hits: hits.slice(0, 2000), more: hits.length > 2000 };
  }

  replace(params: Params) {
    if (params.preview) return this.find(params, params.with);
    const skip = new Set<number>(params.skip);
    const pattern = this.pattern(params);
    const once = new RegExp(pattern.source, pattern.flags.replace("g", ""));
    return this.step(`Replace ${params.text}`, () => {
      let at = 0;
      for (const { text, put } of [...this.texts(params)]) put(text.replace(pattern, (found) => (skip.has(at++) ? found : found.replace(once, params.with))));
    });
  }
}

const METHODS: Record<string, (plan: FakePlan, params: Params) => unknown> = {
  tree: (plan) => plan.opened(),
  element: (plan, { id }) => plan.element(id),
  set: (plan, { id, ids, property, value, join }) => plan.step(`Set ${property}`, () => { for (const each of ids ?? [id]) if (value == null) delete plan.el(each).props[property]; else plan.el(each).props[property] = value; }, join),
  table: (plan, { id, property, rows, join }) => plan.step(`Change ${property}`, () => void (plan.el(id).tables[property] = rows), join),
  rename: (plan, { id, name }) => plan.step(`Rename ${plan.el(id).name}`, () => void (plan.el(id).name = name)),
  enable: (plan, { ids, enabled }) => plan.step(enabled ? "Enable" : "Disable", () => ids.forEach((id: number) => (plan.el(id).enabled = enabled))),
  palette: (plan, { parent }) => plan.holds(parent).map((name) => ({ class: name, type: TYPES[name][0], category: TYPES[name][1] })),
  insert: (plan, params) => plan.step(`Insert ${params.class}`, () => {
    if (!plan.holds(params.parent).includes(params.class)) throw new RefusedError(`${plan.el(params.parent).name} cannot hold ${params.class}`);
    return plan.put([[TYPES[params.class][0], params.class]], params.parent, params.index);
  }),
  move: (plan, { ids, parent, index }) => plan.step("Move", () => {
    for (const id of ids) {
      if (plan.order(id).includes(parent)) throw new RefusedError("An element cannot be within itself");
      if (!plan.holds(parent).includes(plan.el(id).class)) throw new RefusedError(`${plan.node(plan.el(parent)).type} cannot hold ${plan.node(plan.el(id)).type}`);
    }
    const before = plan.el(parent).children.slice(0, index).filter((child) => !ids.includes(child)).length;
    for (const id of ids) plan.drop(id, false);
    plan.el(parent).children.splice(before, 0, ...ids);
    for (const id of ids) plan.el(id).parent = parent;
  }),
  remove: (plan, { ids }) => plan.step(`Remove ${ids.length === 1 ? plan.el(ids[0]).name : `${ids.length} elements`}`, () => ids.forEach((id: number) => plan.drop(id))),
  copy: (plan, { ids }) => ({ text: JSON.stringify(ids.map((id: number) => plan.take(id))) }),
  paste: (plan, { parent, index, text }) => plan.step("Paste", () => {
    if (text.startsWith("curl ")) return plan.put([[new URL(/https?:\S+/.exec(text)![0]).pathname, "HTTPSamplerProxy", [], { "HTTPSampler.domain": new URL(/https?:\S+/.exec(text)![0]).hostname }]], parent, index);
    if (!text.startsWith("[[")) throw new RefusedError("The text is neither a part of a plan nor a request", -32602, "Paste JMX text, a cURL command, a HAR entry or a raw HTTP request");
    return plan.put(JSON.parse(text), parent, index);
  }),
  duplicate: (plan, { ids }) => plan.step("Duplicate", () => ids.flatMap((id: number) => {
    const parent = plan.el(plan.el(id).parent!);
    return plan.put([plan.take(id)], parent.id, parent.children.indexOf(id) + 1);
  })),
  wrap: (plan, { ids, class: name }) => plan.step("Wrap", () => {
    const parent = plan.el(plan.el(ids[0]).parent!);
    const [made] = plan.put([[TYPES[name][0], name]], parent.id, parent.children.indexOf(ids[0]));
    for (const id of ids) plan.drop(id, false);
    plan.el(made).children = ids;
    for (const id of ids) plan.el(id).parent = made;
    return [made];
  }),
  unwrap: (plan, { id }) => plan.step("Unwrap", () => {
    const el = plan.el(id);
    const parent = plan.el(el.parent!);
    parent.children.splice(parent.children.indexOf(id), 1, ...el.children);
    for (const child of el.children) plan.el(child).parent = parent.id;
    plan.els.delete(id);
    return el.children;
  }),
  change_type: (plan, { id, class: name, preview }) => {
    const known = new Set((FACTS[name] ?? []).map((fact) => fact.property));
    const props = Object.keys(plan.el(id).props);
    const kept = props.filter((property) => known.has(property));
    const lost = props.filter((property) => !known.has(property));
    if (preview) return { kept, lost };
    return plan.step("Change type", () => {
      plan.el(id).class = name;
      for (const property of lost) delete plan.el(id).props[property];
      return [id];
    });
  },
  extract: (plan, { ids }) => plan.step("Extract", () => {
    const parent = plan.el(plan.el(ids[0]).parent!);
    const name = plan.el(ids[0]).name;
    const [module] = plan.put([[name, "ModuleController"]], parent.id, parent.children.indexOf(ids[0]));
    const [fragment] = plan.put([[name, "TestFragmentController"]], plan.root, plan.el(plan.root).children.length);
    for (const id of ids) plan.drop(id, false);
    plan.el(fragment).children = ids;
    for (const id of ids) plan.el(id).parent = fragment;
    return [module, fragment];
  }),
  move_to_file: (plan, { ids, path }) => plan.step(`Move into ${path}; the file stays`, () => {
    const parent = plan.el(plan.el(ids[0]).parent!);
    const [include] = plan.put([[path, "IncludeController"]], parent.id, parent.children.indexOf(ids[0]));
    for (const id of ids) plan.drop(id);
    return [include];
  }),
  find: (plan, params) => plan.find(params),
  replace: (plan, params) => plan.replace(params),
  undo: (plan) => plan.travel("undos"),
  redo: (plan) => plan.travel("redos"),
  resolve: (plan, { take }) => plan.step(`Take ${take}`, () => { if (take === "theirs") for (const [id, property, value] of plan.theirs) plan.el(id).props[property] = value; }),
  text: (plan) => ({ text: plan.dump(), revision: plan.revision }),
  save: (plan) => ((plan.saved = plan.dump()), { revision: plan.revision }),
  findings: (plan) => plan.findings(),
  variables: (plan) => plan.variables(),
  complete: (plan, { text, offset }) => {
    const word = text.slice(text.lastIndexOf("${", offset) + 2, offset);
    const all = [...plan.variables().map(({ name, value }) => ({ insert: `\${${name}}`, label: name, detail: value ?? "variable" })), { insert: "${__P()}", label: "__P", detail: "a property, or a default" }, { insert: "${__UUID()}", label: "__UUID", detail: "a random identifier" }];
    return all.filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()));
  },
};

/** A sample of a run that sends nothing: a request fails if its path has `old`. */
function sampleOf(plan: FakePlan, id: number, number: number) {
  const el = plan.el(id);
  const path = el.props["HTTPSampler.path"] ?? "/";
  const success = !path.includes("checkout");
  const sample = { id, iteration: 1, thread: "Buyers 1-1", label: el.name, success, code: success ? "200" : "500", message: success ? "OK" : "Server Error", start_ms: 0, elapsed_us: 12_300 + number * 1000, latency_ms: 9, connect_ms: 2, sent_bytes: 210, received_bytes: 4096, method: el.props["HTTPSampler.method"] ?? "GET", url: `https://shop.example${path}`, content_type: "application/json", body_bytes: 60, assertions: success ? 0 : 1 };
  const redirect = { ...sample, number: 1, id: null, label: `${el.name}-0`, code: "302", message: "Found", children: [] };
  return { ...sample, number, children: path === "/login" ? [redirect] : [] };
}

const FAKE_RUNS = new Map<number, { plan: FakePlan; samples: ReturnType<typeof sampleOf>[] }>();
let lastRun = 0;

/** Runs samplers at once; its notifications come after the answer, as the real ones do. */
function fakeRun(plan: FakePlan, { kind, id }: Params, send: Fake["send"]) {
  if (kind === "plan" && plan.path.endsWith("broken.jmx")) throw new RefusedError("The plan cannot run: it has no thread group", -32006);
  const all = plan.order().filter((each) => ["HTTPSamplerProxy", "DebugSampler"].includes(plan.el(each).class) && plan.el(each).enabled);
  const ids = kind === "this" ? [id] : kind === "plan" ? all : kind === "to_here" ? all.slice(0, all.findIndex((each) => plan.order(id).includes(each)) + 1) : all.filter((each) => plan.order(id).includes(each));
  const run = ++lastRun;
  const samples = ids.map((each: number, at: number) => sampleOf(plan, each, at + 1));
  FAKE_RUNS.set(run, { plan, samples });
  setTimeout(() => {
    send("run_started", { plan: plan.id, run, kind, id: id ?? null });
    for (const sample of samples) send("run_sample", { plan: plan.id, run, sample });
    send("run_ended", { plan: plan.id, run, outcome: { ended: "done", samples: samples.length, failed: samples.filter((sample) => !sample.success).length, elapsed_ms: 40 } });
  });
  return { run };
}

/** A body of 400 kB, of which a request gets a part. */
const LONG = JSON.stringify({ id: 7, token: "a1b2c3", goods: Array.from({ length: 30_000 }, (_, at) => `good ${at}`) });
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function fakeDetail({ run, number, path = [], offset = 0, length = 65_536 }: Params) {
  const top = FAKE_RUNS.get(run)!.samples[number - 1];
  const sample = path.length ? top.children[path[0] - 1] : top;
  const kind = /image/.test(sample.label) ? "image/png" : /^GET/.test(sample.label) ? "text/html" : "application/json";
  const whole = kind === "text/html" ? "<h1>Welcome</h1><script>document.title = 'ran'</script>" : sample.label.startsWith("Search") ? LONG : '{"id":7,"token":"a1b2c3"}';
  const body = kind === "image/png" ? { offset, next: atob(PIXEL).length, size: atob(PIXEL).length, base64: PIXEL } : { offset, next: Math.min(offset + length, whole.length), size: whole.length, text: whole.slice(offset, offset + length) };
  return {
    sample,
    request: { headers: "Accept: */*\nContent-Type: application/x-www-form-urlencoded\n", cookies: "session=abc; theme=dark", body: "user=anna&password=secret1", curl: `curl '${sample.url}'` },
    response: { headers: `HTTP/1.1 ${sample.code} ${sample.message}\nContent-Type: ${kind}\nSet-Cookie: session=abc; Path=/\n`, content_type: kind, is_binary: kind === "image/png", body },
    assertions: [{ name: "Logged in", fault: sample.success ? null : "Test failed: text expected to contain /Welcome/" }],
    steps: [{ part: "sampler", name: sample.label, class: "HTTPSamplerProxy", id: sample.id, changes: [] }, { part: "post-processor", name: "Token", class: "RegexExtractor", id: null, changes: [{ name: "session", before: null, after: "a1b2c3" }] }],
    before: { host: "shop.example" },
    variables: { host: "shop.example", session: "a1b2c3" },
  };
}

const CHANGES = new Set(["set", "table", "rename", "enable", "insert", "move", "remove", "paste", "duplicate", "wrap", "unwrap", "change_type", "extract", "move_to_file", "replace", "undo", "redo", "resolve"]);

export interface Fake {
  url: string;
  plan: FakePlan;
  /** All requests so far. */
  calls: { method: string; params: Params }[];
  /** Makes a change as another tab would, or as the file's change outside. */
  elsewhere: (method: string, params: Params) => void;
  send: (event: string, data: object) => void;
  /** Ends all connections, as a killed program does; it serves again after `start`. */
  stop: () => void;
  start: () => Promise<void>;
  close: () => void;
}

/** Serves the built page and plans of these shapes. */
export async function fake(shapes: [path: string, shape: Shape][]): Promise<Fake> {
  const page = readFileSync(resolve("dist/edit.html"));
  const plans = shapes.map(([path, shape], index) => new FakePlan(index + 1, path, shape));
  let isOpen = plans.map(() => true);
  const events = new Set<ServerResponse>();
  const send = (event: string, data: object) => events.forEach((each) => each.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  const calls: Fake["calls"] = [];
  const answer = ({ id, method, params }: { id: number; method: string; params: Params }) => {
    calls.push({ method, params });
    try {
      if (method === "trees") return { id, result: plans.filter((_, index) => isOpen[index]).map((plan) => plan.opened()) };
      if (method === "files") return { id, result: plans.map((plan, index) => ({ plan: isOpen[index] ? plan.id : null, path: plan.path, name: plan.path.split("/").pop(), dirty: plan.state().dirty })) };
      if (method === "open") {
        const at = plans.findIndex((plan) => plan.path.endsWith(params.path));
        if (at < 0) throw new RefusedError(`\`${params.path}\` is not a file`, -32602, "Choose one of the plans in the opened folders");
        isOpen[at] = true;
        return { id, result: plans[at].opened() };
      }
      if (method === "close") return (isOpen = isOpen.map((open, index) => open && plans[index].id !== params.plan)), { id, result: null };
      if (method === "run_sample_detail") return { id, result: fakeDetail(params) };
      if (method === "run") return { id, result: fakeRun(plans.find((each) => each.id === params.plan)!, params, send) };
      const run = METHODS[method];
      if (!run) throw new RefusedError(`There is no method \`${method}\``, -32601);
      const plan = plans.find((each) => each.id === params.plan)!;
      if (CHANGES.has(method) && params.revision > plan.revision) throw new RefusedError("The revision is unknown");
      return { id, result: run(plan, params) };
    } catch (error) {
      const refused = error instanceof RefusedError ? error : new RefusedError(String((error as Error).stack), -32603);
      return { id, error: { code: refused.code, message: refused.message, data: { hint: refused.hint } } };
    }
  };
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url!, "http://x").pathname;
    if (path === "/") return response.end(page);
    if (path === "/events") {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": open\n\n");
      events.add(response);
      return void response.on("close", () => events.delete(response));
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body)));
    });
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/?token=0`,
    plan: plans[0],
    calls,
    send,
    elsewhere: (method, params) => send("changed", { plan: 1, change: METHODS[method](plans[0], params) }),
    stop: () => (server.close(), server.closeAllConnections()),
    start: () => listen(port),
    close: () => (server.close(), server.closeAllConnections()),
  };
}

/** A shop with everything that the page shows differently. */
export const SHOP: Shape = ["Shop", "TestPlan", [
  ["Variables", "Arguments", [], {}, { "Arguments.arguments": [["host", "shop.example", "the shop"], ["token", "none", ""]] }],
  ["HTTP Request Defaults", "ConfigTestElement", [], { "HTTPSampler.domain": "${host}", "HTTPSampler.protocol": "https" }],
  ["Users", "CSVDataSet", [], { filename: "users.csv", variableNames: "user,password" }],
  ["Buyers", "ThreadGroup", [
    ["Log in", "TransactionController", [
      ["POST /login", "HTTPSamplerProxy", [
        ["Token", "RegexExtractor", [], { "RegexExtractor.refname": "session", "RegexExtractor.regex": 'token="(\\w+)"', "RegexExtractor.template": "$1$" }],
        ["Logged in", "ResponseAssertion", [], {}, { "Asserion.test_strings": [["Welcome"], ["${user}"]] }],
      ], { "HTTPSampler.path": "/login", "HTTPSampler.method": "POST" }, { "HTTPsampler.Arguments": [["user", "${user}", "true"], ["password", "${password}", "true"]] }],
    ]],
    ["Browse", "LoopController", [
      ["GET /", "HTTPSamplerProxy", [], { "HTTPSampler.path": "/" }],
      ["Search ${term}", "HTTPSamplerProxy", [["Headers", "HeaderManager", [], {}, { "HeaderManager.headers": [["Accept", "application/json"], ["Authorization", "Bearer ${session}"]] }]], { "HTTPSampler.path": "/search?q=${term}" }],
      ["Think", "ConstantTimer", [], { "ConstantTimer.delay": "500" }],
    ], { "LoopController.loops": "3" }],
    ["Old checkout", "HTTPSamplerProxy!off", [], { "HTTPSampler.path": "/checkout", "HTTPSampler.port": "80a" }],
    ["Prepare", "JSR223PreProcessor", [], { script: "// Signs the order.\ndef key = vars.get('session')\nvars.put('signature', key.reverse())\nlog.info(\"signed ${key}\")" }],
    ["Foreign sampler", "com.example.Foreign", [], { "foreign.url": "tcp://queue", "foreign.count": "3" }],
  ], { "ThreadGroup.num_threads": "20", "LoopController.loops": "10" }],
  ["Account", "AuthManager", [], { username: "admin", password: "hunter2" }],
  ["View Results Tree", "ResultCollector"],
]];
