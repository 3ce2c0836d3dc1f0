/**
 * Keys of programs: made once and shown once, known afterwards by their digest only. Each is `wd_<id>_<secret>`; the id
 * is what people see of it. Knows nothing of what a key may do.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { epochSeconds } from '../base/clock.ts';
import type { KeyRow, KeyStore, NewKey } from '../registry/keys.ts';
import type { LedgerEntry } from '../registry/types.ts';

export interface KeyRing {
  /** The key's row when it is right, neither revoked nor expired. Stamps its use. */
  check(presented: string): Promise<KeyRow | null>;
  /** Makes a key; the second member is shown this once. */
  make(
    wish: Pick<NewKey, 'name' | 'role' | 'tenant' | 'createdBy' | 'expires'>,
    ledger: (row: NewKey) => LedgerEntry,
  ): Promise<[KeyRow, string]>;
  get(id: string): Promise<KeyRow | null>;
  /** What is not revoked, newest first, with uses up to now. */
  list(): Promise<KeyRow[]>;
  /** False when there is no such key. */
  revoke(id: string, ledger: LedgerEntry): Promise<boolean>;
  /** Writes down when keys were last used. */
  flush(): Promise<void>;
}

/** What a key of ours looks like. */
const SHAPE = /^wd_([0-9a-hjkmnp-tv-z]{12})_[A-Za-z0-9_-]{43}$/;
/** Crockford's base 32 without look-alikes, lower case. */
const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 12;
const SECRET_BYTES = 32;
/** Rows kept in memory; what is not there is looked up. */
const ROWS = 10_000;
const FLUSH_MS = 60_000;
/** Compared with when there is no such key, so that it takes as long. */
const NO_DIGEST = Buffer.alloc(32);

/** The part of a key that may be shown. */
export function prefixOf(id: string): string {
  return `wd_${id}`;
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Makes the ring. Uses are written every minute, and by `flush`. */
export function createKeyRing(options: { book: KeyStore; clock: Clock }): KeyRing {
  const { book, clock } = options;
  const known = new Map<string, { row: KeyRow; digest: Buffer }>();
  /** Revoked since the start: what was being looked up meanwhile does not come back to life. */
  const revoked = new Set<string>();
  const used = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const entryOf = async (id: string): Promise<{ row: KeyRow; digest: Buffer } | null> => {
    const there = known.get(id);
    if (there !== undefined) return there;
    const row = await book.get(id);
    if (row === null || row.revoked !== null || revoked.has(id)) return null;
    const made = { row, digest: Buffer.from(row.hash, 'hex') };
    if (known.size >= ROWS) known.delete(known.keys().next().value ?? '');
    known.set(id, made);
    return made;
  };

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (used.size === 0) return;
    const uses = [...used].map(([id, at]) => ({ id, at }));
    used.clear();
    await book.recordUse(uses);
  };

  const stamp = (id: string, now: number) => {
    used.set(id, now);
    if (timer !== undefined) return;
    // A registry that cannot be written loses when a key was last used, and says so where more is at stake.
    timer = setTimeout(() => flush().catch(() => undefined), FLUSH_MS);
    timer.unref();
  };

  const withUse = (row: KeyRow): KeyRow => ({ ...row, lastUsed: used.get(row.id) ?? row.lastUsed });

  return {
    async check(presented) {
      const id = SHAPE.exec(presented)?.[1];
      if (id === undefined) return null;
      const digest = digestOf(presented);
      const entry = await entryOf(id);
      const isRight = timingSafeEqual(digest, entry?.digest ?? NO_DIGEST);
      if (entry === null || !isRight) return null;
      const now = epochSeconds(clock);
      if (entry.row.expires !== null && entry.row.expires <= now) return null;
      stamp(id, now);
      return entry.row;
    },

    async make(wish, ledger) {
      let id = '';
      for (const byte of randomBytes(ID_LENGTH)) id += ID_ALPHABET[byte % ID_ALPHABET.length];
      const key = `${prefixOf(id)}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
      const row: NewKey = { ...wish, id, hash: digestOf(key).toString('hex'), created: epochSeconds(clock) };
      return [await book.add(row, ledger(row)), key];
    },

    async get(id) {
      const row = await book.get(id);
      return row === null ? null : withUse(row);
    },

    async list() {
      return (await book.list()).map(withUse);
    },

    async revoke(id, ledger) {
      const was = await book.revoke(id, epochSeconds(clock), ledger);
      if (was) revoked.add(id);
      known.delete(id);
      return was;
    },

    flush,
  };
}
