/**
 * The lock of a registry on Postgres: an advisory lock of a session, on a connection of its own, which Postgres
 * releases when that ends, however it ends. Who opens the registry under the lock writes a random word into it.
 *
 * When the connection is lost, nothing is written until the lock is taken again. Then the word says whether another
 * process had the registry meanwhile: if so, this one has lost it for good and its server ends. Every write compares
 * the word itself, in the database and in its transaction, and whoever takes the registry over waits for those that
 * have: none of them is committed after its word.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { HOLDERS } from '../../../db/postgres/functions.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { PostgresAddress } from '../../base/postgres-url.ts';
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
/** After so many seconds without the machine of the holder Postgres ends its session. */
const KEEPALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

interface LockOptions {
  address: PostgresAddress;
  /** Names the registry for people. */
  name: string;
  /** Called once, when another process has the registry. */
  onLost: (why: Error) => void;
}

export class RegistryLock implements WriteGuard {
  readonly #options: LockOptions;
  readonly #token = randomBytes(16).toString('hex');
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
      if (attempt === TRIES) throw isLocked(options.name);
      await pause(TRY_MS);
    }
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
    await sql.unsafe(`${alone}; update registry_holder set token = '${this.#token}'`);
    this.#isNoted = true;
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
    void sql.unsafe(`select pg_advisory_unlock(${HOLDER})`).catch(() => undefined);
    await sql.end({ timeout: 1 });
  }

  async #try(): Promise<boolean> {
    const sql: Sql = await connect(this.#options.address, { onClose: () => this.#closed(sql) });
    try {
      await sql.unsafe(KEEPALIVE).simple();
      const isHeld = await tryLock(sql);
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
        if (!(await this.#isOwn())) return this.#options.onLost(isLocked(this.#options.name));
        if (await this.#try()) {
          if (await this.#isOwn()) return;
          await this.release();
          return this.#options.onLost(isLocked(this.#options.name));
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
      const [[token] = []] = await sql.unsafe('select token from registry_holder').values();
      return token === this.#token;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

/** Whether a process has the lock now. Takes it for a moment. */
export async function isLockedNow(sql: Pick<Sql, 'unsafe'>): Promise<boolean> {
  if (!(await tryLock(sql))) return true;
  await sql.unsafe(`select pg_advisory_unlock(${HOLDER})`);
  return false;
}

async function tryLock(sql: Pick<Sql, 'unsafe'>): Promise<boolean> {
  const [[held] = []] = await sql.unsafe(`select pg_try_advisory_lock(${HOLDER})::int`).values();
  return Number(held) === 1;
}

export function isLocked(name: string): Error {
  return new Error(`Another Winterdock uses the registry ${name}. Stop it, or set WB_REGISTRY to another one.`);
}
