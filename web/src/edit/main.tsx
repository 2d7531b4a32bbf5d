import { render } from "preact";
import { App } from "./app";
import "./edit.css";
import { handlers, restore } from "./runs";
import { start } from "./workspace";

const place = document.getElementById("app")!;
void start(handlers).then(() => {
  void restore();
  place.textContent = "";
  render(<App />, place);
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
  document.getElementById("tree")?.focus();
});
