/**
 * Types for tests, which name their sandboxes by plain texts: the same values, whose methods take a text where the
 * engine takes an `InstanceId`. Nothing changes at run time.
 */
import { type InstanceId, parseInstanceId } from '../base/ids.ts';
import type { Host } from '../host/host.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/types.ts';

/** A value whose ids may be plain texts. */
export type Plain<T> = T extends InstanceId
  ? string
  : unknown extends T
    ? T
    : T extends string | number | boolean | bigint | null | undefined | Uint8Array | AbortSignal
      ? T
      : T extends (...args: never[]) => unknown
        ? T
        : { [K in keyof T]: Plain<T[K]> };

/** The same methods, and those of its parts, with plain texts for the ids of sandboxes. */
export type PlainIds<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: { [I in keyof A]: Plain<A[I]> }) => R
    : PlainIds<T[K]> extends T[K]
      ? PlainIds<T[K]>
      : T[K];
};

/** `read` keeps its type: a mapped type would lose which answer belongs to which request. */
export type PlainSandboxes = PlainIds<Omit<Sandboxes, 'read'>> & {
  read<R extends ReadRequest>(id: string, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
};

export type PlainHost = Omit<Host, 'operations' | 'registry' | 'sandboxes'> & {
  operations: PlainIds<Host['operations']>;
  registry: PlainIds<Host['registry']>;
  sandboxes: PlainSandboxes;
};

/** The same value, which takes plain texts for ids. */
export function withPlainIds<T>(value: T): PlainIds<T> {
  return value as PlainIds<T>;
}

/** A host whose engine takes plain texts for ids. */
export function plainHost(host: Host): PlainHost {
  return host as unknown as PlainHost;
}

/** The id of a sandbox, for a test. */
export function instanceId(text: string): InstanceId {
  return parseInstanceId(text);
}
