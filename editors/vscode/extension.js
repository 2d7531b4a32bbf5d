// Starts `drumfire lsp`, joins it to the editor, and shows plans in the editor of plans.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const { PlanEditors, VIEW } = require('./editor.js');

let client;

function program() {
  return vscode.workspace.getConfiguration('drumfire').get('path') || 'drumfire';
}

async function start() {
  const server = { command: program(), args: ['lsp'] };
  const documentSelector = [
    { scheme: 'file', language: 'jmx' },
    { scheme: 'file', pattern: '**/*.jmx' },
    { scheme: 'file', pattern: '**/drumfire.toml' },
  ];
  client = new LanguageClient('drumfire', 'Drumfire', { run: server, debug: server }, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `Drumfire does not start: ${error.message}. Set drumfire.path to the program.`,
      'Open settings',
    );
    if (choice) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'drumfire.path');
    }
  }
}

/** The plan that is shown, as a text or in the plan editor. */
function openPlan() {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  return vscode.window.activeTextEditor?.document.uri ?? tab?.input?.uri;
}

/** Shows the open plan in another editor. */
function openWith(view, column) {
  const uri = openPlan();
  return uri && vscode.commands.executeCommand('vscode.openWith', uri, view, column);
}

/** Runs a command of the program on the open plan, in a terminal. */
function inTerminal(...words) {
  const uri = openPlan();
  if (!uri) {
    return;
  }
  const terminal = vscode.window.createTerminal({
    name: 'Drumfire',
    shellPath: program(),
    shellArgs: [words[0], uri.fsPath, ...words.slice(1)],
  });
  terminal.show();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.window.registerCustomEditorProvider(VIEW, new PlanEditors(vscode, program), { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.commands.registerCommand('drumfire.openEditor', () => openWith(VIEW)),
    vscode.commands.registerCommand('drumfire.openText', () => openWith('default', vscode.ViewColumn.Beside)),
    vscode.commands.registerCommand('drumfire.restart', async () => {
      if (client) {
        await client.stop();
      }
      await start();
    }),
    vscode.commands.registerCommand('drumfire.check', () => inTerminal('check')),
    vscode.commands.registerCommand('drumfire.runOnce', () => inTerminal('run', '--once')),
  );
  await start();
}

async function deactivate() {
  if (client) {
    await client.stop();
  }
}

module.exports = { activate, deactivate };
