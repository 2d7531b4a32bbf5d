// Shows the page of `drumfire edit` for a plan. The document stays the editor's: changes of the page arrive in it as edits of its
// text, and edits of its text reach the page.
'use strict';

const { spawn } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const path = require('node:path');
const readline = require('node:readline');

const VIEW = 'drumfire.plan';
/** How long a save waits for the values that fields of the page still hold. */
const FLUSH_MS = 1500;
/** How often the texts of document and program are brought together before the document wins. */
const ROUNDS = 20;

/** A process of `drumfire edit --stdio`. */
class Program {
  constructor(command, folder, told, ended) {
    this.waiting = new Map();
    this.last = 0;
    this.child = spawn(command, ['edit', '--stdio'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
    this.over = new Promise((resolve) => {
      const end = (why) => {
        if (this.why) return;
        this.why = why;
        for (const { reject } of this.waiting.values()) reject(new Error(why));
        this.waiting.clear();
        resolve();
        ended(why);
      };
      this.child.on('error', (error) => end(`Drumfire does not start: ${error.message}`));
      this.child.on('exit', () => end('Drumfire has ended'));
    });
    // A program that ends while it is written to is told by `exit`.
    this.child.stdin.on('error', () => {});
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method) return told(message.method, message.params);
      const waits = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      waits?.resolve(message);
    });
  }

  /** The whole answer to a request. */
  ask(method, params) {
    if (this.why) return Promise.reject(new Error(this.why));
    this.last += 1;
    const id = this.last;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  /** The result of a request. */
  async result(method, params) {
    const answer = await this.ask(method, params);
    if (answer.error) throw new Error(answer.error.message);
    return answer.result;
  }

  end() {
    this.child.stdin.end();
    this.child.kill();
  }
}

/** The range of a text that differs from another one, and the text in its place. */
function difference(before, after) {
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start] === after[start]) start += 1;
  // Neither half of a surrogate pair alone, nor half of a line end.
  if (start > 0 && (/[\uD800-\uDBFF]/.test(before[start - 1]) || before[start - 1] === '\r')) start -= 1;
  let tail = 0;
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  if (tail > 0 && (/[\uDC00-\uDFFF]/.test(before[before.length - tail]) || before[before.length - tail] === '\n')) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** A text with the changes of two others; nothing if they overlap. */
function merged(base, one, other) {
  const [a, b] = [difference(base, one), difference(base, other)];
  const [first, second] = a.start <= b.start ? [a, b] : [b, a];
  if (first.end >= second.start) return null;
  return base.slice(0, first.start) + first.text + base.slice(first.end, second.start) + second.text + base.slice(second.end);
}

