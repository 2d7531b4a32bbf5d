// Runs from the editor: `drumfire edit` against a site of the test, by keys and clicks.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { canEdit, choose, field, group, http, input, open, plan, prop, row, save, test as base } from "./program";

const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
/** Longer than a page asks for at once. */
const LONG = 700_000;

/** A shop whose steps need the session of the last log-in. */
function shop(): Server {
  let session = "";
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://x");
    const answer = (status: number, type: string, body: string | Buffer) => response.writeHead(status, { "Content-Type": type, "Set-Cookie": "visit=1" }).end(body);
    if (pathname === "/login") return answer(200, "application/json", JSON.stringify({ session: (session = Math.random().toString(16).slice(2, 10).padEnd(8, "0")) }));
    if (pathname === "/moved") return response.writeHead(302, { Location: "/welcome" }).end();
    if (pathname === "/welcome") return answer(200, "text/html", "<h1>Sorry</h1><p>The shop is closed.</p><script>document.title = 'ran'</script>");
    if (pathname === "/picture") return answer(200, "image/png", PICTURE);
    if (pathname === "/long") return answer(200, "text/plain", "a".repeat(LONG));
    if (pathname.startsWith("/step")) return answer(searchParams.get("session") === session ? 200 : 403, "text/plain", "step");
    answer(404, "text/plain", "nothing");
  });
}

const test = base.extend<{ host: string }>({
  host: async ({}, use) => {
    const server = shop();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    server.close();
  },
});
test.skip(!canEdit, "DRUMFIRE_PROGRAM has no editor");
test.setTimeout(120_000);

/** A request of the shop: a path may be a whole address. */
const get = (host: string, name: string, path: string, below = "") => http(name, `http://${host}${path}`, below).replace("</HTTPSamplerProxy>", '<boolProp name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy>');
const assertion = (text: string) => `${open("ResponseAssertion", "AssertionGui", "Greets", `<collectionProp name="Asserion.test_strings">${prop("0", text)}</collectionProp>${prop("Assertion.test_field", "Assertion.response_data")}<intProp name="Assertion.test_type">16</intProp>`)}<hashTree/>`;
const result = (page: Page) => page.locator(".result");
const status = (page: Page) => page.locator(".results > [role=status]");

for (const scheme of ["light", "dark"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });

    test(`why an assertion fails is seen and mended, ${scheme}`, async ({ edit, host }) => {
      const { page, file, picture, complaints } = await edit({ "p.jmx": plan("Shop", group("Users", get(host, "Home", "/welcome", assertion("Welcome")))) });
      await choose(page, "Home");
      await page.keyboard.press("Control+Enter");
      await expect(result(page).locator(".assertions")).toContainText("Welcome");
      await expect(row(page, /^Home/).locator(".last.bad")).toBeVisible();
      await picture("failed");
      await expect(page.frameLocator("iframe").locator("h1")).toHaveCount(0);
      await result(page).getByRole("button", { name: "page" }).click();
      await expect(page.frameLocator("iframe").locator("h1")).toHaveText("Sorry");
      await expect(page).not.toHaveTitle("ran");
      // The browser reports the script that it did not run.
      expect(complaints.splice(0).every((complaint) => complaint.startsWith("Blocked script execution"))).toBe(true);
      await picture("page");
      await row(page, /^Greets/).click();
      await page.getByRole("tab", { name: "Form" }).click();
      await field(page, "Asserion.test_strings").getByRole("combobox").fill("Sorry");
      await page.keyboard.press("Control+s");
      // From an element within the sampler, the sampler runs.
      await page.locator("#tree").focus();
      await page.keyboard.press("Control+Enter");
      await expect(row(page, /^Home/).locator(".last.good")).toBeVisible();
      await expect(result(page).locator(".assertions .bad")).toHaveCount(0);
      expect(file("p.jmx")).toContain(">Sorry<");
    });

    test(`a recording of thirty requests is correlated by hand, ${scheme}`, async ({ edit, host }) => {
      const steps = Array.from({ length: 29 }, (_, at) => get(host, `Step ${at}`, `/step/${at}?session=a1b2c3d4`)).join("");
      const { page, file, picture } = await edit({ "p.jmx": plan("Recording", group("Users", get(host, "Log in", "/login") + steps)) });
      await page.keyboard.press("Control+Alt+r");
      await expect(status(page)).toContainText("30 samples, 29 failed");
      await picture("failing");
      await page.locator(".sample").first().click();
      await result(page).locator(".leaf code").first().dblclick();
      await picture("token");
      await page.keyboard.press("Alt+e");
      const dialog = page.getByRole("dialog", { name: /^Extract/ });
      await expect(dialog.getByRole("radio")).toHaveCount(3);
      await expect(dialog.locator(".proposal").first()).toContainText("JSON$.session");
      await expect(dialog.locator(".proposal").first()).toContainText("the only match");
      await expect(dialog.locator(".proposal").first()).toContainText("found in 1 of 1 response");
      // The recording sends the session of its day.
      await expect(dialog.getByRole("combobox", { name: "In place of" })).toContainText("a1b2c3d4, which is sent under this name");
      await expect(dialog.locator("summary")).toContainText("29 places");
      await picture("proposed");
      await page.keyboard.press("Enter");
      await expect(row(page, /^session from JSON/)).toHaveAttribute("aria-selected", "true");
      await page.locator("#tree").focus();
      await page.keyboard.press("Control+Alt+r");
      await expect(status(page)).toContainText("30 samples, 0 failed");
      await picture("passing");
      await save(page);
      expect(file("p.jmx").match(/session=\$\{session\}/g)).toHaveLength(29);
      // A step that runs alone gets the session of that run.
      await choose(page, "Step 3");
      await page.keyboard.press("Control+Enter");
      await expect(status(page)).toContainText("1 sample, 0 failed");
      await picture("alone");
    });
  });
}

