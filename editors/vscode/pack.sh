#!/bin/sh
# Packs the extension: drumfire-vscode-VERSION.vsix beside this file. Needs node and npm.
set -eu
cd "$(dirname "$0")"
npm install --omit=dev --no-audit --no-fund --silent
npx --yes @vscode/vsce@3 package --allow-missing-repository --no-rewrite-relative-links
