/**
 * Ends the workers that an earlier server on the same data folder left behind. Finds them by their arguments and by
 * those of their wrappers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { forkedOf, holdsFiles, processStat, STAT } from '../base/process-stat.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark } from './process.ts';

const POLL_MS = 5;
/** The longest wait for a killed process; one may hang in disk I/O. */
const MAX_WAIT_MS = 2000;
/** Of the flags in /proc/PID/stat: the process ends. */
const PF_EXITING = 4;

/**
 * Sends SIGKILL, waits until the workers are gone and returns how many there were, each with its wrapper as one. Spares
 * the workers of a server that still runs. Finds none where the system has no /proc; there a worker exits when the
 * channel to its server closes.
 */
export async function endLeftoverWorkers(dataFolder: string): Promise<number> {
  const all = processes();
  const ending = all.filter(isEnding);
  const marked = all.filter((pid) => isLeftover(pid, dataFolder));
  // A worker can hide its arguments, but not those of its wrapper.
  const found = [...new Set(marked.flatMap((pid) => [...forkedOf(pid), pid]))];
  const started = marked.filter((pid) => !found.includes(Number(processStat(pid)?.[STAT.parent]))).length;
  for (const pid of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It exited meanwhile.
    }
  }
  const until = Date.now() + MAX_WAIT_MS;
  while ([...found, ...ending].some(holdsFiles) && Date.now() < until) await pause(POLL_MS);
  return started;
}

function isLeftover(pid: number, dataFolder: string): boolean {
  try {
    const marks = new Map(
      readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        .split('\0')
        .map((entry): [string, string] => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
    if (marks.get(FOLDER_MARK) !== dataFolder) return false;
    const server = marks.get(SERVER_MARK) ?? '';
    return server === '' || serverMark(Number.parseInt(server, 10)) !== server;
  } catch {
    // It exited meanwhile.
    return false;
  }
}

/**
 * Whether it has begun to end, as the workers of a killed server do by themselves. It has no arguments any more, so
 * nobody can tell whose it is, while it still holds its files.
 */
function isEnding(pid: number): boolean {
  return (Number(processStat(pid)?.[STAT.flags] ?? 0) & PF_EXITING) !== 0;
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  } catch {
    // This system has no /proc.
    return [];
  }
}
