// The way to the program: over HTTP to the server that sent the page, or as messages to an editor that shows the page in a panel.

import { signal } from "@preact/signals";

export class RpcError extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

export type Handlers = Record<string, (params: never) => void>;

export interface Transport {
  /** Sends a message, or a list of them, and resolves to its answer. */
  post: (content: unknown) => Promise<unknown>;
  /** Receives notifications for as long as the page is open. `again` is called when the connection stands again after a loss. */
  listen: (handlers: Handlers, again: () => void) => void;
}

/** Whether notifications arrive. */
export const link = signal<"connecting" | "open" | "lost">("connecting");

const RETRY_MS = 1000;
/** Browsers send a message up to this length even if the page closes meanwhile. */
const KEPT_ALIVE = 60_000;

/** Adds the token from the page's own address to each request. */
const address = (path: string) => `${path}${location.search}`;

const overHttp: Transport = {
  async post(content) {
    const body = JSON.stringify(content);
    let answer: Response;
    try {
      answer = await fetch(address("rpc"), { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: document.hidden && body.length < KEPT_ALIVE });
    } catch {
      throw new RpcError("The program does not answer", 0, "Start `drumfire edit` again; its journal has every change");
    }
    if (!answer.ok) throw new RpcError(`The program answers with status ${answer.status}`, 0, answer.status === 401 ? "Open the address that `drumfire edit` prints" : null);
    return answer.json();
  },
  listen(handlers, again) {
    const source = new EventSource(address("events"));
    source.onopen = () => {
      const wasLost = link.value === "lost";
      link.value = "open";
      if (wasLost) again();
    };
    source.onerror = () => {
      link.value = "lost";
      // The browser reconnects on its own, unless the server refused.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => overHttp.listen(handlers, again), RETRY_MS);
    };
    for (const [name, take] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as never));
    }
  },
};

/** What an editor sends to the page. */
type FromEditor = { kind: "answer"; number: number; content: unknown } | { kind: "event"; method: string; params: unknown } | { kind: "lost" } | { kind: "again" } | { kind: "flush"; number: number };

interface Panel {
  postMessage: (message: unknown) => void;
}

declare const acquireVsCodeApi: (() => Panel) | undefined;

function overMessages(panel: Panel): Transport {
  const waiting = new Map<number, (content: unknown) => void>();
  let last = 0;
  const take = (use: (message: FromEditor) => void) => addEventListener("message", (event: MessageEvent<FromEditor>) => event.data?.kind && use(event.data));
  take((message) => {
    if (message.kind !== "answer") return;
    waiting.get(message.number)?.(message.content);
    waiting.delete(message.number);
  });
  return {
    post(content) {
      last += 1;
      const number = last;
      panel.postMessage({ kind: "rpc", number, content });
      return new Promise((resolve) => waiting.set(number, resolve));
    },
    listen(handlers, again) {
      link.value = "open";
      take((message) => {
        if (message.kind === "event") handlers[message.method]?.(message.params as never);
        if (message.kind === "lost") link.value = "lost";
        if (message.kind === "again") {
          link.value = "open";
          again();
        }
        if (message.kind === "flush") void beforeSave().then(() => panel.postMessage({ kind: "flushed", number: message.number }));
      });
    },
  };
}

/** Requests what fields still hold, before the editor saves. */
let beforeSave: () => Promise<unknown> = () => Promise.resolve();
export function onSave(act: () => Promise<unknown>) {
  beforeSave = act;
}

/** Whether an editor shows the page, and holds the text of the plan: it saves, takes back, and opens other plans. */
export const isInEditor = typeof acquireVsCodeApi === "function";

export const transport: Transport = typeof acquireVsCodeApi === "function" ? overMessages(acquireVsCodeApi()) : overHttp;
