import { render } from "preact";
import { App } from "./app";
import { handlers as ofDebugging, restoreBreakpoints } from "./debugging";
import "./edit.css";
import "./making.css";
import { handlers as ofLoads, restoreLoads } from "./load";
import { handlers as ofRecordings, restoreRecordings } from "./record";
import { handlers as ofRuns, restore } from "./runs";
import { start } from "./workspace";

const place = document.getElementById("app")!;
void start({ ...ofRuns, ...ofDebugging, ...ofLoads, ...ofRecordings }).then(() => {
  void restore();
  void restoreBreakpoints();
  void restoreLoads();
  void restoreRecordings();
  place.textContent = "";
  render(<App />, place);
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
  document.getElementById("tree")?.focus();
});
