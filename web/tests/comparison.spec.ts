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

test("what differed besides the numbers is told, with thresholds and errors side by side", async ({ open }) => {
  const page = await open("comparison.html");
  const differs = page.locator("#differs tbody tr");
  await expect(differs).toHaveText([/target\s*shop\.example:443\s*stage\.example:443/, /plan\s*plans\/checkout\.jmx \(9f86d081884c\)\s*plans\/checkout\.jmx \(0f86d081884c\)/, /data users\.csv\s*812 bytes \(b1946ac92492\)\s*900 bytes \(591785b79460\)/, /-Jusers\s*30\s*31/]);
  await expect(page.locator("#thresholds-compared tbody tr").first()).toContainText(/p95 > 800ms\s*ok 453 ms\s*ok 453 ms/);
  await expect(page.locator("#errors-compared tbody tr").first()).toContainText(/503 Service Unavailable\s*[\d,]+ \(.* %\)\s*[\d,]+ \(.* %\)/);
});

test("both runs lie over each other in time, also for a label that is chosen", async ({ open }) => {
  const page = await open("comparison.html");
  for (const chart of ["chart-times-0", "chart-rates-0", "chart-curves-0"]) expect(await colours(page, chart), chart).toBeGreaterThan(8);
  await expect(page.locator("#chart-times-0 h3")).toHaveText("95th percentile of All samples");
  await expect(page.locator("#chart-times-0 .u-label")).toHaveText(["time", "checkout.jmx", "checkout.jmx, next"]);
  await page.getByRole("button", { name: "GET /search", exact: true }).click();
  await expect(page.locator("#chart-times-0 h3")).toHaveText("95th percentile of GET /search");
  await page.locator("#chart-times-0 .plot").focus();
  await page.keyboard.press("Home");
  // The other run takes a quarter longer.
  const values = (await page.locator("#chart-times-0 .u-value").allInnerTexts()).slice(1).map(parseFloat);
  expect(values[1]).toBeGreaterThan(values[0]);
  await fits(page);
});

test("long labels wrap", async ({ open }) => {
  const page = await open("long-labels.html");
  await fits(page);
  const label = page.locator("#label-table tbody th").nth(1);
  const box = (await label.boundingBox())!;
  expect(box.width).toBeLessThan(500);
  expect(box.height).toBeGreaterThan(50);
});
