// `drumfire edit` itself, by keys and clicks: tasks of a day, each from the first key to the bytes in the file.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { expect, test as base, type Page } from "@playwright/test";

const program = process.env.DRUMFIRE_PROGRAM;
const pictures = process.env.PICTURES;
const newer = process.env.NEWER_PAGE;

const prop = (name: string, value: string) => `<stringProp name="${name}">${value}</stringProp>`;
const open = (cls: string, gui: string, name: string, within: string) => `<${cls} guiclass="${gui}" testclass="${cls}" testname="${name}" enabled="true">${within}</${cls}>`;
const http = (name: string, path: string, below = "", host = "") => `${open("HTTPSamplerProxy", "HttpTestSampleGui", name, `${prop("HTTPSampler.domain", host)}${prop("HTTPSampler.path", path)}${prop("HTTPSampler.method", "GET")}`)}
<hashTree>${below}</hashTree>
`;
const group = (name: string, below: string) => `${open("ThreadGroup", "ThreadGroupGui", name, `<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>${prop("LoopController.loops", "1")}</elementProp>${prop("ThreadGroup.num_threads", "1")}${prop("ThreadGroup.ramp_time", "1")}`)}
<hashTree>${below}</hashTree>
`;
const plan = (name: string, below: string) => `<?xml version="1.0" encoding="UTF-8"?>
<!-- A comment that stays. -->
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.5">
<hashTree>
${open("TestPlan", "TestPlanGui", name, "")}
<hashTree>
${below}</hashTree>
</hashTree>
</jmeterTestPlan>
`;

interface Editor {
  page: Page;
  folder: string;
  /** The text of a file of the folder. */
  file: (name: string) => string;
  child: ChildProcess;
  picture: (step: string) => Promise<void>;
  url: string;
}

/** Whether the program has the command. */
const canEdit = program != null && spawnSync(program, ["edit", "--help"]).status === 0;

const test = base.extend<{ edit: (files: Record<string, string>, ...words: string[]) => Promise<Editor> }>({
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
      const child = spawn(program!, ["edit", "--no-open", ...(words.length ? words : Object.keys(files).slice(0, 1))], { cwd: folder, env: { ...process.env, HOME: folder } });
      children.push(child);
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
      // A page that is newer than the one in the program, while one works at it.
      if (newer) await page.route((address) => address.pathname === "/", (route) => route.fulfill({ path: newer, contentType: "text/html" }));
      await page.goto(url);
      await page.waitForSelector("html[data-ready]");
      let step = 0;
      const picture = async (name: string) => {
        if (!pictures) return;
        await page.waitForTimeout(300);
        step += 1;
        await page.screenshot({ path: join(pictures, `${info.project.name}-${info.title.replace(/\W+/g, "-")}-${step}-${name}.png`) });
      };
      return { page, folder, file: (name) => readFileSync(join(folder, name), "utf8"), child, picture, url };
    });
    children.forEach((child) => child.kill("SIGKILL"));
    expect(complaints).toEqual([]);
  },
});
test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(240_000);

const row = (page: Page, name: RegExp) => page.getByRole("treeitem", { name });

/** Goes to an element, and waits for its form. */
async function choose(page: Page, name: string) {
  await row(page, new RegExp(`^${name}( |$)`)).click();
  await expect(page.locator("#name")).toHaveValue(name);
}

const field = (page: Page, property: string) => page.locator(`[data-property="${property}"]`);
const input = (page: Page, property: string) => field(page, property).locator("input, textarea").first();

/** Inserts an element at the focus of the tree, by its type. */
async function add(page: Page, type: string) {
  await page.locator("#tree").focus();
  await page.keyboard.press("Insert");
  const choices = page.getByRole("dialog");
  await choices.getByRole("combobox").fill(type);
  await expect(choices.getByRole("option").first()).toContainText(type);
  await page.keyboard.press("Enter");
  await expect(page.locator(".row.selected")).toContainText(type);
}

async function save(page: Page) {
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
  await page.keyboard.press("Control+s");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(0);
}

