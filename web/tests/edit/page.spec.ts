// The editor's page, by keys and clicks. The program is a small one in memory (fake.ts).

import AxeBuilder from "@axe-core/playwright";
import { expect, test as base, type Page } from "@playwright/test";
import { fake, SHOP, type Fake, type Shape } from "./fake";

export const row = (page: Page, name: RegExp | string) => page.getByRole("treeitem", { name });
const field = (page: Page, property: string) => page.locator(`[data-property="${property}"]`);

const test = base.extend<{ open: (shape?: Shape, more?: [string, Shape][]) => Promise<Fake> }>({
  open: async ({ page, context }, use) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const servers: Fake[] = [];
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error.stack)));
    page.on("request", (request) => !/^(http:\/\/127\.0\.0\.1|data:|about:)/.test(request.url()) && complaints.push(`loads ${request.url()}`));
    await use(async (shape = SHOP, more = []) => {
      const server = await fake([["/plans/shop.jmx", shape], ...more]);
      servers.push(server);
      await page.goto(server.url);
      await page.waitForSelector("html[data-ready]");
      return server;
    });
    servers.forEach((server) => server.close());
    expect(complaints).toEqual([]);
  },
});

test.setTimeout(180_000);

/** The names of the elements as the program has them, in order, with their depth. */
function outline({ plan }: Fake): string[] {
  const visit = (id: number, depth: number): string[] => [`${"-".repeat(depth)}${plan.el(id).name}`, ...plan.el(id).children.flatMap((child) => visit(child, depth + 1))];
  return visit(plan.root, 0);
}

const el = ({ plan }: Fake, name: string) => [...plan.els.values()].find((each) => each.name === name)!;

