// How quick the editor is with 10,000 elements. The figures are printed, and not judged: a test machine is busy.

import { expect, type Page } from "@playwright/test";
import { canEdit, choose, group, http, input, open, plan, prop, test } from "./program";

test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
// A frame comes as soon as it is ready. Otherwise each figure would hold the wait for a screen of 60 Hz.
test.use({ launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-frame-rate-limit", "--disable-gpu-vsync"] } });

test.setTimeout(60_000);

const p95 = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)];

/** Milliseconds from an event to the frame after it that shows a text. */
function toPaint(page: Page, act: string, shown = "") {
  return page.evaluate(
    ([act, shown]) =>
      new Promise<number>((done) => {
        const start = performance.now();
        new Function(act)();
        const look = () => (document.body.textContent!.includes(shown) ? setTimeout(() => done(performance.now() - start)) : requestAnimationFrame(look));
        requestAnimationFrame(look);
      }),
    [act, shown],
  );
}

const press = (key: string, options = "") => `document.querySelector("#tree").dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, code: ${JSON.stringify(key === "-" ? "Minus" : key)}, bubbles: true, cancelable: true, ${options} }))`;

test("10,000 elements", async ({ edit }, info) => {
  const pause = `${open("ConstantTimer", "ConstantTimerGui", "Pause", prop("ConstantTimer.delay", "100"))}<hashTree/>${open("DebugSampler", "TestBeanGUI", "Debug", "")}<hashTree/>`;
  const requests = (at: number) => Array.from({ length: 33 }, (_, each) => http(`GET ${at}/${each}`, `/goods/${at}/${each}`, pause)).join("");
  const { page } = await edit({ "p.jmx": plan("Large", Array.from({ length: 100 }, (_, at) => group(`Group ${at}`, requests(at))).join("")) });
  const painted = () => page.evaluate(() => performance.getEntriesByName("ready")[0].startTime);
  const figures: Record<string, number> = { "first paint of a new browser": await painted() };
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  figures["first paint"] = await painted();
  await page.locator("#tree").focus();
  figures["expand all"] = await toPaint(page, press("-", "ctrlKey: true, shiftKey: true"), "GET 0/0");
  figures["collapse all"] = await toPaint(page, press("-", "ctrlKey: true"));
  await expect(page.locator(".row")).toHaveCount(1);
  await toPaint(page, press("-", "ctrlKey: true, shiftKey: true"));
  await expect(page.locator(".row")).not.toHaveCount(1);
  const arrows: number[] = [];
  for (let at = 0; at < 60; at += 1) arrows.push(await toPaint(page, press("ArrowDown")));
  figures["arrow to paint, p95"] = p95(arrows);
  figures.filter = await toPaint(page, `const box = document.querySelector("#filter"); box.value = "GET 42/1"; box.dispatchEvent(new Event("input", { bubbles: true }))`);
  await page.locator("#filter").fill("");
  await page.locator("#tree").focus();
  await page.keyboard.press("Home");
  await choose(page, "GET 0/1");
  await input(page, "HTTPSampler.path").click();
  await page.evaluate(() => {
    const keys: number[] = [];
    Object.assign(window, { keys });
    addEventListener("keydown", () => {
      const start = performance.now();
      requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - start)));
    }, { capture: true });
  });
  await page.keyboard.type("abcdefghij".repeat(6), { delay: 20 });
  figures["key to paint, p95"] = p95(await page.evaluate(() => (window as unknown as { keys: number[] }).keys));
  await page.keyboard.press("Control+h");
  await page.getByRole("button", { name: /^Regular expression/ }).click();
  await expect(page.getByRole("searchbox", { name: "Search", exact: true })).toBeVisible();
  figures["search with a regular expression"] = await toPaint(page, `const box = document.querySelector('input[type="search"][aria-label="Search"]'); box.value = "goods/4\\\\d/2$"; box.dispatchEvent(new Event("input", { bubbles: true }))`, "10 hits");
  const memory = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6);
  if (info.project.name === "edit-1440") console.log(`${Object.entries(figures).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`).join(", ")}, heap of the tab ${memory.toFixed(0)} MB`);
  expect(await page.locator(".row").count()).toBeLessThan(80);
});
