// Starts the extension with a stand-in for the editor and checks that it asks for `drumfire lsp` and takes the commands.
// The editor's own half needs a Visual Studio Code; run: node test/start.js
'use strict';

const assert = require('node:assert');
const Module = require('node:module');

const taken = { commands: new Map(), clients: [], terminals: [], editors: new Map(), executed: [] };

const vscode = {
  workspace: { getConfiguration: () => ({ get: () => '/opt/drumfire' }) },
  commands: { registerCommand: (name, run) => (taken.commands.set(name, run), { dispose() {} }), executeCommand: (...words) => taken.executed.push(words) },
  ViewColumn: { Beside: -2 },
  window: {
    registerCustomEditorProvider: (view, provider) => (taken.editors.set(view, provider), { dispose() {} }),
    tabGroups: { activeTabGroup: { activeTab: undefined } },
    activeTextEditor: { document: { uri: { fsPath: '/p/shop.jmx' } } },
    createTerminal: (options) => (taken.terminals.push(options), { show() {} }),
    showErrorMessage: async () => undefined,
  },
};

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { id, server, options, state: 'new' });
    taken.clients.push(this);
  }
  async start() {
    this.state = 'running';
  }
  async stop() {
    this.state = 'stopped';
  }
}

const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === 'vscode') return vscode;
  if (name === 'vscode-languageclient/node') return { LanguageClient };
  return load(name, ...rest);
};

async function main() {
  const extension = require('../extension.js');
  const manifest = require('../package.json');
  const context = { subscriptions: [] };
  await extension.activate(context);
  const [client] = taken.clients;
  assert.equal(client.state, 'running');
  assert.deepEqual(client.server.run, { command: '/opt/drumfire', args: ['lsp'] });
  const declared = manifest.contributes.commands.map((one) => one.command).sort();
  assert.deepEqual([...taken.commands.keys()].sort(), declared);
  assert.equal(context.subscriptions.length, declared.length + 1);
  assert.deepEqual([...taken.editors.keys()], manifest.contributes.customEditors.map((one) => one.viewType));
  taken.commands.get('drumfire.openText')();
  taken.commands.get('drumfire.openEditor')();
  assert.deepEqual(taken.executed.map(([name, uri, view]) => [name, uri.fsPath, view]), [['vscode.openWith', '/p/shop.jmx', 'default'], ['vscode.openWith', '/p/shop.jmx', 'drumfire.plan']]);
  taken.commands.get('drumfire.runOnce')();
  assert.deepEqual(taken.terminals[0].shellArgs, ['run', '/p/shop.jmx', '--once']);
  await taken.commands.get('drumfire.restart')();
  assert.equal(taken.clients[0].state, 'stopped');
  assert.equal(taken.clients[1].state, 'running');
  await extension.deactivate();
  assert.equal(taken.clients[1].state, 'stopped');
  console.log('the extension starts, restarts and stops its server, and opens plans as text and in the editor');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