test("the tree is walked, selected and filtered by keys", async ({ open, page }) => {
  await open();
  await expect(page.locator("#tree")).toBeFocused();
  await page.keyboard.press("End");
  await expect(row(page, /^View Results Tree/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Home");
  for (let at = 0; at < 4; at += 1) await page.keyboard.press("ArrowDown");
  await expect(row(page, /^Buyers/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowLeft");
  await expect(row(page, /^Buyers/)).toHaveAttribute("aria-expanded", "false");
  await expect(row(page, /^Log in/)).toHaveCount(0);
  await expect(row(page, "Buyers Thread Group 2 errors 2 warnings")).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(row(page, /^Log in/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(row(page, /^Buyers/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await expect(page.locator("[aria-selected=true][role=treeitem]")).toHaveCount(3);
  await page.keyboard.press("Control+Shift+Minus");
  await page.keyboard.type("search");
  await expect(page.locator(".filter .count")).toHaveText("1 match");
  await expect(page.locator(".row")).toHaveCount(4);
  await page.keyboard.press("Enter");
  await expect(row(page, /^Search/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Escape");
  await expect(page.locator(".row")).toHaveCount(19);
  await row(page, /^GET/).click();
  await row(page, /^Think/).click({ modifiers: ["Control"] });
  await expect(page.locator(".row.selected")).toHaveCount(2);
  await row(page, /^Account/).click({ modifiers: ["Shift"] });
  await expect(page.locator(".row.selected")).toHaveCount(5);
  await page.locator("#filter").fill("is:finding");
  await expect(page.locator(".row.hit")).toHaveCount(4);
});

test("elements are moved, copied, renamed and switched off by keys, and all of it is undone", async ({ open, page }) => {
  const server = await open();
  const before = outline(server);
  await row(page, /^GET/).click();
  await page.keyboard.press("Alt+ArrowDown");
  await expect.poll(() => outline(server).indexOf("---GET /")).toBe(before.indexOf("---GET /") + 2);
  await page.keyboard.press("Alt+ArrowUp");
  await expect.poll(() => outline(server)).toEqual(before);
  await page.keyboard.press("Alt+ArrowLeft");
  await expect.poll(() => outline(server)).toContain("--GET /");
  await page.keyboard.press("Alt+ArrowRight");
  await expect.poll(() => outline(server)).toContain("---GET /");
  await page.keyboard.press("F2");
  await page.keyboard.type("Home");
  await page.keyboard.press("Enter");
  await expect(row(page, /^Home/)).toBeVisible();
  await expect(page.locator("#tree")).toBeFocused();
  await page.keyboard.press("Control+/");
  await expect(row(page, "Home HTTP Request disabled")).toBeVisible();
  await page.keyboard.press("Alt+Shift+ArrowDown");
  await expect(row(page, /^Home/)).toHaveCount(2);
  await page.keyboard.press("Delete");
  await expect(row(page, /^Home/)).toHaveCount(1);
  await page.keyboard.press("Control+x");
  await expect(page.locator(".row.cut")).toHaveCount(1);
  await row(page, /^Log in/).click();
  await page.keyboard.press("Control+v");
  await expect.poll(() => outline(server).indexOf("---Home") < outline(server).indexOf("--Browse")).toBe(true);
  const plan = page.locator(".plan-tab.active");
  await expect(plan).toContainText("●");
  for (let at = 0; at < 12 && (await plan.locator(".dirty").count()); at += 1) await page.keyboard.press("Control+z");
  await expect.poll(() => outline(server)).toEqual(before);
  await expect(plan.locator(".dirty")).toHaveCount(0);
  await page.keyboard.press("Control+Shift+z");
  await expect(plan.locator(".dirty")).toHaveCount(1);
  await page.keyboard.press("Control+s");
  await expect(plan.locator(".dirty")).toHaveCount(0);
});

test("elements are dragged before, after and into others, and what JMeter forbids is refused with the reason", async ({ open, page }) => {
  const server = await open();
  const to = async (from: RegExp, onto: RegExp, part: number) => {
    const box = (await row(page, onto).boundingBox())!;
    await row(page, from).hover();
    await page.mouse.down();
    await page.mouse.move(box.x + 90, box.y + box.height * part, { steps: 4 });
    await page.mouse.move(box.x + 92, box.y + box.height * part);
  };
  /** Moves on a little until the page knows from the program what the parent may hold. */
  const refused = async (why: string) => {
    await expect(async () => {
      const box = (await page.locator(".drop-line").boundingBox())!;
      await page.mouse.move(box.x + 60 + Math.random() * 20, box.y + box.height / 2);
      await expect(page.locator(".drop-why")).toHaveText(why, { timeout: 300 });
    }).toPass();
    await page.mouse.up();
  };
  await to(/^Think/, /^GET/, 0.1);
  await expect(page.locator(".drop-line.before")).toBeVisible();
  await page.mouse.up();
  await expect.poll(() => outline(server).indexOf("---Think")).toBe(outline(server).indexOf("---GET /") - 1);
  await to(/^Think/, /^POST/, 0.5);
  await page.mouse.up();
  await expect.poll(() => outline(server)).toContain("----Think");
  await to(/^GET/, /^Logged in/, 0.5);
  await refused("Response Assertion cannot hold HTTP Request");
  await to(/^Browse/, /^GET/, 0.5);
  await refused("An element cannot be within itself");
  expect(outline(server)).toContain("---GET /");
});

test("a field is typed, inherited, reset and undone in one step", async ({ open, page }) => {
  const server = await open();
  await row(page, /^GET/).click();
  const host = field(page, "HTTPSampler.domain");
  await expect(host.getByRole("combobox")).toHaveAttribute("placeholder", "${host}");
  await host.getByRole("button", { name: "HTTP Request Defaults" }).click();
  await expect(page.getByRole("heading", { name: "HTTP Request Defaults" })).toBeVisible();
  await page.keyboard.press("Control+[");
  await expect(page.getByRole("heading", { name: "HTTP Request", exact: true, level: 2 })).toBeVisible();
  const path = field(page, "HTTPSampler.path").getByRole("combobox");
  await path.fill("/a");
  await expect.poll(() => el(server, "GET /").props["HTTPSampler.path"]).toBe("/a");
  await path.press("End");
  await path.pressSequentially("bc");
  await expect.poll(() => el(server, "GET /").props["HTTPSampler.path"]).toBe("/abc");
  expect(server.plan.undos).toHaveLength(1);
  await page.keyboard.press("Control+z");
  await expect(path).toHaveValue("/");
  await path.fill("/x");
  await page.keyboard.press("Escape");
  await expect(path).toHaveValue("/");
  await page.keyboard.press("Escape");
  await expect(page.locator("#tree")).toBeFocused();
  await row(page, /^Think/).click();
  const delay = field(page, "ConstantTimer.delay");
  await delay.getByRole("combobox").fill("soon");
  await expect(delay).toContainText("“soon” is neither a number nor an expression");
  await delay.getByRole("combobox").fill("${__P(delay)}");
  await expect(delay).not.toContainText("neither");
  await delay.getByRole("combobox").press("Enter");
  await delay.hover();
  await delay.getByRole("button", { name: /^Reset/ }).click();
  await expect(delay.getByRole("combobox")).toHaveAttribute("placeholder", "300");
  expect(el(server, "Think").props["ConstantTimer.delay"]).toBeUndefined();
});

test("variables and functions are completed after ${", async ({ open, page }) => {
  const server = await open();
  await row(page, /^GET/).click();
  const path = field(page, "HTTPSampler.path").getByRole("combobox");
  await path.fill("/");
  await path.press("End");
  await path.pressSequentially("${us");
  await expect(page.getByRole("option", { name: /^user/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(path).toHaveValue("/${user}");
  await path.pressSequentially("/${__P");
  await expect(page.getByRole("option", { name: /^__P/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.type("size");
  await expect(path).toHaveValue("/${user}/${__P(size)}");
  await page.keyboard.press("Enter");
  await expect.poll(() => el(server, "GET /").props["HTTPSampler.path"]).toBe("/${user}/${__P(size)}");
  await row(page, /^Prepare/).click();
  const code = page.locator(".cm-content");
  await code.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n// ${tok");
  await expect(page.locator(".cm-tooltip-autocomplete")).toContainText("token");
  await page.waitForTimeout(150);
  await page.keyboard.press("Enter");
  await expect.poll(() => el(server, "Prepare").props.script).toContain("// ${token}");
});

test("tables take rows, moves, and cells of a spreadsheet", async ({ open, page }) => {
  const server = await open();
  await row(page, /^Variables/).click();
  const rows = () => el(server, "Variables").tables["Arguments.arguments"];
  const table = field(page, "Arguments.arguments");
  await table.getByLabel("Name, row 2").click();
  await page.keyboard.press("Control+Enter");
  await expect(table.getByLabel("Name, row 3")).toBeFocused();
  await page.evaluate(() => navigator.clipboard.writeText('size\t10\n"two\nlines"\t"say ""hi"""\r\n'));
  await page.keyboard.press("Control+v");
  await expect.poll(() => rows().slice(2)).toEqual([["size", "10", ""], ["two\nlines", 'say "hi"', ""]]);
  await table.getByLabel("Name, row 3").click();
  await page.keyboard.press("Alt+ArrowUp");
  await expect.poll(() => rows().map((each) => each[0])).toEqual(["host", "size", "token", "two\nlines"]);
  await page.keyboard.press("Control+Delete");
  await expect.poll(() => rows().map((each) => each[0])).toEqual(["host", "token", "two\nlines"]);
});

test("one field is set over many elements in one step", async ({ open, page }) => {
  const server = await open();
  await row(page, /^GET/).click();
  await page.keyboard.press("Alt+a");
  await expect(page.getByRole("heading", { name: "4 elements" })).toBeVisible();
  const path = field(page, "HTTPSampler.path").getByRole("combobox");
  await expect(path).toHaveAttribute("placeholder", "several values");
  await field(page, "HTTPSampler.response_timeout").getByRole("combobox").fill("5000");
  await page.keyboard.press("Enter");
  await expect.poll(() => [...server.plan.els.values()].filter((each) => each.props["HTTPSampler.response_timeout"] === "5000").length).toBe(4);
  expect(server.plan.undos).toHaveLength(1);
});

test("search replaces what is checked, in one step", async ({ open, page }) => {
  const server = await open();
  await page.keyboard.press("Control+h");
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill("/(login|checkout)");
  await page.getByRole("button", { name: /^Regular expression/ }).click();
  await page.getByRole("textbox", { name: "Replace with" }).fill("/v2/$1");
  await expect(page.locator(".hits li")).toHaveCount(3);
  await expect(page.locator(".hits .after").first()).toHaveText("POST /v2/login");
  await page.getByRole("checkbox", { name: "Replace in POST /login" }).first().uncheck();
  await page.getByRole("button", { name: "Replace 2" }).click();
  await expect.poll(() => el(server, "POST /login").props["HTTPSampler.path"]).toBe("/v2/login");
  expect(el(server, "Old checkout").props["HTTPSampler.path"]).toBe("/v2/checkout");
  expect(server.plan.undos).toHaveLength(1);
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill("(");
  await expect(page.locator(".search-line")).toContainText("is not a regular expression");
});

test("the palette finds actions, elements to insert and elements of the plan", async ({ open, page }) => {
  const server = await open();
  await row(page, /^Log in/).click();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("insert if cont");
  await expect(page.getByRole("dialog").getByRole("option").first()).toContainText("Insert If Controller");
  await page.keyboard.press("Enter");
  await expect(row(page, /^If Controller/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Control+p");
  await page.keyboard.type("think");
  await page.keyboard.press("Enter");
  await expect(row(page, /^Think/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("insert a parent");
  await page.keyboard.press("Enter");
  await page.keyboard.type("loop");
  await page.keyboard.press("Enter");
  await expect.poll(() => outline(server)).toContain("----Think");
  await row(page, /^GET/).click();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("change the element");
  await page.keyboard.press("Enter");
  await page.keyboard.type("debug");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toContainText("HTTPSampler.path");
  await page.getByRole("button", { name: "Change the type" }).click();
  await expect(row(page, "GET / Debug Sampler")).toBeVisible();
  // A request within a sampler goes behind it.
  await row(page, /^POST/).click();
  await page.keyboard.press("Alt+1");
  await expect.poll(() => outline(server)).toContain("---HTTP Request");
});

test("findings are gone through by F8, and a fix is one key", async ({ open, page }) => {
  const server = await open();
  await page.keyboard.press("F8");
  await expect(row(page, /^Old checkout/)).toHaveAttribute("aria-selected", "true");
  const port = field(page, "HTTPSampler.port");
  await expect(port.getByRole("combobox")).toBeFocused();
  await expect(port).toContainText("is not a number");
  await port.getByRole("button", { name: "Remove the port" }).click();
  await expect(port).not.toContainText("is not a number");
  expect(el(server, "Old checkout").props["HTTPSampler.port"]).toBeUndefined();
  await page.keyboard.press("F8");
  await expect(row(page, /^Foreign/)).toHaveAttribute("aria-selected", "true");
});

test("variables tell who sets and reads them", async ({ open, page }) => {
  await open();
  await page.keyboard.press("Alt+v");
  const session = page.locator(".variable", { hasText: "${session}" });
  await expect(session).toContainText("Regular Expression Extractor");
  await session.getByRole("button", { name: /^Token/ }).click();
  await expect(row(page, /^Token/)).toHaveAttribute("aria-selected", "true");
  await expect(page.locator(".variable.unset")).toHaveCount(2);
  await page.keyboard.press("Shift+F12");
  await expect(page.locator("#view")).toContainText("Sets");
});

test("secrets are masked, files tell their first rows, foreign elements keep a form", async ({ open, page }) => {
  await open();
  await row(page, /^Account/).click();
  const password = field(page, "password").locator("input");
  await expect(password).toHaveAttribute("type", "password");
  await page.getByRole("button", { name: "Show Password" }).or(page.getByRole("button", { name: "Show password" })).click();
  await expect(password).toHaveAttribute("type", "text");
  await row(page, /^Users/).click();
  await expect(field(page, "filename")).toContainText("anna,secret1");
  await field(page, "filename").getByRole("combobox").fill("nowhere.csv");
  await expect(field(page, "filename")).toContainText("Not found");
  await row(page, /^Foreign/).click();
  await expect(page.locator(".generic")).toBeVisible();
  await page.getByRole("tab", { name: "XML" }).click();
  await expect(page.locator(".cm-content")).toContainText("tcp://queue");
});

test("the load of a thread group is drawn while one types", async ({ open, page }) => {
  await open();
  await row(page, /^Buyers/).click();
  await expect(page.getByRole("img", { name: "20 users after 1 s" })).toBeVisible();
  await field(page, "ThreadGroup.ramp_time").getByRole("combobox").fill("90");
  await expect(page.getByRole("img", { name: "20 users after 90 s" })).toBeVisible();
  await field(page, "ThreadGroup.scheduler").getByRole("checkbox").check();
  await field(page, "ThreadGroup.duration").getByRole("combobox").fill("3600");
  await expect(page.getByRole("img", { name: "Up to 20 users for 1 h" })).toBeVisible();
  await field(page, "ThreadGroup.num_threads").getByRole("combobox").fill("${__P(users)}");
  await expect(page.locator(".curve-note")).toContainText("${__P(users)}");
});

test("changes of another tab, of the file, and a lost connection are shown", async ({ open, page }) => {
  const server = await open();
  server.elsewhere("rename", { id: el(server, "Think").id, name: "Wait" });
  await expect(row(page, /^Wait/)).toBeVisible();
  const get = el(server, "GET /");
  server.plan.theirs = [[get.id, "HTTPSampler.path", "/home"]];
  server.send("conflict", { plan: 1, conflict: { id: get.id, element: "Shop / Buyers / GET /", setting: "HTTPSampler.path", ours: "/", theirs: "/home" } });
  await expect(page.getByRole("alert")).toContainText("Another program changed settings");
  await page.getByRole("button", { name: "Take the file's version" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect.poll(() => el(server, "GET /").props["HTTPSampler.path"]).toBe("/home");
  server.stop();
  await expect(page.locator(".status")).toContainText("The program does not answer");
  server.plan.step("Rename", () => void (el(server, "Wait").name = "Pause"));
  await server.start();
  await expect(row(page, /^Pause/)).toBeVisible();
  await expect(page.locator(".status")).not.toContainText("does not answer");
  // A change of an element that another tab removed meanwhile is refused, and the tree is taken anew.
  await row(page, /^Pause/).click();
  server.plan.step("Remove", () => server.plan.drop(el(server, "Pause").id));
  await page.keyboard.press("Control+/");
  await expect(page.locator(".toast")).toContainText("no longer in the plan");
  await expect(row(page, /^Pause/)).toHaveCount(0);
});

test("a sampler runs alone, and its result is beside its form", async ({ open, page }) => {
  await open();
  await row(page, /^GET/).click();
  await page.keyboard.press("Control+Enter");
  const result = page.locator(".result");
  await expect(result).toContainText("200 OK");
  await expect(row(page, /^GET/)).toContainText("13.3 ms");
  await expect(page.frameLocator("iframe").locator("h1")).toHaveCount(0);
  await result.getByRole("button", { name: "page" }).click();
  await expect(page.frameLocator("iframe").locator("h1")).toHaveText("Welcome");
  await expect(page).not.toHaveTitle("ran");
  await result.getByRole("button", { name: "hex" }).click();
  await expect(result.locator("pre")).toContainText("00000000  3c 68 31 3e");
  await page.getByRole("tab", { name: "Request" }).click();
  await expect(result.getByRole("group", { name: "Request", exact: true })).toContainText("GET https://shop.example/");
  await result.getByRole("button", { name: "parsed" }).click();
  await expect(result.getByRole("group", { name: "Form" })).toContainText("anna");
  await expect(result.getByRole("group", { name: "Cookies" })).toContainText("dark");
  await result.getByRole("button", { name: "cURL" }).click();
  await expect(result.getByRole("group", { name: "Request", exact: true })).toHaveText("curl 'https://shop.example/'");
  await result.getByRole("tab", { name: "Variables" }).click();
  await expect(result.locator("ins")).toHaveText("a1b2c3");
  await result.getByRole("tab", { name: "Elements" }).click();
  await expect(result.locator(".steps")).toContainText("RegexExtractor");
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.locator("#name")).toHaveValue("GET /");
});

test("a run of the plan is listed, searched and linked with the tree", async ({ open, page }) => {
  await open();
  await row(page, /^Buyers/).click();
  await page.keyboard.press("Control+Alt+r");
  const panel = page.locator("#panel");
  await expect(panel.locator("[role=status]").first()).toContainText("3 samples, 0 failed");
  await panel.getByRole("button", { name: "Search ${term}" }).click();
  await expect(row(page, /^Search/)).toHaveAttribute("aria-selected", "true");
  await expect(page.locator(".more-body")).toContainText("are shown");
  await page.locator(".more-body button").click();
  await expect(page.locator(".more-body")).toHaveCount(0);
  await expect(page.locator(".result .fold").first()).toBeVisible();
  await page.getByRole("button", { name: "More to run" }).click();
  await page.getByRole("menuitem", { name: "Run the thread group once" }).click();
  await expect(panel.locator("select option:checked")).toContainText("A thread group");
  await expect(panel.locator("[role=status]").first()).toContainText("3 samples, 0 failed");
  // A sub-result has no element of its own.
  await panel.getByRole("button", { name: "POST /login-0" }).click();
  await expect(page.locator(".result h2")).toContainText("POST /login-0");
  await expect(row(page, /^POST/)).toHaveAttribute("aria-selected", "true");
  // The tree leads to the results too, from an element within a sampler as well.
  await row(page, /^Token/).click();
  await expect(page.locator(".result h2")).toContainText("POST /login");
  await panel.getByRole("searchbox").fill("search?q");
  await expect(panel.locator(".sample")).toHaveCount(1);
  await panel.getByRole("searchbox").fill("");
  await panel.getByRole("button", { name: "Failed only" }).click();
  await expect(panel).toContainText("No sample matches");
  await panel.getByRole("button", { name: "Failed only" }).click();
  await panel.locator(".sample").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(row(page, /^GET/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Control+e");
  await expect(panel).toContainText("No results yet");
});

test("a sampler that runs alone gets the variables that others set", async ({ open, page }) => {
  const server = await open();
  await row(page, /^Search/).click();
  await page.keyboard.press("Control+Enter");
  const dialog = page.getByRole("dialog", { name: "Values for this run" });
  // Nothing sets the term, and another sampler sets the session, which only a table reads here.
  await dialog.getByRole("textbox").first().fill("shoes");
  await page.keyboard.press("Enter");
  await expect(page.locator(".result")).toContainText("200 OK");
  await expect.poll(() => server.calls.filter(({ method }) => method === "run").at(-1)?.params.variables).toMatchObject({ term: "shoes" });
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Enter");
  await expect(dialog).toHaveCount(0);
  await expect.poll(() => server.calls.filter(({ method }) => method === "run").length).toBe(2);
});

test("actions of JMeter's menus that have no key are in the palette", async ({ open, page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const server = await open();
  const act = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill(words);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog", { name: /^Find an action/ })).toHaveCount(0);
  };
  await act("copy the names");
  await expect(page.locator(".toast")).toContainText("Copied the names");
  expect((await page.evaluate(() => navigator.clipboard.readText())).split("\n")).toEqual(["Log in", "POST /login", "GET /", "Search ${term}", "Foreign sampler"]);
  const [copy] = await Promise.all([page.waitForEvent("download"), act("download a copy")]);
  expect(copy.suggestedFilename()).toBe("shop.jmx");
  await row(page, /^Browse/).click();
  const [part] = await Promise.all([page.waitForEvent("download"), act("download the selection")]);
  expect(part.suggestedFilename()).toBe("Browse.jmx");
  await page.locator("#tree").focus();
  await row(page, /^Browse/).click();
  await act("extract into");
  await expect.poll(() => outline(server).slice(-2)).not.toContain("-Browse");
  await expect(row(page, /^Browse Module Controller/)).toHaveAttribute("aria-selected", "true");
  await row(page, /^Log in/).click();
  await act("move into a new");
  const dialog = page.getByRole("dialog", { name: "Move the selection into a new plan" });
  await expect(dialog.getByRole("textbox")).toHaveValue("log-in.jmx");
  await dialog.getByRole("textbox").fill("login.jmx");
  await page.keyboard.press("Enter");
  await expect(row(page, /^login.jmx/)).toHaveAttribute("aria-selected", "true");
  await act("revert to");
  await expect(page.locator(".toast")).toContainText("as it was saved");
  await expect(page.locator(".dirty")).toHaveCount(0);
  await expect(row(page, /^Log in Transaction/)).toBeVisible();
  await page.locator("#tree").focus();
  await page.keyboard.press("Alt+w");
  await expect(row(page, /^Log in TransactionController/)).toBeVisible();
});

test("rows tell what differs from the last commit", async ({ open, page }) => {
  const server = await open();
  server.send("marks", { plan: 1, revision: 1, added: [el(server, "Think").id], changed: [el(server, "GET /").id] });
  await expect(row(page, /^Think/).getByTitle("Not in the last commit")).toBeVisible();
  await expect(row(page, /^GET/).getByTitle("Changed since the last commit")).toBeVisible();
  server.send("marks", { plan: 1, revision: 2, added: [], changed: [] });
  await expect(page.locator(".row .git")).toHaveCount(0);
});

test("several plans are open, and elements go from one to the other", async ({ open, page }) => {
  await open(SHOP, [["/plans/other.jmx", ["Other", "TestPlan", [["Guests", "ThreadGroup"]]]]]);
  await row(page, /^Browse/).click();
  await page.keyboard.press("Control+c");
  await expect(page.locator(".toast")).toHaveCount(0);
  await page.keyboard.press("Alt+PageDown");
  await row(page, /^Guests/).click();
  await page.keyboard.press("Control+v");
  await expect(row(page, /^Browse/)).toBeVisible();
  await expect(page.locator(".plan-tab.active")).toContainText("other.jmx");
  await page.getByRole("button", { name: "Close other.jmx" }).click();
  await expect(page.locator(".plan-tab")).toHaveCount(1);
  await page.keyboard.press("Control+o");
  await expect(page.getByRole("option", { name: /other.jmx/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.locator(".plan-tab.active")).toContainText("other.jmx");
});

test("keys are listed, both sets work, panes keep their size", async ({ open, page }) => {
  await open();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await expect(dialog).toContainText("Ctrl+K");
  await dialog.getByRole("combobox", { name: "Set of keys" }).selectOption("As VS Code");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.locator("#tree").focus();
  await page.keyboard.press("F1");
  await expect(page.getByRole("dialog")).toContainText("Actions");
  await page.keyboard.press("Escape");
  const splitter = page.getByRole("separator", { name: "Width of the tree" });
  await splitter.focus();
  const before = (await page.locator(".tree-pane").boundingBox())!.width;
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await expect.poll(async () => (await page.locator(".tree-pane").boundingBox())!.width).toBeLessThan(before);
  await page.keyboard.press("F6");
  await expect(page.locator("#form :focus")).toHaveCount(1);
});

for (const scheme of ["light", "dark"] as const) {
  test(`everybody can read it, ${scheme}`, async ({ open, page }) => {
    test.setTimeout(300_000);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await open();
    const check = async () => {
      const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
      expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`)).toEqual([]);
    };
    await check();
    for (const name of [/^POST/, /^Prepare/, /^Users/, /^Account/, /^Foreign/, /^Token/, /^Variables/, /^Old checkout/]) {
      await row(page, name).click();
      await page.waitForTimeout(150);
      await check();
    }
    await page.getByRole("tab", { name: "XML" }).click();
    await check();
    await page.getByRole("tab", { name: "Uses" }).click();
    await page.getByRole("tab", { name: "Variables" }).click();
    await page.waitForTimeout(250);
    await check();
    await page.keyboard.press("Control+Alt+r");
    await page.locator(".sample").first().click();
    for (const part of ["Request", "Variables", "Elements", "Response"]) {
      await page.locator(".result").getByRole("tab", { name: part }).click();
      await check();
    }
    await page.getByRole("tab", { name: "Form" }).click();
    await row(page, /^Search/).click();
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("dialog", { name: "Values for this run" })).toBeVisible();
    await check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+h");
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill("login");
    await expect(page.locator(".hits li").first()).toBeVisible();
    await check();
    await page.keyboard.press("Control+k");
    await check();
    await page.keyboard.press("Escape");
    await page.locator("#tree").focus();
    await page.keyboard.press("?");
    await check();
    await page.keyboard.press("Escape");
    await row(page, /^GET/).click({ button: "right" });
    await check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Alt+a");
    await page.waitForTimeout(250);
    await check();
  });
}
