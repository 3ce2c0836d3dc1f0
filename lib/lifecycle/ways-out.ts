/**
 * The ways out of a fault that stops a sandbox: one table, from which every hint of the API, the command line and the
 * console is made. A test tries each way out of each fault, so that every hint works. Pure.
 */
import type { Fault } from './words.ts';

/** A fault that stops wakes and automatic moves. */
export type BlockingFault = Exclude<Fault, 'error'>;

/** Each way out as an instruction, without capital and full stop. */
export const WAYS_OUT = {
  restore: 'restore one of its snapshots in place',
  retry: 'resume with force to try once more',
  salvage: 'salvage what is readable into a new sandbox (admins and operators)',
  accept: 'resume with force to open the file as it is, which its structure must allow',
  raw: 'download its raw file (admins and operators)',
  return: 'put the file back where it was and resume with force',
  delete: 'delete it by a plan',
  stored: 'resume it from the store (from: stored, with a reason): what was written since its last upload is lost',
} as const;
export type WayOut = keyof typeof WAYS_OUT;

/** The ways out of each fault; the one that keeps most comes first. */
export const WAYS_OF: Readonly<Record<BlockingFault, readonly Exclude<WayOut, 'stored'>[]>> = {
  unknown: ['retry', 'restore', 'salvage', 'raw', 'delete'],
  corrupt: ['restore', 'salvage', 'accept', 'raw', 'delete'],
  missing: ['return', 'restore', 'delete'],
};

/** The ways out of a fault of one sandbox. `isStored`: an object of it is in the store. */
export function waysOf(fault: BlockingFault, isStored: boolean): readonly WayOut[] {
  return isStored && fault !== 'unknown' ? ['stored', ...WAYS_OF[fault]] : WAYS_OF[fault];
}

/** All of them, in one sentence for a person. */
export function waysOut(fault: BlockingFault, { isStored = false }: { isStored?: boolean } = {}): string {
  const ways = waysOf(fault, isStored).map((way) => WAYS_OUT[way]);
  const sentence = ways.length === 1 ? ways[0] : `${ways.slice(0, -1).join(', ')}, or ${ways.at(-1)}`;
  return `${sentence?.charAt(0).toUpperCase()}${sentence?.slice(1)}.`;
}
