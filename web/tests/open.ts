// Opens a page of the folder that `cargo xtask test` filled, and holds it to what is true of every page: nothing is loaded, nothing
// is complained of.

import { expect, test as base, type Page } from "@playwright/test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.env.DRUMFIRE_PAGES ?? "pages");

export const test = base.extend<{ open: (name: string) => Promise<Page> }>({
  open: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => !/^(file|data|blob):/.test(request.url()) && complaints.push(`loads ${request.url()}`));
    await use(async (name) => {
      await page.goto(pathToFileURL(resolve(folder, name)).href);
      // A trend has no script.
      await page.waitForSelector(name === "trend.html" ? "svg" : "html[data-ready]");
      return page;
    });
    expect(complaints).toEqual([]);
  },
});

/** How many colours a chart's canvas has: a blank one has one, a grid alone a few. */
export async function colours(page: Page, chart: string): Promise<number> {
  return page.locator(`#${chart} canvas`).evaluate((canvas: HTMLCanvasElement) => {
    const pixels = new Uint32Array(canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
  });
}

/** The page is no wider than the window. */
export async function fits(page: Page) {
  const [content, window_] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(content).toBeLessThanOrEqual(window_);
}

export { expect };
