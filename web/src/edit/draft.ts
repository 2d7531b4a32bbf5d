// A value that the user types: requested when the typing pauses and when the field is left, in one step of undo.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { onFlush } from "./flush";

/** A pause in typing after which the value is requested. */
const PAUSE_MS = 500;

/** Requests a value; resolves to nothing if the program refused. `join` continues the last step of undo. */
export type Commit<T> = (value: T, join: boolean) => Promise<unknown>;

export interface Draft<T> {
  value: T;
  /** Takes what was typed. */
  type: (value: T) => void;
  /** Requests it now. */
  commit: () => Promise<unknown>;
  /** Requests it, and begins another step of undo. */
  leave: () => void;
  /** Gives up what is not requested yet; tells whether there was something. */
  discard: () => boolean;
}

export function useDraft<T>(value: T, request: Commit<T>, isSame: (a: T, b: T) => boolean = Object.is): Draft<T> {
  const [draft, setDraft] = useState<{ value: T } | null>(null);
  const state = useRef({ pending: null as { value: T } | null, isJoined: false, timer: 0, inFlight: 0, value, request });
  state.current.value = value;
  state.current.request = request;
  const commit = useCallback(async () => {
    const now = state.current;
    clearTimeout(now.timer);
    const pending = now.pending;
    if (!pending) return;
    now.pending = null;
    if (isSame(pending.value, now.value)) return setDraft(null);
    const join = now.isJoined;
    now.isJoined = true;
    now.inFlight += 1;
    const made = await now.request(pending.value, join);
    now.inFlight -= 1;
    // A refused value goes, and the one of the plan stands.
    if ((made == null || isSame(pending.value, now.value)) && !now.pending) setDraft(null);
  }, []);
  useEffect(() => onFlush(commit), []);
  useEffect(() => () => void commit(), []);
  // A value that comes while a newer one is on its way is an older one of this field.
  useEffect(() => {
    if (!state.current.pending && !state.current.inFlight) setDraft(null);
  }, [value]);
  return {
    value: draft ? draft.value : value,
    type: (typed) => {
      setDraft({ value: typed });
      state.current.pending = { value: typed };
      clearTimeout(state.current.timer);
      state.current.timer = window.setTimeout(commit, PAUSE_MS);
    },
    commit,
    leave: () => {
      void commit();
      state.current.isJoined = false;
    },
    discard: () => {
      const had = state.current.pending != null;
      clearTimeout(state.current.timer);
      state.current.pending = null;
      setDraft(null);
      return had;
    },
  };
}
