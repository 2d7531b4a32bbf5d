import { readFileSync, statSync } from "node:fs";
import { colours, expect, fits, test } from "./open";
import { textsOf } from "./paper";

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
  await page.getByRole("button", { name: "POST /order", exact: true }).click();
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

test("the outcome, the verdict and the findings are on the first screen", async ({ open }, info) => {
  const page = await open("whole.html");
  const height = page.viewportSize()!.height * (info.project.name === "narrow" ? 1.3 : 1);
  for (const part of ["#thresholds", "#verdict", "#findings"]) {
    const box = (await page.locator(part).boundingBox())!;
    expect(box.y + box.height, part).toBeLessThanOrEqual(height);
  }
});

test("a finding leads to its period and its label, also by the page's address", async ({ open }) => {
  const page = await open("whole.html");
  const slow = page.locator("#findings button", { hasText: "slower from 3:2" });
  await expect(slow).toHaveCount(1);
  await expect(page.locator("#findings")).toContainText(/503 from 3:2\d to 4:0\d at \d+ users, only in POST \/order/);
  await page.locator("#findings button", { hasText: "503" }).click();
  await expect(page.locator("#time h2")).toContainText("POST /order");
  await expect(page.locator("#chart-label-times")).toHaveAttribute("data-span", /^[56]\d$/);
  expect(page.url()).toMatch(/#errors\?from=\d+(\.\d)?&to=\d+(\.\d)?&label=POST\+%2Forder$/);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await expect(page.locator("#time h2")).toContainText("POST /order");
  await expect(page.locator("#chart-label-times")).toHaveAttribute("data-span", /^[56]\d$/);
});

test("nothing stands out where nothing happened", async ({ open }) => {
  const page = await open("mixed.html");
  await expect(page.locator("#findings")).toContainText("Nothing stands out");
});

test("service and response times are those of the same samples", async ({ open }) => {
  const page = await open("mixed.html");
  const table = page.getByRole("group", { name: "Service and response times" });
  await expect(table.locator("thead th").first()).toHaveText("510 of 1,020 samples with an intended start");
  await expect(table.locator("tbody tr").first()).toHaveText(/from the actual start10 ms10 ms10 ms10 ms$/);
  await expect(table.locator("tbody tr").last()).toHaveText(/from the intended start12 ms12 ms12 ms12 ms$/);
  // A line of half of the samples does not stand beside lines of all of them.
  await expect(page.locator("#chart-rate .u-label")).toHaveText(["time", "completed", "sent", "failed"]);
  await expect(page.locator("#chart-schedule .u-label")).toHaveText(["time", "started", "intended"]);
});

test("the last step is not drawn as a fall if the run covers only a part of it", async ({ open }) => {
  const page = await open("mixed.html");
  const plot = page.locator("#chart-rate .plot");
  await plot.focus();
  await page.keyboard.press("End");
  const completed = page.locator("#chart-rate .u-value").nth(1);
  await expect(page.locator("#chart-rate .u-value").first()).toContainText("0:10");
  await expect(completed).toHaveText("–");
  await page.keyboard.press("ArrowLeft");
  await expect(completed).toHaveText("100");
});

test("one sample has neither a rate nor high percentiles", async ({ open }) => {
  const page = await open("one.html");
  const row = page.locator("#label-table tbody tr").first();
  await expect(row.locator("td")).toHaveText(["1", "0 %", "–", "40 ms", "40 ms", "40 ms", "–", "–", "–", "–", "40 ms", "1.000"]);
  await expect(page.locator(".tile", { hasText: "95th" }).locator("b")).toHaveText("–");
  await expect(page.locator(".tile", { hasText: "Rate" }).locator("b")).toHaveText("–");
  await expect(page.locator(".tile.good")).toHaveCount(0);
  await expect(page.locator("#findings")).toHaveText("Too few samples to look for findings.");
});

test("a run in which all samples failed shows nothing in green", async ({ open }) => {
  const page = await open("failed.html");
  await expect(page.locator(".tile.good, .badge.good, .verdict.valid")).toHaveCount(0);
  await expect(page.locator(".tile.bad b")).toHaveText("100 %");
  await expect(page.locator("#findings")).toContainText("503 throughout");
});

test("times name their zone", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("header .hint")).toContainText(/\d\d:\d\d:\d\d UTC/);
  await page.locator("#chart-times .plot").focus();
  await page.keyboard.press("End");
  await expect(page.locator("#chart-times .u-value").first()).toContainText(/\(\d\d:\d\d:\d\d UTC/);
});

