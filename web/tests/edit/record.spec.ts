// Recordings into a plan: `drumfire edit` as the proxy between a client and a shop, both of the test.

import { createServer, request as send, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { canEdit, choose, group, http, open, plan, row, save, test as base, type Editor } from "./program";

/** A shop whose log-in gives a token that later requests need, and a trace that nobody checks. */
function shop(): Server {
  const fresh = () => Array.from({ length: 4 }, () => Math.random().toString(16).slice(2, 10).padEnd(8, "7")).join("");
  let token = "";
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://x");
    const answer = (status: number, type: string, body: string) => response.writeHead(status, { "Content-Type": type, "Set-Cookie": "visit=1" }).end(body);
    if (pathname === "/login") return answer(200, "application/json", JSON.stringify({ token: (token = fresh()), trace: fresh() }));
    if (pathname === "/logo.png") return answer(200, "image/png", "x");
    if (pathname === "/account") return answer(request.headers.authorization === `Bearer ${token}` ? 200 : 403, "application/json", "{}");
    if (pathname === "/cart") return answer(searchParams.get("token") === token ? 200 : 403, "application/json", "{}");
    answer(404, "text/plain", "nothing");
  });
}

const test = base.extend<{ host: string }>({
  host: async ({}, use) => {
    const server = shop();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    server.close();
  },
});
test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(180_000);

const SHOP = plan("Shop", group("Users", http("Before", "/before") + `${open("GenericController", "LogicControllerGui", "Here", "")}\n<hashTree/>\n`));

/** A request through the proxy; gives the body. */
function through(proxy: string, url: string, headers: IncomingHttpHeaders = {}): Promise<string> {
  const [host, port] = proxy.split(":");
  return new Promise((done, failed) => {
    const sent = send({ host, port, path: url, headers: { Host: new URL(url).host, ...headers }, agent: false }, (response) => {
      let body = "";
      response.on("data", (chunk) => (body += chunk));
      response.on("end", () => done(body));
    });
    sent.on("error", failed).end();
  });
}

async function visit(proxy: string, host: string) {
  const { token, trace } = JSON.parse(await through(proxy, `http://${host}/login`)) as { token: string; trace: string };
  await through(proxy, `http://${host}/logo.png`);
  await through(proxy, `http://${host}/account`, { Authorization: `Bearer ${token}` });
  await through(proxy, `http://${host}/cart?token=${token}&trace=${trace}`);
}

const status = (page: Page) => page.locator(".record-state");
const rows = (page: Page) => page.locator(".recorded li");

/** Begins to record into the controller by keys; gives the address of the proxy. */
async function begin({ page, picture }: Editor): Promise<string> {
  await choose(page, "Here");
  await page.locator("#tree").focus();
  await page.keyboard.press("Alt+Shift+r");
  const dialog = page.getByRole("dialog", { name: "Record into Here" });
  await expect(dialog.getByLabel("First page")).toBeFocused();
  await dialog.getByLabel("Port").fill("0");
  await picture("asked");
  await page.keyboard.press("Enter");
  await expect(status(page)).toHaveText("Recording");
  return (await page.locator(".standing code").first().textContent())!;
}

/** Stops the recording, and waits for what came of it. */
async function end(page: Page, requests: number) {
  await page.getByRole("button", { name: "Stop and insert" }).click();
  await expect(status(page)).toHaveText("Recorded");
  await expect(page.locator(".recording")).toContainText(`${requests} requests inserted into Here`);
}

const value = (page: Page, name: string) => page.locator(".found-value").filter({ hasText: name });

