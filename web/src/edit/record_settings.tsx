// The question before a recording: where it comes from, and the settings that users of JMeter's recorder know.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call } from "./client";
import { ModalBox } from "./modal";
import type { Plan } from "./plan";
import type { Id } from "./protocol";
import { refused } from "./runs";

export interface RecordSettings {
  port: number;
  domains: string[];
  all_domains: boolean;
  include: string[];
  exclude: string[];
  content_include: string;
  content_exclude: string;
  keep_resources: boolean;
  grouping: string;
  pause_ms: number;
  naming: string;
  prefix: string;
  format: string;
  headers: boolean;
  assertions: boolean;
  think_times: boolean;
  embedded: boolean;
  follow_redirects: boolean;
  auto_redirects: boolean;
  keep_alive: boolean;
  regex_match: boolean;
}

interface Offer {
  settings: RecordSettings;
  /** The recorder of the plan whose settings these are. */
  from: string | null;
  /** Whether there is a Chromium. */
  browser: boolean;
}

interface Question {
  plan: Plan;
  into: Id;
  offer: Offer;
  begin: (order: object) => Promise<unknown>;
}

const question = signal<Question | null>(null);

/** Asks how to record, and begins. */
export async function askToRecord(plan: Plan, into: Id, begin: Question["begin"]) {
  try {
    const offer = await call<Offer>("record_settings", { plan: plan.id });
    question.value = { plan, into, offer, begin };
  } catch (error) {
    refused(error);
  }
}

const GROUPINGS: [string, string][] = [
  ["pages", "A transaction per page or name"],
  ["none", "Do not group samplers"],
  ["separators", "Add separators between groups"],
  ["controllers", "Put each group in a new controller"],
  ["first", "Store 1st sampler of each group only"],
  ["transactions", "Put each group in a new transaction controller"],
];

const NAMINGS: [string, string][] = [
  ["request", "Method and path"],
  ["prefix", "Prefix"],
  ["transaction", "Transaction name"],
  ["suffix", "Suffix"],
  ["format", "Use format string"],
];

const lines = (text: string) => text.split("\n").filter((line) => line.trim());
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** The fields of one kind with their labels. */
type Fields<T> = { [Key in keyof RecordSettings as RecordSettings[Key] extends T ? Key : never]?: string };

interface Part {
  settings: RecordSettings;
  set: (more: Partial<RecordSettings>) => void;
}

function Flags({ settings, set, labels }: Part & { labels: Fields<boolean> }) {
  return (
    <>
      {(Object.entries(labels) as [keyof Fields<boolean>, string][]).map(([key, label]) => (
        <label key={key} class="flag">
          <input type="checkbox" checked={settings[key] as boolean} onChange={(event) => set({ [key]: event.currentTarget.checked })} /> {label}
        </label>
      ))}
    </>
  );
}

function Texts({ settings, set, labels }: Part & { labels: Fields<string> }) {
  return (
    <>
      {(Object.entries(labels) as [keyof Fields<string>, string][]).map(([key, label]) => (
        <label key={key} class="field">
          {label}
          <input value={settings[key] as string} spellcheck={false} onInput={(event) => set({ [key]: event.currentTarget.value })} />
        </label>
      ))}
    </>
  );
}

function Lists({ settings, set, labels }: Part & { labels: Fields<string[]> }) {
  return (
    <>
      {(Object.entries(labels) as [keyof Fields<string[]>, string][]).map(([key, label]) => (
        <label key={key} class="field">
          {label}
          <textarea rows={2} spellcheck={false} onInput={(event) => set({ [key]: lines(event.currentTarget.value) })}>{(settings[key] as string[]).join("\n")}</textarea>
        </label>
      ))}
    </>
  );
}

function Choice({ label, value, all, set }: { label: string; value: string; all: [string, string][]; set: (value: string) => void }) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {all.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
      </select>
    </label>
  );
}

