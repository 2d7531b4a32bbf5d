// One sample of a run: the request as it was sent, the response, its phases and assertions, and what the elements did to variables.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Block, BodyViews, fold, Sign, Steps } from "./exchange";
import { time } from "../format";
import { Tester } from "./tester";
import { run as act } from "./actions";
import { call, RpcError } from "./client";
import { Compare } from "./compare";
import { selection } from "./extract";
import { bestKey, shownKey } from "./keys";
import type { Plan } from "./plan";
import type { BodyWindow, RunSample, RunSampleDetail } from "./protocol";
import { bytes, sentText, windowOf, WINDOW, type Place } from "./sample";
import { sampleOf, type Run } from "./runs";
import { tell } from "./tell";
import { visit } from "./workspace";

/** The longest picture that is fetched whole. */
const MOST_IMAGE = 16 * 1024 * 1024;

type Part = "Response" | "Request" | "Variables" | "Elements" | "Try" | "Compare";
const PARTS: Part[] = ["Response", "Request", "Variables", "Elements", "Try", "Compare"];
const part = signal<Part>("Response");

/** Lines such as `Name: value`, as pairs. */
const pairs = (lines: string): [string, string][] =>
  lines
    .split(/\r?\n/)
    .filter((line) => line.trim())
    .map((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).trim()];
    });

