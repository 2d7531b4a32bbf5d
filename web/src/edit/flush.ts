// What fields hold and have not requested yet.

/** Fields with text that is not requested yet. */
const drafts = new Set<() => Promise<unknown>>();

export function onFlush(commit: () => Promise<unknown>): () => void {
  drafts.add(commit);
  return () => drafts.delete(commit);
}

/** Requests all changes that fields still hold. */
export async function flush() {
  await Promise.all([...drafts].map((commit) => commit()));
}