/** A document with the panels that show it, and the program that edits it. */
class PlanSession {
  constructor(vscode, document, command, ended) {
    Object.assign(this, { vscode, document, command, ended });
    this.panels = new Set();
    /** The text that document and program had last in common. */
    this.base = null;
    /** Why the document's text is no plan at the moment. */
    this.fault = null;
    this.queue = Promise.resolve();
    this.flushes = new Map();
    this.start();
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument((event) => event.document === document && this.changed()),
      vscode.workspace.onDidSaveTextDocument((saved) => saved === document && this.tellDirty()),
      vscode.workspace.onWillSaveTextDocument((event) => event.document === document && event.waitUntil(this.flushed())),
    ];
  }

  start() {
    const folder = path.dirname(this.document.uri.fsPath);
    this.program = new Program(this.command, folder, (method, params) => this.told(method, params), (why) => this.lost(why));
    this.opened = this.open();
    // Whoever shows a panel tells why it failed.
    this.opened.catch(() => {});
  }

  async open() {
    const text = this.document.getText();
    const { html } = await this.program.result('page', {});
    this.html = html;
    const opened = await this.program.result('open', { path: this.document.uri.fsPath, text });
    this.plan = opened.plan;
    this.base = text;
    this.fault = null;
    void this.reconcile();
  }

  post(message) {
    for (const panel of this.panels) void panel.webview.postMessage(message);
  }

  /** The program ended by itself. */
  lost(why) {
    if (this.isClosed) return;
    this.post({ kind: 'lost' });
    void this.vscode.window.showErrorMessage(`${why}. The document has all changes.`, 'Start again').then(async (choice) => {
      if (!choice || this.isClosed) return;
      this.start();
      await this.opened;
      this.post({ kind: 'again' });
    });
  }

  told(method, params) {
    if (method === 'changed') {
      this.post({ kind: 'event', method, params: { ...params, change: this.asDocument(params.change) } });
      void this.reconcile();
    } else {
      this.post({ kind: 'event', method, params });
    }
  }

  /** The editor knows what is saved, and what undo takes back. */
  asDocument(result) {
    return { ...result, dirty: this.document.isDirty, can_undo: '', can_redo: '' };
  }

  tellDirty() {
    this.post({ kind: 'event', method: 'dirty', params: { plan: this.plan, dirty: this.document.isDirty } });
  }

  changed() {
    this.tellDirty();
    void this.reconcile();
  }

  /** Brings the texts of document and program together. */
  reconcile() {
    this.queue = this.queue.then(() => this.settle()).catch(() => {});
    return this.queue;
  }

  async settle() {
    if (this.base == null) {
      // The text was no plan when the panel opened.
      if (!this.program.why) await this.reopen();
      return;
    }
    for (let round = 0; round < ROUNDS; round++) {
      const { text } = await this.program.result('text', { plan: this.plan });
      const own = this.document.getText();
      if (text === own) {
        this.base = own;
        this.mended(null);
        return;
      }
      if (own === this.base) {
        await this.edit(own, text);
        this.base = this.document.getText() === text ? text : this.base;
      } else {
        const both = text === this.base ? own : (merged(this.base, text, own) ?? own);
        const answer = await this.program.ask('sync', { plan: this.plan, text: both });
        // While somebody types, the text may be no plan. The page waits.
        if (answer.error) return this.mended(answer.error.message);
        this.base = own;
      }
    }
  }

  async reopen() {
    try {
      await (this.opened = this.open());
      for (const panel of this.panels) this.show(panel);
    } catch {
      // It is still no plan.
    }
  }

  mended(fault) {
    if (fault && fault !== this.fault) this.post({ kind: 'event', method: 'fault', params: { message: fault } });
    this.fault = fault;
  }

  async edit(before, after) {
    const { start, end, text } = difference(before, after);
    const edit = new this.vscode.WorkspaceEdit();
    const range = new this.vscode.Range(this.document.positionAt(start), this.document.positionAt(end));
    edit.replace(this.document.uri, range, text);
    await this.vscode.workspace.applyEdit(edit);
  }

  /** Resolves when the values that fields of the pages still held are edits of the document. */
  async flushed() {
    const waits = [...this.panels].map((panel) => new Promise((resolve) => {
      const number = this.flushes.size + 1;
      this.flushes.set(number, resolve);
      void panel.webview.postMessage({ kind: 'flush', number });
    }));
    let timer;
    const limit = new Promise((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
    await Promise.race([Promise.all(waits).then(() => this.reconcile()), limit]);
    clearTimeout(timer);
    this.flushes.clear();
    return [];
  }

  async add(panel) {
    this.panels.add(panel);
    panel.webview.options = { enableScripts: true };
    panel.webview.onDidReceiveMessage((message) => this.received(panel, message));
    panel.onDidDispose(() => {
      this.panels.delete(panel);
      if (!this.panels.size) this.close();
    });
    try {
      await this.opened;
      this.show(panel);
    } catch (error) {
      panel.webview.html = failure(error.message);
    }
  }

  show(panel) {
    panel.webview.html = guarded(this.html);
  }

  async received(panel, message) {
    if (message.kind === 'flushed') return this.flushes.get(message.number)?.();
    if (message.kind !== 'rpc') return;
    const { number, content } = message;
    const answer = Array.isArray(content) ? await Promise.all(content.map((one) => this.answer(one))) : await this.answer(content);
    void panel.webview.postMessage({ kind: 'answer', number, content: answer });
  }

  async answer({ id, method, params }) {
    const done = (result) => ({ jsonrpc: '2.0', id, result });
    const refused = (message, hint) => ({ jsonrpc: '2.0', id, error: { code: -32002, message, data: { hint } } });
    try {
      if (method === 'save') {
        const isSaved = await this.document.save();
        return isSaved ? done({ revision: 0 }) : refused('The document was not saved');
      }
      if (method === 'undo' || method === 'redo') {
        await this.vscode.commands.executeCommand(method);
        return done(this.asDocument({ revision: 0, nodes: [], removed: [], created: [] }));
      }
      if (['open', 'close', 'sync', 'page'].includes(method)) return refused('The editor opens and closes plans');
      if (this.fault && params.revision != null) return refused(`The text beside is no plan: ${this.fault}`, 'Mend the text first');
      const answer = await this.program.ask(method, params);
      const holds = answer.result && typeof answer.result === 'object' && 'can_undo' in answer.result;
      return { ...answer, id, ...(holds ? { result: this.asDocument(answer.result) } : {}) };
    } catch (error) {
      return refused(error.message);
    }
  }

  close() {
    this.isClosed = true;
    this.listeners.forEach((listener) => listener.dispose());
    this.program.end();
    this.ended();
  }
}

/** The page with a policy under which its own script runs and nothing else. The script that asks a server early goes, since a panel has no server. */
function guarded(html) {
  const nonce = randomBytes(16).toString('hex');
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data:`;
  return html
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />`)
    .replace(/<script data-early>[^]*?<\/script>/, '')
    .replace(/<script type="module"/, () => `<script nonce="${nonce}" type="module"`);
}

function failure(message) {
  const text = message.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8" /><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" /><title>Drumfire</title></head><body><h1>The plan cannot be shown</h1><p>${text}</p><p>Mend it with the command “Drumfire: Open as text”.</p></body></html>`;
}

/** A provider of custom text editors for plans. */
class PlanEditors {
  constructor(vscode, command) {
    Object.assign(this, { vscode, command });
    this.sessions = new Map();
  }

  resolveCustomTextEditor(document, panel) {
    const key = document.uri.toString();
    let session = this.sessions.get(key);
    if (!session) {
      session = new PlanSession(this.vscode, document, this.command(), () => this.sessions.delete(key));
      this.sessions.set(key, session);
    }
    return session.add(panel);
  }
}

module.exports = { PlanEditors, VIEW, difference, merged };
