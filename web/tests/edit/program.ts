// `drumfire edit` itself in a browser: a folder with plans, the program over it, and the page that it serves.

import { once } from "node:events";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base, type Page } from "@playwright/test";

const program = process.env.DRUMFIRE_PROGRAM;
const pictures = process.env.PICTURES;
const newer = process.env.NEWER_PAGE;

export const prop = (name: string, value: string) => `<stringProp name="${name}">${value}</stringProp>`;
export const open = (cls: string, gui: string, name: string, within: string) => `<${cls} guiclass="${gui}" testclass="${cls}" testname="${name}" enabled="true">${within}</${cls}>`;
export const http = (name: string, path: string, below = "", host = "") => `${open("HTTPSamplerProxy", "HttpTestSampleGui", name, `${prop("HTTPSampler.domain", host)}${prop("HTTPSampler.path", path)}${prop("HTTPSampler.method", "GET")}`)}
<hashTree>${below}</hashTree>
`;
export const group = (name: string, below: string) => `${open("ThreadGroup", "ThreadGroupGui", name, `<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>${prop("LoopController.loops", "1")}</elementProp>${prop("ThreadGroup.num_threads", "1")}${prop("ThreadGroup.ramp_time", "1")}`)}
<hashTree>${below}</hashTree>
`;
export const plan = (name: string, below: string) => `<?xml version="1.0" encoding="UTF-8"?>
<!-- A comment that stays. -->
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.5">
<hashTree>
${open("TestPlan", "TestPlanGui", name, "")}
<hashTree>
${below}</hashTree>
</hashTree>
</jmeterTestPlan>
`;

export interface Editor {
  page: Page;
  folder: string;
  /** The text of a file of the folder. */
  file: (name: string) => string;
  picture: (step: string) => Promise<void>;
  /** Ends the program as `kill -9` does. */
  kill: () => Promise<void>;
  /** Starts it again over the same folder, and opens its page. */
  start: () => Promise<void>;
  /** Errors of the page so far. A test that provokes one empties the list. */
  complaints: string[];
}

/** Whether the program has the command. */
export const canEdit = program != null && spawnSync(program, ["edit", "--help"]).status === 0;

/** Starts the program; gives the address that it prints. The words may begin with `debug` instead of a plan. */
async function serve(folder: string, words: string[]): Promise<{ child: ChildProcess; url: string }> {
  const command = words[0] === "debug" ? words : ["edit", ...words];
  const child = spawn(program!, [command[0], "--no-open", ...command.slice(1)], { cwd: folder, env: { ...process.env, HOME: folder } });
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      text += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout!.on("data", take);
    child.stderr!.on("data", take);
    child.on("exit", () => reject(new Error(text)));
  });
  return { child, url };
}

/** Starts the demo site; gives its address. */
async function demo(): Promise<{ child: ChildProcess; host: string }> {
  const child = spawn(program!, ["demo", "--port", "0", "--https-port", "0"], { env: { ...process.env, HOME: tmpdir() } });
  let text = "";
  const host = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      text += chunk;
      const found = /http:\/\/(127\.0\.0\.1:\d+)/.exec(text);
      if (found) resolve(found[1]);
    };
    child.stdout!.on("data", take);
    child.stderr!.on("data", take);
    child.on("exit", () => reject(new Error(text)));
  });
  return { child, host };
}

interface Fixtures {
  edit: (files: Record<string, string>, ...words: string[]) => Promise<Editor>;
  /** The host and port of a demo site. */
  demo: string;
}

export const test = base.extend<Fixtures>({
  demo: async ({}, use) => {
    const { child, host } = await demo();
    await use(host);
    child.kill("SIGKILL");
  },
  edit: async ({ page, context }, use, info) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const children: ChildProcess[] = [];
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error.stack)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => !/^(http:\/\/127\.0\.0\.1|data:|about:)/.test(request.url()) && complaints.push(`loads ${request.url()}`));
    await use(async (files, ...words) => {
      const folder = mkdtempSync(join(tmpdir(), "edit-"));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      const start = async () => {
        const { child, url } = await serve(folder, words.length ? words : Object.keys(files).slice(0, 1));
        children.push(child);
        await page.goto(url);
        await page.waitForSelector("html[data-ready]");
      };
      const kill = async () => {
        const child = children.at(-1)!;
        const over = once(child, "exit");
        child.kill("SIGKILL");
        await over;
      };
      // A page that is newer than the one in the program, while one works at it.
      if (newer) await page.route((address) => address.pathname === "/", (route) => route.fulfill({ path: newer, contentType: "text/html" }));
      await start();
      let step = 0;
      const picture = async (name: string) => {
        if (!pictures) return;
        await page.waitForTimeout(300);
        step += 1;
        await page.screenshot({ path: join(pictures, `${info.project.name}-${info.title.replace(/\W+/g, "-")}-${step}-${name}.png`) });
      };
      return { page, folder, file: (name) => readFileSync(join(folder, name), "utf8"), picture, kill, start, complaints };
    });
    children.forEach((child) => child.kill("SIGKILL"));
    expect(complaints).toEqual([]);
  },
});
export const row = (page: Page, name: RegExp) => page.getByRole("treeitem", { name });

/** Goes to an element, and waits for its form. */
export async function choose(page: Page, name: string) {
  await row(page, new RegExp(`^${name}( |$)`)).click();
  await expect(page.locator("#name")).toHaveValue(name);
}

export const field = (page: Page, property: string) => page.locator(`[data-property="${property}"]`);
export const input = (page: Page, property: string) => field(page, property).locator("input, textarea").first();

/** Inserts an element at the focus of the tree, by its type. */
export async function add(page: Page, type: string) {
  await page.locator("#tree").focus();
  await page.keyboard.press("Insert");
  const choices = page.getByRole("dialog");
  await choices.getByRole("combobox").fill(type);
  await expect(choices.getByRole("option").first()).toContainText(type);
  await page.keyboard.press("Enter");
  await expect(page.locator(".row.selected")).toContainText(type);
}

/** HTTP Request Defaults. */
export const defaults = (host: string, port: string) => `${open("ConfigTestElement", "HttpDefaultsGui", "Server", `${prop("HTTPSampler.domain", host)}${prop("HTTPSampler.port", port)}`)}
<hashTree/>
`;

/** Runs the whole plan once, and waits for its end. */
export async function runPlan(page: Page, outcome: string) {
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Alt+r");
  await expect(page.locator(".results > [role=status]")).toContainText(outcome);
}

export async function save(page: Page) {
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
  await page.keyboard.press("Control+s");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(0);
}

/** Replaces a file at once, as editors and git do. */
export function writeOver(path: string, text: string) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
