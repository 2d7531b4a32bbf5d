import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { expect, fits, test as base, colours } from "./open";
import type { Page } from "@playwright/test";

// The program itself serves these pages: `cargo xtask test web` says where it is.
const program = process.env.DRUMFIRE_PROGRAM;

const group = (loops: number, children: string) => `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${loops}</stringProp></elementProp><stringProp name="ThreadGroup.num_threads">2</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>${children}</hashTree>
</hashTree></hashTree></jmeterTestPlan>`;
const http = (name: string, path: string) => `<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="${name}"><stringProp name="HTTPSampler.domain">\${__P(demo.host)}</stringProp><stringProp name="HTTPSampler.port">\${__P(demo.port)}</stringProp><stringProp name="HTTPSampler.path">${path}</stringProp></HTTPSamplerProxy><hashTree/>`;
const pause = `<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="pause"><stringProp name="ConstantTimer.delay">30</stringProp></ConstantTimer><hashTree/>`;

interface Served {
  child: ChildProcess;
  url: string;
  ended: Promise<number | null>;
}

/** Starts the program on a plan; gives the address that it prints. */
async function serve(words: string[], plan: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "live-"));
  writeFileSync(join(folder, "p.jmx"), plan);
  const child = spawn(program!, words, { cwd: folder, env: { ...process.env, HOME: folder } });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.on("exit", () => reject(new Error(text)));
  });
  return { child, url, ended };
}

const test = base.extend<{ run: (words: string[], plan: string) => Promise<Served>; look: (url: string) => Promise<Page> }>({
  run: async ({}, use) => {
    const all: Served[] = [];
    await use(async (words, plan) => {
      const served = await serve(words, plan);
      all.push(served);
      return served;
    });
    all.forEach((served) => served.child.kill("SIGKILL"));
  },
  look: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => !/^(http:\/\/127\.0\.0\.1|data:|about:)/.test(request.url()) && complaints.push(`loads ${request.url()}`));
    await use(async (url) => {
      await page.goto(url);
      await page.waitForSelector("html[data-ready]");
      return page;
    });
    expect(complaints).toEqual([]);
  },
});
test.skip(!program, "DRUMFIRE_PROGRAM is not set");
test.setTimeout(120_000);

const LIVE = ["run", "p.jmx", "--demo", "--ui", "--fail-on", "p95 > 60s"];
const ENDLESS = group(-1, pause + http("Home", "/") + http("Lost", "/nowhere"));

test("curves move, errors are shown, and the page becomes the report", async ({ run, look }) => {
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  const points = async () => Number(await page.locator("#chart-rate").getAttribute("data-points"));
  await expect.poll(points).toBeGreaterThan(4);
  const before = await points();
  await expect.poll(points).toBeGreaterThan(before);
  expect(await colours(page, "chart-rate")).toBeGreaterThan(4);
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  await expect(page.locator("#error-list .kind").first()).toContainText("404");
  await page.locator("#error-list .kind").first().locator("summary").click();
  await expect(page.locator("#error-list .first").first()).toContainText("GET http://127.0.0.1");
  await expect(page.locator("#thresholds")).toContainText("The 95th percentile stayed below 60 s");
  await expect(page.locator("#generator .chart").first()).toBeVisible();
  await fits(page);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Stop: sure?" }).click();
  await expect(page.locator("footer")).toContainText("Percentiles are those of all samples of the run");
  await expect(page.locator("#spread")).toBeVisible();
  expect(await served.ended).toBe(0);
});

test("orders change the run", async ({ run, look }) => {
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  const users = page.getByRole("textbox", { name: "Users of Buyers" });
  await expect(users).toHaveValue("2");
  await users.fill("5");
  await users.press("Enter");
  await expect(page.locator("#tiles .tile").first()).toContainText("of 5 ordered");
  await expect(page.locator("#marks")).toContainText("users of `Buyers` set to 5");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
  await page.getByRole("textbox", { name: "Mark" }).fill("deployed");
  await page.getByRole("textbox", { name: "Mark" }).press("Enter");
  await expect(page.locator("#marks")).toContainText("deployed");
  // The plan has no rates, so no order for them is offered.
  await expect(page.getByRole("textbox", { name: "Rate factor" })).toHaveCount(0);
});