test("the label stays in view when the table is scrolled on a telephone", async ({ open }, info) => {
  test.skip(info.project.name !== "narrow");
  const page = await open("whole.html");
  const scroll = page.getByRole("group", { name: "Table of labels" });
  const label = page.locator("#label-table tbody th").first();
  const before = (await label.boundingBox())!.x;
  await scroll.evaluate((element) => (element.scrollLeft = 400));
  expect(Math.abs((await label.boundingBox())!.x - before)).toBeLessThan(2);
});

test("the worst label comes first, each with its curves", async ({ open }) => {
  const page = await open("whole.html");
  const rows = page.locator("#label-table tbody tr");
  await expect(rows.nth(0)).toContainText(/POST \/order|Check out/);
  await expect(rows.nth(1)).toContainText(/POST \/order|Check out/);
  await expect(rows.nth(2)).toContainText("GET /search");
  await expect(rows.nth(0).locator("svg")).toHaveCount(3);
  await expect(rows.nth(2).locator("svg")).toHaveCount(2);
});

test("the verdict says why and when, thresholds are sentences", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#verdict")).toContainText("DEGRADED");
  await expect(page.locator("#verdict li")).toBeHidden();
  await page.locator("#verdict summary").click();
  await expect(page.locator("#verdict li")).toBeVisible();
  await expect(page.locator("#verdict li")).toContainText("CPU quota of the control group used up 2:00–2:11: without CPU for 180 ms");
  await expect(page.locator("#thresholds > p")).toHaveText("FAILED Of 3 thresholds, 1 failed, 1 could not be judged, 1 passed.");
  const rows = page.locator("#thresholds li");
  await expect(rows.nth(0)).toHaveText("FAILED The 99th percentile of POST /order went above 1000 ms: 1640 ms");
  await expect(rows.nth(1)).toContainText("not judged");
  await expect(rows.nth(2)).toHaveText("ok The 95th percentile stayed below 800 ms: 453 ms");
  await expect(rows.nth(2)).toHaveAttribute("title", "p95 453 ms   fails if > 800 ms");
  await expect(page.locator("#connections")).toContainText("92.2 %");
});

test("the slowest samples are split into parts and lead to their traces", async ({ open }) => {
  const page = await open("traced.html");
  const rows = page.locator("#slowest-parts tbody tr");
  await expect(rows).toHaveCount(6);
  await expect(rows.last()).toContainText("TOTAL");
  await expect(rows.last().locator(".parts")).toHaveAttribute("aria-label", /server .* ms, network and queues .* ms, transfer/);
  await expect(rows.first()).toContainText(/total .* \(max .*\), db /);
  const slow = page.locator("#slowest-traces tbody tr");
  await expect(slow).toHaveCount(20);
  await expect(slow.first().locator("a")).toHaveAttribute("href", /^https:\/\/traces\.example\/[0-9a-f]{32}$/);
  const plain = await open("whole.html");
  await expect(plain.locator("#traces")).toHaveCount(0);
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
  await page.getByRole("button", { name: "POST /order", exact: true }).click();
  await expect(page.locator("#time h2")).toContainText("POST /order");
  for (const chart of ["chart-label-times", "chart-label-rate", "chart-distribution", "chart-curve"]) {
    expect(await colours(page, chart), chart).toBeGreaterThan(8);
  }
  await page.getByRole("button", { name: "Back to all labels" }).click();
  await expect(page.locator("#chart-times")).toBeVisible();
});

