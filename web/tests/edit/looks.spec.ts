// Takes pictures of the editor in all of its states, for people to look at: PICTURES names the folder.

import { expect } from "@playwright/test";
import { fake, SHOP } from "./fake";
import { canEdit, group, http, plan, row as rowOf, test } from "./program";

const folder = process.env.PICTURES;
test.skip(!folder, "PICTURES names no folder");
test.setTimeout(180_000);

for (const scheme of ["light", "dark"] as const) {
  test(`looks ${scheme}`, async ({ page }, info) => {
    await page.emulateMedia({ colorScheme: scheme });
    const server = await fake([["/plans/shop.jmx", SHOP], ["/plans/other.jmx", SHOP]]);
    let step = 0;
    const picture = async (name: string) => {
      await page.waitForTimeout(250);
      step += 1;
      await page.screenshot({ path: `${folder}/${info.project.name}-${scheme}-${String(step).padStart(2, "0")}-${name}.png` });
    };
    const row = (name: RegExp) => page.getByRole("treeitem", { name });
    await page.goto(server.url);
    await page.waitForSelector("html[data-ready]");
    await picture("start");
    await row(/^POST/).click();
    await picture("request");
    await row(/^Buyers/).click();
    await picture("users");
    await row(/^Users/).click();
    await page.getByRole("tab", { name: "Variables" }).click();
    await picture("file-and-variables");
    await row(/^GET/).click();
    await page.locator('[data-property="HTTPSampler.path"] input').fill("/${");
    await expect(page.locator(".completions")).toBeVisible();
    await picture("completion");
    await page.keyboard.press("Escape");
    await row(/^GET/).click();
    await page.keyboard.press("Alt+a");
    await picture("many");
    await row(/^GET/).click({ button: "right" });
    await picture("menu");
    await page.keyboard.press("Escape");
    await page.keyboard.press("F2");
    await picture("rename");
    await page.keyboard.press("Escape");
    const box = (await row(/^Think/).boundingBox())!;
    await row(/^GET/).hover();
    await page.mouse.down();
    await page.mouse.move(box.x + 120, box.y + 13, { steps: 3 });
    await page.waitForTimeout(300);
    await page.mouse.move(box.x + 124, box.y + 13);
    await picture("refused-drop");
    await page.mouse.up();
    await page.locator("#filter").fill("is:finding");
    await picture("filter");
    await page.locator("#filter").fill("");
    await page.keyboard.press("Control+k");
    await picture("palette");
    await page.keyboard.type("insert http");
    await picture("palette-found");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+h");
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill("${");
    await page.getByRole("textbox", { name: "Replace with" }).fill("#{");
    await picture("replace");
    await page.getByRole("tab", { name: /^Findings/ }).click();
    await page.keyboard.press("F8");
    await picture("finding");
    await row(/^Prepare/).click();
    await page.getByRole("tab", { name: "XML" }).click();
    await picture("xml");
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByRole("tab", { name: "Results" }).click();
    await picture("no-results");
    await row(/^Buyers/).click();
    await page.keyboard.press("Control+Alt+r");
    await page.locator(".sample").first().click();
    await picture("result-response");
    await page.getByRole("tab", { name: "Request" }).click();
    await picture("result-request");
    await page.getByRole("button", { name: "parsed" }).click();
    await picture("result-parsed");
    await page.locator(".result").getByRole("tab", { name: "Variables" }).click();
    await picture("result-variables");
    await page.locator(".result").getByRole("tab", { name: "Elements" }).click();
    await picture("result-elements");
    await page.locator(".result").getByRole("tab", { name: "Response" }).click();
    await row(/^Search/).click();
    await page.keyboard.press("Control+Enter");
    await picture("values-of-a-run");
    await page.keyboard.press("Escape");
    await row(/^Prepare/).click();
    await picture("no-result");
    await page.getByRole("tab", { name: "Form" }).click();
    server.send("conflict", { plan: 1, conflict: { id: 11, element: "Shop / Buyers / Browse / GET /", setting: "HTTPSampler.path", ours: "/", theirs: "/home" } });
    await row(/^Foreign/).click();
    await page.getByRole("tab", { name: "Form" }).click();
    await picture("conflict-and-foreign");
    await page.locator("#tree").focus();
    await page.keyboard.press("?");
    await picture("keys");
    server.close();
  });
}

/** Types whose forms have all kinds of fields, and where each may go. */
const FORMS: [parent: string, type: string][] = [
  ["Shop", "User Defined Variables"], ["Shop", "HTTP Request Defaults"], ["Shop", "HTTP Header Manager"], ["Shop", "HTTP Cookie Manager"], ["Shop", "CSV Data Set Config"], ["Shop", "JDBC Connection Configuration"],
  ["Shop", "bzm - Concurrency Thread Group"], ["Shop", "jp@gc - Ultimate Thread Group"], ["Shop", "Open Model Thread Group"], ["Users", "If Controller"], ["Users", "JDBC Request"], ["Users", "JSR223 Sampler"],
  ["Users", "SMTP Sampler"], ["Users", "LDAP Request"], ["Home", "Response Assertion"], ["Home", "JSON Extractor"], ["Home", "Uniform Random Timer"], ["Users", "Module Controller"], ["Shop", "View Results Tree"],
];

for (const scheme of ["light", "dark"] as const) test.describe(scheme, () => {
  test.use({ colorScheme: scheme });
  test(`forms look ${scheme}`, async ({ edit }, info) => {
    test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
    const { page } = await edit({ "p.jmx": plan("Shop", group("Users", http("Home", "/"))), "empty.jmx": plan("Empty", "").replace(/<hashTree>\n<\/hashTree>/, "<hashTree/>"), "broken.jmx": "<jmeterTestPlan><hashTree>" });
    let step = 0;
    const picture = async (name: string) => {
      await page.waitForTimeout(400);
      step += 1;
      await page.screenshot({ path: `${folder}/${info.project.name}-${scheme}-form-${String(step).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png` });
    };
    await rowOf(page, /^Home/).click();
    await picture("HTTP Request");
    await page.locator("#view").evaluate((view) => view.scrollTo(0, 1e6));
    await picture("HTTP Request end");
    await rowOf(page, /^Users/).click();
    await picture("Thread Group");
    for (const [parent, type] of FORMS) {
      await rowOf(page, new RegExp(`^${parent}( |$)`)).click();
      await page.keyboard.press("Insert");
      await page.getByRole("dialog").getByRole("combobox").fill(type);
      await expect(page.getByRole("dialog").getByRole("option").first()).toContainText(type);
      await page.keyboard.press("Enter");
      await expect(page.locator(".row.selected")).toContainText(type);
      await picture(type);
    }
    for (const name of ["empty.jmx", "broken.jmx", "nowhere.jmx"]) {
      await page.keyboard.press("Control+o");
      await page.getByRole("combobox").first().fill(name);
      await picture(`open ${name}`);
      await page.keyboard.press("Enter");
      await picture(name);
    }
    await page.locator("#tree").focus();
    await page.keyboard.press("Insert");
    await picture("insert into an empty plan");
    await page.keyboard.press("Escape");
  });
});
