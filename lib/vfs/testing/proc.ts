/** What the kernel says about processes. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A reader's command line: it starts from its source, or from the bundle. */
const READER = /\/reader\.(?:ts|cjs)\0/;

/** The reader processes of a process, from the kernel's table. */
export function readersOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stateOf(pid)?.parent === parent && READER.test(commandOf(pid)));
}

/** The state letter and the parent of a process; null when it is gone. A zombie is gone. */
export function stateOf(pid: number): { state: string; parent: number } | null {
  try {
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? null : { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

/** True when a process has one of these files open. */
export function hasOpen(pid: number, ...paths: string[]): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return paths.includes(readlinkSync(`${folder}/${name}`));
    } catch {
      // It was closed in the meantime.
      return false;
    }
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