test("all labels stand in one chart if the reader wants it", async ({ open }) => {
  const page = await open("whole.html");
  await expect(page.locator("#chart-labels")).toHaveCount(0);
  await page.getByLabel("All labels in one chart").selectOption("median");
  const labels = await page.locator("#label-table tbody .label").allInnerTexts();
  const lines = page.locator("#chart-labels .u-label");
  expect((await lines.allInnerTexts()).slice(1).sort()).toEqual(labels.sort());
  expect(await colours(page, "chart-labels")).toBeGreaterThan(8);
  // The slow stretch is in each line.
  await page.locator("#chart-labels .plot").focus();
  const search = page.locator("#chart-labels .u-series", { hasText: "GET /search" }).locator(".u-value");
  const ms = async (key: string, times = 1) => {
    for (let turn = 0; turn < times; turn++) await page.keyboard.press(key);
    return parseFloat(await search.innerText());
  };
  await ms("Home");
  const usual = await ms("Shift+ArrowRight", 10);
  expect(await ms("Shift+ArrowRight", 11)).toBeGreaterThan(usual * 2);
  await fits(page);
});

test("500 labels in one chart are told by the moment", async ({ open }) => {
  const page = await open("long.html");
  await page.getByLabel("All labels in one chart").selectOption("95th percentile");
  expect(await colours(page, "chart-labels")).toBeGreaterThan(8);
  await page.locator("#chart-labels .plot").focus();
  await page.keyboard.press("End");
  await expect(page.locator("#chart-labels .u-legend")).toHaveText(/^\d+:\d\d:\d\d: (GET \/some\/path\/\d+ [\d.]+ ms, ){4}GET \/some\/path\/\d+ [\d.]+ ms and \d+ more$/);
});

test("load and times have an axis each", async ({ open }) => {
  const page = await open("whole.html");
  const overlay = page.locator("#chart-overlay");
  await expect(overlay.locator(".u-label")).toHaveText(["time", "users", "rate", "failed", "95th percentile"]);
  await overlay.locator(".plot").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  const values = await overlay.locator(".u-value").allInnerTexts();
  expect(values.slice(1)).toEqual([expect.stringMatching(/^\d+$/), "9", "0", expect.stringMatching(/ ms$/)]);
  await expect(overlay.locator(".u-axis")).toHaveCount(3);
  // A screen reader hears the moment and its values; a digit hides a line.
  await expect(overlay.locator(".said")).toHaveText(/^time 0:01 \(.*\), users \d+, rate 9, failed 0, 95th percentile [\d.]+ ms$/);
  await page.keyboard.press("3");
  await expect(overlay.locator(".said")).toHaveText(/rate 9, 95th/);
});

