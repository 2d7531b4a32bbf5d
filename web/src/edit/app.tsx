// The window: plans on top, the tree on the left, the form in the middle, findings, variables and search beside or below it.

import { useEffect } from "preact/hooks";
import { counted } from "../format";
import { ACTIONS, run } from "./actions";
import { AskDialog } from "./ask";
import { link } from "./client";
import { ExtractDialog } from "./extract";
import { Prose } from "./fields";
import { flush } from "./flush";
import { FormPane } from "./form";
import { FunctionDialog } from "./functions";
import { Help } from "./help";
import { Icon } from "./icons";
import { actionOf, bestKey, shownKey } from "./keys";
import { LoadQuestion } from "./load";
import { Menu, openRunMenu } from "./menu";
import { Palette } from "./palette";
import { Dock } from "./panels";
import type { Plan } from "./plan";
import { RecordQuestion } from "./record_settings";
import { RunQuestion } from "./results";
import { ConflictPane, ReviewPane } from "./review";
import { running } from "./runs";
import { Splitter } from "./splitter";
import { message, untell } from "./tell";
import { TemplateDialog } from "./templates";
import { theme } from "./theme";
import { isInEditor } from "./transport";
import { Filter, Tree } from "./tree";
import { activate, active, closePlan, dock, failure, middle, overlay, plans, sizes } from "./workspace";

function Tool({ id, icon, text }: { id: string; icon: string; text?: string }) {
  const action = ACTIONS.find((each) => each.id === id)!;
  const key = bestKey(id);
  const title = key ? `${action.title} (${shownKey(key)})` : action.title;
  return (
    <button type="button" class={`tool ${text ? "texted" : ""}`} aria-label={action.title} title={title} disabled={!(action.can?.() ?? true)} onClick={() => run(id)}>
      <Icon name={icon} />
      {text}
    </button>
  );
}

function UndoTools({ plan }: { plan: Plan }) {
  const [undo, redo] = [plan.canUndo.value, plan.canRedo.value];
  const tool = (id: string, title: string, told: string | null) => (
    <button type="button" class="tool" aria-label={title} title={told ? `${title}: ${told} (${shownKey(bestKey(id))})` : title} disabled={told == null} onClick={() => run(id)}>
      <Icon name={id} />
    </button>
  );
  return (
    <>
      {tool("undo", "Undo", undo)}
      {tool("redo", "Redo", redo)}
    </>
  );
}

function PlanTabs() {
  return (
    <div class="plans" role="group" aria-label="Open plans">
      {plans.value.map((plan) => {
        const isActive = plan === active.value;
        return (
          <div key={plan.id} class={`plan-tab ${isActive ? "active" : ""}`} onDragEnter={() => activate(plan)}>
            <button type="button" class="plan-name" aria-pressed={isActive} title={plan.path.value} onClick={() => activate(plan)}>
              {plan.name}
              {plan.dirty.value && <span class="dirty" title="Not saved">●<span class="hidden"> not saved</span></span>}
            </button>
            <button type="button" class="plan-close" aria-label={`Close ${plan.name}`} title="Close" onClick={() => void closePlan(plan)}>
              <Icon name="close" />
            </button>
          </div>
        );
      })}
      <Tool id="open" icon="plus" />
    </div>
  );
}

function TopBar({ plan }: { plan: Plan | null }) {
  return (
    <header class="top">
      <span class="brand" aria-hidden="true">
        <i /><i /><i /><i />
      </span>
      <h1 class="hidden">Drumfire: editor of test plans</h1>
      {!isInEditor && <PlanTabs />}
      <button type="button" class="palette-button" onClick={() => run("palette")}>
        <Icon name="search" />
        <span>Find an action</span>
        <kbd>{shownKey(bestKey("palette"))}</kbd>
      </button>
      <div class="tools" role="toolbar" aria-label="Plan">
        {running.value ? <Tool id="stop" icon="stop" /> : <Tool id="runThis" icon="run" />}
        {plan && (
          <button type="button" class="tool narrow" aria-label="More to run" aria-haspopup="menu" title="More to run" onClick={(event) => openRunMenu(event.currentTarget)}>
            <Icon name="open" />
          </button>
        )}
        {plan && <UndoTools plan={plan} />}
        <Tool id="save" icon="save" />
        <Tool id="dock" icon="panel" />
        <Tool id="theme" icon={theme.value === "dark" ? "light" : "dark"} />
        <Tool id="help" icon="help" />
      </div>
      <Menu />
    </header>
  );
}