test("parts of the plan run, and sub-results, pictures and long bodies are shown", async ({ edit, host }) => {
  const { page } = await edit({ "p.jmx": plan("Shop", group("First", get(host, "Moved", "/moved") + get(host, "Picture", "/picture") + get(host, "Long", "/long")) + group("Second", get(host, "Other", "/welcome"))) });
  await choose(page, "First");
  await page.keyboard.press("Control+Enter");
  await expect(status(page)).toContainText("3 samples, 0 failed");
  await page.locator(".samples ul .sample").first().click();
  await expect(result(page)).toContainText("302");
  await row(page, /^Picture/).click();
  await expect(result(page).getByRole("img", { name: "The response as a picture" })).toBeVisible();
  await result(page).getByRole("button", { name: "hex" }).click();
  await expect(result(page).locator("pre")).toContainText("89 50 4e 47");
  await row(page, /^Long/).click();
  await expect(page.locator(".more-body")).toContainText("of 700 kB");
  while (await page.locator(".more-body button").count()) {
    const before = await page.locator(".more-body").textContent();
    await page.locator(".more-body button").click();
    await expect(page.locator(".more-body", { hasText: before! })).toHaveCount(0);
  }
  expect((await result(page).locator("#body").textContent())!.length).toBe(LONG);
  await result(page).getByRole("tab", { name: "Request" }).click();
  await expect(result(page).getByRole("group", { name: "Request", exact: true })).toContainText(`GET http://${host}/long`);
  await row(page, /^Picture/).click();
  await page.keyboard.press("Control+Shift+Enter");
  await expect(status(page)).toContainText("2 samples, 0 failed");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Alt+r");
  await expect(status(page)).toContainText("4 samples, 0 failed");
  await expect(page.locator(".dirty")).toHaveCount(0);
});

test("a sample is compared with the last one of its sampler, and expressions are tried on it", async ({ edit, host }) => {
  const { page, picture } = await edit({ "p.jmx": plan("Shop", group("Users", get(host, "Log in", "/login") + get(host, "Home", "/welcome"))) });
  await choose(page, "Log in");
  await page.keyboard.press("Control+Enter");
  await result(page).getByRole("tab", { name: "Compare" }).click();
  await expect(result(page)).toContainText("No earlier sample of this sampler");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Enter");
  await expect(result(page).getByRole("combobox", { name: "Compare with" })).toContainText("Run 1");
  await expect(result(page).locator(".compared")).toContainText("200 OK");
  await expect(result(page).getByRole("textbox", { name: "Body, compared" }).locator(".cm-deletedChunk")).toContainText("session");
  await expect(result(page).locator("h3", { hasText: "Request" }).locator("+ p")).toHaveText("The same.");
  await picture("compared");
  await row(page, /^Home/).click();
  await page.keyboard.press("Control+Enter");
  await result(page).getByRole("tab", { name: "Try" }).click();
  const tried = async (kind: string, expression: string) => {
    await page.getByLabel("Kind of expression").selectOption(kind);
    await page.getByLabel("Expression", { exact: true }).fill(expression);
    await page.keyboard.press("Enter");
  };
  await tried("css", "h1");
  await expect(page.locator("#found li")).toHaveText(["Sorry"]);
  await picture("tried");
  await tried("regex", "(");
  await expect(page.locator(".tester").getByRole("alert")).toBeVisible();
  await tried("xpath", "//p/text()");
  await expect(page.locator("#found li")).toHaveText(["The shop is closed."]);
});

test("an extractor is made of a selected text, and one step takes all back", async ({ edit, host }) => {
  const before = plan("Shop", group("Users", get(host, "Page", "/welcome") + get(host, "Next", "/step/1?shop=shop&amp;x=shop%20") + get(host, "Workshop", "/step/workshop")));
  const { page, file } = await edit({ "p.jmx": before });
  await choose(page, "Page");
  await page.keyboard.press("Control+Enter");
  await result(page).getByRole("button", { name: "text" }).click();
  await page.keyboard.press("Alt+e");
  await expect(page.locator(".toast")).toContainText("No text of a response is selected");
  await page.locator("#body").evaluate((body) => {
    const text = body.firstChild!;
    const at = text.textContent!.indexOf("shop");
    getSelection()!.setBaseAndExtent(text, at, text, at + 4);
  });
  await page.getByRole("button", { name: "Extract the selected text" }).click();
  const dialog = page.getByRole("dialog", { name: /^Extract/ });
  await expect(dialog.locator("summary")).toContainText("2 places");
  await expect(dialog.locator(".proposal.chosen")).toContainText("regular expressionThe");
  await dialog.getByRole("textbox", { name: "Variable" }).fill("place");
  await page.keyboard.press("Enter");
  await expect(row(page, /^place by a pattern/)).toHaveAttribute("aria-selected", "true");
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+s");
  await expect(page.locator(".dirty")).toHaveCount(0);
  expect(file("p.jmx")).toContain("/step/1?shop=${place}&amp;x=${place}%20");
  expect(file("p.jmx")).toContain("/step/workshop");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await expect(page.locator(".dirty")).toHaveCount(0);
  expect(file("p.jmx")).toBe(before);
});

