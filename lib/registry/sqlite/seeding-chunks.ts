/**
 * Instances that are admitted and wait to be inserted, in chunks of one call. Runs inside its callers' transactions;
 * knows nothing of copies or quotas.
 */
import { and, eq, getTableColumns, placeholder } from '../../../db/drizzle.ts';
import { instances, seedingChunks } from '../../../db/schema.ts';
import type { InstanceId } from '../../base/ids.ts';
import { idTaken, nameTaken } from '../registry-errors.ts';
import type { InstanceRow } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList } from './raw.ts';

export type SeedingChunk = typeof seedingChunks.$inferSelect;

export class SeedingChunks {
  readonly #insert;
  readonly #next;
  readonly #remove;
  readonly #unfinished;
  readonly #waitedFor;
  readonly #ofTenant;
  readonly #ids;
  readonly #names;

  constructor(database: RegistryDatabase) {
    const { number, ...columns } = getTableColumns(seedingChunks);
    this.#insert = database.statement((queries) =>
      queries.insert(seedingChunks).values(boundColumns(columns)).prepare(),
    );
    this.#next = database.statement((queries) =>
      queries
        .select()
        .from(seedingChunks)
        .where(eq(seedingChunks.first, placeholder('first')))
        .orderBy(number)
        .limit(1)
        .prepare(),
    );
    this.#remove = database.statement((queries) =>
      queries
        .delete(seedingChunks)
        .where(eq(number, placeholder('number')))
        .prepare(),
    );
    this.#unfinished = database.statement((queries) =>
      queries.select({ first: seedingChunks.first }).from(seedingChunks).orderBy(number).prepare(),
    );
    this.#waitedFor = database.statement((queries) =>
      queries
        .select({ number })
        .from(seedingChunks)
        .where(eq(seedingChunks.path, placeholder('path')))
        .limit(1)
        .prepare(),
    );
    this.#ofTenant = database.statement((queries) =>
      queries
        .select({ rows: seedingChunks.rows })
        .from(seedingChunks)
        .where(eq(seedingChunks.tenant, placeholder('tenant')))
        .prepare(),
    );
    this.#ids = database.statement((queries) =>
      queries.select({ id: instances.id }).from(instances).where(inBoundList(instances.id, 'ids')).limit(1).prepare(),
    );
    this.#names = database.statement((queries) =>
      queries
        .select({ name: instances.name })
        .from(instances)
        .where(
          and(
            eq(instances.tenant, placeholder('tenant')),
            eq(instances.tombstone, 0).inlineParams(),
            inBoundList(instances.name, 'names'),
          ),
        )
        .limit(1)
        .prepare(),
    );
  }

  store(chunk: Omit<SeedingChunk, 'number'>): void {
    this.#insert().run(chunk);
  }

  /** The next chunk of the call with this first instance, or null. */
  next(first: InstanceId): SeedingChunk | null {
    return this.#next().get({ first }) ?? null;
  }

  remove(number: number): void {
    this.#remove().run({ number });
  }

  /** The first instance of each call, oldest first. */
  unfinished(): InstanceId[] {
    return [
      ...new Set(
        this.#unfinished()
          .all()
          .map(({ first }) => first),
      ),
    ];
  }

  /** Whether an instance that waits needs the copy's file at `path`. */
  needs(path: string): boolean {
    return this.#waitedFor().get({ path }) !== undefined;
  }

  /** Throws `conflict` when an instance that waits holds the name of one of these rows of one tenant. */
  requireNotHeld(rows: readonly InstanceRow[]): void {
    const names = new Set(rows.flatMap(({ name }) => name ?? []));
    const [first] = rows;
    if (first === undefined || names.size === 0) return;
    const { tenant } = first;
    for (const waiting of this.#ofTenant().all({ tenant })) {
      const held = waiting.rows.find(({ name }) => name !== null && names.has(name));
      if (held !== undefined) throw nameTaken(held);
    }
  }

  /** Throws `conflict` unless these ids and names of one tenant are all different and no instance has one of them. */
  requireFree(rows: readonly InstanceRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const { tenant } = first;
    const ids = rows.map(({ id }) => id);
    const names = rows.flatMap(({ name }) => name ?? []);
    const id = this.#ids().get({ ids: JSON.stringify(ids) })?.id ?? repeated(ids);
    if (id !== undefined) throw idTaken(id);
    const name = this.#names().get({ tenant, names: JSON.stringify(names) })?.name ?? repeated(names);
    if (name !== undefined) throw nameTaken({ name, tenant });
  }
}

/** A value that is there twice. */
function repeated<T>(values: readonly T[]): T | undefined {
  const seen = new Set<T>();
  return values.find((value) => seen.size === seen.add(value).size);
}
