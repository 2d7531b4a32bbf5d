// A sample beside an earlier one of the same sampler: times, and what differs in request, headers and body.

import { json } from "@codemirror/lang-json";
import { syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { time } from "../format";
import { call } from "./client";
import type { Id, RunSample, RunSampleDetail } from "./protocol";
import { ownRuns, refused } from "./runs";
import { bytes, sentText, type Place, WINDOW } from "./sample";

/** An earlier sample of the same sampler. */
interface Earlier {
  run: number;
  sample: RunSample;
}

/** The samples of a sampler before a place, the last one first. */
export function earlier(id: Id | null, place: Place): Earlier[] {
  if (id == null || place.path.length) return [];
  const isBefore = (run: number, number: number) => run < place.run || (run === place.run && number < place.number);
  const all = ownRuns.value.flatMap((run) => run.samples.filter((sample) => sample.id === id && isBefore(run.number, sample.number)).map((sample) => ({ run: run.number, sample })));
  return all.reverse();
}

/** JSON in lines of its own, so that a diff of lines tells something. */
function inLines(text: string): { text: string; isJson: boolean } {
  try {
    return { text: JSON.stringify(JSON.parse(text), null, 2), isJson: true };
  } catch {
    return { text, isJson: false };
  }
}

function Diff({ name, before, now }: { name: string; before: string; now: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [old, fresh] = [inLines(before), inLines(now)];
  const isSame = old.text === fresh.text;
  useEffect(() => {
    if (isSame) return;
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: fresh.text,
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": `${name}, compared`, tabindex: "0" }),
          syntaxHighlighting(classHighlighter),
          fresh.isJson ? json() : [],
          unifiedMergeView({ original: old.text, mergeControls: false, gutter: true, collapseUnchanged: { margin: 3, minSize: 6 } }),
        ],
      }),
    });
    return () => view.destroy();
  }, [old.text, fresh.text]);
  return (
    <>
      <h3>{name}</h3>
      {isSame ? <p class="note">{now ? "The same." : "Empty in both."}</p> : <div ref={place} class="diff" />}
    </>
  );
}

const ROWS: [name: string, of: (sample: RunSample) => string][] = [
  ["Result", (sample) => (sample.success ? "passed" : "failed")],
  ["Status", (sample) => `${sample.code} ${sample.message}`],
  ["Time", (sample) => time(sample.elapsed_us / 1000)],
  ["Connect", (sample) => time(sample.connect_ms)],
  ["First byte", (sample) => time(sample.latency_ms)],
  ["Sent", (sample) => bytes(sample.sent_bytes)],
  ["Received", (sample) => bytes(sample.received_bytes)],
  ["Failed assertions", (sample) => String(sample.assertions)],
];

const whenOf = ({ run, sample }: Earlier) => `Run ${run}${sample.iteration > 1 ? `, iteration ${sample.iteration}` : ""}, ${sample.thread}`;

/** The earlier sample that was chosen, by run and number. */
const base = signal("");

export function Compare({ place, detail }: { place: Place; detail: RunSampleDetail }) {
  const all = earlier(detail.sample.id, place);
  const keyOf = ({ run, sample }: Earlier) => `${run}.${sample.number}`;
  const other = all.find((each) => keyOf(each) === base.value) ?? all[0];
  const [before, setBefore] = useState<RunSampleDetail | null>(null);
  useEffect(() => {
    if (!other) return;
    let isOld = false;
    call<RunSampleDetail>("run_sample_detail", { run: other.run, number: other.sample.number, length: WINDOW }).then((found) => !isOld && setBefore(found), refused);
    return () => {
      isOld = true;
    };
  }, [other && keyOf(other)]);
  if (!other) return <p class="note">No earlier sample of this sampler. Run it again to compare.</p>;
  if (!before) return null;
  const [old, fresh] = [before.response.body, detail.response.body];
  const isText = !before.response.is_binary && !detail.response.is_binary;
  return (
    <>
      <p class="request-views">
        <select aria-label="Compare with" value={keyOf(other)} onChange={(event) => (base.value = event.currentTarget.value)}>
          {all.map((each) => <option key={keyOf(each)} value={keyOf(each)}>{whenOf(each)}</option>)}
        </select>
      </p>
      <table class="pairs compared">
        <thead>
          <tr><td /><th scope="col">before</th><th scope="col">now</th></tr>
        </thead>
        <tbody>
          {ROWS.map(([name, of]) => {
            const [left, right] = [of(before.sample), of(detail.sample)];
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{left}</td>
                <td>{left === right ? right : <ins>{right}</ins>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Diff name="Request" before={sentText(before)} now={sentText(detail)} />
      <Diff name="Response headers" before={before.response.headers.trimEnd()} now={detail.response.headers.trimEnd()} />
      {isText ? <Diff name="Body" before={old.text ?? ""} now={fresh.text ?? ""} /> : <p class="note">A body is not text: {bytes(old.size)} before, {bytes(fresh.size)} now.</p>}
      {isText && Math.max(old.size, fresh.size) > WINDOW && <p class="note">The first {bytes(WINDOW)} of the bodies are compared.</p>}
    </>
  );
}
