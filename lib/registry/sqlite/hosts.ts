/** The hosts of this registry, and their terms. */
import type { HostStore } from '../hosts.ts';
import { hostStatements } from '../statements/hosts.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

/** The name in the row of a term that nobody has begun. */
const NOBODY = '';
const FIRST = 1;

export function openHosts(database: RegistryDatabase): SyncMethods<HostStore> {
  const { all, insert, removeOthers, takeOver, disown } = hostStatements(database);
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
