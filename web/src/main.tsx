import { render } from "preact";
import { ComparisonPage } from "./comparison";
import { readPayload } from "./data";
import { LivePage } from "./live";
import { ReportPage } from "./report";
import { keepTemplate } from "./save";
import "./style.css";

function page(data: Awaited<ReturnType<typeof readPayload>>) {
  switch (data.kind) {
    case "live":
      return <LivePage />;
    case "report":
      return <ReportPage report={data} />;
    default:
      return <ComparisonPage comparison={data} />;
  }
}

const place = document.getElementById("app")!;
readPayload().then(
  (data) => {
    if (data.kind === "live") keepTemplate();
    place.textContent = "";
    render(page(data), place);
    performance.mark("ready");
    // Pages that query a server are ready only when they have its first answer.
    if (data.kind === "report" || data.kind === "comparison") document.documentElement.dataset.ready = "true";
  },
  (error) => {
    place.textContent = `This page is damaged, or the browser is too old to unpack it: ${error}`;
  },
);
