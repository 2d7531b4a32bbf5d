import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./open";

for (const scheme of ["light", "dark"] as const) {
  for (const name of ["whole.html", "results.html", "comparison.html", "errors.html", "capacity.html", "long-labels.html", "trend.html"]) {
    test(`${name} can be read by everybody, ${scheme}`, async ({ open, page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await open(name);
      await page.evaluate(() => document.querySelectorAll("details").forEach((folded) => (folded.open = true)));
      const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).analyze();
      expect(found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
    });
  }
}

test("the other colours are one click away, and stay", async ({ open, page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open("whole.html");
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await open("results.html");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.getByRole("button", { name: "Use light colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
});
