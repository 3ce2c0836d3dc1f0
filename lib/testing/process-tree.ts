/** For tests: a process with all that it started, as the kernel knows them. */
import { readFileSync } from 'node:fs';

/** Its id and those of its children, theirs included. Those that end meanwhile are left out. */
export function treeOf(pid: number): number[] {
  let children: number[] = [];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    // It ended while it was looked at.
  }
  return [pid, ...children.flatMap(treeOf)];
}

/** Sends a signal to a process and to all that it started; the process itself first, so that it starts no more. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  process.kill(pid, signal);
  for (const child of treeOf(pid).slice(1)) {
    try {
      process.kill(child, signal);
    } catch {
      // It ended while it was looked at.
    }
  }
}
