/**
 * How much memory this machine or container has, and the share of it that sandboxes may use. Knows nothing of
 * processes.
 */
import { totalmem } from 'node:os';

const MIB = 1024 * 1024;
/** Reserved for the server, its reader processes and the system, if there is as much. */
const RESERVED_BYTES = 512 * MIB;

/** Bytes that the machine has, or the container (cgroup) where that has less. */
export function machineMemory(): number {
  const constrained = process.constrainedMemory();
  // 0: no limit, or unknown. No limit may also be reported as a number larger than any machine.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The sandboxes' share of `bytes`: three quarters, or all but 512 MiB if that is less, but at least a quarter. */
export function sandboxMemoryShare(bytes: number): number {
  return Math.floor(Math.max(bytes / 4, Math.min((bytes * 3) / 4, bytes - RESERVED_BYTES)));
}
