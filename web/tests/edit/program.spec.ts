// `drumfire edit` itself, by keys and clicks: tasks of a day, each from the first key to the bytes in the file.

import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { expect } from "@playwright/test";
import { add, canEdit, choose, defaults, field, group, http, input, open, plan, prop, row, runPlan, save, test, writeOver } from "./program";

test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(240_000);

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`a log-in with a token, from nothing, ${scheme}`, async ({ edit, demo }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", "") });
      const [host, port] = demo.split(":");
      const request = async (name: string, path: string, method = "GET") => {
        await choose(page, "Thread Group");
        await add(page, "HTTP Request");
        await page.keyboard.press("F2");
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
        await expect(row(page, new RegExp(`^${name}`))).toBeVisible();
        await input(page, "HTTPSampler.path").fill(path);
        await page.keyboard.press("Enter");
        await input(page, "HTTPSampler.method").fill(method);
        await page.keyboard.press("Enter");
      };
      const extractor = async (name: string, expression: string) => {
        await add(page, "Regular Expression Extractor");
        await input(page, "RegexExtractor.refname").fill(name);
        await field(page, "RegexExtractor.regex").locator(".cm-content").click();
        await page.keyboard.insertText(expression);
        await input(page, "RegexExtractor.template").fill("$1$");
        await page.keyboard.press("Enter");
      };
      await add(page, "Thread Group");
      await picture("group");
      await add(page, "HTTP Request Defaults");
      await input(page, "HTTPSampler.domain").fill(host);
      await input(page, "HTTPSampler.port").fill(port);
      await page.keyboard.press("Enter");
      await choose(page, "Thread Group");
      await add(page, "HTTP Cookie Manager");
      await request("Form", "/login");
      await extractor("csrf", 'name="csrf" value="([^"]+)"');
      await request("Log in", "/login", "POST");
      await picture("request");
      const fields = page.locator(".table-field").first();
      for (const [name, value] of [["username", "ann"], ["password", "secret"], ["csrf", "${csrf}"]]) {
        await fields.getByRole("button", { name: /^Add a row/ }).click();
        await expect(fields.locator("input:focus")).toHaveValue("");
        await page.keyboard.type(name);
        await page.keyboard.press("Tab");
        await expect(fields.locator("input:focus")).toHaveValue("");
        await page.keyboard.type(value);
        await page.keyboard.press("Tab");
      }
      await expect(fields.locator("tbody tr")).toHaveCount(3);
      await request("Token", "/api/token", "POST");
      await extractor("token", '"access_token":"([^"]+)"');
      await picture("extractor");
      await request("Orders", "/api/orders");
      await add(page, "HTTP Header Manager");
      const headers = page.locator(".table-field").first();
      await headers.getByRole("button", { name: /^Add a row/ }).click();
      await page.keyboard.type("Authorization");
      await page.keyboard.press("Tab");
      await page.keyboard.type("Bearer ${to");
      await expect(page.getByRole("option", { name: /^token/ })).toBeVisible();
      await picture("completion");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await runPlan(page, "4 samples, 0 failed");
      await picture("run");
      await save(page);
      const text = file("p.jmx");
      expect(text).toContain("<!-- A comment that stays. -->");
      expect(text).toContain('jmeter="5.5"');
      expect(text).toContain("Bearer ${token}");
      expect(text).toContain('<stringProp name="HTTPSampler.path">/login</stringProp>');
      expect(text).toContain("&quot;access_token&quot;:&quot;([^&quot;]+)&quot;");
      // The log-in alone fails without its form, and tells what it was sent.
      await row(page, /^Orders/).click();
      await page.getByRole("tab", { name: "Result", exact: true }).click();
      await expect(page.locator(".result")).toContainText("200");
    });

    test(`a pasted cURL command gets variables, ${scheme}`, async ({ edit, demo }) => {
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", group("Buyers", "")) });
      const [host] = demo.split(":");
      await choose(page, "Buyers");
      await page.evaluate((site) => navigator.clipboard.writeText(`curl 'http://${site}/api/search?q=drum' -H 'Accept: application/json'`), demo);
      await page.keyboard.press("Control+v");
      const request = page.locator(".row", { hasText: "HTTP Request" }).first();
      await expect(request).toBeVisible();
      await picture("pasted");
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill(host);
      await page.getByRole("textbox", { name: "Replace with" }).fill("${host}");
      await page.getByRole("button", { name: /^Replace \d/ }).click();
      await picture("replaced");
      await choose(page, "Shop");
      await add(page, "User Defined Variables");
      const variables = page.locator(".table-field").first();
      await variables.getByRole("button", { name: /^Add a row/ }).click();
      await page.keyboard.type("host");
      await page.keyboard.press("Tab");
      await page.keyboard.type(host);
      await page.keyboard.press("Tab");
      await runPlan(page, "1 sample, 0 failed");
      await save(page);
      expect(file("p.jmx")).toContain('<stringProp name="HTTPSampler.domain">${host}</stringProp>');
      expect(file("p.jmx")).toContain(`<stringProp name="Argument.value">${host}</stringProp>`);
      expect(file("p.jmx")).toContain(">application/json<");
    });

    test(`a value of thirty requests becomes a variable, ${scheme}`, async ({ edit }) => {
      const requests = Array.from({ length: 30 }, (_, at) => http(`Step ${at}`, `/step/${at}?session=a1b2c3d4`)).join("");
      const { page, file, picture } = await edit({ "p.jmx": plan("Recording", group("Users", requests)) });
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill("session=(\\w{8})");
      await page.getByRole("button", { name: /^Regular expression/ }).click();
      await page.getByRole("textbox", { name: "Replace with" }).fill("session=$${session}");
      await expect(page.locator(".search-line")).toContainText("30 hits in 30 elements");
      // The first request makes the value.
      await page.getByRole("checkbox", { name: "Replace in Step 0" }).uncheck();
      await picture("preview");
      await page.getByRole("button", { name: "Replace 29" }).click();
      await choose(page, "Step 0");
      await add(page, "Regular Expression Extractor");
      await input(page, "RegexExtractor.refname").fill("session");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Alt+v");
      await expect(page.locator(".variable", { hasText: "${session}" })).toContainText("24 more");
      await picture("variables");
      await save(page);
      expect(file("p.jmx").match(/session=\$\{session\}/g)).toHaveLength(29);
      expect(file("p.jmx").match(/session=a1b2c3d4/g)).toHaveLength(1);
    });

    test(`a variable is renamed over three plans, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const data = `${open("Arguments", "ArgumentsPanel", "Data", `<collectionProp name="Arguments.arguments"><elementProp name="user" elementType="Argument">${prop("Argument.name", "user")}${prop("Argument.value", "drum")}${prop("Argument.metadata", "=")}</elementProp></collectionProp>`)}<hashTree/>`;
      const of = (name: string) => plan(name, defaults(host, port) + data + group("Users", http("Search", "/api/search?q=${usr}&amp;user=${usr}&amp;other=${usr_2}")));
      const { page, file, picture } = await edit({ "a.jmx": of("A"), "b.jmx": of("B"), "c.jmx": of("C") });
      for (const name of ["b.jmx", "c.jmx"]) {
        await page.keyboard.press("Control+o");
        await page.getByRole("combobox").first().fill(name);
        await expect(page.getByRole("dialog").getByRole("option").first()).toContainText(name);
        await page.keyboard.press("Enter");
        await expect(page.locator(".plan-tab.active")).toContainText(name);
      }
      await page.keyboard.press("Control+h");
      await page.getByRole("searchbox", { name: "Search", exact: true }).fill("${usr}");
      await page.getByRole("textbox", { name: "Replace with" }).fill("${user}");
      await page.getByRole("combobox", { name: "Scope" }).selectOption("all");
      await expect(page.locator(".search-line")).toContainText("6 hits in 3 elements");
      await picture("preview");
      await page.getByRole("button", { name: "Replace 6" }).click();
      await expect(page.locator(".plan-tab .dirty")).toHaveCount(3);
      await page.keyboard.press("Control+Shift+s");
      await expect(page.locator(".plan-tab .dirty")).toHaveCount(0);
      for (const name of ["a.jmx", "b.jmx", "c.jmx"]) expect(file(name)).toContain("q=${user}&amp;user=${user}&amp;other=${usr_2}");
      // The plan that is shown is the last one; each sends the value of the variable.
      for (const name of ["a.jmx", "b.jmx", "c.jmx"]) {
        await page.getByRole("button", { name: new RegExp(`^${name}`) }).first().click();
        await runPlan(page, "1 sample");
        await row(page, /^Search/).click();
        await page.getByRole("tab", { name: "Result", exact: true }).click();
        await page.locator(".result").getByRole("tab", { name: "Request" }).click();
        await expect(page.locator(".result")).toContainText("/api/search?q=drum&user=drum&other=");
      }
    });

    test(`the host of 200 samplers is set at once, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const before = plan("Shop", defaults("", port) + group("Users", Array.from({ length: 200 }, (_, at) => http(`GET ${at}`, `/product/${1 + (at % 3)}`, "", "old.example")).join("")));
      const { page, file, picture } = await edit({ "p.jmx": before });
      await choose(page, "GET 0");
      await page.keyboard.press("Alt+a");
      await expect(page.getByRole("heading", { name: "200 elements" })).toBeVisible();
      await input(page, "HTTPSampler.domain").fill(host);
      await page.keyboard.press("Enter");
      await picture("set");
      await save(page);
      const after = file("p.jmx");
      expect(after.split(`>${host}<`)).toHaveLength(201);
      expect(after.replaceAll(`>${host}<`, ">old.example<")).toBe(before);
      await runPlan(page, "200 samples, 0 failed");
      await page.keyboard.press("Control+z");
      await save(page);
      expect(file("p.jmx")).toBe(before);
    });

    test(`a branch moves into a fragment, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", defaults(host, port) + group("Users", http("Log in", "/login") + http("Home", "/"))) });
      await choose(page, "Shop");
      await add(page, "Test Fragment");
      await choose(page, "Log in");
      await page.keyboard.press("Control+x");
      await choose(page, "Test Fragment");
      await page.keyboard.press("Control+v");
      await picture("moved");
      await choose(page, "Users");
      await add(page, "Module Controller");
      await field(page, "ModuleController.node_path").getByRole("combobox").selectOption({ label: "Test Fragment" });
      await picture("module");
      await runPlan(page, "2 samples, 0 failed");
      await expect(row(page, /^Log in/).locator(".last.good")).toBeVisible();
      await save(page);
      const text = file("p.jmx");
      expect(text.indexOf('testname="Log in"')).toBeGreaterThan(text.indexOf('testname="Test Fragment"'));
      expect(text.indexOf('testname="Home"')).toBeLessThan(text.indexOf('testname="Test Fragment"'));
    });

    test(`a colleague's change is merged, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const before = plan("Shop", defaults(host, port) + group("Users", http("Home", "/") + http("Goods", "/goods")));
      const { page, file, folder, picture } = await edit({ "p.jmx": before });
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/account");
      await page.keyboard.press("Enter");
      await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
      writeOver(join(folder, "p.jmx"), before.replace(">/goods<", ">/product/2<"));
      await choose(page, "Goods");
      await expect(input(page, "HTTPSampler.path")).toHaveValue("/product/2");
      await save(page);
      expect(file("p.jmx")).toBe(before.replace(">/goods<", ">/product/2<").replace(">/<", ">/account<"));
      // Both change the same property.
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/ours");
      await page.keyboard.press("Enter");
      await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
      writeOver(join(folder, "p.jmx"), file("p.jmx").replace(">/account<", ">/login<"));
      await expect(page.locator(".conflict")).toContainText("/login");
      await picture("conflict");
      await page.getByRole("button", { name: "Take the file's version" }).click();
      await expect(page.locator(".conflict")).toHaveCount(0);
      await expect(input(page, "HTTPSampler.path")).toHaveValue("/login");
      await runPlan(page, "2 samples, 0 failed");
    });

    test(`a Throughput Shaping Timer is added by keys alone, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const { page, file, picture } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/")) + defaults(host, port)) });
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("insert throughput shap");
      await expect(page.getByRole("dialog").getByRole("option").first()).toContainText("Throughput Shaping Timer");
      await picture("palette");
      await page.keyboard.press("Enter");
      await expect(page.locator(".row.selected")).toContainText("Throughput Shaping Timer");
      await page.keyboard.press("F6");
      const table = page.locator(".table-field");
      await table.getByRole("button", { name: /^Add a row/ }).focus();
      await page.keyboard.press("Enter");
      for (const cell of ["1", "10", "60"]) {
        await page.keyboard.type(cell);
        await page.keyboard.press("Tab");
      }
      await picture("row");
      await runPlan(page, "1 sample, 0 failed");
      await save(page);
      expect(file("p.jmx")).toContain("kg.apc.jmeter.timers.VariableThroughputTimer");
      expect(file("p.jmx")).toMatch(/>1<[^]*>10<[^]*>60</);
    });

    test(`findings of another's plan are gone through and mended, ${scheme}`, async ({ edit, demo }) => {
      const [host, port] = demo.split(":");
      const broken = plan("Foreign", defaults(host, port) + group("Users", http("Home", "/${nowhere}") + http("Goods", "/api/products?size=${sise}") + http("Cart", "/api/cart", "", "${hst}")));
      const { page, file, picture } = await edit({ "p.jmx": broken });
      await expect(page.locator(".finding-list")).toContainText("${nowhere}");
      await page.keyboard.press("F8");
      await expect(page.locator(".row.selected")).toContainText(/Home|Goods|Cart/);
      await picture("first");
      await choose(page, "Home");
      await input(page, "HTTPSampler.path").fill("/login");
      await page.keyboard.press("Enter");
      await expect(page.locator(".finding-list")).not.toContainText("${nowhere}");
      await choose(page, "Goods");
      await input(page, "HTTPSampler.path").fill("/api/products?size=10");
      await page.keyboard.press("Enter");
      await choose(page, "Cart");
      await input(page, "HTTPSampler.domain").fill(host);
      await page.keyboard.press("Enter");
      await expect(page.locator(".finding-list")).toHaveCount(0);
      await picture("mended");
      await runPlan(page, "3 samples, 0 failed");
      await save(page);
      expect(file("p.jmx")).toBe(broken.replace("/${nowhere}", "/login").replace("${sise}", "10").replace("${hst}", host));
    });

    test(`an element of an unknown class has a form, and keeps its bytes, ${scheme}`, async ({ edit }) => {
      const before = plan("Foreign", group("Users", `<com.example.Sampler guiclass="com.example.Gui" testclass="com.example.Sampler" testname="Queue"  enabled='true'>${prop("queue.url", "tcp://queue")}<!-- odd --></com.example.Sampler>\n<hashTree/>\n`));
      const { page, file, picture } = await edit({ "p.jmx": before });
      await choose(page, "Queue");
      await expect(page.locator(".generic")).toBeVisible();
      await input(page, "queue.url").fill("tcp://other");
      await page.keyboard.press("Enter");
      await picture("generic");
      await save(page);
      expect(file("p.jmx")).toBe(before.replace("tcp://queue", "tcp://other"));
    });

    test(`everybody can read every form, ${scheme}`, async ({ edit }) => {
      const { page } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/${nowhere}"))) });
      const check = async () => {
        const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
        expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`)).toEqual([]);
      };
      for (const name of [/^Shop/, /^Users/, /^Home/]) {
        await row(page, name).click();
        await page.waitForTimeout(300);
        await check();
      }
    });
  });
}

test("changes and undo survive a closed tab", async ({ edit }) => {
  const before = plan("Shop", group("Users", http("Home", "/")));
  const { page } = await edit({ "p.jmx": before });
  await choose(page, "Home");
  await input(page, "HTTPSampler.path").fill("/home");
  await page.keyboard.press("Enter");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await choose(page, "Home");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/home");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+z");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(0);
});

test("changes and undo survive kill -9 of the program", async ({ edit }) => {
  const before = plan("Shop", group("Users", http("Home", "/") + http("Goods", "/goods")));
  const { page, file, kill, start, complaints } = await edit({ "p.jmx": before });
  await choose(page, "Home");
  await input(page, "HTTPSampler.path").fill("/home");
  await page.keyboard.press("Enter");
  await choose(page, "Goods");
  await page.locator("#tree").focus();
  await page.keyboard.press("Delete");
  await expect(row(page, /^Goods/)).toHaveCount(0);
  await kill();
  await expect(page.locator(".status")).toContainText("The program does not answer");
  // The browser reports the connection that broke.
  complaints.length = 0;
  expect(file("p.jmx")).toBe(before);
  await start();
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(1);
  await expect(row(page, /^Goods/)).toHaveCount(0);
  await choose(page, "Home");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/home");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+z");
  await expect(row(page, /^Goods/)).toBeVisible();
  await page.keyboard.press("Control+z");
  await choose(page, "Home");
  await expect(input(page, "HTTPSampler.path")).toHaveValue("/");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(0);
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+Shift+z");
  await expect(row(page, /^Goods/)).toHaveCount(0);
  await save(page);
  expect(file("p.jmx")).toBe(before.replace(">/<", ">/home<").replace(http("Goods", "/goods"), ""));
});
