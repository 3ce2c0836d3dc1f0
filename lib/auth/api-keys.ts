/**
 * API keys: each is shown once, when it is made; only its digest is stored. A key is `wd_<id>_<secret>`; people see its
 * id. Knows nothing of what a key may do.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, epochSeconds, isOver } from '../base/clock.ts';
import type { CommitEvents } from '../registry/commit-events.ts';
import type { KeyRow, KeyStore, NewKey } from '../registry/keys.ts';
import type { LedgerEntry } from '../registry/types.ts';

export interface ApiKeys {
  /** The key's row when it is valid, neither revoked nor expired. Records its use. */
  check(presented: string): Promise<KeyRow | null>;
  /** The row of a key by its id when it is valid. Records its use. */
  valid(id: string): Promise<KeyRow | null>;
  /** Makes a key. The second member is the key itself, which is not stored. */
  make(
    input: Pick<NewKey, 'name' | 'role' | 'tenant' | 'createdBy' | 'expires' | 'maxCallSeconds'>,
    ledger: (row: NewKey) => LedgerEntry,
  ): Promise<[KeyRow, string]>;
  get(id: string): Promise<KeyRow | null>;
  /** Keys that are not revoked, newest first, with their last use. */
  list(): Promise<KeyRow[]>;
  /** False when there is no such key. */
  revoke(id: string, ledger: LedgerEntry): Promise<boolean>;
  /** Writes when keys were last used. */
  flush(): Promise<void>;
}

/** The form of a key. */
const SHAPE = /^wd_([0-9a-hjkmnp-tv-z]{12})_[A-Za-z0-9_-]{43}$/;
/** Crockford's base 32 without look-alikes, lower case. */
const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 12;
const SECRET_BYTES = 32;
/** Rows kept in memory. */
const CACHED_ROWS = 10_000;
const FLUSH_MS = 60_000;
/** Compared with when there is no such key, so that the check takes equally long. */
const NO_DIGEST = Buffer.alloc(32);

/** The part of a key that may be shown. */
export function prefixOf(id: string): string {
  return `wd_${id}`;
}

function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Makes it. `events`: of the book's registry. Last uses are written every minute, and by `flush`. */
export function createApiKeys(options: {
  book: KeyStore;
  clock: Clock;
  events: Pick<CommitEvents, 'mayCache' | 'onStale'>;
}): ApiKeys {
  const { book, clock, events } = options;
  const cached = new Map<string, { row: KeyRow; digest: Buffer }>();
  /** Keys revoked since the start: a lookup that was under way then must not cache the key again. */
  const revoked = new Set<string>();
  const used = new Map<string, number>();
  /** How often the cache was dropped: a lookup that was under way then is made again. */
  let drops = 0;
  events.onStale(() => {
    drops += 1;
    cached.clear();
  });
  let timer: NodeJS.Timeout | undefined;

  const entryOf = async (id: string): Promise<{ row: KeyRow; digest: Buffer } | null> => {
    const present = events.mayCache ? cached.get(id) : undefined;
    if (present !== undefined) return present;
    const before = drops;
    const row = await book.get(id);
    if (before !== drops) return entryOf(id);
    if (row === null || row.revoked !== null || revoked.has(id)) return null;
    const entry = { row, digest: Buffer.from(row.hash, 'hex') };
    if (!events.mayCache) return entry;
    if (cached.size >= CACHED_ROWS) cached.delete(cached.keys().next().value ?? '');
    cached.set(id, entry);
    return entry;
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
    // A failed write only loses the times of last use; a registry that cannot be written is reported elsewhere.
    timer = setTimeout(() => flush().catch(() => undefined), FLUSH_MS);
    timer.unref();
  };

  /** A row whose key is used now; null when it has expired. */
  const inUse = (row: KeyRow): KeyRow | null => {
    const { id, created, expires } = row;
    if (expires !== null && isOver({ madeMs: created * 1000, untilMs: expires * 1000 }, clock.now())) return null;
    stamp(id, epochSeconds(clock));
    return row;
  };

  const withUse = (row: KeyRow): KeyRow => ({ ...row, lastUsed: used.get(row.id) ?? row.lastUsed });

  return {
    async check(presented) {
      const id = SHAPE.exec(presented)?.[1];
      if (id === undefined) return null;
      const digest = digestOf(presented);
      const entry = await entryOf(id);
      const isRight = timingSafeEqual(digest, entry?.digest ?? NO_DIGEST);
      return entry === null || !isRight ? null : inUse(entry.row);
    },

    async valid(id) {
      const entry = await entryOf(id);
      return entry === null ? null : inUse(entry.row);
    },

    async make(input, ledger) {
      let id = '';
      for (const byte of randomBytes(ID_LENGTH)) id += ID_ALPHABET[byte % ID_ALPHABET.length];
      const key = `${prefixOf(id)}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
      const row: NewKey = { ...input, id, hash: digestOf(key).toString('hex'), created: epochSeconds(clock) };
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
      const isRevoked = await book.revoke(id, epochSeconds(clock), ledger);
      if (isRevoked) revoked.add(id);
      cached.delete(id);
      return isRevoked;
    },

    flush,
  };
}
