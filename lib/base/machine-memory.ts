/**
 * How much memory there is for this server and its processes, and which share of it is the sandboxes'. Reads the
 * system; knows nothing of processes.
 */
import { totalmem } from 'node:os';

const MIB = 1024 * 1024;
/** What is left to the server, its readers and the system at least, where there is as much. */
const LEFT_BYTES = 512 * MIB;

/** Bytes that the machine has, or the container (cgroup) where that has less. */
export function machineMemory(): number {
  const constrained = process.constrainedMemory();
  // 0: there is no limit, or the system does not say. No limit may also be told as one that is larger than any machine.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The sandboxes' share of `bytes`: three quarters, or what 512 MiB leave, but never less than a quarter. */
export function shareOfSandboxes(bytes: number): number {
  return Math.floor(Math.max(bytes / 4, Math.min((bytes * 3) / 4, bytes - LEFT_BYTES)));
}
