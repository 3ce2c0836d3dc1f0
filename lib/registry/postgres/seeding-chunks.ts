/**
 * Instances that are admitted and wait to be inserted, in chunks of one call. Runs inside its callers' transactions;
 * knows nothing of copies or quotas.
 */
import type { InstanceId } from '../../base/ids.ts';
import { idTaken, nameTaken } from '../registry-errors.ts';
import { repeated, type SeedingChunk, seedingChunkStatements } from '../statements/seeding-chunks.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

export class SeedingChunks {
  readonly #statements;

  constructor(database: PostgresDatabase) {
    this.#statements = database.with(seedingChunkStatements);
  }

  async store(chunk: Omit<SeedingChunk, 'number'>): Promise<void> {
    await this.#statements.insert().run(chunk);
  }

  /** The next chunk of the call with this first instance, or null. */
  async next(first: InstanceId): Promise<SeedingChunk | null> {
    return (await this.#statements.next().get({ first })) ?? null;
  }

  async remove(number: number): Promise<void> {
    await this.#statements.remove().run({ number });
  }

  /** The first instance of each call, oldest first. */
  async unfinished(): Promise<InstanceId[]> {
    return [...new Set((await this.#statements.unfinished().all()).map(({ first }) => first))];
  }

  /** Whether an instance that waits needs the copy's file at `path`. */
  async needs(path: string): Promise<boolean> {
    return (await this.#statements.waitedFor().get({ path })) !== undefined;
  }

  /** Throws `conflict` when an instance that waits holds the name of one of these rows of one tenant. */
  async requireNotHeld(rows: readonly InstanceRow[]): Promise<void> {
    const names = new Set(rows.flatMap(({ name }) => name ?? []));
    const [first] = rows;
    if (first === undefined || names.size === 0) return;
    const { tenant } = first;
    for (const waiting of await this.#statements.ofTenant().all({ tenant })) {
      const held = waiting.rows.find(({ name }) => name !== null && names.has(name));
      if (held !== undefined) throw nameTaken(held);
    }
  }

  /** Throws `conflict` unless these ids and names of one tenant are all different and no instance has one of them. */
  async requireFree(rows: readonly InstanceRow[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const { tenant } = first;
    const ids = rows.map(({ id }) => id);
    const names = rows.flatMap(({ name }) => name ?? []);
    const id = (await this.#statements.ids().get({ ids: JSON.stringify(ids) }))?.id ?? repeated(ids);
    if (id !== undefined) throw idTaken(id);
    const name =
      (await this.#statements.names().get({ tenant, names: JSON.stringify(names) }))?.name ?? repeated(names);
    if (name !== undefined) throw nameTaken({ name, tenant });
  }
}
