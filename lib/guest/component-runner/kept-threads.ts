/** The threads that a worker keeps for components. Idle, they hold nothing that a pause or a trim could break. */

const kept = new WeakSet<object>();

export function keepThread(thread: object): void {
  kept.add(thread);
}

export function isKeptThread(thread: object): boolean {
  return kept.has(thread);
}
