// Sends requests to the program.

import { RpcError, transport } from "./transport";

export { link, RpcError } from "./transport";

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

function resultOf(answer: Answer): unknown {
  if (answer.error) throw new RpcError(answer.error.message, answer.error.code, answer.error.data?.hint ?? null);
  return answer.result;
}

/** Sends one request. */
export async function call<T>(method: string, params: object): Promise<T> {
  return resultOf((await transport.post(message(method, params))) as Answer) as T;
}

/** Sends requests in one message; fails if one of them does. */
export async function callAll<T>(requests: [method: string, params: object][]): Promise<T[]> {
  if (!requests.length) return [];
  const messages = requests.map(([method, params]) => message(method, params));
  const answers = new Map(((await transport.post(messages)) as Answer[]).map((answer) => [answer.id, answer]));
  return messages.map(({ id }) => resultOf(answers.get(id)!) as T);
}
