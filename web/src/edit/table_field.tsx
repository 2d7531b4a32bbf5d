// A table of texts: cells are typed in place, rows are added, removed and moved, and rows of a spreadsheet can be pasted.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CompletedInput } from "./complete";
import { useDraft } from "./draft";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import type { Column, Field, Id } from "./protocol";

/** The most rows that are shown before the user asks for more. */
const SHOWN = 200;

const same = (a: string[][], b: string[][]) => JSON.stringify(a) === JSON.stringify(b);

/** The cells of a copied part of a spreadsheet. A cell with tabs or lines is quoted there, and its quotes are doubled. */
export function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^\t\r\n]*)(\t|\r?\n|$)/gy;
  const clean = text.replace(/\r?\n$/, "");
  for (let found = cell.exec(clean); found; found = cell.exec(clean)) {
    const [, value, end] = found;
    rows[rows.length - 1].push(value.startsWith('"') && value.length > 1 ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === "") break;
    if (end !== "\t") rows.push([]);
  }
  return rows;
}

/** The rows with pasted cells, from a cell on. */
export function withCells(rows: string[][], at: { row: number; column: number }, cells: string[][], fresh: string[]): string[][] {
  const next = rows.map((row) => [...row]);
  cells.forEach((values, down) => {
    const row = (next[at.row + down] ??= [...fresh]);
    values.slice(0, fresh.length - at.column).forEach((value, right) => (row[at.column + right] = value));
  });
  return next;
}

export const newRow = (columns: Column[]): string[] => columns.map((column) => column.default ?? (column.kind === "flag" ? "false" : ""));

interface CellProps {
  column: Column;
  value: string;
  label: string;
  target: { plan: number; id: Id };
  set: (value: string) => void;
  leave: () => void;
  enter: () => void;
  isReadOnly: boolean;
}

function Cell({ column, value, label, target, set, leave, enter, isReadOnly }: CellProps) {
  if (column.kind === "flag" && !value.includes("${")) {
    return <input type="checkbox" aria-label={label} checked={value === "true"} disabled={isReadOnly} onChange={(event) => set(String(event.currentTarget.checked))} />;
  }
  if (column.kind === "choice" && column.choices && !value.includes("${")) {
    const isOther = !column.choices.some((choice) => choice.value === value);
    return (
      <select aria-label={label} value={value} disabled={isReadOnly} onChange={(event) => set(event.currentTarget.value)}>
        {isOther && <option value={value}>{value}</option>}
        {column.choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.label || choice.value}</option>)}
      </select>
    );
  }
  return <CompletedInput target={target} value={value} input={{ "aria-label": label, readOnly: isReadOnly }} isLong={value.includes("\n")} onValue={set} onLeave={leave} onEnter={enter} onEscape={() => false} />;
}

interface TableProps {
  plan: Plan;
  id: Id;
  field: Field;
  label: string;
  isReadOnly: boolean;
}

export function TableField({ plan, id, field, label, isReadOnly }: TableProps) {
  const { columns, rows: kept } = field.table!;
  const draft = useDraft(kept, (rows, join) => plan.change("table", { id, property: field.property, rows, join }), same);
  const [at, setAt] = useState({ row: 0, column: 0 });
  const [isWhole, setIsWhole] = useState(false);
  const wanted = useRef<{ row: number; column: number } | null>(null);
  const grid = useRef<HTMLTableElement>(null);
  const rows = draft.value;
  const focusCell = (row: number, column: number) => grid.current?.querySelector<HTMLElement>(`tr[data-row="${row}"] td[data-column="${column}"] :is(input, textarea, select)`)?.focus();
  // Before the next key arrives, or it would go to the button that added the row.
  useLayoutEffect(() => {
    if (!wanted.current) return;
    focusCell(wanted.current.row, wanted.current.column);
    wanted.current = null;
  });
  const put = (next: string[][], focus: { row: number; column: number }) => {
    wanted.current = focus;
    setAt(focus);
    draft.type(next);
  };
  const current = Math.min(at.row, rows.length - 1);
  const add = () => put([...rows.slice(0, current + 1), newRow(columns), ...rows.slice(current + 1)], { row: current + 1, column: 0 });
  const remove = () => put(rows.filter((_, index) => index !== current), { row: Math.max(0, current - 1), column: at.column });
  const shift = (step: -1 | 1) => {
    const to = current + step;
    if (to < 0 || to >= rows.length) return;
    const next = [...rows];
    [next[current], next[to]] = [next[to], next[current]];
    put(next, { row: to, column: at.column });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return;
    if (event.altKey && event.key === "ArrowUp") shift(-1);
    else if (event.altKey && event.key === "ArrowDown") shift(1);
    else if (event.ctrlKey && event.key === "Enter") add();
    else if (event.ctrlKey && event.key === "Delete") remove();
    else if (event.key === "ArrowUp") focusCell(at.row - 1, at.column);
    else if (event.key === "ArrowDown") focusCell(at.row + 1, at.column);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\t\n]/.test(text) || isReadOnly) return;
    event.preventDefault();
    put(withCells(rows, at, cellsOf(text), newRow(columns)), at);
  };
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  const tool = (title: string, icon: string, act: () => void, isOff = false) => (
    <button type="button" class="tool" title={title} aria-label={`${title}: ${label}`} disabled={isOff || isReadOnly} onClick={act}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="table-field" onPaste={onPaste} onKeyDown={onKey}>
      <div class="scroll" tabIndex={0} role="group" aria-label={`Cells of ${label}`}>
        <table ref={grid} class="grid" aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => <th key={column.property} scope="col" class={column.kind === "flag" ? "narrow" : ""}>{column.label}</th>)}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={index} data-row={index} class={index === current && rows.length > 1 ? "current" : ""}>
                {columns.map((column, place) => (
                  <td key={column.property} data-column={place} class={column.kind === "flag" ? "narrow" : ""} onFocusIn={() => setAt({ row: index, column: place })}>
                    <Cell
                      column={column}
                      value={row[place] ?? ""}
                      label={`${column.label}, row ${index + 1}`}
                      target={{ plan: plan.id, id }}
                      isReadOnly={isReadOnly}
                      set={(value) => draft.type(rows.map((each, other) => (other === index ? columns.map((_, cell) => (cell === place ? value : (each[cell] ?? ""))) : each)))}
                      leave={draft.leave}
                      enter={() => focusCell(index + 1, place)}
                    />
                  </td>
                ))}
              </tr>
            ))}
            {!rows.length && (
              <tr>
                <td colSpan={columns.length} class="empty">No rows. Add one, or click here and paste cells of a spreadsheet.</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <button type="button" class="link" onClick={() => setIsWhole(true)}>
          Show all {rows.length} rows
        </button>
      )}
      <div class="table-tools" role="toolbar" aria-label={`Rows of ${label}`}>
        {tool("Add a row (Ctrl+Enter)", "plus", add)}
        {tool("Delete the row (Ctrl+Del)", "close", remove, !rows.length)}
        {tool("Move the row up (Alt+Up)", "up", () => shift(-1), current <= 0)}
        {tool("Move the row down (Alt+Down)", "down", () => shift(1), current >= rows.length - 1)}
      </div>
    </div>
  );
}
