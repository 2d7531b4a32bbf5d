import { render } from "preact";
import { ComparisonPage } from "./comparison";
import { readPayload } from "./data";
import { LivePage } from "./live";
import { ReportPage } from "./report";
import "./style.css";

const place = document.getElementById("app")!;
readPayload().then(
  (data) => {
    place.textContent = "";
    render(data.kind === "live" ? <LivePage /> : data.kind === "report" ? <ReportPage report={data} /> : <ComparisonPage comparison={data} />, place);
    performance.mark("ready");
    // A live page is ready when it has its first numbers.
    if (data.kind !== "live") document.documentElement.dataset.ready = "true";
  },
  (error) => {
    place.textContent = `This page is damaged, or the browser is too old to unpack it: ${error}`;
  },
);
