/** Statements over instances that wait to be inserted. */
import { and, eq, getTableColumns, placeholder } from '../../../db/drizzle.ts';
import { instances, seedingChunks } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export type SeedingChunk = typeof seedingChunks.$inferSelect;

/** A value that is there twice. */
export function repeated<T>(values: readonly T[]): T | undefined {
  const seen = new Set<T>();
  return values.find((value) => seen.size === seen.add(value).size);
}

export function seedingChunkStatements(database: StatementMaker) {
  const { number, ...columns } = getTableColumns(seedingChunks);
  const insert = database.statement((queries) => queries.insert(seedingChunks).values(boundColumns(columns)).prepare());
  const next = database.statement((queries) =>
    queries
      .select()
      .from(seedingChunks)
      .where(eq(seedingChunks.first, placeholder('first')))
      .orderBy(number)
      .limit(1)
      .prepare(),
  );
  const remove = database.statement((queries) =>
    queries
      .delete(seedingChunks)
      .where(eq(number, placeholder('number')))
      .prepare(),
  );
  const unfinished = database.statement((queries) =>
    queries.select({ first: seedingChunks.first }).from(seedingChunks).orderBy(number).prepare(),
  );
  const waitedFor = database.statement((queries) =>
    queries
      .select({ number })
      .from(seedingChunks)
      .where(eq(seedingChunks.path, placeholder('path')))
      .limit(1)
      .prepare(),
  );
  const ofTenant = database.statement((queries) =>
    queries
      .select({ rows: seedingChunks.rows })
      .from(seedingChunks)
      .where(eq(seedingChunks.tenant, placeholder('tenant')))
      .prepare(),
  );
  const ids = database.statement((queries) =>
    queries.select({ id: instances.id }).from(instances).where(inBoundList(instances.id, 'ids')).limit(1).prepare(),
  );
  const names = database.statement((queries) =>
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
  return {
    insert,
    next,
    remove,
    unfinished,
    waitedFor,
    ofTenant,
    ids,
    names,
  };
}
