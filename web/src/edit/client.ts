// Sends requests to the program and receives its notifications.

import { signal } from "@preact/signals";

/** Adds the token from the page's own address to each request. */
const address = (path: string) => `${path}${location.search}`;

export class RpcError extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string; data?: { hint?: string | null } | null };
}

let last = 0;

function message(method: string, params: object) {
  last += 1;
  return { jsonrpc: "2.0", id: last, method, params };
}

/** Browsers send a message up to this length even if the page closes meanwhile. */
const KEPT_ALIVE = 60_000;

async function post(content: unknown): Promise<unknown> {
  const body = JSON.stringify(content);
  let answer: Response;
  try {
    answer = await fetch(address("rpc"), { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: document.hidden && body.length < KEPT_ALIVE });
  } catch {
    throw new RpcError("The program does not answer", 0, "Start `drumfire edit` again; its journal has every change");
  }
  if (!answer.ok) throw new RpcError(`The program answers with status ${answer.status}`, 0, answer.status === 401 ? "Open the address that `drumfire edit` prints" : null);
  return answer.json();
}

function resultOf(answer: Answer): unknown {
  if (answer.error) throw new RpcError(answer.error.message, answer.error.code, answer.error.data?.hint ?? null);
  return answer.result;
}

/** Sends one request. */
export async function call<T>(method: string, params: object): Promise<T> {
  return resultOf((await post(message(method, params))) as Answer) as T;
}

/** Sends requests in one message; fails if one of them does. */
export async function callAll<T>(requests: [method: string, params: object][]): Promise<T[]> {
  if (!requests.length) return [];
  const messages = requests.map(([method, params]) => message(method, params));
  const answers = new Map(((await post(messages)) as Answer[]).map((answer) => [answer.id, answer]));
  return messages.map(({ id }) => resultOf(answers.get(id)!) as T);
}

/** Whether notifications arrive. */
export const link = signal<"connecting" | "open" | "lost">("connecting");

const RETRY_MS = 1000;

/** Receives notifications for as long as the page is open. `again` is called when the connection stands again after a loss. */
export function listen(handlers: Record<string, (params: never) => void>, again: () => void) {
  const source = new EventSource(address("events"));
  source.onopen = () => {
    const wasLost = link.value === "lost";
    link.value = "open";
    if (wasLost) again();
  };
  source.onerror = () => {
    link.value = "lost";
    // The browser reconnects on its own, unless the server refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(handlers, again), RETRY_MS);
  };
  for (const [name, take] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as never));
  }
}