function Pairs({ name, rows }: { name: string; rows: [string, string][] }) {
  if (!rows.length) return null;
  return (
    <>
      <h3>{name}</h3>
      <div class="scroll" tabIndex={0} role="group" aria-label={name}>
        <table class="pairs">
          <tbody>
            {rows.map(([key, value], index) => (
              <tr key={index}>
                <th scope="row">{key}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const bytesOf = ({ base64, text }: BodyWindow) => (base64 != null ? Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)) : new TextEncoder().encode(text ?? ""));

/** Sixteen bytes a line, in numbers and as signs. */
function hex(all: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < all.length; at += 16) {
    const row = [...all.subarray(at, at + 16)];
    const numbers = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const signs = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${numbers.padEnd(48)} ${signs}`);
  }
  return lines.join("\n");
}

/** A picture, fetched whole. */
function Picture({ place, first, contentType }: { place: Place; first: BodyWindow; contentType: string }) {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    void (async () => {
      const found = [first];
      for (let last = first; last.next < Math.min(first.size, MOST_IMAGE); found.push(last)) last = await windowOf(place, last.next);
      const signs = found.flatMap((each) => [...bytesOf(each)].map((byte) => String.fromCharCode(byte)));
      setAddress(`data:${contentType.split(";")[0]};base64,${btoa(signs.join(""))}`);
    })().catch(() => setAddress(null));
  }, []);
  return address && <img class="picture" src={address} alt="The response as a picture" />;
}

function Body({ place, detail }: { place: Place; detail: RunSampleDetail }) {
  const { content_type: contentType, body: first, is_binary: isBinary } = detail.response;
  const [body, setBody] = useState(first);
  const [isLoading, setLoading] = useState(false);
  const isPicture = /^image\//.test(contentType);
  const more = async () => {
    setLoading(true);
    try {
      const next = await windowOf(place, body.next);
      const joined = body.base64 != null ? { base64: btoa(atob(body.base64) + atob(next.base64 ?? "")) } : { text: (body.text ?? "") + (next.text ?? "") };
      setBody({ ...next, ...joined, offset: 0 });
    } catch (error) {
      if (error instanceof RpcError) tell({ text: error.message, hint: error.hint, bad: true });
    }
    setLoading(false);
  };
  if (!first.size) return <p class="note">The response has no body.</p>;
  const views = [
    ...(isPicture ? [{ name: "picture", show: () => <Picture place={place} first={first} contentType={contentType} /> }] : []),
    { name: "hex", show: () => <pre tabIndex={0} role="group" aria-label="Bytes of the body">{hex(bytesOf(body))}</pre> },
  ];
  return (
    <>
      <BodyViews text={isBinary ? "" : (body.text ?? "")} contentType={contentType} more={views} />
      {body.next < first.size && (
        <p class="note more-body">
          {bytes(body.next)} of {bytes(first.size)} are shown.{" "}
          <button type="button" class="button" disabled={isLoading} onClick={() => void more()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** Where the time of a sample went. */
function Phases({ sample }: { sample: RunSample }) {
  const whole = sample.elapsed_us / 1000;
  const connect = Math.min(sample.connect_ms, whole);
  const wait = Math.max(0, Math.min(sample.latency_ms, whole) - connect);
  const phases: [string, number][] = [["connect", connect], ["wait", wait], ["receive", Math.max(0, whole - connect - wait)]];
  const told = phases.map(([name, ms]) => `${name} ${time(ms)}`).join(", ");
  return (
    <div class="phases">
      <div class="phase-bar" role="img" aria-label={told}>
        {phases.map(([name, ms]) => <i key={name} class={name} style={{ flexGrow: whole ? ms / whole : 0 }} />)}
      </div>
      <p class="note">
        {phases.map(([name, ms]) => (
          <span key={name} class={`phase ${name}`}>{name} {time(ms)}</span>
        ))}
        <span>{bytes(sample.sent_bytes)} sent, {bytes(sample.received_bytes)} received</span>
      </p>
    </div>
  );
}

type RequestView = "raw" | "parsed" | "cURL";
const requestView = signal<RequestView>("raw");

function Parsed({ detail }: { detail: RunSampleDetail }) {
  const { sample, request } = detail;
  const url = URL.canParse(sample.url) ? new URL(sample.url) : null;
  const type = pairs(request.headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const isForm = /x-www-form-urlencoded/i.test(type);
  const folded = request.body && !isForm ? fold(request.body, type) : null;
  return (
    <>
      {url && <Pairs name="Address" rows={[["Method", sample.method], ["Scheme", url.protocol.replace(":", "")], ["Host", url.host], ["Path", url.pathname]]} />}
      {url && <Pairs name="Query" rows={[...url.searchParams]} />}
      <Pairs name="Headers" rows={pairs(request.headers)} />
      <Pairs name="Cookies" rows={request.cookies.split(/;\s*/).filter(Boolean).map((cookie) => [cookie.split("=")[0], cookie.slice(cookie.indexOf("=") + 1)])} />
      {isForm ? <Pairs name="Form" rows={[...new URLSearchParams(request.body)]} /> : folded ? <><h3>Body</h3>{folded}</> : <Block name="Body" text={request.body} />}
    </>
  );
}

function Request({ detail }: { detail: RunSampleDetail }) {
  const views: RequestView[] = detail.request.curl ? ["raw", "parsed", "cURL"] : ["raw", "parsed"];
  const view = views.includes(requestView.value) ? requestView.value : "raw";
  const text = view === "cURL" ? detail.request.curl! : sentText(detail);
  const copy = () => navigator.clipboard.writeText(text).then(() => tell({ text: "Copied the request" }), () => tell({ text: "The browser does not let the page write to the clipboard", bad: true }));
  return (
    <>
      <p class="request-views">
        <span class="toggles" role="group" aria-label="View of the request">
          {views.map((each) => (
            <button type="button" key={each} class={`toggle ${each === view ? "on" : ""}`} aria-pressed={each === view} onClick={() => (requestView.value = each)}>
              {each}
            </button>
          ))}
        </span>
        {view !== "parsed" && <button type="button" class="button" onClick={() => void copy()}>Copy</button>}
      </p>
      {view === "parsed" ? <Parsed detail={detail} /> : <pre tabIndex={0} role="group" aria-label="Request">{text}</pre>}
    </>
  );
}

function Response({ place, detail }: { place: Place; detail: RunSampleDetail }) {
  const headers = pairs(detail.response.headers);
  const cookies = headers.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]): [string, string] => [value.split("=")[0], value.slice(value.indexOf("=") + 1)]);
  return (
    <div id="response">
      <Body place={place} detail={detail} />
      {selection.value && (
        <p class="selection">
          <button type="button" class="button" title={shownKey(bestKey("extractValue"))} onMouseDown={(event) => event.preventDefault()} onClick={() => act("extractValue")}>
            Extract the selected text <kbd>{shownKey(bestKey("extractValue"))}</kbd>
          </button>
        </p>
      )}
      <Pairs name="Cookies" rows={cookies} />
      <Pairs name="Headers" rows={headers.filter(([name]) => name.toLowerCase() !== "set-cookie")} />
    </div>
  );
}

/** The variables after the sample; those that it changed come first. */
function Variables({ detail }: { detail: RunSampleDetail }) {
  const { before, variables } = detail;
  const names = [...new Set([...Object.keys(before), ...Object.keys(variables)])].sort();
  const changed = names.filter((name) => before[name] !== variables[name]);
  if (!names.length) return <p class="note">No variables.</p>;
  const line = (name: string) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      <td>
        {before[name] !== variables[name] && before[name] != null && <><del>{before[name] || "(empty)"}</del> </>}
        {variables[name] == null ? "removed" : before[name] !== variables[name] ? <ins>{variables[name] || "(empty)"}</ins> : variables[name]}
      </td>
    </tr>
  );
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Variables after the sample">
      <table class="pairs">
        <tbody>{[...changed, ...names.filter((name) => !changed.includes(name))].map(line)}</tbody>
      </table>
    </div>
  );
}

function Parts() {
  const step = (event: KeyboardEvent) => {
    const at = PARTS.indexOf(part.value);
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 + PARTS.length : -1;
    if (to < 0) return;
    part.value = PARTS[to % PARTS.length];
    document.getElementById(`part-${part.value}`)?.focus();
  };
  return (
    <div class="tabs inner" role="tablist" aria-label="Parts of the sample" onKeyDown={step}>
      {PARTS.map((name) => (
        <button type="button" key={name} id={`part-${name}`} role="tab" aria-selected={part.value === name} aria-controls="part" tabIndex={part.value === name ? 0 : -1} onClick={() => (part.value = name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

function SampleView({ plan, run, number, path }: { plan: Plan; run: Run; number: number; path: number[] }) {
  const [detail, setDetail] = useState<RunSampleDetail | null>(null);
  const place = { run: run.number, number, path };
  useEffect(() => {
    call<RunSampleDetail>("run_sample_detail", { ...place, length: WINDOW }).then(setDetail, (error) => error instanceof RpcError && tell({ text: error.message, hint: error.hint, bad: true }));
  }, []);
  if (!detail) return null;
  const { sample, assertions } = detail;
  const go = (id: number) => visit(id, null, plan);
  return (
    <div class="result">
      <div class="result-head">
        <h2>
          <Sign good={sample.success} /> {sample.label}
        </h2>
        <span class={sample.success ? "good" : "bad"}>
          {sample.code} {sample.message}
        </span>
        <span>{time(sample.elapsed_us / 1000)}</span>
      </div>
      {assertions.length > 0 && (
        <ul class="assertions" aria-label="Assertions">
          {assertions.map((assertion, index) => (
            <li key={index} class={assertion.fault == null ? "" : "bad"}>
              <Sign good={assertion.fault == null} /> {assertion.name}
              {assertion.fault != null && `: ${assertion.fault}`}
            </li>
          ))}
        </ul>
      )}
      <Phases sample={sample} />
      <Parts />
      <div id="part" role="tabpanel" aria-labelledby={`part-${part.value}`} tabIndex={0}>
        {part.value === "Response" && <Response place={place} detail={detail} />}
        {part.value === "Request" && <Request detail={detail} />}
        {part.value === "Variables" && <Variables detail={detail} />}
        {part.value === "Elements" && <Steps steps={detail.steps} go={go} />}
        {part.value === "Try" && <Tester label={sample.label} test={(kind, expression) => call<string[]>("run_test", { ...place, kind, expression })} />}
        {part.value === "Compare" && <Compare place={place} detail={detail} />}
      </div>
    </div>
  );
}

export function ResultView({ plan }: { plan: Plan }) {
  const at = sampleOf(plan);
  if (at) return <SampleView key={`${at.run.number}.${at.number}.${at.path.join(".")}`} plan={plan} run={at.run} number={at.number} path={at.path} />;
  return (
    <div class="note">
      <p>No result of this element in the shown run.</p>
      <p class="buttons">
        <button type="button" class="button" onClick={() => act("runThis")}>
          Run it ({shownKey(bestKey("runThis"))})
        </button>
      </p>
    </div>
  );
}
