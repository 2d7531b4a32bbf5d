import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file with everything in it: a report is opened from a disk, without a network, and the editor loads nothing from elsewhere.
// Each page is a build of its own: `vite build` makes the report's, `vite build --mode edit` the editor's.
export default defineConfig(({ mode }) => ({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    target: "es2022",
    assetsInlineLimit: Infinity,
    cssCodeSplit: false,
    modulePreload: false,
    emptyOutDir: mode !== "edit",
    rolldownOptions: { input: mode === "edit" ? "edit.html" : "index.html" },
  },
}));
