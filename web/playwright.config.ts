import { defineConfig } from "@playwright/test";

// `cargo xtask test` says where the browser and the pages are.
const browser = (width: number, height: number) => ({
  viewport: { width, height },
  launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] },
});

const EDITOR = "edit/*.spec.ts";

export default defineConfig({
  testDir: "tests",
  workers: 2,
  // A browser on a busy machine may be late once. What passes only then is reported as flaky.
  retries: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: "line",
  projects: [
    { name: "wide", testIgnore: EDITOR, use: browser(1440, 900) },
    { name: "tablet", testIgnore: EDITOR, use: browser(768, 1024) },
    { name: "narrow", testIgnore: EDITOR, use: browser(375, 812) },
    // The width of A4 beside the others tells something of printing only.
    { name: "paper", testIgnore: EDITOR, use: browser(794, 1123), grep: /it prints|paper has/ },
    // The editor is for windows of a desk. What it does is the same at each width.
    { name: "edit-1440", testMatch: EDITOR, use: browser(1440, 900) },
    { name: "edit-1024", testMatch: EDITOR, use: browser(1024, 768), grep: /everybody can read|looks/ },
    { name: "edit-768", testMatch: EDITOR, use: browser(768, 1024), grep: /everybody can read|looks/ },
  ],
});
