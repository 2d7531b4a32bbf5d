// Tries an expression on a response, for the debugger and for the editor.

import { useState } from "preact/hooks";

const KINDS: [kind: string, name: string, example: string][] = [
  ["regex", "Regular expression", 'href="(.+?)"'],
  ["boundary", "Boundaries", 'name="...'],
  ["jsonpath", "JSONPath", "$.items[*].id"],
  ["jmespath", "JMESPath", "items[].id"],
  ["css", "CSS selector", "a@href"],
  ["xpath", "XPath", "//a/@href"],
];

interface Tried {
  kind: string;
  expression: string;
}

/** The expression stays from one sample to the next. */
let last: Tried = { kind: "regex", expression: "" };

/** `test` gives the matches, or fails with the reason. */
export function Tester({ label, test }: { label: string; test: (kind: string, expression: string) => Promise<string[]> }) {
  const [tried, setTried] = useState(last);
  const [found, setFound] = useState<string[] | null>(null);
  const [fault, setFault] = useState("");
  const set = (change: Partial<Tried>) => setTried((last = { ...tried, ...change }));
  const run = async () => {
    try {
      setFound(await test(tried.kind, tried.expression));
      setFault("");
    } catch (error) {
      setFound(null);
      setFault((error as Error).message);
    }
  };
  return (
    <form
      class="tester"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <div class="orders">
        <select aria-label="Kind of expression" value={tried.kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
          {KINDS.map(([value, name]) => (
            <option key={value} value={value}>{name}</option>
          ))}
        </select>
        <input class="expression" aria-label="Expression" spellcheck={false} placeholder={KINDS.find(([value]) => value === tried.kind)?.[2]} value={tried.expression} onInput={(event) => set({ expression: event.currentTarget.value })} />
        <button type="submit" class="order button">
          Try
        </button>
      </div>
      <p class="hint note">Runs on the response of {label}, with the matchers of the run. Write boundaries as LEFT...RIGHT, and an attribute after a CSS selector as @name.</p>
      {fault && <p class="assertion bad" role="alert">{fault}</p>}
      {found && (
        <>
          <p role="status">{found.length === 0 ? "Nothing was found." : `${found.length} found`}</p>
          <ol id="found">
            {found.map((text, index) => (
              <li key={index}>
                <code>{text}</code>
              </li>
            ))}
          </ol>
        </>
      )}
    </form>
  );
}
