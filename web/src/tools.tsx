// The tools above a table: a search, a filter for rows, and the number of rows shown.

import { useState } from "preact/hooks";
import { SaveTable } from "./save";

export interface Choice {
  search: string;
  setSearch: (text: string) => void;
  kind: string;
  setKind: (kind: string) => void;
}

/** The state of the search and the filter. At first, all rows are shown. */
export function useChoice(): Choice {
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState("all");
  return { search, setSearch, kind, setKind };
}

/** Whether a text contains all words of the search, in any order. */
export function hasWords(search: string): (text: string) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

export function Tools(props: { what: string; choice: Choice; kinds?: [string, string][]; shown: string; table?: () => (string | number | null)[][] }) {
  const { what, choice, kinds, shown, table } = props;
  return (
    <div class="tools">
      <label>
        <span class="hidden">Search {what}</span>
        <input type="search" placeholder={`Search ${what}`} value={choice.search} onInput={(event) => choice.setSearch(event.currentTarget.value)} />
      </label>
      {kinds && (
        <label>
          <span class="hidden">Which {what}</span>
          <select value={choice.kind} onChange={(event) => choice.setKind(event.currentTarget.value)}>
            {kinds.map(([value, text]) => (
              <option value={value}>{text}</option>
            ))}
          </select>
        </label>
      )}
      <span class="hint" role="status">
        {shown}
      </span>
      {table && <SaveTable title={what} rows={table} />}
    </div>
  );
}
