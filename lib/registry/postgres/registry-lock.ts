/**
 * The lock of a registry on Postgres: an advisory lock of a session, on a connection of its own, which Postgres
 * releases when that ends, however it ends. Several servers that use the registry at the same time share it; whoever
 * needs it alone has it alone. Who opens the registry under the lock writes a random word into it; those who share it
 * have one word, that of the first of them since somebody had it alone.
 *
 * When the connection is lost, nothing is written until the lock is taken again. Then the word says whether another
 * process had the registry for itself meanwhile: if so, this one has lost it for good and its server ends. Every write
 * compares the word itself, in the database and in its transaction, and whoever takes the registry over waits for those
 * that have: none of them is committed after its word.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { HOLDERS } from '../../../db/postgres/functions.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { PostgresAddress } from '../../base/postgres-url.ts';
import type { RegistryUse } from '../driver.ts';
import { RegistryInUse } from '../registry-errors.ts';
import { connect } from './connect.ts';
import type { WriteGuard } from './database.ts';

/** Any number that nobody else in the database takes. */
const HOLDER = 7_305_813;
/** A process that was killed just now may be there for Postgres still. */
const TRIES = 5;
const TRY_MS = 250;
const AGAIN_MS = 500;
/** How often the connection is asked for, and how long it may take. */
const BEAT_MS = 5000;
const SILENT_MS = 15_000;
/** What the word of those who share a registry begins with. */
const SHARED = 'shared-';
/** After so many seconds without the machine of the holder Postgres ends its session. */
const KEEPALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

interface LockOptions {
  address: PostgresAddress;
  /** Names the registry for people. */
  name: string;
  /** Whether others may have it at the same time. */
  isShared?: boolean;
  /** Called once, when another process has the registry. */
  onLost: (why: Error) => void;
}

export class RegistryLock implements WriteGuard {
  readonly #options: LockOptions;
  /** Of those who share it, that of the first once it is noted. */
  #token = randomBytes(16).toString('hex');
  #sql: Sql | null = null;
  #isHeld = false;
  #isReleased = false;
  /** Whether the word is in the registry. */
  #isNoted = false;
  #beat: NodeJS.Timeout | null = null;
  /** Called when the server of the database says nothing any more, though no connection was closed. */
  onSilent: () => void = () => undefined;

  private constructor(options: LockOptions) {
    this.#options = options;
  }

