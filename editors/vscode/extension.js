// Starts `drumfire lsp` and joins it to the editor.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

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

/** Runs a command of the program on the open plan, in a terminal. */
function inTerminal(...words) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const terminal = vscode.window.createTerminal({
    name: 'Drumfire',
    shellPath: program(),
    shellArgs: [words[0], editor.document.uri.fsPath, ...words.slice(1)],
  });
  terminal.show();
}

async function activate(context) {
  context.subscriptions.push(
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
