// Messages to the user that need no answer.

import { signal } from "@preact/signals";

export interface Message {
  text: string;
  hint?: string | null;
  bad?: boolean;
  action?: { title: string; run: () => void };
}

export const message = signal<(Message & { key: number }) | null>(null);

const GOOD_MS = 4000;
let timer = 0;
let count = 0;

/** Shows a message; a bad one stays until the user closes it or another one comes. */
export function tell(next: Message) {
  clearTimeout(timer);
  count += 1;
  message.value = { ...next, key: count };
  if (!next.bad) timer = window.setTimeout(untell, GOOD_MS);
}

export function untell() {
  clearTimeout(timer);
  message.value = null;
}
