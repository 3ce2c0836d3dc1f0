/**
 * Reads sources in processes with limits: what a linear look can refuse is refused at once, a tenant has one source
 * read at a time, and tenants take turns. A process is kept for a while for the next source.
 */
import { WinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { Turns } from '../base/turns.ts';
import type { ParsedSource } from './messages.ts';
import { outlineOf } from './outline.ts';
import { ParseProcess } from './parse-process.ts';

const MAX_PROCESSES = 2;
/** Sources of one tenant that wait. */
const MAX_WAITING = 16;
const IDLE_MS = 30_000;

interface Waiting {
  tenant: string;
  source: string;
  resolve(parsed: ParsedSource): void;
  reject(error: unknown): void;
}

export class SourceParser {
  readonly #queue = new FairQueue<Waiting>();
  readonly #busyTenants = new Set<string>();
  readonly #idle: { process: ParseProcess; timer: NodeJS.Timeout }[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #processes = new Set<ParseProcess>();
  readonly #turns = new Turns();
  readonly #limits: { timeoutMs?: number; memoryBytes?: number };
  #stopped = false;

  /** What reading one source may take. */
  constructor(limits: { timeoutMs?: number; memoryBytes?: number } = {}) {
    this.#limits = limits;
  }

  /**
   * Reads a source of at most MAX_SOURCE_BYTES. Throws `validation` with its problems when it is too deep or too much,
   * `validation` when reading takes too long, `rate_limited`, `capacity`.
   */
  async parse(tenant: string, source: string): Promise<ParsedSource> {
    if (this.#queue.lengthOf(tenant) >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} workbooks of the tenant wait to be read already.`, {
        retryAfterSeconds: 5,
      });
    }
    const { problems } = await this.#turns.run(() => outlineOf(source));
    const [first] = problems;
    if (first) {
      throw new WinterdockError('validation', `Line ${first.line}: ${first.message}`, {
        hint: first.mend,
        extra: { problems },
      });
    }
    if (this.#stopped) throw stopping();
    return new Promise((resolve, reject) => {
      this.#queue.add(tenant, { tenant, source, resolve, reject });
      this.#advance();
    });
  }

  /** Ends what runs; what waits fails. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { reject } of this.#queue.clear()) reject(stopping());
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    for (const process of this.#processes) process.end(stopping());
    await Promise.allSettled([...this.#running, ...[...this.#processes].map(({ exited }) => exited)]);
  }

  #advance(): void {
    while (this.#running.size < MAX_PROCESSES) {
      const next = this.#queue.take(({ tenant }) => !this.#busyTenants.has(tenant));
      if (next === undefined) return;
      this.#busyTenants.add(next.tenant);
      const run = this.#run(next).finally(() => {
        this.#busyTenants.delete(next.tenant);
        this.#running.delete(run);
        this.#advance();
      });
      this.#running.add(run);
    }
  }

  async #run({ source, resolve, reject }: Waiting): Promise<void> {
    try {
      const process = this.#takeIdle() ?? (await this.#start());
      try {
        resolve(await process.parse(source, this.#limits.timeoutMs));
      } finally {
        this.#keep(process);
      }
    } catch (error) {
      reject(error);
    }
  }

  #takeIdle(): ParseProcess | null {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      clearTimeout(kept.timer);
      if (kept.process.isRunning) return kept.process;
    }
    return null;
  }

  async #start(): Promise<ParseProcess> {
    const process = await ParseProcess.start(this.#limits.memoryBytes);
    this.#processes.add(process);
    void process.exited.then(() => this.#processes.delete(process));
    if (this.#stopped) process.end(stopping());
    return process;
  }

  #keep(process: ParseProcess): void {
    if (!process.isRunning || this.#stopped) {
      process.end();
      return;
    }
    const entry = { process, timer: setTimeout(() => this.#endIdle(entry), IDLE_MS) };
    entry.timer.unref();
    this.#idle.push(entry);
  }

  #endIdle(entry: { process: ParseProcess }): void {
    const at = this.#idle.findIndex(({ process }) => process === entry.process);
    if (at >= 0) this.#idle.splice(at, 1);
    entry.process.end();
  }
}

function stopping(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
}