test("axes show the time since the start or the time of day", async ({ open }) => {
  const page = await open("whole.html");
  const saved = async () => {
    const chart = page.locator("#chart-rate");
    await chart.locator("details").evaluate((save: HTMLDetailsElement) => (save.open = true));
    const [download] = await Promise.all([page.waitForEvent("download"), chart.getByRole("button", { name: "SVG" }).click()]);
    return readFileSync(await download.path(), "utf8");
  };
  const hour = String(new Date(1772359200000).getHours()).padStart(2, "0");
  const time = new RegExp(`>${hour}:0\\d:00<`);
  expect(await saved()).not.toMatch(time);
  await page.getByLabel("Time of day").check();
  expect(await saved()).toMatch(time);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await expect(page.getByLabel("Time of day")).toBeChecked();
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

test("errors are grouped across labels, with when they occurred, for a period too", async ({ open }) => {
  const page = await open("errors.html");
  const kinds = page.locator("#error-list .kind");
  await expect(kinds).toHaveCount(2);
  await expect(kinds.nth(0)).toContainText(/^120\s*66\.7 %\s*503\s*Service Unavailable\s*0:20 to 0:59 · 3 labels/);
  await expect(kinds.nth(1)).toContainText(/^60\s*33\.3 %\s*404\s*Not Found\s*0:41 to 0:50 · GET \/b/);
  expect(await kinds.nth(0).locator("svg rect").count()).toBeGreaterThan(20);
  await kinds.nth(0).locator("summary").click();
  await expect(kinds.nth(0).locator(".by-label li")).toHaveText([/GET \/a\s*40, 0:20 to 0:59/, /GET \/b\s*40, 0:20/, /GET \/c\s*40, 0:20/]);
  await expect(kinds.nth(0).locator(".first")).toContainText("The first: GET /a");
  // From 0:40 on.
  await page.getByLabel("From second").fill("50");
  await page.getByLabel("From second").press("Enter");
  await expect(kinds).toHaveCount(1);
  await expect(kinds.nth(0)).toContainText(/^30\s*100 %\s*503/);
  await expect(page.locator("#error-list .within")).toContainText("chosen period");
  await page.getByLabel("From second").fill("70");
  await page.getByLabel("From second").press("Enter");
  await expect(page.locator("#errors")).toContainText("No sample failed in the chosen period.");
  await fits(page);
});

test("a search for the capacity shows its answer, its levels and the knee", async ({ open }) => {
  const page = await open("capacity.html");
  await expect(page.locator("#capacity-answer")).toHaveText("158/s; at 162/s p95 > 300ms");
  await expect(page.locator("#levels tbody tr")).toHaveCount(6);
  await expect(page.locator("#levels tbody tr").nth(2)).toContainText(/200\/s.*does not hold.*161.*1,960 ms/);
  await expect(page.locator("#chart-knee .u-label")).toHaveText(["rate", "95th", "holds", "does not hold", "limit 300 ms"]);
  expect(await colours(page, "chart-knee")).toBeGreaterThan(8);
  expect(await colours(page, "chart-reached")).toBeGreaterThan(6);
  await fits(page);
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
  await expect(page.locator("main")).not.toContainText("intended start");
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

const SIZES: [string, number][] = [
  ["ten.html", 220],
  ["eight-hours.html", 350],
  ["long.html", 900],
];
for (const [name, most] of SIZES) {
  test(`${name} can be mailed`, async ({ open }, info) => {
    test.skip(info.project.name !== "wide");
    const page = await open(name);
    const kib = Math.round(statSync(new URL(page.url())).size / 1024);
    const ready = await page.evaluate(() => Math.round(performance.getEntriesByName("ready")[0].startTime));
    console.log(`${name}: ${kib} KB, shown after ${ready} ms`);
    expect(kib).toBeLessThan(most);
  });
}

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
  await expect(page.locator("#labels .within")).toContainText("The numbers are those of the chosen period");
  await page.getByRole("button", { name: "Clear the stretch" }).click();
  await expect(samples).toHaveText(all.toLocaleString("en"));
});

test("a period has percentiles and a distribution of its own, also of a label that is chosen later", async ({ open }) => {
  const page = await open("whole.html");
  const median = async () => {
    const text = await page.locator("#label-table tfoot td").nth(5).innerText();
    return parseFloat(text.replace(/,/g, ""));
  };
  const [usual, points] = [await median(), await page.locator("#chart-distribution").getAttribute("data-points")];
  await page.getByLabel("From second").fill("202");
  await page.getByLabel("From second").press("Enter");
  await page.getByLabel("to second").fill("238");
  await page.getByLabel("to second").press("Enter");
  // In these seconds all times are four times as long.
  await expect.poll(median).toBeGreaterThan(usual * 2.8);
  expect(await median()).toBeLessThan(usual * 4.5);
  await expect(page.locator("#chart-distribution")).not.toHaveAttribute("data-points", points!);
  await page.getByRole("button", { name: "GET /search" }).click();
  await expect(page.locator("#chart-label-times")).toHaveAttribute("data-span", "36");
});

test("charts are saved as CSV, PNG and SVG, tables as CSV", async ({ open }) => {
  const page = await open("whole.html");
  const saved = async (act: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent("download"), act()]);
    return [download.suggestedFilename(), readFileSync(await download.path())] as [string, Buffer];
  };
  const chart = page.locator("#chart-rate");
  await chart.getByText("Save", { exact: true }).click();
  const [csvName, csv] = await saved(() => chart.getByRole("button", { name: "CSV" }).click());
  expect(csvName).toBe("rate.csv");
  const lines = csv.toString().trim().split("\n");
  expect(lines[0]).toBe("time_s,completed,sent,intended,failed");
  expect(lines.length).toBeGreaterThan(300);
  const [, png] = await saved(() => chart.getByRole("button", { name: "PNG" }).click());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const [, svg] = await saved(() => chart.getByRole("button", { name: "SVG" }).click());
  expect(svg.toString()).toMatch(/^<svg .*>Rate<.*>5:00<.*<\/svg>\n$/s);
  expect(svg.toString().match(/<path d="M[^"]*L/g)!.length).toBe(4);
  const [tableName, table] = await saved(() => page.locator("#labels").getByRole("button", { name: "Save as CSV" }).click());
  expect(tableName).toBe("labels.csv");
  expect(table.toString()).toMatch(/^label,transaction,samples,.*\nPOST \/order,false,\d+,/);
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
  await expect(page.locator("#error-list .kind").first()).toContainText("POST /order");
  await page.getByRole("button", { name: "GET /search" }).click();
  await expect(page.locator("#errors")).toContainText("No sample of GET /search failed.");
});

