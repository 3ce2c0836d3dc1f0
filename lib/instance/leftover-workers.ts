/**
 * Ends the workers that an earlier server on the same data folder left behind, found by the marks in their environment.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { FOLDER_MARK, SERVER_MARK, serverMark } from './process.ts';

const LOOK_EVERY_MS = 5;
/** A killed process that waits for its disk is not waited for longer. */
const MAX_WAIT_MS = 2000;

/**
 * SIGKILLs them, waits until they are gone and returns how many there were. Workers of a server that still runs are
 * left alone. Finds nothing where the system has no /proc; there a worker ends when its server's channel does.
 */
export async function endLeftoverWorkers(dataFolder: string): Promise<number> {
  const found = processes().filter((pid) => isLeftover(pid, dataFolder));
  for (const pid of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended while it was looked at.
    }
  }
  const until = Date.now() + MAX_WAIT_MS;
  while (found.some((pid) => isLeftover(pid, dataFolder)) && Date.now() < until) await pause(LOOK_EVERY_MS);
  return found.length;
}

function isLeftover(pid: number, dataFolder: string): boolean {
  try {
    const marks = new Map(
      readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((entry): [string, string] => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
    if (marks.get(FOLDER_MARK) !== dataFolder) return false;
    const server = marks.get(SERVER_MARK) ?? '';
    return server === '' || serverMark(Number.parseInt(server, 10)) !== server;
  } catch {
    // It ended while it was looked at, or belongs to someone else: then it is none of ours.
    return false;
  }
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  } catch {
    // No /proc on this system.
    return [];
  }
}
