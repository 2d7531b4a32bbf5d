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
    page.on("request", (request) => !/^(http:\/\/127\.0\.0\.1|data:|about:|blob:|file:)/.test(request.url()) && complaints.push(`loads ${request.url()}`));
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

test("streamed responses have their events and times while they run", async ({ run, look }) => {
  const stream = `<stringProp name="drumfire.stream">sse</stringProp><stringProp name="drumfire.stream.stop.events">5</stringProp></HTTPSamplerProxy>`;
  const served = await run(LIVE, group(-1, pause + http("Stream", "/stream").replace("</HTTPSamplerProxy>", stream)));
  const page = await look(served.url);
  const row = page.locator("#streams tbody tr");
  const events = async () => Number((await row.locator("td").first().textContent())?.replaceAll(",", ""));
  await expect(row).toHaveCount(1);
  const before = await events();
  await expect.poll(events).toBeGreaterThan(before);
  await expect(row.locator("th")).toHaveText("Stream");
});

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

test("a page that stays can be loaded again, saved, and closed", async ({ run, look }, info) => {
  const served = await run([...LIVE, "--ui-stay", "-l", "rows.jtl", "--report", "r.html"], ENDLESS);
  const page = await look(served.url);
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  await page.getByRole("button", { name: "Stop run" }).click();
  await page.getByRole("button", { name: "Stop run: sure?" }).click();
  await expect(page.locator("#save-page")).toBeVisible();
  await page.reload();
  await expect(page.locator("#save-page")).toBeVisible();
  await expect(page.locator("footer")).toContainText("Percentiles are those of all samples of the run");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#save-page").click()]);
  expect(saved.suggestedFilename()).toBe("p.jmx.html");
  const [rows] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "rows.jtl" }).click()]);
  expect(readFileSync(await rows.path(), "utf8")).toMatch(/^timeStamp,elapsed,label/);
  await expect(page.getByRole("link", { name: "r.html" })).toBeVisible();
  await fits(page);
  await page.getByRole("button", { name: "Close" }).click();
  expect(await served.ended).toBe(0);
  await expect(page.locator("header")).toContainText("The program has ended");
  // The saved page is a report that loads nothing.
  const file = join(mkdtempSync(join(tmpdir(), "saved-")), `saved-${info.project.name}.html`);
  await saved.saveAs(file);
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain("connect-src");
  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]");
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  expect(await colours(page, "chart-times")).toBeGreaterThan(8);
  await expect(page.locator("#save-page")).toHaveCount(0);
});

test("a page that does not stay says so, and can be saved", async ({ run, look }) => {
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  await page.getByRole("button", { name: "Stop run" }).click();
  await page.getByRole("button", { name: "Stop run: sure?" }).click();
  await expect(page.locator("header")).toContainText("Reloading would lose the page");
  expect(await served.ended).toBe(0);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#save-page").click()]);
  expect(readFileSync(await saved.path(), "utf8")).toContain('id="payload"');
});

