/**
 * The ways out of a damaged file: the file as it lies for whoever wants to look at it elsewhere, what is readable of it in a new sandbox, and a
 * snapshot in its place. Owns their ledger lines; knows nothing of HTTP.
 */
import { createReadStream } from 'node:fs';
import type { Outgoing, Passage } from './bundles/passage.ts';
import type { Clock } from './clock.ts';
import { isWinterdockError, tellable, WinterdockError } from './errors.ts';
import type { Logger } from './log.ts';
import type { InstanceRow, LedgerEntry, Registry } from './registry/registry.ts';
import { line, rowOf } from './sessions/engine.ts';
import type { Cause, Sessions } from './sessions/sessions.ts';
import type { Snapshots } from './snapshots.ts';

export type RawPart = 'file' | 'log';

/** What is known of raw bytes before the first of them goes. */
export interface RawFacts {
  /** A name to keep them under: two parts of one sandbox fit each other. */
  name: string;
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
  /** Bytes of the log beside the file, 0 without one: the file is whole only with it. */
  logBytes: number;
}

export interface RepairsOptions {
  clock: Clock;
  log: Logger;
  registry: Registry;
  sessions: Pick<Sessions, 'copyRaw' | 'restore'>;
  snapshots: Pick<Snapshots, 'sound'>;
  passage: Passage;
}

export class Repairs {
  readonly #options: RepairsOptions;

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  /**
   * The file of a sandbox without a process as it lies, or the log beside it, private volumes, deleted bytes and damage included; compressed when it
   * is archived. Wakes and opens nothing. Throws `not_found` (also for a log that there is not), `gone`, `missing_file`, `conflict`, `rate_limited`.
   */
  async raw(
    id: string,
    part: RawPart,
    cause: Cause,
    signal?: AbortSignal,
  ): Promise<{ facts: RawFacts; outgoing: Outgoing }> {
    const { passage, sessions, registry } = this.#options;
    const row = await rowOf(this.#options, id);
    const { result, outgoing } = await this.#told(row, cause, 'raw.failed', () =>
      passage.outwards(cause.actor, (folder) =>
        passage.withProcess(signal, async (start) => {
          const copied = await sessions.copyRaw(id, folder);
          const wanted = part === 'file' ? copied : copied.log;
          if (wanted === null) throw new WinterdockError('not_found', `There is no log beside the file of "${id}".`);
          const { hashed } = await (await start()).run({ kind: 'hash', file: wanted.file });
          const suffix = part === 'file' ? (copied.packed ? '.zst' : '') : (copied.log?.suffix ?? '');
          const facts: RawFacts = {
            name: `${id}.sqlite${suffix}`,
            ...hashed,
            logBytes: copied.log?.bytes ?? 0,
          };
          const what = `${facts.name}, ${facts.bytes} bytes, sha256:${facts.sha256}`;
          const reason = cause.reason === null ? what : `${cause.reason} (${what})`;
          await registry.append([
            this.#line(row, cause, 'raw.sent', { reason }),
            this.#line(row, cause, 'private.read', { reason: 'in its raw file' }),
          ]);
          return { result: facts, stream: createReadStream(wanted.file), bytes: facts.bytes };
        }),
      ),
    );
    return { facts: result, outgoing };
  }

  /**
   * Puts a snapshot of the same tenant in the place of a sandbox's file; what was there is kept in `orphans/`. Throws `not_found` and `conflict` for
   * the snapshot, and what `Sessions.restore` throws.
   */
  async restore(id: string, snapshot: string, cause: Cause): Promise<InstanceRow> {
    const row = await rowOf(this.#options, id);
    const { tenant, hash, bytes } = await this.#options.snapshots.sound(snapshot);
    if (tenant !== row.tenant) {
      throw new WinterdockError('conflict', `The snapshot "${snapshot}" is of another tenant than "${id}".`, {
        hint: 'Make a new sandbox of it, for its own tenant or for this one.',
      });
    }
    return this.#options.sessions.restore(id, { name: snapshot, hash, bytes }, cause);
  }

  /** What goes wrong is in the ledger. */
  async #told<T>(row: InstanceRow, cause: Cause, type: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isWinterdockError(error) || error.code === 'internal') {
        this.#options.log.error({ id: row.id, err: error }, type);
      }
      await this.#options.registry.append([this.#line(row, cause, type, { error: tellable(error) })]);
      throw error;
    }
  }

  #line(row: Pick<InstanceRow, 'id' | 'tenant'>, cause: Cause, type: string, extra: Partial<LedgerEntry> = {}) {
    return line(this.#options, row, cause, type, extra);
  }
}
