// A stand-in for Visual Studio Code: documents with undo, edits and saving, and panels whose page is in a browser.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";

type Listener<T> = (event: T) => unknown;

class Event<T> {
  private readonly listeners = new Set<Listener<T>>();
  on = (listener: Listener<T>) => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire = (event: T) => [...this.listeners].map((listener) => listener(event));
}

interface Range {
  start: number;
  end: number;
}

export class Document {
  readonly uri: { fsPath: string; toString: () => string };
  text: string;
  isDirty = false;
  done: string[] = [];
  undone: string[] = [];

  constructor(readonly editor: FakeEditor, path: string) {
    this.uri = { fsPath: path, toString: () => `file://${path}` };
    this.text = readFileSync(path, "utf8");
  }

  getText = () => this.text;
  // Offsets stand for positions.
  positionAt = (offset: number) => offset;

  private become(text: string) {
    this.text = text;
    this.isDirty = true;
    this.editor.changed.fire({ document: this });
  }

  replace({ start, end }: Range, text: string) {
    this.done.push(this.text);
    this.undone = [];
    this.become(this.text.slice(0, start) + text + this.text.slice(end));
  }

  /** Types over the first place of a text. */
  type(before: string, after: string) {
    const start = this.text.indexOf(before);
    this.replace({ start, end: start + before.length }, after);
  }

  step(from: string[], to: string[]) {
    const text = from.pop();
    if (text == null) return;
    to.push(this.text);
    this.become(text);
  }

  async save() {
    const waits: Promise<unknown>[] = [];
    this.editor.willSave.fire({ document: this, waitUntil: (wait) => waits.push(wait) });
    await Promise.all(waits);
    writeFileSync(this.uri.fsPath, this.text);
    this.isDirty = false;
    this.editor.saved.fire(this);
    return true;
  }
}

export class FakeEditor {
  readonly changed = new Event<{ document: Document }>();
  readonly saved = new Event<Document>();
  readonly willSave = new Event<{ document: Document; waitUntil: (wait: Promise<unknown>) => void }>();
  readonly errors: string[] = [];
  active: Document | null = null;

  readonly api = {
    workspace: {
      onDidChangeTextDocument: this.changed.on,
      onDidSaveTextDocument: this.saved.on,
      onWillSaveTextDocument: this.willSave.on,
      applyEdit: async (edit: { pieces: [Range, string][] }) => {
        for (const [range, text] of edit.pieces) this.active!.replace(range, text);
        return true;
      },
    },
    window: {
      showErrorMessage: async (message: string) => {
        this.errors.push(message);
      },
    },
    commands: {
      executeCommand: async (name: string) => {
        const document = this.active!;
        if (name === "undo") document.step(document.done, document.undone);
        if (name === "redo") document.step(document.undone, document.done);
      },
    },
    Range: class {
      constructor(readonly start: number, readonly end: number) {}
    },
    WorkspaceEdit: class {
      readonly pieces: [Range, string][] = [];
      replace(_: unknown, range: Range, text: string) {
        this.pieces.push([range, text]);
      }
    },
  };
}

/** The extension's provider over the real program. */
export function provider(editor: FakeEditor, program: string) {
  const { PlanEditors } = createRequire(import.meta.url)(resolve("../editors/vscode/editor.js"));
  return new PlanEditors(editor.api, () => program) as { resolveCustomTextEditor: (document: Document, panel: unknown) => Promise<void> };
}

/** Shows a document in a page of the browser, as a panel does. */
export async function show(page: Page, editor: FakeEditor, document: Document, editors: ReturnType<typeof provider>) {
  editor.active = document;
  const received = new Event<unknown>();
  const disposed = new Event<void>();
  let html = "";
  await page.exposeFunction("toEditor", (message: unknown) => void received.fire(message));
  await page.addInitScript(() => {
    const scope = window as unknown as { acquireVsCodeApi: unknown; toEditor: (message: unknown) => void };
    scope.acquireVsCodeApi = () => ({ postMessage: (message: unknown) => scope.toEditor(message) });
    addEventListener("DOMContentLoaded", () => document.body.classList.add("vscode-dark"));
  });
  // The panel's address is one of the editor's own.
  await page.route("https://panel.example/", (route) => route.fulfill({ body: html, contentType: "text/html" }));
  const panel = {
    webview: {
      options: {},
      onDidReceiveMessage: received.on,
      postMessage: (message: unknown) => page.evaluate((data) => window.dispatchEvent(new MessageEvent("message", { data })), message).catch(() => {}),
      set html(text: string) {
        html = text;
        void page.goto("https://panel.example/").catch(() => {});
      },
    },
    onDidDispose: disposed.on,
  };
  await editors.resolveCustomTextEditor(document, panel);
  return { html: () => html, dispose: () => disposed.fire() };
}