function More({ settings, set }: Part) {
  const own = { settings, set };
  return (
    <>
      <details>
        <summary>Groups and names</summary>
        <Choice label="Grouping" value={settings.grouping} all={GROUPINGS} set={(grouping) => set({ grouping })} />
        {settings.grouping !== "pages" && (
          <label class="field">
            Create new transaction after request (ms)
            <input class="number" type="number" value={settings.pause_ms} onInput={(event) => set({ pause_ms: Number(event.currentTarget.value) })} />
          </label>
        )}
        <Choice label="Naming scheme" value={settings.naming} all={NAMINGS} set={(naming) => set({ naming })} />
        {settings.naming !== "request" && <Texts {...own} labels={{ prefix: "Transaction name" }} />}
        {settings.naming === "format" && <Texts {...own} labels={{ format: "Format string" }} />}
      </details>
      <details>
        <summary>Requests filtering</summary>
        <Lists {...own} labels={{ include: "URL Patterns to Include", exclude: "URL Patterns to Exclude" }} />
        <Texts {...own} labels={{ content_include: "Content-type filter: Include", content_exclude: "Content-type filter: Exclude" }} />
        <Flags {...own} labels={{ all_domains: "Keep requests to every host", keep_resources: "Keep images, scripts and style sheets as requests" }} />
      </details>
      <details>
        <summary>Samplers</summary>
        <Flags {...own} labels={{ headers: "Capture HTTP Headers", assertions: "Add Assertions", think_times: "Keep the user's pauses", regex_match: "Regex matching", embedded: "Retrieve All Embedded Resources", follow_redirects: "Follow Redirects", auto_redirects: "Redirect Automatically", keep_alive: "Use KeepAlive" }} />
      </details>
    </>
  );
}

export function RecordQuestion() {
  return question.value && <Dialog key={question.value.into} {...question.value} />;
}

function Dialog({ plan, into, offer, begin }: Question) {
  const [settings, setSettings] = useState(offer.settings);
  const [domains, setDomains] = useState(offer.settings.domains.join(", "));
  const [isBrowser, setBrowser] = useState(false);
  const [url, setUrl] = useState("");
  const [isStarting, setStarting] = useState(false);
  const set = (more: Partial<RecordSettings>) => setSettings((now) => ({ ...now, ...more }));
  const close = () => (question.value = null);
  const start = async () => {
    setStarting(true);
    try {
      await begin({ browser: isBrowser, ...(url.trim() && { url: url.trim() }), settings: { ...settings, domains: words(domains) } });
      close();
    } catch (error) {
      setStarting(false);
      refused(error);
    }
  };
  return (
    <ModalBox title={`Record into ${plan.node(into)?.name}`} close={close}>
      <form
        class="values recorder"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        {offer.from && <p class="note">These are the settings of {offer.from}, the recorder of this plan.</p>}
        <Choice label="Record" value={isBrowser ? "browser" : "proxy"} all={[["proxy", "Any client, through a proxy"], ...(offer.browser ? [["browser", "In a new Chromium"] as [string, string]] : [])]} set={(value) => setBrowser(value === "browser")} />
        <label class="field">
          First page
          <input autofocus type="url" value={url} placeholder="https://shop.example/" spellcheck={false} required={isBrowser} onInput={(event) => setUrl(event.currentTarget.value)} />
        </label>
        {!isBrowser && (
          <>
            <label class="field">
              Port
              <input class="number" type="number" min={0} max={65535} required value={settings.port} onInput={(event) => set({ port: Number(event.currentTarget.value) })} />
            </label>
            <label class="field">
              HTTPS Domains
              <input value={domains} placeholder="those of the first page" spellcheck={false} onInput={(event) => setDomains(event.currentTarget.value)} />
            </label>
          </>
        )}
        <More settings={settings} set={set} />
        <p class="buttons">
          <button type="submit" class="button main" disabled={isStarting}>{isStarting ? "Starting…" : "Record"}</button>
          <button type="button" class="button" onClick={close}>Cancel</button>
        </p>
      </form>
    </ModalBox>
  );
}
