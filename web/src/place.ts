// What the reader looks at: section, period and label. It stands in the page's address after the #, so that a link shows the same.

import { useEffect, useState } from "preact/hooks";
import type { Report, Row } from "./data";

export interface Place {
  section: string;
  /** From and to, in seconds since the start of the run. */
  from?: number;
  to?: number;
  label?: string;
  transaction?: boolean;
}

export function readPlace(): Place {
  const [section, query] = location.hash.slice(1).split("?");
  const fields = new URLSearchParams(query ?? "");
  const second = (name: string) => (fields.has(name) && Number.isFinite(Number(fields.get(name))) ? Number(fields.get(name)) : undefined);
  return { section, from: second("from"), to: second("to"), label: fields.get("label") ?? undefined, transaction: fields.has("transaction") };
}

/** Changes the address without a new entry in the browser's history. */
export function writePlace(change: Partial<Place>) {
  const place = { ...readPlace(), ...change };
  const fields = new URLSearchParams();
  if (place.from != null && place.to != null) {
    fields.set("from", String(place.from));
    fields.set("to", String(place.to));
  }
  if (place.label != null) fields.set("label", place.label);
  if (place.label != null && place.transaction) fields.set("transaction", "");
  const query = fields.toString();
  const hash = place.section || query ? `#${place.section}${query ? `?${query}` : ""}` : "";
  if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
}

/** Goes to a section. */
export function goTo(section: string) {
  writePlace({ section });
  document.getElementById(section)?.scrollIntoView();
}

const rowOf = (report: Report, place: Place) => report.labels.find((row) => row.label === place.label && row.transaction === Boolean(place.transaction)) ?? null;

/** The chosen label, also in the address. */
export function useChosen(report: Report): [Row | null, (row: Row | null) => void] {
  const [chosen, setChosen] = useState<Row | null>(() => rowOf(report, readPlace()));
  const choose = (row: Row | null) => {
    setChosen(row);
    writePlace({ label: row?.label, transaction: row?.transaction });
  };
  return [chosen, choose];
}

/** Goes to the section of the address once the page is drawn. */
export function useSection() {
  useEffect(() => {
    const { section } = readPlace();
    if (section) document.getElementById(section)?.scrollIntoView();
  }, []);
}
