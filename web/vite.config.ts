import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file with everything in it: a report is opened from a disk, without a network.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", assetsInlineLimit: Infinity, cssCodeSplit: false, modulePreload: false },
});
