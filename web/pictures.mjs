// Takes the pictures of the documentation. `cargo xtask pictures` says where the browser, the program and the pages are.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";

const folder = resolve(process.argv[2]);
/** Names after the folder: only these pictures are taken. */
const wanted = process.argv.slice(3);
const pages = resolve(process.env.DRUMFIRE_PAGES);
const program = process.env.DRUMFIRE_PROGRAM;
const SIZE = { width: 1280, height: 1000 };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** Opens a page, acts on it, and takes its picture. */
async function picture(name, address, { colorScheme = "light", ready = "html[data-ready]", act = async () => {} } = {}) {
  if (wanted.length && !wanted.includes(name)) return;
  const context = await browser.newContext({ viewport: SIZE, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector(ready);
  await act(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
  console.log(`docs/${name}.png`);
}

/** Starts the program in an empty folder; gives the address that it prints, and a way to end it. */
async function serve(...words) {
  const home = mkdtempSync(join(tmpdir(), "picture-"));
  const options = { cwd: home, env: { ...process.env, HOME: home } };
  for (const line of words.slice(0, -1)) await new Promise((done) => spawn(program, line, options).on("exit", done));
  const child = spawn(program, words.at(-1), options);
  let text = "";
  const address = await new Promise((found, failed) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(text);
      if (address) found(address[0]);
    });
    child.on("exit", () => failed(new Error(text)));
  });
  return { address, end: () => child.kill("SIGKILL") };
}

/** Takes the picture of a terminal of so many columns in which the program runs. tmux is the terminal. */
async function terminal(name, columns) {
  const home = mkdtempSync(join(tmpdir(), "picture-"));
  const tmux = (...words) => execFileSync("tmux", ["-L", `pictures-${process.pid}`, ...words], { cwd: home, encoding: "utf8" });
  const line = `cd ${home} && HOME=${home} exec ${program} run --demo -Jseconds=10`;
  tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", "17", line);
  await new Promise((done) => setTimeout(done, 9_000));
  const lines = tmux("capture-pane", "-e", "-p").trimEnd().split("\n");
  const screen = lines.slice(lines.findIndex((line) => line.includes("% "))).join("\n");
  tmux("kill-server");
  const page = await browser.newPage({ viewport: { width: 2400, height: 600 } });
  await page.setContent(`<pre style="margin:0;padding:14px;background:#121212;color:#e4e4e4;font:14px/1.3 monospace;width:max-content">${coloured(screen)}</pre>`);
  await page.locator("pre").screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
  console.log(`docs/${name}.png`);
}

/** A terminal's text as HTML. The program uses bold, dim, and three colours of the palette of 256. */
function coloured(text) {
  const styles = { 1: "font-weight:bold", 2: "color:#8a8a8a", "38;5;160": "color:#d70000", "38;5;28": "color:#008700", "38;5;130": "color:#af5f00" };
  const html = text.replaceAll("\x1b(B", "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const spans = html.replace(/\x1b\[([\d;]*)m/g, (_, code) => `</span><span style="${styles[code.replace(/^0;/, "")] ?? ""}">`);
  return `<span>${spans}</span>`;
}

const made = (name) => pathToFileURL(join(pages, name)).href;
await picture("report", made("whole.html"));
await picture("report-dark", made("whole.html"), { colorScheme: "dark", act: (page) => page.locator("#time").evaluate((part) => part.scrollIntoView()) });
await picture("comparison", made("comparison.html"));
await picture("trend", made("trend.html"), { ready: "svg" });

for (const [name, columns] of [["terminal", 120], ["terminal-80", 80], ["terminal-200", 200]]) await terminal(name, columns);

const run = await serve(["run", "--demo", "-Jseconds=60", "--ui"]);
await picture("live", run.address, {
  act: async (page) => {
    await page.waitForTimeout(20_000);
    await page.locator("#together").evaluate((part) => part.scrollIntoView());
    await page.waitForTimeout(1_500);
  },
});
run.end();

const session = await serve(["new", "plan.jmx"], ["debug", "plan.jmx", "--no-open", "--step", "--", "--demo"]);
await picture("debugger", session.address, {
  ready: '[role="treeitem"]',
  act: async (page) => {
    // The first stop is before the timer of the first request.
    for (let sample = 0; sample < 2; sample++) {
      await page.getByRole("button", { name: "Next sampler" }).click();
      await page.waitForTimeout(800);
    }
    await page.getByRole("region", { name: "The user stands still" }).waitFor();
  },
});
session.end();

const site = spawn(program, ["demo", "--port", "0", "--https-port", "0"]);
const port = await new Promise((found) => {
  let text = "";
  site.stdout.on("data", (chunk) => {
    text += chunk;
    const address = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
    if (address) found(address[1]);
  });
});
const editor = await serve(["new", "plan.jmx"], ["set", "plan.jmx", `HTTP Request Defaults>port=${port}`], ["edit", "plan.jmx", "--no-open"]);
const opened = { ready: '[role="treeitem"]' };
const request = (page) => page.getByRole("treeitem").filter({ hasText: "HTTP Request" }).nth(1);
await picture("edit", editor.address, {
  ...opened,
  act: async (page) => {
    await request(page).click();
    await page.waitForTimeout(1_500);
  },
});
await picture("edit-result", editor.address, {
  ...opened,
  act: async (page) => {
    await page.keyboard.press("Control+Alt+r");
    await page.locator(".results").getByRole("status").filter({ hasText: "failed," }).waitFor();
    await page.locator(".sample").first().click();
    await page.waitForTimeout(1_500);
  },
});
editor.end();
site.kill();
await browser.close();
