// Debugging from the editor: `drumfire edit` against a site of the test.

import AxeBuilder from "@axe-core/playwright";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { canEdit, choose, group, http, open, plan, prop, row, test as base } from "./program";

const test = base.extend<{ host: string; asked: string[] }>({
  asked: async ({}, use) => use([]),
  host: async ({ asked }, use) => {
    const server = createServer((request, response) => {
      asked.push(request.url!);
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"token": "t0p", "id": 7}');
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    server.close();
  },
});
test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(120_000);

const extractor = `${open("RegexExtractor", "RegexExtractorGui", "find the token", `${prop("RegexExtractor.refname", "token")}${prop("RegexExtractor.regex", "token&quot;: &quot;(.+?)&quot;")}${prop("RegexExtractor.template", "$1$")}${prop("RegexExtractor.match_number", "1")}`)}<hashTree/>`;
const shop = (host: string) =>
  plan("Shop", group("Users", http("Log in", `http://${host}/login`, extractor) + http("Goods", `http://${host}/goods?t=\${token}`) + http("Pay", `http://${host}/pay?t=\${token}`)) + group("Others", http("Alone", `http://${host}/alone`)));
const standing = (page: Page) => page.getByRole("region", { name: "The user stands still" });
const stopped = (page: Page) => standing(page).getByRole("status");
const status = (page: Page) => page.locator(".results > [role=status]");

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`a user stops at a breakpoint, takes other variables and goes on, ${scheme}`, async ({ edit, host, asked }) => {
      const { page, picture } = await edit({ "p.jmx": shop(host) });
      await choose(page, "Goods");
      await page.locator("#tree").focus();
      await page.keyboard.press("F9");
      await expect(row(page, /Goods/).locator(".margin.set")).toBeVisible();
      await page.keyboard.press("F5");
      await expect(stopped(page)).toContainText("Stopped before the sampler Goods");
      await expect(row(page, /Goods/).locator(".margin.halted")).toBeVisible();
      await expect(page.locator("#name")).toHaveValue("Goods");
      expect(asked).toEqual(["/login"]);
      await expect(page.getByLabel("Value of token", { exact: true })).toHaveValue("t0p");
      await page.getByLabel("Value of token", { exact: true }).fill("mine");
      await page.getByLabel("Name of a new variable").fill("extra");
      await page.keyboard.press("Enter");
      await page.getByLabel("Value of extra").fill("1");
      await picture("stopped");
      expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
      // A page that is loaded again shows where the user stands, and the breakpoints.
      await page.getByLabel("Value of token", { exact: true }).press("F10");
      await expect(stopped(page)).toContainText("Stopped before the sampler Pay");
      await expect(page.getByLabel("Value of token", { exact: true })).toHaveValue("mine");
      await expect(page.getByLabel("Value of extra")).toHaveValue("1");
      await page.reload();
      await page.waitForSelector("html[data-ready]");
      await expect(stopped(page)).toContainText("Stopped before the sampler Pay");
      await expect(row(page, /Goods/).locator(".margin.set")).toBeVisible();
      await page.getByRole("button", { name: "Remove extra" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(status(page)).toContainText("3 samples, 0 failed");
      expect(asked).toEqual(["/login", "/goods?t=mine", "/pay?t=mine"]);
      await expect(standing(page)).toHaveCount(0);
      await row(page, /^Pay/).click();
      await page.getByRole("tab", { name: "Result" }).first().click();
      await page.getByRole("tab", { name: "Variables" }).first().click();
      await picture("over");
    });
  });
}