  /** Takes the lock. Rejects when another process has it, and with the errors of the connection. */
  static async take(options: LockOptions): Promise<RegistryLock> {
    const lock = new RegistryLock(options);
    for (let attempt = 1; ; attempt += 1) {
      if (await lock.#try()) return lock;
      if (attempt === TRIES) throw isLocked(options.name, options.isShared);
      await pause(TRY_MS);
    }
  }

  /** Whether others may use the registry too. */
  get isShared(): boolean {
    return this.#options.isShared === true;
  }

  get check(): string {
    return this.#isNoted ? `require_holder('${this.#token}')` : '';
  }

  requireHeld(): void {
    if (this.#isHeld) return;
    throw new WinterdockError('registry_unavailable', 'The connection that holds the registry is lost for now.', {
      hint: 'Nothing was changed. Try again.',
      retryAfterSeconds: 1,
    });
  }

  /** Writes the word into the registry that `sql` is connected to, whose tables are there. */
  async note(sql: Pick<Sql, 'unsafe'>): Promise<void> {
    const alone = `select pg_advisory_xact_lock(${HOLDERS})`;
    const own = this.isShared && !this.#token.startsWith(SHARED) ? SHARED + this.#token : this.#token;
    const first = this.isShared ? ` where token is null or token not like '${SHARED}%'` : '';
    await sql.unsafe(`${alone}; update registry_holder set token = '${own}'${first}`);
    // Nobody writes another one while the lock is shared.
    this.#token = this.isShared ? await wordIn(sql) : own;
    this.#isNoted = true;
  }

  /**
   * Runs `work` while nobody else uses the registry. Rejects with `conflict` when somebody does. The lock is held; of
   * its connection no other work is done.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const sql = this.#sql;
    if (!this.isShared) return work();
    if (sql === null || !(await tryLock(sql))) throw othersUseIt(this.#options.name);
    try {
      return await work();
    } finally {
      await sql.unsafe(`select pg_advisory_unlock(${HOLDER})`);
    }
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#isHeld = false;
    if (this.#beat !== null) clearInterval(this.#beat);
    const sql = this.#sql;
    this.#sql = null;
    if (sql === null) return;
    // Postgres lets it go with the session too, a moment later.
    void sql.unsafe('select pg_advisory_unlock_all()').catch(() => undefined);
    await sql.end({ timeout: 1 });
  }

  async #try(): Promise<boolean> {
    const sql: Sql = await connect(this.#options.address, { onClose: () => this.#closed(sql) });
    try {
      await sql.unsafe(KEEPALIVE).simple();
      const isHeld = await tryLock(sql, this.#options);
      if (!isHeld || this.#isReleased) {
        await sql.end({ timeout: 1 });
        return false;
      }
    } catch (error) {
      await sql.end({ timeout: 0 });
      throw error;
    }
    this.#sql = sql;
    this.#isHeld = true;
    this.#beat ??= setInterval(() => void this.#ask(), BEAT_MS).unref();
    return true;
  }

  /** A connection that says nothing may be gone: its session ends by itself. */
  async #ask(): Promise<void> {
    const sql = this.#sql;
    if (sql === null) return;
    const silent = AbortSignal.timeout(SILENT_MS);
    const answered = await Promise.race([
      sql.unsafe('select 1').then(
        () => true,
        () => false,
      ),
      new Promise<boolean>((resolve) => silent.addEventListener('abort', () => resolve(false), { once: true })),
    ]);
    if (answered || this.#sql !== sql) return;
    this.onSilent();
    this.#closed(sql);
  }

  #closed(sql: Sql): void {
    if (this.#sql !== sql) return;
    this.#sql = null;
    this.#isHeld = false;
    void sql.end({ timeout: 0 });
    void this.#retake();
  }

  async #retake(): Promise<void> {
    for (; !this.#isReleased; await pause(AGAIN_MS, undefined, { ref: false })) {
      try {
        const { name, isShared, onLost } = this.#options;
        if (!(await this.#isOwn())) return onLost(isLocked(name, isShared));
        if (await this.#try()) {
          if (await this.#isOwn()) return;
          await this.release();
          return onLost(isLocked(name, isShared));
        }
      } catch {
        // It is away: it is asked again, and nothing is written until then.
      }
    }
  }

  /** Whether no other process has had the registry since. */
  async #isOwn(): Promise<boolean> {
    if (!this.#isNoted) return true;
    const sql = await connect(this.#options.address);
    try {
      return (await wordIn(sql)) === this.#token;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

/** Whether a process has the lock now, in a way that keeps this one out. Takes it for a moment. */
export async function isLockedNow(sql: Pick<Sql, 'unsafe'>, use: RegistryUse = {}): Promise<boolean> {
  if (!(await tryLock(sql, use))) return true;
  await sql.unsafe('select pg_advisory_unlock_all()');
  return false;
}

async function tryLock(sql: Pick<Sql, 'unsafe'>, { isShared = false }: RegistryUse = {}): Promise<boolean> {
  const how = isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  const [[held] = []] = await sql.unsafe(`select ${how}(${HOLDER})::int`).values();
  return Number(held) === 1;
}

async function wordIn(sql: Pick<Sql, 'unsafe'>): Promise<string> {
  const [[token] = []] = await sql.unsafe('select token from registry_holder').values();
  return String(token);
}

/** `isShared`: whether the one that is kept out would let others in. */
export function isLocked(name: string, isShared = false): Error {
  const alone = isShared ? ', and lets no other in' : '';
  return new RegistryInUse(
    `Another Winterdock uses the registry ${name}${alone}. Stop it, or set WB_REGISTRY to another one.`,
  );
}

function othersUseIt(name: string): WinterdockError {
  return new WinterdockError(
    'conflict',
    `The registry ${name} has to be changed for this version as only one server may that has it for itself, and other servers use it. Nothing was changed.`,
    {
      hint: 'Stop all servers of the registry, then start those of this version.',
      extra: { start_refused: 'others_use_it' },
    },
  );
}
