import { colours, expect, fits, test } from "./open";

const CHARTS = [
  "chart-overlay", "chart-times", "chart-rate", "chart-users", "chart-heat", "chart-codes", "chart-phases", "chart-bytes", "chart-load",
  "chart-distribution", "chart-curve", "chart-health-0", "chart-health-1",
];

test("every chart has data and is drawn", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator(".chart")).toHaveCount(CHARTS.length);
  for (const chart of CHARTS) {
    expect(Number(await page.locator(`#${chart}`).getAttribute("data-points")), chart).toBeGreaterThan(2);
    expect(await colours(page, chart), chart).toBeGreaterThan(8);
  }
  await fits(page);
});

test("the rate is shown as intended, sent, completed and failed; users as planned and running", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#chart-rate .u-label")).toHaveText(["time", "completed", "sent", "intended", "failed"]);
  await expect(page.locator("#chart-users .u-label")).toHaveText(["time", "users", "planned"]);
});

test("the parts of a sample are told apart, by the run and by the generator", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#chart-phases .u-label")).toHaveText(["time", "DNS", "connect", "TLS", "first byte", "body"]);
  await expect(page.locator("#agents tbody tr")).toHaveCount(2);
  await expect(page.locator("#agents tbody tr").last()).toContainText("-3.2 ± 0.6 ms");
  await expect(page.locator("#time-use tbody th")).toHaveText(["The exchange", "connect", "TLS", "wait", "read", "The generator’s own work", "sampler", "extract"]);
  await page.getByRole("button", { name: "POST /order" }).click();
  await expect(page.locator("#time .hint").last()).toContainText(/DNS [\d.]+ µs, connect [\d.]+ µs, TLS [\d.]+ µs, first byte [\d.]+ ms, body/);
});

test("the page says first whether the run passed, also in the title", async ({ open }) => {
  const failed = await open("whole.html");
  await expect(failed).toHaveTitle(/^FAILED – checkout\.jmx/);
  await expect(failed.locator("h1")).toHaveText(/^\s*FAILED checkout\.jmx/);
  const unjudged = await open("results.html");
  await expect(unjudged).toHaveTitle(/^results\.jtl/);
});

test("a run without samples shows no zeros and no year 1970", async ({ open }) => {
  const page = await open("empty.html");
  await expect(page).toHaveTitle(/^FAILED – empty\.jmx/);
  const text = await page.locator("body").innerText();
  for (const wrong of ["1970", "0 ms", "0 %", "0/s"]) expect(text).not.toContain(wrong);
  await expect(page.locator(".tile.good")).toHaveCount(0);
});

test("the verdict says why and when, thresholds are sentences", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#verdict")).toContainText("DEGRADED");
  await expect(page.locator("#verdict li")).toContainText("CPU quota of the control group used up 2:00–2:11: without CPU for 180 ms");
  const rows = page.locator("#thresholds tbody tr");
  await expect(rows.nth(0)).toHaveText("okp95 453 ms   fails if > 800 ms", { useInnerText: false });
  await expect(rows.nth(1)).toContainText("FAILED");
  await expect(rows.nth(1)).toContainText("p99 of POST /order 1640 ms   fails if > 1000 ms");
  await expect(rows.nth(2)).toContainText("not judged");
  await expect(page.locator("#connections")).toContainText("92.2 %");
});

test("searching and filtering labels", async ({ open }) => {
  const page = await open("whole.html");
  const labels = page.locator("#label-table tbody tr");
  await expect(labels).toHaveCount(6);
  await page.getByPlaceholder("Search labels").fill("get prod");
  await expect(labels).toHaveText([/GET \/product/]);
  await expect(page.locator("#labels [role=status]")).toHaveText("1 of 6");
  await page.getByPlaceholder("Search labels").fill("");
  await page.getByLabel("Which labels").selectOption("failed");
  await expect(labels).toHaveCount(2);
  await page.getByLabel("Which labels").selectOption("transactions");
  await expect(labels).toHaveText([/Check out/]);
});

test("every column sorts both ways", async ({ open }) => {
  const page = await open("whole.html");
  const heads = page.locator("#label-table thead button");
  const number = (text: string) => {
    const value = parseFloat(text.replace(/,/g, ""));
    return text.includes("µs") ? value / 1000 : / s$/.test(text) ? value * 1000 : value;
  };
  for (let column = 0; column < (await heads.count()); column++) {
    for (const direction of column ? ["descending", "ascending"] : ["ascending", "descending"]) {
      await heads.nth(column).click();
      await expect(page.locator("#label-table thead th").nth(column)).toHaveAttribute("aria-sort", direction);
      const texts = await page.locator(`#label-table tbody tr > :nth-child(${column + 1})`).allInnerTexts();
      const values = column ? texts.map(number) : texts.map((text) => text.toLowerCase());
      const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect(values, `column ${column}, ${direction}`).toEqual(direction === "ascending" ? sorted : sorted.reverse());
    }
  }
});

test("a label has charts of its own", async ({ open }) => {
  const page = await open("whole.html");
  await page.getByRole("button", { name: "POST /order" }).click();
  await expect(page.locator("#time h2")).toContainText("POST /order");
  for (const chart of ["chart-label-times", "chart-label-rate", "chart-distribution", "chart-curve"]) {
    expect(await colours(page, chart), chart).toBeGreaterThan(8);
  }
  await page.getByRole("button", { name: "Back to all labels" }).click();
  await expect(page.locator("#chart-times")).toBeVisible();
});

