// The extension's editor of plans: its own code over the real program, the page in a browser, and a stand-in for the editor around it.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { canEdit, choose, group, http, input, plan, row } from "./program";
import { Document, FakeEditor, provider, show } from "./vscode_fake";

const program = process.env.DRUMFIRE_PROGRAM!;
const TEXT = plan("Shop", group("Buyers", http("Home", "/") + http("Cart", "/cart")));

test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");

async function start(page: Page, text = TEXT) {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  const folder = mkdtempSync(join(tmpdir(), "vscode-"));
  const path = join(folder, "p.jmx");
  writeFileSync(path, text);
  process.env.HOME = folder;
  const editor = new FakeEditor();
  const document = new Document(editor, path);
  const editors = provider(editor, program);
  const panel = await show(page, editor, document, editors);
  return { editor, document, panel, path, complaints };
}

test("changes of the page are edits of the document, and edits of the document reach the page", async ({ page }) => {
  const { document, panel, path, complaints } = await start(page);
  await page.waitForSelector("html[data-ready]");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  // From the page.
  await choose(page, "Cart");
  await input(page, "HTTPSampler.path").fill("/basket");
  await page.keyboard.press("Enter");
  await expect.poll(() => document.text).toBe(TEXT.replace(">/cart<", ">/basket<"));
  expect(document.isDirty).toBe(true);
  expect(readFileSync(path, "utf8")).toBe(TEXT);
  await expect(page.locator(".status")).toContainText("Not saved");
  // Beside it.
  document.type('testname="Home"', 'testname="Start"');
  await expect(row(page, /^Start /)).toBeVisible();
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/basket");
  // The editor's undo takes back both, and its redo brings them again.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row(page, /^Home /)).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/cart");
  expect(document.text).toBe(TEXT);
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/basket");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.locator(".status")).not.toContainText("Not saved");
  expect(readFileSync(path, "utf8")).toBe(TEXT.replace(">/cart<", ">/basket<"));
  panel.dispose();
  expect(complaints).toEqual([]);
});

test("a save takes in what a field still holds", async ({ page }) => {
  const { document, panel, path } = await start(page);
  await page.waitForSelector("html[data-ready]");
  await choose(page, "Cart");
  await input(page, "HTTPSampler.path").fill("/typed");
  await document.save();
  expect(readFileSync(path, "utf8")).toContain(">/typed<");
  panel.dispose();
});

test("while the text is no plan the page waits, and what is typed at once in both is kept", async ({ page }) => {
  const { document, panel } = await start(page);
  await page.waitForSelector("html[data-ready]");
  await choose(page, "Cart");
  document.type("<hashTree>", "<<hashTree>");
  await expect(page.locator(".toast")).toContainText("The text beside is no plan");
  await input(page, "HTTPSampler.path").fill("/lost");
  await page.keyboard.press("Enter");
  await expect(page.locator(".toast")).toContainText("Mend the text first");
  expect(document.text).not.toContain("/lost");
  document.type("<<hashTree>", "<hashTree>");
  await expect(async () => {
    await input(page, "HTTPSampler.path").fill("/kept");
    await page.keyboard.press("Enter");
    await expect.poll(() => document.text, { timeout: 1000 }).toContain(">/kept<");
  }).toPass();
  // At the same time.
  const [typed] = await Promise.all([
    input(page, "HTTPSampler.path").fill("/page").then(() => page.keyboard.press("Enter")),
    Promise.resolve().then(() => document.type(">/<", ">/beside<")),
  ]);
  expect(typed).toBeUndefined();
  await expect.poll(() => document.text).toContain(">/page<");
  expect(document.text).toContain(">/beside<");
  await choose(page, "Home");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/beside");
  panel.dispose();
});

test("a document that is no plan says why, and is shown when it is one", async ({ page }) => {
  const { document, panel } = await start(page, TEXT.replace("<hashTree>", "<<hashTree>"));
  await expect(page.getByRole("heading", { name: "The plan cannot be shown" })).toBeVisible();
  document.type("<<hashTree>", "<hashTree>");
  await expect(row(page, /^Shop /)).toBeVisible();
  panel.dispose();
});

test("the panel's policy lets only the page's own script run", async ({ page }) => {
  const odd = TEXT.replace('testname="Cart"', 'testname="&lt;img src=x onerror=window.broken=1&gt;"');
  const { panel, complaints } = await start(page, odd);
  await page.waitForSelector("html[data-ready]");
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(panel.html())![1];
  expect(policy).toMatch(/^default-src 'none'; script-src 'nonce-[0-9a-f]{32}'; style-src 'unsafe-inline'; img-src data:$/);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.broken = 1";
    document.body.append(script);
  });
  expect(await page.evaluate(() => (window as unknown as { broken?: number }).broken)).toBeUndefined();
  expect(complaints.filter((told) => !told.includes("Content Security Policy"))).toEqual([]);
  panel.dispose();
});