test("each element is stepped through, and a stop frees the user", async ({ edit, host, asked }) => {
  const { page } = await edit({ "p.jmx": shop(host) });
  await choose(page, "Users");
  await page.keyboard.press("F10");
  await expect(stopped(page)).toContainText("Stopped before the sampler Log in");
  await page.keyboard.press("F10");
  await expect(stopped(page)).toContainText("Stopped before the post-processor find the token");
  await expect(row(page, /find the token/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Control+F10");
  await expect(stopped(page)).toContainText("Stopped before the sampler Goods");
  await page.keyboard.press("Control+.");
  await expect(standing(page)).toHaveCount(0);
  await expect(status(page)).toContainText("stopped");
  expect(asked).toEqual(["/login"]);
});

test("a click in the margin sets a breakpoint, also while the user runs", async ({ edit, host, asked }) => {
  const { page } = await edit({ "p.jmx": shop(host) });
  await choose(page, "Log in");
  await row(page, /^Log in/).locator(".margin").click();
  // A breakpoint of a thread group is that of its first sampler.
  await choose(page, "Users");
  await page.keyboard.press("F9");
  await expect(page.locator(".margin.set")).toHaveCount(0);
  await page.keyboard.press("F9");
  await expect(row(page, /^Log in/).locator(".margin.set")).toBeVisible();
  await page.keyboard.press("F5");
  await expect(stopped(page)).toContainText("Log in");
  await row(page, /^Pay/).locator(".margin").click();
  await expect(row(page, /^Pay/).locator(".margin.set")).toBeVisible();
  await page.keyboard.press("F5");
  await expect(stopped(page)).toContainText("Stopped before the sampler Pay");
  // A run that is not debugged passes the breakpoints.
  await page.keyboard.press("Control+.");
  await choose(page, "Users");
  await page.keyboard.press("Control+Enter");
  await expect(status(page)).toContainText("3 samples, 0 failed");
  expect(asked.filter((path) => path.startsWith("/pay"))).toHaveLength(1);
});

test("a sampler that runs alone gets the variables of its scope, or the user is asked", async ({ edit, host, asked }) => {
  const manager = `${open("HeaderManager", "HeaderPanel", "Fields", `<collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header">${prop("Header.name", "X-Token")}${prop("Header.value", "${token}")}</elementProp></collectionProp>`)}<hashTree/>`;
  const own = `${open("Arguments", "ArgumentsPanel", "Own", `<collectionProp name="Arguments.arguments"><elementProp name="place" elementType="Argument">${prop("Argument.name", "place")}${prop("Argument.value", "here")}${prop("Argument.metadata", "=")}</elementProp></collectionProp>`)}<hashTree/>`;
  const alone = group("Users", manager + own + http("Log in", `http://${host}/login`, extractor) + http("Goods", `http://${host}/goods?t=\${place}`));
  const { page, picture } = await edit({ "p.jmx": plan("Shop", alone) });
  await choose(page, "Goods");
  await page.keyboard.press("Control+Enter");
  const question = page.getByRole("dialog", { name: "Values for this run" });
  // The Header Manager beside it needs the token; the variable of its own thread group is there.
  await expect(question.locator("label")).toHaveText(["token"]);
  await picture("asked");
  await question.getByRole("textbox").fill("mine");
  await page.keyboard.press("Enter");
  await expect(status(page)).toContainText("1 sample, 0 failed");
  expect(asked).toEqual(["/goods?t=here"]);
  await page.getByRole("tab", { name: "Request", exact: true }).click();
  await expect(page.getByRole("group", { name: "Request", exact: true })).toContainText("X-Token: mine");
});

test("drumfire debug opens the editor with the user that stands before a named element", async ({ edit, host, asked }) => {
  const { page, picture } = await edit({ "p.jmx": shop("${__P(host)}") }, "debug", "p.jmx", "--break", "Pay", "--user", "2", "--", `-Jhost=${host}`);
  await expect(stopped(page)).toContainText("Stopped before the sampler Pay");
  await expect(stopped(page)).toContainText("Users 1-2");
  await expect(row(page, /^Pay/).locator(".margin.set")).toBeVisible();
  await expect(page.getByLabel("Value of token", { exact: true })).toHaveValue("t0p");
  await picture("command");
  await page.keyboard.press("F5");
  await expect(status(page)).toContainText("4 samples, 0 failed");
  // The other thread group runs meanwhile.
  expect(asked.sort()).toEqual(["/alone", "/goods?t=t0p", "/login", "/pay?t=t0p"]);
});
