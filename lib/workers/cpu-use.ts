/** Processor time and priority of a process on Linux; elsewhere nothing is known or done. */
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Since its start, in seconds, of the main thread: what it ran, and what it waited for a processor. */
interface CpuTime {
  ran: number;
  waited: number;
}

/** Null when the process is gone or the system does not tell. */
export function cpuTimeOf(pid: number): CpuTime | null {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return { ran: Number(ran) / 1e9, waited: Number(waited) / 1e9 };
  } catch {
    return null;
  }
}

/** Clock ticks a second in which the kernel tells processor time: fixed on Linux, whatever its own clock does. */
const TICKS = 100;

/**
 * Seconds that all threads of a process ran since its start, those that have ended included. Null when it is gone or
 * the system does not tell.
 */
export function cpuSecondsOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses, which may hold any character. User and system time are the
    // fourteenth and fifteenth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return null;
  }
}

/** Sets the niceness of all threads of a process. False when it is gone, or when the system does not allow it. */
export function setNiceness(pid: number, niceness: number): boolean {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), niceness);
    return true;
  } catch {
    return false;
  }
}
