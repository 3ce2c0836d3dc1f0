/** The hosts of this registry, and their terms. */
import { and, desc, isNotNull, ne, placeholder } from '../../../db/drizzle.ts';
import { hosts, instances } from '../../../db/schema.ts';
import type { HostStore } from '../hosts.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

/** The name in the row of a term that nobody has begun. */
const NOBODY = '';
const FIRST = 1;

export function openHosts(database: RegistryDatabase): SyncMethods<HostStore> {
  const { name, term, sinceMs } = hosts;
  const all = database.statement((queries) => queries.select().from(hosts).orderBy(desc(term)).prepare());
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
  const disown = database.statement((queries) =>
    queries
      .update(instances)
      .set({ ownerHost: null, ownerTerm: null, ownerToken: null })
      .where(isNotNull(instances.ownerHost))
      .prepare(),
  );
  return {
    begin(host, nowMs, { alone }) {
      const known = all().all();
      const [newest] = known;
      const own = known.find((one) => one.name === host);
      // Nothing to write at most starts.
      if (own !== undefined && (!alone || known.length === 1)) return own.term;
      return database.write(() => {
        const next = newest?.name === NOBODY ? newest.term : (newest?.term ?? 0) + FIRST;
        insert().run({ name: host, term: next, sinceMs: nowMs });
        if (alone || newest?.name === NOBODY) removeOthers().run({ name: host });
        if (alone) takeOver().run({ name: host });
        return next;
      });
    },
    endTerms(nowMs, after = FIRST) {
      database.write(() => {
        // Without a row it had its first term before.
        const last = Math.max(all().all()[0]?.term ?? FIRST, after);
        insert().run({ name: NOBODY, term: last + 1, sinceMs: nowMs });
        removeOthers().run({ name: NOBODY });
        disown().run();
      });
    },
  };
}