test("many users are asked about", async ({ run, look }) => {
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  const refused = await page.evaluate(async () => {
    const answer = await fetch(`api/users${location.search}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ group: "Buyers", users: 21 }) });
    return [answer.status, ((await answer.json()) as { error: string }).error];
  });
  expect(refused).toEqual([409, "21 users are more than 10 times the 2 that the plan has for `Buyers`; confirm the order with `anyway`"]);
  const users = page.getByRole("textbox", { name: "Users of Buyers" });
  await users.fill("many");
  await users.press("Enter");
  await expect(page.locator(".told")).toContainText("“many” is not a number of users");
  await users.fill("21");
  await users.press("Enter");
  await expect(page.locator("#tiles .tile").first()).toContainText("of 2 planned");
  await page.getByRole("button", { name: "21, for 2 in the plan: sure?" }).click();
  await expect(page.locator("#tiles .tile").first()).toContainText("of 21 ordered");
});

test("rates are changed in plans that have some, and a text is no factor", async ({ run, look }) => {
  const timer = `<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="rate"><intProp name="calcMode">0</intProp><stringProp name="throughput">600</stringProp></ConstantThroughputTimer><hashTree/>`;
  const served = await run(LIVE, group(-1, timer + http("Home", "/")));
  const page = await look(served.url);
  const rate = page.getByRole("textbox", { name: "Rate factor" });
  await rate.fill("fast");
  await rate.press("Enter");
  await expect(page.locator(".told")).toContainText("“fast” is not a number");
  await rate.fill("-1");
  await rate.press("Enter");
  await expect(page.locator(".told")).toContainText("is not a rate factor");
});

test("a run that is frozen or killed is not shown as running, and its report can be made", async ({ run, look }, info) => {
  test.skip(process.platform === "win32" || info.project.name !== "wide");
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  const state = page.locator("#state");
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  await expect(state).toContainText("running");
  served.child.kill("SIGSTOP");
  await expect(state).toContainText("no answer for", { timeout: 8_000 });
  await expect(page).toHaveTitle(/^no answer for/);
  await expect(page.getByRole("button", { name: "Stop run" })).toBeDisabled();
  await expect(page.getByRole("button", { name: "Pause" })).toBeDisabled();
  served.child.kill("SIGCONT");
  await expect(state).toContainText("running");
  await expect(page.locator("#link")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Stop run" })).toBeEnabled();
  served.child.kill("SIGKILL");
  await expect(state).toContainText("no answer");
  await expect(page.getByRole("button", { name: "Stop run" })).toBeDisabled();
  const command = (await page.locator("#link code").innerText()).replace(/^drumfire /, "");
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  execFileSync("sh", ["-c", `"${program}" ${command}`], { cwd: folder });
  expect(readFileSync(join(folder, "report.html"), "utf8")).toContain("payload");
});

test("a wrong token is refused", async ({ run, page }) => {
  const served = await run(LIVE, ENDLESS);
  const answer = await page.goto(served.url.replace(/token=.*/, "token=0123456789abcdef0123456789abcdef"));
  expect(answer?.status()).toBe(401);
  await expect(page.locator("body")).toContainText("token");
});

test("a debugging session is looked through, searched and steered", async ({ run, look }) => {
  const served = await run(["debug", "p.jmx", "--break", "Lost", "--", "--demo"], group(1, http("Home", "/") + http("Goods", "/api/products") + http("Lost", "/nowhere")));
  const page = await look(served.url);
  await expect(page.locator("#halted")).toContainText("Stopped before the sampler Lost");
  await page.getByRole("button", { name: /Goods/ }).click();
  await expect(page.locator(".fold").first()).toBeVisible();
  await page.getByRole("tab", { name: "Try an expression" }).click();
  await page.getByLabel("Kind of expression").selectOption("jsonpath");
  await page.getByLabel("Expression", { exact: true }).fill("$.items[0].id");
  await page.getByRole("button", { name: "Try" }).click();
  await expect(page.locator("#found li")).toHaveText(["1"]);
  await page.getByRole("tab", { name: "Request" }).click();
  await expect(page.getByRole("group", { name: "As cURL" })).toContainText("curl");
  await page.getByRole("button", { name: /Home/ }).first().click();
  await page.getByRole("button", { name: "page", exact: true }).click();
  await expect(page.locator("iframe")).toHaveAttribute("sandbox", "");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.locator("#samples .tree > li")).toHaveCount(3);
  await page.getByPlaceholder("Search requests and responses").fill("/nowhere");
  await expect(page.locator("#samples > .card > .tree > li")).toHaveCount(1);
  await fits(page);
  await page.getByRole("button", { name: "Close" }).click();
  expect(await served.ended).toBe(0);
});

test("both pages can be used without a mouse and read by a screen reader", async ({ run, look }) => {
  const violations = async (page: Page) => (await new AxeBuilder({ page }).analyze()).violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`);
  const live = await run(LIVE, ENDLESS);
  const page = await look(live.url);
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: /Use .* colours/ }).click();
  expect(await violations(page)).toEqual([]);
  const session = await run(["debug", "p.jmx", "--break", "Lost", "--", "--demo"], group(1, http("Home", "/") + http("Lost", "/nowhere")));
  await look(session.url);
  await page.getByRole("button", { name: /Home/ }).first().click();
  await expect(page.locator("#sample")).toBeVisible();
  await expect(page.locator("#halted")).toBeVisible();
  expect(await violations(page)).toEqual([]);
});
