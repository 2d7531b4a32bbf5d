// The changes of a plan, and its conflicts, by keys and clicks, with git.

import { spawnSync } from "node:child_process";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { canEdit, choose, group, http, input, plan, row, save, test, writeOver } from "./program";
import { join } from "node:path";

test.skip(!canEdit || spawnSync("git", ["--version"]).status !== 0, "DRUMFIRE_PROGRAM has no editor, or git is missing");

const TEXT = plan("Shop", group("Buyers", http("Log in", "/login") + http("Home", "/") + http("Cart", "/cart")));

function git(folder: string, ...words: string[]): string {
  const user = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
  return spawnSync("git", [...user, ...words], { cwd: folder, encoding: "utf8", env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } }).stdout;
}

function commit(folder: string, message: string) {
  git(folder, "init", "-q");
  git(folder, "add", "p.jmx");
  git(folder, "commit", "-q", "-m", message);
}

const element = (page: Page, name: string) => page.locator(".review-element").filter({ has: page.locator(".review-head").getByText(name, { exact: true }) });

async function readable(page: Page) {
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
  expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
}

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`changes are looked at, restored and staged, ${scheme}`, async ({ edit }) => {
      const { page, folder, file, picture } = await edit({ "p.jmx": TEXT });
      commit(folder, "one");
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/home");
      await page.keyboard.press("Enter");
      await choose(page, "Cart");
      await page.keyboard.press("Delete");
      await choose(page, "Log in");
      await page.keyboard.press("Alt+ArrowDown");
      await save(page);
      const changed = file("p.jmx");
      await page.keyboard.press("Alt+c");
      await expect(page.getByRole("status").filter({ hasText: "elements differ" })).toContainText("3 elements differ");
      await expect(element(page, "Home").locator("del")).toHaveText("/");
      await expect(element(page, "Home").locator("ins")).toHaveText("/home");
      await expect(element(page, "Cart")).toContainText("removed");
      await picture("changes");
      await readable(page);
      // One element goes to the index; the file stays as it is.
      await page.getByRole("button", { name: "Stage Home" }).click();
      await expect(element(page, "Home")).toContainText("staged");
      expect(git(folder, "show", ":p.jmx")).toBe(TEXT.replace('>/</stringProp>', ">/home</stringProp>"));
      expect(file("p.jmx")).toBe(changed);
      // A value, a removed element and a place come back, each with an undo of its own.
      await page.getByRole("button", { name: "Restore Path of Home" }).click();
      await expect(element(page, "Home")).toHaveCount(0);
      await page.getByRole("button", { name: "Bring back: Cart" }).click();
      await expect(row(page, /^Cart /)).toBeVisible();
      await page.keyboard.press("Control+z");
      await expect(row(page, /^Cart /)).toHaveCount(0);
      await page.keyboard.press("Control+Shift+z");
      await expect(row(page, /^Cart /)).toBeVisible();
      // The name of an element leads to it.
      await element(page, "Log in").getByRole("button", { name: "Log in", exact: true }).click();
      await expect(page.locator("#name")).toHaveValue("Log in");
      await page.keyboard.press("Alt+c");
      await page.getByRole("button", { name: "Move back: Log in" }).click();
      await expect(page.getByText("Nothing differs.")).toBeVisible();
      await save(page);
      // The restored element is laid out as its new neighbours are.
      expect(file("p.jmx").replaceAll("\n", "")).toBe(TEXT.replaceAll("\n", ""));
    });

    test(`a file with conflict markers is resolved value by value, ${scheme}`, async ({ edit }) => {
      const ours = TEXT.replace(">/login<", ">/ours<");
      const theirs = TEXT.replace(">/login<", ">/theirs<").replace(">/cart<", ">/basket<");
      const marked = theirs.replace(/.*>\/theirs<.*\n/, (line) => `<<<<<<< HEAD\n${line.replace("/theirs", "/ours")}||||||| base\n${line.replace("/theirs", "/login")}=======\n${line}>>>>>>> theirs\n`);
      const { page, file, picture } = await edit({ "p.jmx": marked });
      expect(ours).not.toBe(theirs);
      await expect(page.getByRole("heading", { name: "Conflict" })).toBeVisible();
      await expect(page.getByRole("status").filter({ hasText: "need a choice" })).toContainText("1 of 1 values");
      const line = page.getByRole("row").filter({ hasText: "Log in" });
      await expect(line.getByRole("cell")).toHaveText(["/ours", "/login", "/theirs"]);
      await picture("markers");
      await readable(page);
      await expect(page.getByRole("button", { name: "Resolve" })).toBeDisabled();
      await line.getByRole("radio", { name: "Path of Log in: In the file" }).check();
      await page.getByRole("button", { name: "Resolve" }).click();
      await expect(page.locator(".toast")).toContainText("The conflict is resolved");
      await save(page);
      expect(file("p.jmx")).toBe(theirs);
    });
  });
}

test("a change outside is resolved value by value", async ({ edit }) => {
  const { page, folder, file, picture } = await edit({ "p.jmx": TEXT });
  await choose(page, "Home");
  await input(page, "HTTPSampler.path").fill("/ours");
  await page.keyboard.press("Enter");
  await expect(page.locator(".dirty")).toHaveCount(1);
  writeOver(join(folder, "p.jmx"), TEXT.replace('>/</stringProp>', ">/theirs</stringProp>").replace(">/cart<", ">/basket<"));
  await page.getByRole("button", { name: "Choose value by value…" }).click();
  await expect(page.getByRole("radio", { name: "Path of Cart: In the file" })).toBeChecked();
  await picture("outside");
  await page.getByRole("radio", { name: "Path of Home: Here" }).check();
  await page.getByRole("button", { name: "Resolve" }).click();
  await save(page);
  expect(file("p.jmx")).toBe(TEXT.replace('>/</stringProp>', ">/ours</stringProp>").replace(">/cart<", ">/basket<"));
});
