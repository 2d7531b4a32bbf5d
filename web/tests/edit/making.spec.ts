// The helpers for making plans: functions, conditions as rows, and templates. `drumfire edit` itself, by keys and clicks.

import { existsSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { canEdit, choose, field, group, http, input, open, plan, prop, row, save, test } from "./program";

test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(120_000);

const controller = (cls: string, gui: string, name: string, condition: string) => `${open(cls, gui, name, `${prop(`${cls}.condition`, condition)}<boolProp name="IfController.useExpression">true</boolProp>`)}
<hashTree>${http("Within", "/")}</hashTree>
`;
const check = (condition: string) => controller("IfController", "IfControllerPanel", "Check", condition);
const variables = (pairs: Record<string, string>) => `${open("Arguments", "ArgumentsPanel", "Data", `<collectionProp name="Arguments.arguments">${Object.entries(pairs).map(([name, value]) => `<elementProp name="${name}" elementType="Argument">${prop("Argument.name", name)}${prop("Argument.value", value)}${prop("Argument.metadata", "=")}</elementProp>`).join("")}</collectionProp>`)}<hashTree/>`;
const helper = (page: Page) => page.getByRole("dialog", { name: "Function helper" });
const samples = (page: Page) => helper(page).getByRole("list", { name: "Samples" }).locator("li");
const find = (page: Page) => helper(page).getByRole("combobox", { name: "Find a function" });
const written = (page: Page) => helper(page).getByLabel("The call", { exact: true });

async function isAccessible(page: Page) {
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
  expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`)).toEqual([]);
}

test("a function is written by keys alone, and opened again", async ({ edit }) => {
  const { page, file } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/a"))) });
  await choose(page, "Home");
  await input(page, "HTTPSampler.path").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Shift+F1");
  await page.keyboard.type("Random");
  await expect(helper(page).getByRole("option", { selected: true })).toContainText("__Random");
  await page.keyboard.press("Enter");
  await page.keyboard.type("7");
  await page.keyboard.press("Tab");
  await page.keyboard.type("7");
  await expect(written(page)).toHaveText("${__Random(7,7)}");
  await expect(samples(page)).toHaveText(["7", "7", "7", "7", "7"]);
  await page.keyboard.press("Enter");
  await expect(input(page, "HTTPSampler.path")).toBeFocused();
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/a${__Random(7,7)}");
  await page.keyboard.press("Control+Shift+F1");
  await expect(helper(page).getByLabel("smallest number")).toHaveValue("7");
  await expect(helper(page).getByLabel("smallest number")).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("6");
  await page.keyboard.press("Enter");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/a${__Random(6,7)}");
  await page.keyboard.press("Control+Shift+F1");
  await page.keyboard.press("Escape");
  await expect(helper(page)).toHaveCount(0);
  await expect(input(page, "HTTPSampler.path")).toBeFocused();
  await save(page);
  expect(file("p.jmx")).toContain("/a${__Random(6,7)}");
});

test("arguments are escaped as JMeter reads them", async ({ edit }) => {
  const { page } = await edit({ "p.jmx": plan("Shop", variables({ a: "A" }) + group("Users", http("Home", ""))) });
  await choose(page, "Home");
  const path = input(page, "HTTPSampler.path");
  await path.focus();
  await page.keyboard.press("Control+Shift+F1");
  await find(page).fill("changeCase");
  await page.keyboard.press("Enter");
  const text = helper(page).getByLabel("text", { exact: true });
  await text.fill("a,b:) \\d \\ $x ${a}");
  await helper(page).getByLabel("UPPER, LOWER or CAPITALIZE").fill("UPPER");
  await expect(written(page)).toHaveText("${__changeCase(a\\,b:${__char(41)} \\d \\ $x ${a},UPPER)}");
  await expect(samples(page).first()).toHaveText("A,B:) \\D \\ $X A");
  await expect(helper(page)).toContainText("a = A (with the values that the plan sets at the start)");
  await helper(page).getByRole("button", { name: "Insert" }).click();
  // A call in an argument of the call.
  await path.evaluate((field: HTMLInputElement) => field.setSelectionRange(field.value.indexOf("a\\,"), field.value.indexOf("a\\,")));
  await page.keyboard.press("Control+Shift+F1");
  await expect(text).toHaveValue("a,b:) \\d \\ $x ${a}");
  await find(page).fill("urlencode");
  await page.keyboard.press("Enter");
  await text.fill("}");
  await helper(page).getByRole("button", { name: "Insert behind it" }).click();
  await expect(path).toHaveValue("${__changeCase(a\\,b:${__char(41)} \\d \\ $x ${a},UPPER)}${__urlencode(})}");
});

test("functions with effects, and those of Java, are not evaluated", async ({ edit }) => {
  const { page, folder } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", ""))) });
  await choose(page, "Home");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Shift+F1");
  await find(page).fill("StringToFile");
  await page.keyboard.press("Enter");
  await helper(page).getByLabel("file", { exact: true }).fill(`${folder}/made.txt`);
  await helper(page).getByLabel("text", { exact: true }).fill("x");
  await expect(helper(page)).toContainText("__StringToFile is not evaluated here: it writes a file");
  expect(existsSync(`${folder}/made.txt`)).toBe(false);
  await find(page).fill("groovy");
  await page.keyboard.press("Enter");
  await helper(page).getByLabel("script").fill("1 + 1");
  await expect(helper(page)).toContainText("__groovy is not evaluated here: Java runs it");
  await find(page).fill("__Random");
  await expect(helper(page)).toContainText("NumberFormatException");
  await find(page).fill("UUID");
  await expect(samples(page)).toHaveCount(5);
  const first = await samples(page).first().textContent();
  await helper(page).getByRole("button", { name: "Evaluate again" }).click();
  await expect(samples(page).first()).not.toHaveText(first!);
  // Without a field, the call goes to the clipboard.
  await helper(page).getByRole("button", { name: "Copy" }).click();
  await expect(helper(page)).toHaveCount(0);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("${__UUID}");
});

test("a condition is made of rows, and read again", async ({ edit }) => {
  const { page, file } = await edit({ "p.jmx": plan("Shop", variables({ user: 'Ann "A", Esq.', count: "12" }) + group("Users", check(""))) });
  await choose(page, "Check");
  const builder = field(page, "IfController.condition").locator(".condition");
  await builder.getByRole("button", { name: "Build it from rows" }).focus();
  await page.keyboard.press("Enter");
  await expect(builder.getByLabel("Variable of row 1")).toBeFocused();
  await page.keyboard.type("user");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type('Ann "A", Esq.');
  await expect(builder).toContainText("Now: true with the values that the plan sets at the start");
  await builder.getByRole("button", { name: "Add a row" }).click();
  await builder.getByLabel("Variable of row 2").fill("count");
  await builder.getByLabel("Operator of row 2").selectOption({ label: "<" });
  await expect(builder).toContainText("neither a number nor a single variable");
  await builder.getByLabel("Value of row 2").fill("9");
  await expect(builder).toContainText("Now: false");
  await builder.getByLabel("How the rows are joined").selectOption({ label: "any row" });
  await expect(builder).toContainText("Now: true");
  await expect(builder.locator(".condition-row").nth(1)).toContainText("is 12");
  await page.locator("#tree").focus();
  await save(page);
  expect(file("p.jmx")).toMatch(/\$\{__jexl3\(vars\.get\(&quot;user&quot;\) == .*Ann \\\\?&quot;A\\\\?&quot;\\, Esq\..* \|\| \(/);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await choose(page, "Check");
  await expect(builder.getByLabel("Value of row 1")).toHaveValue('Ann "A", Esq.');
  await expect(builder.getByLabel("Operator of row 2")).toHaveValue("less");
  await builder.getByLabel("Operator of row 2").selectOption({ label: "last sample failed" });
  await builder.getByRole("button", { name: "Remove row 1" }).click();
  await expect(builder.getByRole("textbox")).toHaveCount(0);
  await page.locator("#tree").focus();
  await save(page);
  expect(file("p.jmx")).toContain('${__jexl3(vars.get(&quot;JMeterThread.last_sample_ok&quot;) == &quot;false&quot;)}');
});

test("a condition of another form stays a text", async ({ edit }) => {
  const foreign = '${__jexl3(&quot;${count}&quot; == &quot;12&quot;)}';
  const before = plan("Shop", variables({ count: "12" }) + group("Users", check(foreign)));
  const { page, file } = await edit({ "p.jmx": before });
  await choose(page, "Check");
  const builder = field(page, "IfController.condition").locator(".condition");
  await expect(builder).toContainText("Now: true");
  await builder.getByRole("button", { name: "Build it from rows" }).click();
  await expect(builder.getByLabel("Variable of row 1")).toHaveValue("");
  expect(file("p.jmx")).toBe(before);
  await builder.getByLabel("Variable of row 1").fill("count");
  await page.locator("#tree").focus();
  await save(page);
  expect(file("p.jmx")).not.toContain(foreign);
  await page.keyboard.press("Control+z");
  await save(page);
  expect(file("p.jmx")).toBe(before);
  await choose(page, "Check");
  await expect(builder.getByRole("button", { name: "Build it from rows" })).toBeVisible();
});

const templates = (page: Page) => page.getByRole("dialog", { name: "New from a template" });

async function openTemplates(page: Page) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new from a template");
  await page.keyboard.press("Enter");
  await expect(templates(page).getByRole("option", { selected: true })).toBeVisible();
}

test("a plan is made from a template, and a part inserted, by keys alone", async ({ edit }) => {
  const { page, file } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/"))) });
  await choose(page, "Users");
  await openTemplates(page);
  await page.keyboard.type("think time at");
  await expect(templates(page).getByRole("option", { selected: true })).toContainText("think-time");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("70");
  await page.keyboard.press("Enter");
  await expect(row(page, /^Think time/)).toHaveAttribute("aria-selected", "true");
  await save(page);
  expect(file("p.jmx")).toContain('<stringProp name="ConstantTimer.delay">70</stringProp>');
  await openTemplates(page);
  await page.keyboard.type("login");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("p.jmx");
  await page.keyboard.press("Enter");
  // A file that is there stays.
  await expect(page.locator(".toast")).toContainText("exists already");
  await templates(page).getByLabel("File in the opened folder").fill("visit.jmx");
  await templates(page).getByLabel("host").fill("shop.example");
  await page.keyboard.press("Enter");
  await expect(page.locator(".plan-tab.active")).toContainText("visit.jmx");
  await expect(row(page, /^Log-in form/)).toBeVisible();
  expect(file("visit.jmx")).toContain("${__P(host,shop.example)}");
  expect(file("visit.csv")).toContain("ann,secret");
});

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });
    test(`everybody can read the helper, the builder and the templates, ${scheme}`, async ({ edit }) => {
      const condition = '${__jexl3(vars.get(&quot;user&quot;) == &quot;Ann&quot; &amp;&amp; !empty(vars.get(&quot;count&quot;)))}';
      const { page, picture } = await edit({ "p.jmx": plan("Shop", variables({ user: "Ann", count: "12" }) + group("Users", http("Home", "/${__Random(1,100,number)}") + check(condition) + controller("WhileController", "WhileControllerGui", "Again", "${more}"))) });
      await choose(page, "Check");
      await expect(page.locator(".condition")).toContainText("Now: true");
      await page.mouse.move(0, 0);
      await picture("condition");
      await isAccessible(page);
      await choose(page, "Again");
      await expect(page.locator(".condition")).toContainText("Now:");
      await picture("foreign");
      await isAccessible(page);
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").focus();
      await page.keyboard.press("End");
      await page.keyboard.press("Control+Shift+F1");
      await expect(samples(page)).toHaveCount(5);
      await picture("helper");
      await isAccessible(page);
      await find(page).fill("jexl3");
      await page.keyboard.press("Enter");
      await page.keyboard.type("vars.get(\"user\") + 1, (");
      await expect(helper(page)).toContainText("The evaluation fails");
      await picture("fault");
      await isAccessible(page);
      await find(page).fill("regexFunction");
      await expect(helper(page)).toContainText("not evaluated");
      await picture("long");
      await isAccessible(page);
      await page.keyboard.press("Escape");
      await openTemplates(page);
      await picture("templates");
      await isAccessible(page);
      await templates(page).getByRole("combobox").fill("jdbc");
      await picture("template");
      await isAccessible(page);
    });
  });
}