async function everybodyCanRead(page: Page) {
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
  expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`)).toEqual([]);
}

test("a log-in with a token is recorded, one value accepted and one refused, and the plan runs", async ({ edit, host }) => {
  const editor = await edit({ "p.jmx": SHOP });
  const { page, file, picture } = editor;
  const before = file("p.jmx");
  const proxy = await begin(editor);
  await page.getByLabel("Transaction name").fill("Log in");
  await page.keyboard.press("Enter");
  await expect(status(page)).toHaveText("Recording: Log in");
  await visit(proxy, host);
  await expect(rows(page)).toHaveCount(4);
  await expect(rows(page).nth(1)).toContainText("left out: images, scripts and style sheets");
  await expect(rows(page).nth(2)).toContainText("GET/account200");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(status(page)).toHaveText("Paused: Log in");
  await through(proxy, `http://${host}/cart`);
  await expect(rows(page).nth(4)).toContainText("left out: requests while the recording was paused");
  await picture("rows");
  // The program has the recording; the page may go.
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await expect(status(page)).toHaveText("Paused: Log in");
  await expect(rows(page)).toHaveCount(5);
  await page.getByRole("button", { name: "Go on" }).click();
  await end(page, 3);
  await expect(row(page, /^GET \/account/)).toBeVisible();
  expect(file("p.jmx")).toBe(before);
  const [token, trace] = [value(page, "$.token"), value(page, "$.trace")];
  await expect(token).toContainText("GET /login, sent by GET /account, GET /cart");
  await page.getByRole("button", { name: "Prove by two replays" }).click();
  await expect(token).toContainText("differs in two replays, and all requests answer as recorded", { timeout: 60_000 });
  await picture("proved");
  await token.getByLabel(/^Variable for/).fill("bearer");
  await page.keyboard.press("Enter");
  await expect(token).toContainText("Accepted: bearer");
  await trace.getByRole("button", { name: "Refuse trace" }).click();
  await expect(trace.getByRole("button", { name: "Open again trace" })).toBeVisible();
  await picture("accepted");
  // An accepted value is a step of its own.
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+z");
  await expect(token.getByRole("button", { name: "Accept bearer" })).toBeVisible();
  await page.keyboard.press("Control+Shift+z");
  await expect(token).toContainText("Accepted: bearer");
  await save(page);
  const text = file("p.jmx");
  expect(text).toContain("Bearer ${bearer}");
  expect(text).toMatch(/token=\$\{bearer\}&amp;trace=[0-9a-f]{32}|Argument\.value">\$\{bearer\}</);
  await row(page, /^Here/).click();
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".results > [role=status]")).toContainText("3 samples, 0 failed");
});

test("the visits of two users show which values change", async ({ edit, host }) => {
  const editor = await edit({ "p.jmx": SHOP });
  const { page, file } = editor;
  await visit(await begin(editor), host);
  await end(page, 3);
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+z");
  await visit(await begin(editor), host);
  await end(page, 3);
  await page.getByRole("button", { name: "Compare with the recording before" }).click();
  await expect(value(page, "$.token")).toContainText("the extractor yields each user's value");
  await expect(value(page, "$.trace")).toContainText("the extractor yields each user's value");
  await page.getByRole("button", { name: "Forget the recording" }).click();
  await expect(page.getByRole("tab", { name: "Recording" })).toHaveCount(0);
  expect(file("p.jmx")).not.toContain("/login");
});

test("a port that is taken is told, and the settings of the plan's recorder are offered", async ({ edit, host }) => {
  const recorder = `${open("ProxyControl", "ProxyControlGui", "Our recorder", `<stringProp name="ProxyControlGui.port">${host.split(":")[1]}</stringProp><collectionProp name="ProxyControlGui.exclude_list"><stringProp name="1">.*/cart.*</stringProp></collectionProp><intProp name="ProxyControlGui.grouping_mode">4</intProp>`)}\n<hashTree/>\n`;
  const editor = await edit({ "p.jmx": SHOP.replace("</hashTree>\n</hashTree>\n</jmeterTestPlan>", `${recorder}</hashTree>\n</hashTree>\n</jmeterTestPlan>`) });
  const { page, complaints } = editor;
  await row(page, /^Here/).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Record into this controller" }).click();
  const dialog = page.getByRole("dialog", { name: "Record into Here" });
  await expect(dialog).toContainText("These are the settings of Our recorder");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("choose another port");
  expect(complaints).toEqual([]);
  await dialog.getByText("Groups and names").click();
  await expect(dialog.getByLabel("Grouping")).toHaveValue("transactions");
  await dialog.getByText("Requests filtering").click();
  await expect(dialog.getByLabel("URL Patterns to Exclude")).toHaveValue(".*/cart.*");
  await dialog.getByLabel("Port").fill("0");
  await page.keyboard.press("Enter");
  await visit((await page.locator(".standing code").first().textContent())!, host);
  await expect(rows(page).nth(3)).toContainText("left out: requests that the recorder excludes by their address");
  // Its own settings keep pictures.
  await end(page, 3);
});

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`a recording looks right and everybody can read it, ${scheme}`, async ({ edit, host }) => {
      const editor = await edit({ "p.jmx": SHOP });
      const { page, picture } = editor;
      await choose(page, "Here");
      await page.keyboard.press("Alt+Shift+r");
      const dialog = page.getByRole("dialog", { name: "Record into Here" });
      for (const part of ["Groups and names", "Requests filtering", "Samplers"]) await dialog.getByText(part, { exact: true }).click();
      await everybodyCanRead(page);
      await picture("settings");
      await page.keyboard.press("Escape");
      const proxy = await begin(editor);
      await visit(proxy, host);
      await expect(rows(page)).toHaveCount(4);
      await everybodyCanRead(page);
      await picture("going");
      await end(page, 3);
      await value(page, "$.token").getByRole("button", { name: "Accept token" }).click();
      await expect(value(page, "$.token")).toContainText("Accepted");
      await everybodyCanRead(page);
      await picture("over");
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    });
  });
}
