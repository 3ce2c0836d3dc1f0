/**
 * The names that this registry gave to objects in the store. A name is recorded before anything is written under it and
 * is used once; the store is never asked what there is. Knows nothing of what is in the objects, and removes none.
 */
import type { CopyKind } from '../base/copy-paths.ts';
import type { InstanceId } from '../base/ids.ts';

/** The tenant of a blueprint that was uploaded: none is called so, and a name in a store can have it as a part. */
export const NOBODYS = '_';

/** `uploading`: not known to be whole. `current`: a row or a copy names it. `superseded`: nothing does any more. */
export type StoreNameState = 'uploading' | 'current' | 'superseded';

export interface NewStoreName {
  /** Relative to the installation's prefix; what lies beside the object has it as its beginning. */
  name: string;
  /** The sandbox whose file it is; null for a copy. */
  instance: InstanceId | null;
  tenant: string;
  /** The drawer. */
  kind: string;
  /** Of a copy: the SHA-256 of its bytes, by which it is found. */
  hash?: string;
  /** The host that writes it. */
  host: string;
  begunMs: number;
}

/** A copy that rows need and whose tenant has no object of it. */
interface CopyToStore {
  kind: CopyKind;
  hash: string;
  /** `NOBODYS` for a blueprint that was uploaded. */
  tenant: string;
}

interface StoreName extends Omit<NewStoreName, 'hash'> {
  hash: string | null;
  state: StoreNameState;
  supersededMs: number | null;
}

export interface StoreNameStore {
  /** Records a name, durably, before its upload begins. Throws `conflict` for one that was ever recorded. */
  begin(name: NewStoreName): Promise<void>;
  /** One name, or null. */
  get(name: string): Promise<StoreName | null>;
  /** Marks these as superseded, those that are not yet. Others stay as they are. */
  supersede(names: readonly string[], nowMs: number): Promise<void>;
  /** Names whose upload a process of this host began and did not end: after a start nobody carries them out. */
  begunUploads(host: string): Promise<StoreName[]>;
  /**
   * Counts what was superseded later than `nowMs` as superseded then; returns the number. Happens only when the clock
   * was set back: a name waits its time from then on, no shorter and not for years.
   */
  clampSuperseded(nowMs: number): Promise<number>;
  /** Names that were superseded at or before `untilMs`, longest ago first. */
  superseded(untilMs: number, limit: number): Promise<StoreName[]>;
  /** The object of a copy, of any tenant; null when none is known to be whole. */
  copyName(kind: CopyKind, hash: string): Promise<StoreName | null>;
  /** The object of a copy is whole. False when its upload is not under way: then it is not taken for one. */
  finishCopy(name: string): Promise<boolean>;
  /** Marks the objects of a copy, of every tenant, as superseded. */
  supersedeCopy(kind: CopyKind, hash: string, nowMs: number): Promise<void>;
  /**
   * Snapshots and blueprints whose tenant has no whole object of them, without those of `except` (hashes); in no order.
   */
  copiesToStore(limit: number, except: readonly string[]): Promise<CopyToStore[]>;
  /** Forgets a name whose object is gone. One that is not superseded stays. */
  remove(name: string): Promise<void>;
  /** The names of a sandbox, in no order. */
  ofInstance(id: InstanceId): Promise<StoreName[]>;
  /** The names of a tenant in their order after `after`. */
  ofTenant(tenant: string, after: string, limit: number): Promise<StoreName[]>;
  /** All names in their order after `after`. */
  page(after: string, limit: number): Promise<StoreName[]>;
}
