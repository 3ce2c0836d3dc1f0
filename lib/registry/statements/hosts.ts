/** Statements over hosts and their terms. */
import { and, asc, count, desc, eq, isNotNull, isNull, like, max, ne, not, placeholder } from '../../../db/drizzle.ts';
import { hosts, instances } from '../../../db/schema.ts';
import type { HostRecord } from '../hosts.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { isSame, plusBound } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** The name in the row of a term that nobody has begun. */
export const NOBODY = '';
/** What a path begins with that names no file on the disk of one host alone (lib/registry/owner.ts). */
const ELSEWHERE = ['cloud:', 'snapshots/', 'blueprints/'];

export function hostStatements(database: StatementMaker) {
  const { name, term, sinceMs, url, capacity, version, labels, renewals, leaseMs, token, publicKey } = hosts;
  const { drain, draining } = hosts;
  const all = database.statement((queries) =>
    queries.select({ name, term, sinceMs }).from(hosts).orderBy(desc(term)).prepare(),
  );
  const list = database.statement((queries) =>
    queries.select().from(hosts).where(ne(name, NOBODY)).orderBy(asc(name)).prepare(),
  );
  const describe = database.statement((queries) =>
    queries
      .update(hosts)
      .set(boundColumns({ url, capacity, version, labels, leaseMs, token, publicKey }))
      .where(eq(name, placeholder('name')))
      .prepare(),
  );
  const setDrain = database.statement((queries) =>
    queries
      .update(hosts)
      .set(boundColumns({ drain, draining }))
      .where(eq(name, placeholder('name')))
      .prepare(),
  );
  const setLabels = database.statement((queries) =>
    queries
      .update(hosts)
      .set(boundColumns({ labels }))
      .where(eq(name, placeholder('name')))
      .prepare(),
  );
  const IS_HELD = and(eq(name, placeholder('name')), eq(token, placeholder('token')));
  const renew = database.statement((queries) =>
    queries
      .update(hosts)
      .set({ renewals: plusBound(renewals, 'one'), renewedMs: boundValue('renewedMs') })
      .where(IS_HELD)
      .prepare(),
  );
  const isAsSeen = database.statement((queries) =>
    queries
      .update(hosts)
      .set({ renewals: plusBound(renewals, 'none') })
      .where(and(eq(name, placeholder('name')), isSame(token, 'token'), eq(renewals, placeholder('renewals'))))
      .prepare(),
  );
  const giveBack = database.statement((queries) => queries.update(hosts).set({ token: null }).where(IS_HELD).prepare());
  const insert = database.statement((queries) =>
    queries
      .insert(hosts)
      .values(boundColumns({ name, term, sinceMs }))
      .onConflictDoUpdate({ target: name, set: boundColumns({ term, sinceMs }) })
      .prepare(),
  );
  const removeOthers = database.statement((queries) =>
    queries
      .delete(hosts)
      .where(ne(name, placeholder('name')))
      .prepare(),
  );
  const takeOver = database.statement((queries) =>
    queries
      .update(instances)
      .set({ ownerHost: boundValue('name') })
      .where(and(isNotNull(instances.ownerHost), ne(instances.ownerHost, placeholder('name'))))
      .prepare(),
  );
  const adopt = database.statement((queries) =>
    queries
      .update(instances)
      .set(boundColumns({ ownerHost: instances.ownerHost, ownerTerm: instances.ownerTerm }))
      .where(
        and(
          isNull(instances.ownerHost),
          ne(instances.state, 'deleted').inlineParams(),
          isNotNull(instances.vfsPath),
          ne(instances.vfsPath, ':memory:').inlineParams(),
          ...ELSEWHERE.map((prefix) => not(like(instances.vfsPath, `${prefix}%`).inlineParams())),
        ),
      )
      .prepare(),
  );
  const owned = database.statement((queries) =>
    queries
      .select({ host: instances.ownerHost, sandboxes: count() })
      .from(instances)
      .where(isNotNull(instances.ownerHost))
      .groupBy(instances.ownerHost)
      .prepare(),
  );
  const lastSeries = database.statement((queries) =>
    queries
      .select({ last: max(instances.seriesTerm) })
      .from(instances)
      .prepare(),
  );
  const disown = database.statement((queries) =>
    queries
      .update(instances)
      .set({ ownerHost: null, ownerTerm: null, ownerToken: null })
      .where(isNotNull(instances.ownerHost))
      .prepare(),
  );
  return {
    all,
    list,
    describe,
    renew,
    isAsSeen,
    giveBack,
    setDrain,
    setLabels,
    insert,
    removeOthers,
    takeOver,
    adopt,
    owned,
    lastSeries,
    disown,
  };
}

/** A row as a host. */
export function hostOf({ draining, ...row }: typeof hosts.$inferSelect): HostRecord {
  return { ...row, isDraining: draining === 1 };
}

/** How many sandboxes a host has. */
export function ownedByHost({ host, sandboxes }: { host: string | null; sandboxes: number }) {
  return { host: host ?? NOBODY, sandboxes: Number(sandboxes) };
}
