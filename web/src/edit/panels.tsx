// The panels beside the form: findings and variables.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { goToFinding, lastFinding, sortedFindings } from "./actions";
import { FindingNote } from "./fields";
import { Icon } from "./icons";
import type { Plan } from "./plan";
import { hasRecording, RecordPanel } from "./record";
import { ResultsPanel } from "./results";
import { SearchPanel } from "./search";
import { Splitter } from "./splitter";
import { useVariables, VariableItem } from "./uses";
import { dock, showDock, type DockTab } from "./workspace";

/** The most findings in the list. */
const MOST_SHOWN = 500;

function FindingsPanel({ plan }: { plan: Plan }) {
  const text = useSignal("");
  const found = plan.findings.value == null ? null : sortedFindings(plan);
  if (!found) return <p class="note">Checking the plan…</p>;
  if (!found.length) return <p class="note">No findings.</p>;
  const word = text.value.trim().toLowerCase();
  const shown = found.filter((finding) => !word || `${finding.message} ${plan.node(finding.id)?.name}`.toLowerCase().includes(word));
  return (
    <>
      <input type="search" class="panel-filter" placeholder="Filter findings" aria-label="Filter findings" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
      <ul class="finding-list">
        {shown.slice(0, MOST_SHOWN).map((finding, index) => (
          <li key={index} class={lastFinding.value === finding ? "current" : ""}>
            <FindingNote finding={finding}>
              <button type="button" class="link" onClick={() => goToFinding(finding)}>
                {plan.node(finding.id)?.name || plan.node(finding.id)?.type}
                <small> line {finding.line}</small>
              </button>
            </FindingNote>
          </li>
        ))}
      </ul>
      {shown.length > MOST_SHOWN && <p class="note">{shown.length - MOST_SHOWN} more findings. Filter the list to see them.</p>}
    </>
  );
}

function VariablesPanel({ plan }: { plan: Plan }) {
  const text = useSignal("");
  const variables = useVariables(plan, plan.focus.value);
  if (!variables) return <p class="note">Looking up variables…</p>;
  const word = text.value.trim().toLowerCase();
  const shown = variables.filter((variable) => variable.name.toLowerCase().includes(word));
  return (
    <>
      <input type="search" class="panel-filter" placeholder="Filter variables" aria-label="Filter variables" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
      {variables.length ? <ul class="variables">{shown.map((variable) => <VariableItem key={variable.name} plan={plan} variable={variable} />)}</ul> : <p class="note">No variable is in scope of {plan.node(plan.focus.value)?.name}.</p>}
    </>
  );
}

export function Dock({ plan }: { plan: Plan }) {
  const count = plan.findings.value?.length;
  const tabs: [DockTab, string][] = [["findings", count ? `Findings ${count}` : "Findings"], ["variables", "Variables"], ["search", "Search"], ["results", "Results"]];
  if (hasRecording(plan)) tabs.push(["recording", "Recording"]);
  const tab = tabs.some(([id]) => id === dock.value.tab) ? dock.value.tab : "findings";
  useEffect(() => document.getElementById(`dock-${tab}`)?.scrollIntoView({ block: "nearest", inline: "nearest" }), [tab]);
  const step = (event: KeyboardEvent) => {
    const at = tabs.findIndex(([id]) => id === tab);
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 + tabs.length : -1;
    if (to < 0) return;
    showDock(tabs[to % tabs.length][0]);
    document.getElementById(`dock-${dock.value.tab}`)?.focus();
  };
  return (
    <aside id="dock" class="dock-pane" aria-label="Findings, variables, search and results">
      <Splitter name="dock" side={-1} least={240} most={800} />
      <Splitter name="dockHeight" side={-1} least={120} most={560} />
      <div class="dock-head">
        <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={step}>
          {tabs.map(([id, title]) => (
            <button type="button" key={id} id={`dock-${id}`} role="tab" aria-selected={tab === id} aria-controls="panel" tabIndex={tab === id ? 0 : -1} onClick={() => showDock(id)}>
              {title}
            </button>
          ))}
        </div>
        <button type="button" class="tool" aria-label="Hide the panel" title="Hide the panel" onClick={() => (dock.value = { ...dock.value, isOpen: false })}>
          <Icon name="close" />
        </button>
      </div>
      <div id="panel" class="panel" role="tabpanel" aria-labelledby={`dock-${tab}`} tabIndex={0}>
        {tab === "findings" ? <FindingsPanel plan={plan} /> : tab === "variables" ? <VariablesPanel plan={plan} /> : tab === "results" ? <ResultsPanel plan={plan} /> : tab === "recording" ? <RecordPanel plan={plan} /> : <SearchPanel plan={plan} />}
      </div>
    </aside>
  );
}