test("zoom and label stay while the run goes on, and the charts are the report's", async ({ run, look }) => {
  const served = await run(LIVE, ENDLESS);
  const page = await look(served.url);
  const points = async () => Number(await page.locator("#chart-rate").getAttribute("data-points"));
  await expect.poll(points, { timeout: 30_000 }).toBeGreaterThan(15);
  for (const chart of ["chart-overlay", "chart-times", "chart-rate", "chart-users", "chart-heat", "chart-codes", "chart-phases", "chart-bytes", "chart-load", "chart-distribution", "chart-curve"]) {
    expect(await colours(page, chart), chart).toBeGreaterThan(6);
  }
  await page.getByLabel("to second").fill("3");
  await page.getByLabel("to second").press("Enter");
  const span = page.locator("#chart-rate");
  await expect(span).toHaveAttribute("data-span", /^[34]$/);
  const before = await points();
  await expect.poll(points).toBeGreaterThan(before + 2);
  await expect(span).toHaveAttribute("data-span", /^[34]$/);
  await page.getByRole("button", { name: "Lost", exact: true }).click();
  await expect(page.locator("#time h2")).toContainText("Lost");
  const known = async () => Number(await page.locator("#chart-label-rate").getAttribute("data-points"));
  const first = await known();
  await expect.poll(known).toBeGreaterThan(first);
  // A chart outside of the window is drawn when it comes into it.
  const times = page.locator("#chart-label-times");
  await times.scrollIntoViewIfNeeded();
  await expect(times).toHaveAttribute("data-span", /^[34]$/);
  await expect(page.locator("#errors")).toContainText("404");
  // The report that the page becomes shows the same.
  await page.getByRole("button", { name: "Stop run" }).click();
  await page.getByRole("button", { name: "Stop run: sure?" }).click();
  await expect(page.locator("#save-page")).toBeVisible();
  await expect(page.locator("#time h2")).toContainText("Lost");
  await times.scrollIntoViewIfNeeded();
  await expect(times).toHaveAttribute("data-span", /^[34]$/);
});

test("500 labels cost a browser little", async ({ run, look }, info) => {
  test.skip(info.project.name !== "wide");
  const debug = (name: string) => `<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="${name}"><boolProp name="displayJMeterVariables">false</boolProp><boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>`;
  const pause = `<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="pause"><stringProp name="ConstantTimer.delay">1</stringProp></ConstantTimer><hashTree/>`;
  const served = await run(["run", "p.jmx", "--ui"], group(-1, pause + Array.from({ length: 500 }, (_, label) => debug(`label ${label}`)).join("")));
  const page = await look(served.url);
  await expect(page.getByRole("button", { name: "Show all 500" })).toBeVisible({ timeout: 40_000 });
  await expect(page.locator("#label-table tbody tr")).toHaveCount(60);
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const busyS = async () => (await client.send("Performance.getMetrics")).metrics.find((one) => one.name === "ProcessTime")!.value;
  // The server's own count: what a page that only listens receives.
  const heard = await page.evaluate(async (seconds) => {
    const answer = await fetch(`api/events${location.search}`);
    const reader = answer.body!.getReader();
    // The state of the whole run comes first, and only once.
    const begun = performance.now();
    let [from, bytes] = [Infinity, 0];
    while (performance.now() < begun + seconds * 1000 + 4000) {
      const { value, done } = await reader.read();
      if (done) break;
      if (performance.now() > begun + 4000) {
        from = Math.min(from, performance.now());
        bytes += value.length;
      }
    }
    await reader.cancel();
    return bytes / ((performance.now() - from) / 1000);
  }, 12);
  const before = await busyS();
  await page.waitForTimeout(10_000);
  const busy = ((await busyS()) - before) / 10;
  console.log(`500 labels: ${(heard / 1024).toFixed(1)} KB/s, ${(busy * 100).toFixed(1)} % of a core`);
  expect(heard).toBeLessThan(20 * 1024);
  // Every label is told in turn.
  await page.getByRole("button", { name: "Show all 500" }).click();
  await expect(page.locator("#label-table tbody tr")).toHaveCount(500);
  const counts = () => page.locator("#label-table tbody tr").evaluateAll((rows) => Object.fromEntries(rows.map((row) => [row.querySelector(".label")!.textContent, row.children[1].textContent])));
  const first = await counts();
  const same = async () => Object.entries(await counts()).filter(([label, count]) => count === first[label]);
  await expect.poll(same, { timeout: 30_000 }).toEqual([]);
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

test("the page can be used without a mouse and read by a screen reader", async ({ run, look }) => {
  const violations = async (page: Page) => (await new AxeBuilder({ page }).analyze()).violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`);
  const live = await run(LIVE, ENDLESS);
  const page = await look(live.url);
  await expect(page.locator("#label-table tbody tr")).toHaveCount(2);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: /Use .* colours/ }).click();
  expect(await violations(page)).toEqual([]);
});
