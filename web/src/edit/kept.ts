// Values that the browser keeps from visit to visit. A browser may keep none; they then hold for the page.

import { effect, signal, type Signal } from "@preact/signals";

export function kept<T>(name: string, first: T): Signal<T> {
  const key = `drumfire-edit-${name}`;
  const value = signal(first);
  try {
    const text = localStorage.getItem(key);
    if (text != null) value.value = JSON.parse(text) as T;
  } catch {
    // The first value holds.
  }
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value.value));
    } catch {
      // The value holds for the page.
    }
  });
  return value;
}
