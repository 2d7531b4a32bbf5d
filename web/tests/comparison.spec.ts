import { colours, expect, fits, test } from "./open";

test("a slower run is told to be worse, label by label", async ({ open }) => {
  const page = await open("comparison.html");
  await expect(page.locator("h2")).toContainText("worse");
  await expect(page.locator("#label-table tbody tr")).toHaveCount(7);
  await expect(page.locator("#label-table tbody tr").first()).toContainText("All samples");
  await expect(page.locator(".verdict-of")).toHaveText([/checkout\.jmx DEGRADED/, /checkout\.jmx, next DEGRADED/]);
  expect(await colours(page, "chart-curves-0")).toBeGreaterThan(8);
  await fits(page);
});

test("labels are searched and filtered", async ({ open }) => {
  const page = await open("comparison.html");
  const rows = page.locator("#label-table tbody tr");
  await page.getByPlaceholder("Search labels").fill("basket");
  await expect(rows).toHaveText([/POST \/basket/]);
  await page.getByPlaceholder("Search labels").fill("");
  await page.getByLabel("Which labels").selectOption("changed");
  expect(await rows.count()).toBeGreaterThan(0);
});
