#!/usr/bin/env node
// Starts the program that the package for this platform brings, with the same arguments, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");

const name = `@drumfire/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/drumfire${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: drumfire has no package for this platform (\`${name}\` is not installed)`);
  console.error("hint: install without --no-optional, or build from source");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // A terminal sends SIGINT to the child itself; the others reach only this process.
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
