// The page of `drumfire diff --report`: read without a script, in light and dark, on paper and on a phone.

import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import { group, http, open, plan, prop } from "./edit/program";

const program = process.env.DRUMFIRE_PROGRAM;
const pictures = process.env.PICTURES;

test.skip(program == null, "DRUMFIRE_PROGRAM is not set");
test.use({ javaScriptEnabled: false });

const script = (text: string) => `${open("JSR223PostProcessor", "TestBeanGUI", "Read the token", `${prop("scriptLanguage", "groovy")}${prop("script", text)}`)}\n<hashTree/>\n`;
const lines = Array.from({ length: 40 }, (_, at) => `def a${at} = ${at}`);
const before = plan("Shop", group("Buyers", http("Log in", "/login", script(lines.join("\n"))) + http("Home", "/") + http("Cart", "/cart") + Array.from({ length: 8 }, (_, at) => http(`Item ${at}`, `/item/${at}`)).join("") + http("Pay", `/pay?${"a-long-text ".repeat(20)}end`)));
const after = plan("Shop", group("Buyers", http("Home", "/home") + http("Log in", "/login", script(lines.map((line) => line.replace("a20 = 20", "a20 = 2000")).join("\n"))) + Array.from({ length: 8 }, (_, at) => http(`Item ${at}`, `/item/${at}`)).join("") + http("Pay", `/pay?${"a-long-text ".repeat(20)}finish`).replace('enabled="true"', 'enabled="false"') + http("&lt;/b&gt;&lt;img src=x onerror=alert(1)&gt;", "/new")));

async function show(page: Page): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "diff-"));
  writeFileSync(join(folder, "old.jmx"), before);
  writeFileSync(join(folder, "new.jmx"), after);
  const done = spawnSync(program!, ["diff", "old.jmx", "new.jmx", "--report", "page.html"], { cwd: folder, env: { ...process.env, HOME: folder } });
  expect(done.status).toBe(1);
  const requests: string[] = [];
  page.on("request", (request) => /^https?:/.test(request.url()) && requests.push(request.url()));
  await page.goto(pathToFileURL(join(folder, "page.html")).href);
  return requests;
}

const element = (page: Page, name: string) => page.locator(".tree li").filter({ has: page.locator(`:scope > details > summary > b, :scope > .row > b`, { hasText: new RegExp(`^${name}$`) }) }).last();

test("a page tells what two plans do differently, without a script", async ({ page }, info) => {
  const requests = await show(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("1 element added, 1 element removed, 1 element moved, 3 elements changed");
  await expect(element(page, "Home").locator("del")).toHaveText("/");
  await expect(element(page, "Home").locator("ins")).toHaveText("/home");
  await expect(element(page, "Cart").locator(".mark").first()).toHaveText("removed");
  await expect(element(page, "Pay").locator(".mark").first()).toHaveText("disabled");
  await expect(element(page, "Pay").locator(".words ins")).toHaveText(/finish/);
  // Of a script of 40 lines, those around the change.
  await expect(element(page, "Read the token").locator(".lines > *")).toHaveCount(8);
  await expect(page.locator("img")).toHaveCount(0);
  await expect(page.getByText("8 unchanged elements")).toBeVisible();
  await expect(page.getByText("Item 3")).toBeHidden();
  await page.getByText("8 unchanged elements").click();
  await expect(page.getByText("Item 3")).toBeVisible();
  const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(content).toBeLessThanOrEqual(width);
  expect(requests).toEqual([]);
  if (pictures) await page.screenshot({ path: join(pictures, `diff-${info.project.name}.png`), fullPage: true });
});

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ javaScriptEnabled: true, colorScheme: scheme });

    test(`everybody can read the differences, ${scheme}`, async ({ page }, info) => {
      await show(page);
      await page.evaluate(() => document.querySelectorAll("details").forEach((folded) => (folded.open = true)));
      const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
      expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
      if (pictures) await page.screenshot({ path: join(pictures, `diff-${info.project.name}-${scheme}.png`), fullPage: true });
    });
  });
}

test("it prints the differences with their colours", async ({ page }, info) => {
  await show(page);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const colour = await page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
  expect(colour).toBe("rgb(255, 255, 255)");
  await expect(page.getByRole("navigation")).toBeHidden();
  if (pictures) await page.screenshot({ path: join(pictures, `diff-${info.project.name}-print.png`), fullPage: true });
});