test("it prints without controls, no wider than A4", async ({ open }) => {
  const page = await open("whole.html");
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("nav")).toBeHidden();
  await expect(page.locator("#stretch")).toBeHidden();
  await expect(page.locator("#label-table")).toBeVisible();
  const sizes = await page.evaluate(() => [document.querySelector("main p")!, document.querySelector(".hint")!].map((text) => parseFloat(getComputedStyle(text).fontSize)));
  expect(sizes[1]).toBeLessThanOrEqual(sizes[0]);
});

for (const scheme of ["light", "dark"] as const) {
  test(`paper has every chart from its first time to its last, ${scheme}`, async ({ open }) => {
    const page = await open("whole.html");
    await page.emulateMedia({ colorScheme: scheme });
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    const looks = () =>
      [...document.querySelectorAll<HTMLElement>("figure.chart")].map((chart) => {
        const [canvas, plot] = ["canvas", ".plot"].map((part) => chart.querySelector(part)!.getBoundingClientRect());
        return { id: chart.id, until: chart.dataset.until, isWhole: canvas.width > 100 && canvas.right <= plot.right + 1 };
      });
    const shown = await page.evaluate(looks);
    await page.evaluate(`addEventListener("beforeprint", () => { window.printed = { charts: (${looks})(), theme: document.documentElement.dataset.theme }; })`);
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    const printed = await page.evaluate<{ charts: typeof shown; theme: string }>("window.printed");
    expect(printed.theme).toBe("light");
    expect(printed.charts).toEqual(shown.map((chart) => ({ ...chart, isWhole: true })));
    // The last time of each axis is on the paper, as it is on the page.
    const overTime = shown.filter((chart) => Number(chart.until) > 1e9);
    expect(overTime.length).toBeGreaterThan(6);
    expect(textsOf(pdf).filter((text) => text === "5:00").length).toBeGreaterThanOrEqual(overTime.length);
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(scheme);
    expect(await page.evaluate(looks)).toEqual(shown);
  });
}