function StatusBar({ plan }: { plan: Plan }) {
  const found = plan.findings.value ?? [];
  const errors = found.filter((finding) => finding.severity === "error").length;
  const warnings = found.filter((finding) => finding.severity === "warning").length;
  const selected = plan.selected.value.size;
  return (
    <footer class="status">
      <button type="button" class="status-part" onClick={() => run("findings")} title="Show findings">
        <span class={errors ? "bad" : ""}><Icon name="error" />{errors}<span class="hidden"> errors</span></span>
        <span class={warnings ? "warn" : ""}><Icon name="warning" />{warnings}<span class="hidden"> warnings</span></span>
      </button>
      <span class="status-path" title={plan.path.value}>{plan.path.value}</span>
      <span class="gap" />
      {selected > 1 && <span class="status-part">{selected} selected</span>}
      <span class="status-part">{counted(plan.nodes.size, "element")}</span>
      {plan.facts.version && <span class="status-part">JMeter {plan.facts.version}</span>}
      {plan.facts.encoding && <span class="status-part">{plan.facts.encoding}</span>}
      {plan.facts.readOnly && <span class="status-part warn">read-only</span>}
      <span class={`status-part ${link.value === "lost" ? "bad" : ""}`} role="status">
        {link.value === "lost" ? "The program does not answer. Start `drumfire edit` again" : plan.dirty.value ? "Not saved" : "Saved"}
      </span>
    </footer>
  );
}

function Toast() {
  const told = message.value;
  return (
    <div class="toasts" role={told?.bad ? "alert" : "status"}>
      {told && (
        <div class={`toast ${told.bad ? "bad" : ""}`} key={told.key}>
          <div>
            <Prose text={told.text} />
            {told.hint && <small><Prose text={told.hint} /></small>}
          </div>
          {told.action && <button type="button" class="button" onClick={() => (untell(), told.action!.run())}>{told.action.title}</button>}
          <button type="button" class="tool" aria-label="Close the message" onClick={untell}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable=true]");

/** An editor that shows the page takes the keys of these actions itself. */
const OF_EDITOR = new Set(["save", "saveAll", "undo", "redo", "open", "close", "nextPlan", "previousPlan"]);

/** Runs the actions of keys that nothing within the page has taken. */
function useKeys() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      const isInTree = target.id === "tree";
      const action = actionOf(event, isInTree);
      if (isInEditor && action && OF_EDITOR.has(action)) return;
      // A question that is open takes its own keys.
      if (!action || ((overlay.value || document.querySelector("dialog[open]")) && action !== "help")) return;
      // A field keeps what would type a sign, and its own arrows.
      if (isTyping(target) && ((event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) || ["Insert", "Delete"].includes(event.key))) return;
      event.preventDefault();
      // The editor around the page would act on the key as well.
      if (isInEditor) event.stopPropagation();
      run(action);
    };
    // Before the tree's own keys, since Alt and Ctrl with arrows are actions.
    const early = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).id === "tree" && actionOf(event, true)) onKey(event);
    };
    const place = isInEditor ? document : window;
    addEventListener("keydown", early, { capture: true });
    place.addEventListener("keydown", onKey as EventListener);
    const leave = () => document.hidden && void flush();
    document.addEventListener("visibilitychange", leave);
    return () => {
      removeEventListener("keydown", early, { capture: true });
      place.removeEventListener("keydown", onKey as EventListener);
      document.removeEventListener("visibilitychange", leave);
    };
  }, []);
}

export function App() {
  useKeys();
  const plan = active.value;
  const { tree, dock: width, dockHeight } = sizes.value;
  if (failure.value) {
    return (
      <main class="failure">
        <div role="alert">
          <h1>{failure.value.message}</h1>
          {failure.value.hint && <p>{failure.value.hint}</p>}
        </div>
      </main>
    );
  }
  return (
    <div class={`app ${dock.value.isOpen && plan ? "with-dock" : ""}`} style={{ "--tree": `${tree}px`, "--dock": `${width}px`, "--dock-height": `${dockHeight}px` }}>
      <TopBar plan={plan} />
      {plan ? (
        <>
          <section class="tree-pane" aria-label="Tree" key={plan.id}>
            <Filter plan={plan} />
            <Tree plan={plan} />
            <Splitter name="tree" side={1} least={180} most={720} />
          </section>
          {middle.value === "element" ? <FormPane key={plan.id} plan={plan} /> : middle.value === "changes" ? <ReviewPane key={plan.id} plan={plan} /> : <ConflictPane key={plan.id} plan={plan} />}
          {dock.value.isOpen && <Dock plan={plan} />}
          <StatusBar plan={plan} />
        </>
      ) : (
        <main class="failure">
          <h2>No plan is open</h2>
          <p>
            <button type="button" class="button main" onClick={() => run("open")}>Open a plan</button>{" "}
            <button type="button" class="button" onClick={() => run("templates")}>New from a template</button>
          </p>
        </main>
      )}
      <Palette />
      <Help />
      <RunQuestion />
      <ExtractDialog />
      <LoadQuestion />
      <RecordQuestion />
      <FunctionDialog />
      <TemplateDialog />
      <AskDialog />
      <Toast />
    </div>
  );
}