/** Replaces a file at once, as editors and git do. */
function writeOver(path: string, text: string) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`a log-in with a token, from nothing, ${scheme}`, async ({ edit }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", "") });
      await add(page, "Thread Group");
      await picture("group");
      await add(page, "HTTP Request");
      await page.keyboard.press("F2");
      await page.keyboard.type("Log in");
      await page.keyboard.press("Enter");
      await expect(row(page, /^Log in/)).toBeVisible();
      await input(page, "HTTPSampler.path").fill("/login");
      await page.keyboard.press("Enter");
      await picture("request");
      await add(page, "Regular Expression Extractor");
      await input(page, "RegexExtractor.refname").fill("token");
      await field(page, "RegexExtractor.regex").locator(".cm-content").click();
      await page.keyboard.insertText('"token":"([^"]+)"');
      await picture("extractor");
      await choose(page, "Thread Group");
      await add(page, "HTTP Request");
      await add(page, "HTTP Header Manager");
      const headers = page.locator(".table-field").first();
      await headers.getByRole("button", { name: /^Add a row/ }).click();
      await page.keyboard.type("Authorization");
      await page.keyboard.press("Tab");
      await page.keyboard.type("Bearer ${to");
      await expect(page.getByRole("option", { name: /^token/ })).toBeVisible();
      await picture("completion");
      await page.keyboard.press("Enter");
      await save(page);
      const text = file("p.jmx");
      expect(text).toContain("<!-- A comment that stays. -->");
      expect(text).toContain('jmeter="5.5"');
      expect(text).toContain("Bearer ${token}");
      expect(text).toContain('<stringProp name="HTTPSampler.path">/login</stringProp>');
      expect(text).toContain("&quot;token&quot;:&quot;([^&quot;]+)&quot;");
    });

    test(`a pasted cURL command gets variables, ${scheme}`, async ({ edit }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", group("Buyers", "")) });
      await choose(page, "Buyers");
      await page.evaluate(() => navigator.clipboard.writeText("curl 'https://shop.example/api/goods?size=10' -H 'Accept: application/json' --data-raw '{\"a\":1}'"));
      await page.keyboard.press("Control+v");
      const request = page.locator(".row", { hasText: "HTTP Request" }).first();
      await expect(request).toBeVisible();
      await picture("pasted");
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill("shop.example");
      await page.getByRole("textbox", { name: "Replace with" }).fill("${host}");
      await page.getByRole("button", { name: /^Replace \d/ }).click();
      await picture("replaced");
      await choose(page, "Shop");
      await add(page, "User Defined Variables");
      const variables = page.locator(".table-field").first();
      await variables.getByRole("button", { name: /^Add a row/ }).click();
      await page.keyboard.type("host");
      await page.keyboard.press("Tab");
      await page.keyboard.type("shop.example");
      await page.keyboard.press("Tab");
      await save(page);
      expect(file("p.jmx")).toContain('<stringProp name="HTTPSampler.domain">${host}</stringProp>');
      expect(file("p.jmx")).toContain('<stringProp name="Argument.value">shop.example</stringProp>');
      expect(file("p.jmx")).toContain("{&quot;a&quot;:1}");
    });

    test(`a value of thirty requests becomes a variable, ${scheme}`, async ({ edit }) => {
      const requests = Array.from({ length: 30 }, (_, at) => http(`Step ${at}`, `/step/${at}?session=a1b2c3d4`)).join("");
      const { page, file, picture } = await edit({ "p.jmx": plan("Recording", group("Users", requests)) });
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill("session=(\\w{8})");
      await page.getByRole("button", { name: /^Regular expression/ }).click();
      await page.getByRole("textbox", { name: "Replace with" }).fill("session=$${session}");
      await expect(page.locator(".search-line")).toContainText("30 hits in 30 elements");
      // The first request makes the value.
      await page.getByRole("checkbox", { name: "Replace in Step 0" }).uncheck();
      await picture("preview");
      await page.getByRole("button", { name: "Replace 29" }).click();
      await choose(page, "Step 0");
      await add(page, "Regular Expression Extractor");
      await input(page, "RegexExtractor.refname").fill("session");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Alt+v");
      await expect(page.locator(".variable", { hasText: "${session}" })).toContainText("24 more");
      await picture("variables");
      await save(page);
      expect(file("p.jmx").match(/session=\$\{session\}/g)).toHaveLength(29);
      expect(file("p.jmx").match(/session=a1b2c3d4/g)).toHaveLength(1);
    });

    test(`a variable is renamed over three plans, ${scheme}`, async ({ edit }) => {
      const of = (name: string) => plan(name, group("Users", http("Search", "/search?user=${usr}&amp;other=${usr_2}")));
      const { page, file, picture } = await edit({ "a.jmx": of("A"), "b.jmx": of("B"), "c.jmx": of("C") });
      for (const name of ["b.jmx", "c.jmx"]) {
        await page.keyboard.press("Control+o");
        await page.getByRole("combobox").first().fill(name);
        await expect(page.getByRole("dialog").getByRole("option").first()).toContainText(name);
        await page.keyboard.press("Enter");
        await expect(page.locator(".plan-tab.active")).toContainText(name);
      }
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill("${usr}");
      await page.getByRole("textbox", { name: "Replace with" }).fill("${user}");
      await page.getByRole("combobox", { name: "Scope" }).selectOption("all");
      await expect(page.locator(".search-line")).toContainText("3 hits in 3 elements");
      await picture("preview");
      await page.getByRole("button", { name: "Replace 3" }).click();
      await expect(page.locator(".plan-tab .dirty")).toHaveCount(3);
      await page.keyboard.press("Control+Shift+s");
      await expect(page.locator(".plan-tab .dirty")).toHaveCount(0);
      for (const name of ["a.jmx", "b.jmx", "c.jmx"]) expect(file(name)).toContain("user=${user}&amp;other=${usr_2}");
    });

    test(`the host of 200 samplers is set at once, ${scheme}`, async ({ edit }) => {
      const before = plan("Shop", group("Users", Array.from({ length: 200 }, (_, at) => http(`GET ${at}`, `/${at}`, "", "old.example")).join("")));
      const { page, file, picture } = await edit({ "p.jmx": before });
      await choose(page, "GET 0");
      await page.keyboard.press("Alt+a");
      await expect(page.getByRole("heading", { name: "200 elements" })).toBeVisible();
      await input(page, "HTTPSampler.domain").fill("new.example");
      await page.keyboard.press("Enter");
      await picture("set");
      await save(page);
      const after = file("p.jmx");
      expect(after.match(/new\.example/g)).toHaveLength(200);
      expect(after.replaceAll("new.example", "old.example")).toBe(before);
      await page.keyboard.press("Control+z");
      await save(page);
      expect(file("p.jmx")).toBe(before);
    });

    test(`a branch moves into a fragment, ${scheme}`, async ({ edit }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", group("Users", http("Log in", "/login") + http("Home", "/"))) });
      await choose(page, "Shop");
      await add(page, "Test Fragment");
      await choose(page, "Log in");
      await page.keyboard.press("Control+x");
      await choose(page, "Test Fragment");
      await page.keyboard.press("Control+v");
      await picture("moved");
      await choose(page, "Users");
      await add(page, "Module Controller");
      await picture("module");
      await save(page);
      const text = file("p.jmx");
      expect(text.indexOf('testname="Log in"')).toBeGreaterThan(text.indexOf('testname="Test Fragment"'));
      expect(text.indexOf('testname="Home"')).toBeLessThan(text.indexOf('testname="Test Fragment"'));
    });

    test(`a colleague's change is merged, ${scheme}`, async ({ edit }) => {
      const before = plan("Shop", group("Users", http("Home", "/") + http("Goods", "/goods")));
      const { page, file, folder, picture } = await edit({ "p.jmx": before });
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/home");
      await page.keyboard.press("Enter");
      await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
      writeOver(join(folder, "p.jmx"), before.replace(">/goods<", ">/v2/goods<"));
      await choose(page, "Goods");
      await expect(input(page, "HTTPSampler.path")).toHaveValue("/v2/goods");
      await save(page);
      expect(file("p.jmx")).toBe(before.replace(">/goods<", ">/v2/goods<").replace(">/<", ">/home<"));
      // Both change the same property.
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/ours");
      await page.keyboard.press("Enter");
      await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
      writeOver(join(folder, "p.jmx"), file("p.jmx").replace(">/home<", ">/theirs<"));
      await expect(page.locator(".conflict")).toContainText("/theirs");
      await picture("conflict");
      await page.getByRole("button", { name: "Take the file's version" }).click();
      await expect(page.locator(".conflict")).toHaveCount(0);
      await expect(input(page, "HTTPSampler.path")).toHaveValue("/theirs");
    });

    test(`a Throughput Shaping Timer is added by keys alone, ${scheme}`, async ({ edit }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/"))) });
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("insert throughput shap");
      await expect(page.getByRole("dialog").getByRole("option").first()).toContainText("Throughput Shaping Timer");
      await picture("palette");
      await page.keyboard.press("Enter");
      await expect(page.locator(".row.selected")).toContainText("Throughput Shaping Timer");
      await page.keyboard.press("F6");
      const table = page.locator(".table-field");
      await table.getByRole("button", { name: /^Add a row/ }).focus();
      await page.keyboard.press("Enter");
      for (const cell of ["1", "10", "60"]) {
        await page.keyboard.type(cell);
        await page.keyboard.press("Tab");
      }
      await picture("row");
      await save(page);
      expect(file("p.jmx")).toContain("kg.apc.jmeter.timers.VariableThroughputTimer");
      expect(file("p.jmx")).toMatch(/>1<[^]*>10<[^]*>60</);
    });

    test(`findings of another's plan are gone through and mended, ${scheme}`, async ({ edit }) => {
      const broken = plan("Foreign", group("Users", http("Home", "/${nowhere}") + http("Goods", "/goods?size=${sise}")));
      const { page, file, picture } = await edit({ "p.jmx": broken });
      await expect(page.locator(".finding-list")).toContainText("${nowhere}");
      await page.keyboard.press("F8");
      await expect(page.locator(".row.selected")).toContainText(/Home|Goods/);
      await picture("first");
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/somewhere");
      await page.keyboard.press("Enter");
      await expect(page.locator(".finding-list")).not.toContainText("${nowhere}");
      await choose(page, "Goods");
      await input(page, "HTTPSampler.path").fill("/goods?size=10");
      await page.keyboard.press("Enter");
      await expect(page.locator(".finding-list")).toHaveCount(0);
      await picture("mended");
      await save(page);
      expect(file("p.jmx")).toBe(broken.replace("/${nowhere}", "/somewhere").replace("${sise}", "10"));
    });

    test(`an element of an unknown class has a form, and keeps its bytes, ${scheme}`, async ({ edit }) => {
      const before = plan("Foreign", group("Users", `<com.example.Sampler guiclass="com.example.Gui" testclass="com.example.Sampler" testname="Queue"  enabled='true'>${prop("queue.url", "tcp://queue")}<!-- odd --></com.example.Sampler>\n<hashTree/>\n`));
      const { page, file, picture } = await edit({ "p.jmx": before });
      await choose(page, "Queue");
      await expect(page.locator(".generic")).toBeVisible();
      await input(page, "queue.url").fill("tcp://other");
      await page.keyboard.press("Enter");
      await picture("generic");
      await save(page);
      expect(file("p.jmx")).toBe(before.replace("tcp://queue", "tcp://other"));
    });

    test(`everybody can read every form, ${scheme}`, async ({ edit }) => {
      const { page } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/${nowhere}"))) });
      const check = async () => {
        const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
        expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`)).toEqual([]);
      };
      for (const name of [/^Shop/, /^Users/, /^Home/]) {
        await row(page, name).click();
        await page.waitForTimeout(300);
        await check();
      }
    });
  });
}

test("undo survives a killed program and a closed tab", async ({ edit }) => {
  const before = plan("Shop", group("Users", http("Home", "/")));
  const first = await edit({ "p.jmx": before });
  await choose(first.page, "Home");
  await input(first.page, "HTTPSampler.path").fill("/home");
  await first.page.keyboard.press("Enter");
  await expect(first.page.locator(".plan-tab.active .dirty")).toHaveCount(1);
  await first.page.reload();
  await first.page.waitForSelector("html[data-ready]");
  await choose(first.page, "Home");
  await expect(input(first.page, "HTTPSampler.path")).toHaveValue("/home");
  await first.page.locator("#tree").focus();
  await first.page.keyboard.press("Control+z");
  await expect(input(first.page, "HTTPSampler.path")).toHaveValue("/");
  await expect(first.page.locator(".plan-tab.active .dirty")).toHaveCount(0);
});

test("10,000 elements of the program", async ({ edit }, info) => {
  const requests = (at: number) => Array.from({ length: 33 }, (_, each) => http(`GET ${at}/${each}`, `/goods/${at}/${each}`, `${open("ConstantTimer", "ConstantTimerGui", "Pause", prop("ConstantTimer.delay", "100"))}<hashTree/>${open("DebugSampler", "TestBeanGUI", "Debug", "")}<hashTree/>`)).join("");
  const { page } = await edit({ "p.jmx": plan("Large", Array.from({ length: 100 }, (_, at) => group(`Group ${at}`, requests(at))).join("")) });
  const ready = await page.evaluate(() => performance.getEntriesByName("ready")[0].startTime);
  await page.keyboard.press("Control+h");
  const time = async (act: () => Promise<unknown>, until: () => Promise<unknown>) => {
    const start = Date.now();
    await act();
    await until();
    return Date.now() - start;
  };
  const search = await time(() => page.getByRole("searchbox", { name: "Search", exact: true }).fill("goods/4\\d/1$"), async () => {
    await page.getByRole("button", { name: /^Regular expression/ }).click();
    await expect(page.locator(".search-line")).toContainText("10 hits");
  });
  const memory = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6);
  if (info.project.name === "edit-1440") console.log(`program: first paint ${ready.toFixed(0)} ms, search with a regular expression to paint ${search} ms, heap of the tab ${memory.toFixed(0)} MB`);
});