test("results are there after a reload, and bodies are searched", async ({ edit, host }) => {
  const { page } = await edit({ "p.jmx": plan("Shop", group("Users", get(host, "Log in", "/login") + get(host, "Home", "/welcome"))) });
  await page.keyboard.press("Control+Alt+r");
  await expect(status(page)).toContainText("2 samples, 0 failed");
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await expect(status(page)).toContainText("2 samples, 0 failed");
  await page.getByRole("searchbox", { name: "Search requests and responses" }).fill("shop is CLOSED");
  await expect(page.locator(".sample")).toHaveCount(1);
  await page.locator(".sample").click();
  await expect(result(page)).toContainText("The shop is closed");
  await page.getByRole("searchbox", { name: "Search requests and responses" }).fill("nowhere to be found");
  await expect(page.locator(".results")).toContainText("No sample matches");
});

test("the plan runs with its load beside the editor", async ({ edit, host, context }) => {
  const endless = group("Buyers", get(host, "Home", "/welcome")).replace('name="LoopController.loops">1', 'name="LoopController.loops">-1');
  const { page, picture } = await edit({ "p.jmx": plan("Shop", endless) });
  await choose(page, "Home");
  await input(page, "HTTPSampler.path").fill(`http://${host}/welcome?x=1`);
  await page.keyboard.press("Control+r");
  const question = page.getByRole("dialog", { name: "Run p.jmx with its load" });
  await expect(question.getByRole("list")).toHaveText("Buyers: 1 user");
  await expect(question).toContainText("saved first");
  await picture("load");
  const opened = context.waitForEvent("page");
  await page.keyboard.press("Enter");
  const live = await opened;
  await expect(live.locator("#label-table tbody tr")).toHaveCount(1);
  await expect(live.locator("#label-table")).toContainText("Home");
  await expect(page.locator(".dirty")).toHaveCount(0);
  // A page that is loaded again still knows of it.
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await page.getByRole("tab", { name: "Results" }).click();
  const card = page.getByRole("region", { name: "Run with load" });
  await expect(card.getByRole("link", { name: "Open the live page" })).toHaveAttribute("href", live.url());
  await picture("runs");
  await card.getByRole("button", { name: "Stop and close" }).click();
  await expect(card).toHaveCount(0);
  // A plan that cannot run says why.
  await choose(page, "Buyers");
  await page.keyboard.press("Control+r");
  await expect(page.getByRole("dialog", { name: "Run p.jmx with its load" })).toBeVisible();
  await page.keyboard.press("Escape");
});

test("a response is shown soon after the key", async ({ edit, host }) => {
  const { page } = await edit({ "p.jmx": plan("Shop", group("Users", get(host, "Home", "/welcome"))) });
  await choose(page, "Home");
  const times: number[] = [];
  for (let at = 0; at < 5; at += 1) {
    const start = Date.now();
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("combobox", { name: "Run" }).getByRole("option")).toHaveCount(at + 1);
    await expect(result(page)).toContainText("Sorry");
    times.push(Date.now() - start);
  }
  console.log(`from Ctrl+Enter to the response: ${times.join(", ")} ms`);
});

test("a branch goes into a fragment and into an included plan, and still runs", async ({ edit, host }) => {
  const before = plan("Shop", group("Users", get(host, "Log in", "/login") + get(host, "Home", "/welcome")));
  const { page, file } = await edit({ "p.jmx": before });
  const act = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill(words);
    await page.keyboard.press("Enter");
  };
  await choose(page, "Log in");
  await act("extract into");
  await expect(row(page, /^Log in Module Controller/)).toHaveAttribute("aria-selected", "true");
  await expect(field(page, "ModuleController.node_path").getByRole("combobox")).toContainText("Log in");
  await choose(page, "Home");
  await act("move into a new");
  await page.getByRole("dialog").getByRole("textbox").fill("home.jmx");
  await page.keyboard.press("Enter");
  await expect(row(page, /Include Controller/)).toHaveAttribute("aria-selected", "true");
  expect(file("home.jmx")).toContain('testname="Home"');
  await page.locator("#tree").focus();
  await page.keyboard.press("Control+Alt+r");
  await expect(status(page)).toContainText("2 samples, 0 failed");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await expect(page.locator(".plan-tab.active .dirty")).toHaveCount(0);
  expect(file("p.jmx")).toBe(before);
});
