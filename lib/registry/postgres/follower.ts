/**
 * Follows what other processes commit to a registry on Postgres. A connection of its own listens: a notification only
 * wakes, and is the number of a line; what was committed is read by its number. It is looked for besides, twice a
 * second, over that connection; and over the others while there is none. So nothing hangs on a notification that did
 * not come: those of a process that ended right after its commit, or that had no connection itself.
 *
 * An answer over the listening connection says for how long nothing of others was missed. Without one nobody may keep
 * what was read of access and settings.
 */
import type { Sql } from 'postgres';
import { Freshness } from './freshness.ts';
import type { LedgerTable } from './ledger.ts';

/** The words of a notification are read by nobody, but for its number. */
const CHANNEL = 'winterdock_lines';
const LOOK_MS = 500;
/** Notifications that come, or are sent, within so many milliseconds are one. */
const GATHER_MS = 20;
/** A connection that says nothing for so long is given up: one that listens, and one that is being made. */
const SILENT_MS = 2000;
const CONNECT_MS = 15_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;
/** One row: the last line, and the number of changes of what servers keep in memory (db/postgres/access-changes.ts). */
const POSITION = 'select ledger_head.seq, access_changes.number from ledger_head, access_changes';
/** After so many seconds without this machine Postgres ends the session. */
const KEEPALIVE = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';

/** Makes the connection that listens. */
export type Listen = (events: { onClose: () => void; onNotify: (text: string) => void }) => Sql;

interface FollowerParts {
  listen: Listen;
  /** Asks over another connection. */
  ask: (text: string) => Promise<unknown[][]>;
  ledger: Pick<LedgerTable, 'announceOthers' | 'commitEvents'>;
}

export class RegistryFollower {
  readonly #parts: FollowerParts;
  readonly #freshness = new Freshness();
  /** The connection that listens; null while there is none. */
  #listener: Sql | null = null;
  /** The number of changes that was read last, and over which connection: another one may be to another server. */
  #changes: { number: unknown; over: Sql | null } = { number: null, over: null };
  #pauseMs = FIRST_PAUSE_MS;
  #isClosed = false;
  #looking: Promise<void> | null = null;
  #lookedAt = 0;
  /** Asked for while one was under way, which may have been too early. */
  #isAgain = false;
  /** The newest line that was seen, and who reads up to it. */
  #seen = 0;
  #reading: Promise<void> | null = null;
  #beat: NodeJS.Timeout | undefined;
  #woken: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** The newest own line, and the one that others were told of. */
  #own = 0;
  #told = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    parts.ledger.commitEvents.hearBy(() => this.#listener !== null && this.#freshness.isFresh);
  }

  /** Resolves when it listens, or when that has failed once: then it goes on trying. */
  async start(): Promise<void> {
    this.#beat = setInterval(() => this.#look(), LOOK_MS).unref();
    await this.#listen();
  }

  /** Tells other processes of an own line, and of those before it. Never fails: they look by themselves too. */
  committed(seq: number): void {
    this.#own = Math.max(this.#own, seq);
    if (this.#telling !== undefined || this.#listener === null) return;
    this.#tell();
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      if (this.#own > this.#told) this.committed(this.#own);
    }, GATHER_MS).unref();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#beat);
    for (const timer of [this.#woken, this.#retry, this.#telling]) clearTimeout(timer);
    const listener = this.#listener;
    this.#listener = null;
    await listener?.end({ timeout: 1 });
    await this.#looking;
    await this.#reading;
  }

  #tell(): void {
    this.#told = this.#own;
    // Alone, and so a transaction of its own: within another one it would hold up every commit of the database.
    void this.#listener?.unsafe('select pg_notify($1, $2)', [CHANNEL, String(this.#told)]).catch(() => undefined);
  }

  async #listen(): Promise<void> {
    let isOver = false;
    const listener: Sql = this.#parts.listen({
      onClose: () => {
        isOver = true;
        this.#lost(listener);
      },
      onNotify: (text) => {
        if (Number(text) > this.#parts.ledger.commitEvents.position) this.#wake();
      },
    });
    try {
      await answered(listener.unsafe(`${KEEPALIVE}; listen ${CHANNEL}`).simple(), CONNECT_MS);
    } catch {
      isOver = true;
    }
    if (isOver || this.#isClosed) {
      void listener.end({ timeout: 0 });
      return this.#listenLater();
    }
    this.#listener = listener;
    this.#pauseMs = FIRST_PAUSE_MS;
    await this.#look();
  }

  #listenLater(): void {
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => void this.#listen(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #lost(listener: Sql): void {
    if (this.#listener !== listener) return;
    this.#listener = null;
    this.#freshness.end();
    void listener.end({ timeout: 0 });
    this.#listenLater();
  }

  /** A notification came: what was committed is read, at once after a quiet moment. */
  #wake(): void {
    if (this.#woken !== undefined) return;
    const pauseMs = Math.max(0, this.#lookedAt + GATHER_MS - performance.now());
    this.#woken = setTimeout(() => {
      this.#woken = undefined;
      void this.#look();
    }, pauseMs).unref();
  }

  /** Looks for what others have committed. One look at a time; never rejects. */
  #look(): Promise<void> {
    if (this.#looking !== null) {
      this.#isAgain = true;
      return this.#looking;
    }
    this.#isAgain = false;
    this.#looking = this.#lookOnce()
      // The registry is away: it is looked for again.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null;
        if (this.#isAgain) this.#wake();
      });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    if (this.#isClosed) return;
    this.#lookedAt = performance.now();
    const listener = this.#listener;
    const term = this.#freshness.begin();
    const [[seq, number] = []] = await (listener === null ? this.#parts.ask(POSITION) : this.#askListener(listener));
    if (this.#isClosed || seq === undefined) return;
    const { commitEvents } = this.#parts.ledger;
    if (number !== this.#changes.number || listener !== this.#changes.over) {
      this.#changes = { number, over: listener };
      commitEvents.emitStale();
    }
    // Only now: what was kept before is gone.
    if (listener !== null && listener === this.#listener) term.grant();
    this.#seen = Number(seq);
    this.#reading ??= this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
  }

  async #askListener(listener: Sql): Promise<unknown[][]> {
    try {
      return (await answered(listener.unsafe(POSITION).values(), SILENT_MS)) as unknown as unknown[][];
    } catch (error) {
      this.#lost(listener);
      throw error;
    }
  }

  /** Reads the lines up to the newest that was seen, and announces them. */
  async #read(): Promise<void> {
    const { ledger } = this.#parts;
    for (let from = -1; !this.#isClosed && from < ledger.commitEvents.position; ) {
      from = ledger.commitEvents.position;
      if (from < this.#seen) await ledger.announceOthers(this.#seen);
    }
  }
}

/** Rejects when nothing comes for so long. */
async function answered<T>(answer: PromiseLike<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Postgres does not answer.')), milliseconds);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