test("errors show the first failing sample with request, response and assertion", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#error-list .kind")).toHaveCount(2);
  await page.getByPlaceholder("Search errors").fill("has a number");
  await page.getByPlaceholder("Search errors").fill("order-");
  const kind = page.locator("#error-list .kind");
  await expect(kind).toHaveCount(1);
  await kind.locator("summary").click();
  await expect(kind.locator(".assertion")).toContainText("has a number");
  await expect(kind.locator("pre").nth(0)).toContainText("POST http://127.0.0.1/order");
  await expect(kind.locator("pre").nth(0)).toContainText('{"basket":7}');
  await expect(kind.locator("pre").nth(1)).toContainText("out of connections");
});

test("everything works by keyboard", async ({ open, isMobile }) => {
  test.skip(isMobile);
  const page = await open("whole.html");
  await page.getByPlaceholder("Search labels").focus();
  await page.keyboard.type("basket");
  for (let tabs = 0; tabs < 30; tabs++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.classList.contains("label"))) break;
  }
  await page.keyboard.press("Enter");
  await expect(page.locator("#time h2")).toContainText("POST /basket");
  await page.keyboard.press("Enter");
  const plot = page.locator("#chart-times .plot");
  await plot.focus();
  const shown = page.locator("#chart-times .u-value").first();
  await page.keyboard.press("Home");
  await expect(shown).toContainText("0:00");
  await page.keyboard.press("ArrowRight");
  await expect(shown).toContainText("0:01");
  await page.keyboard.press("End");
  await expect(shown).toContainText("5:0");
  await page.keyboard.press("+");
  await expect(page.locator("#chart-rate")).toHaveAttribute("data-span", /^1\d\d$/);
  await page.keyboard.press("0");
  await expect(page.locator("#chart-rate")).toHaveAttribute("data-span", /^30\d$/);
});

test("a chart can be read by keyboard from the moment it is there", async ({ open }) => {
  const page = await open("whole.html");
  await page.getByRole("button", { name: "POST /basket" }).click();
  await page.getByRole("button", { name: "Back to all labels" }).evaluate(async (back) => {
    (back as HTMLElement).click();
    // The next task, no frame between: as soon as a key can come.
    await new Promise((next) => setTimeout(next));
    document.querySelector("#chart-times .plot")!.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
  });
  await expect(page.locator("#chart-times .u-value").first()).toContainText("0:00");
});

test("dragging zooms all charts over time, and one click shows the whole run again", async ({ open }) => {
  const page = await open("whole.html");
  const over = page.locator("#chart-times .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = (await over.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect(page.locator("#chart-bytes")).toHaveAttribute("data-span", /^7\d$/);
  await page.getByRole("button", { name: "Show the whole run" }).click();
  await expect(page.locator("#chart-bytes")).toHaveAttribute("data-span", /^30\d$/);
});

test("a page made from a result file says that there is no verdict", async ({ open }) => {
  const page = await open("results.html");
  await expect(page.locator("#verdict")).toContainText("No verdict.");
  await expect(page.locator("#generator")).toHaveCount(0);
  await fits(page);
});

test("twelve hours of 500 labels open and can be searched", async ({ open }, info) => {
  const page = await open("long.html");
  const ready = await page.evaluate(() => Math.round(performance.getEntriesByName("ready")[0].startTime));
  console.log(`${info.project.name}: twelve hours of 500 labels are shown after ${ready} ms`);
  await expect(page.locator("#label-table tbody tr")).toHaveCount(500);
  await page.getByPlaceholder("Search labels").fill("path/49");
  await expect(page.locator("#label-table tbody tr")).toHaveCount(11);
  await page.getByRole("button", { name: "GET /some/path/499" }).click();
  expect(await colours(page, "chart-label-times")).toBeGreaterThan(8);
  await fits(page);
});

test("a run without a sample is told without a fault", async ({ open }) => {
  const page = await open("empty.html");
  await expect(page.locator("main")).toContainText("No sample");
  await fits(page);
});

test("a stretch is chosen in numbers, and the charts and the table follow", async ({ open }) => {
  const page = await open("whole.html");
  const status = page.locator("#stretch [role=status]");
  await expect(status).toHaveText("The whole run is shown");
  const samples = page.locator("#label-table tfoot td").first();
  const all = Number((await samples.innerText()).replace(/,/g, ""));
  await page.getByLabel("From second").fill("60");
  await page.getByLabel("From second").press("Enter");
  await page.getByLabel("to second").fill("120");
  await page.getByLabel("to second").press("Enter");
  await expect(status).toHaveText("1:00 to 2:00 is shown");
  await expect(page.locator("#chart-rate")).toHaveAttribute("data-span", "60");
  const some = Number((await samples.innerText()).replace(/,/g, ""));
  expect(some).toBeGreaterThan(0);
  expect(some).toBeLessThan(all / 3);
  await expect(page.locator("#labels .within")).toContainText("Percentiles are known only for the whole run");
  await page.getByRole("button", { name: "Clear the stretch" }).click();
  await expect(samples).toHaveText(all.toLocaleString("en"));
});

test("the page names the target and what was given, and what a user cost", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("header")).toContainText("shop.example:443");
  await expect(page.locator("#environment")).toContainText("-Jusers");
  await expect(page.locator("#environment")).toContainText("***");
  await expect(page.locator("#user-cost")).toContainText("Received per user");
});

test("errors belong to labels, and follow the label that is chosen", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#error-list .kind .from").first()).toHaveText("POST /order");
  await page.getByRole("button", { name: "GET /search" }).click();
  await expect(page.locator("#errors")).toContainText("No sample of GET /search failed.");
});

test("it prints without controls, no wider than A4", async ({ open }) => {
  const page = await open("whole.html");
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("nav")).toBeHidden();
  await expect(page.locator("#stretch")).toBeHidden();
  await expect(page.locator("#label-table")).toBeVisible();
});
