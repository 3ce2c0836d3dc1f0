/** The hosts of this registry, and their terms. */
import type { HostStore } from '../hosts.ts';
import { hostStatements } from '../statements/hosts.ts';
import type { PostgresDatabase } from './database.ts';

/** The name in the row of a term that nobody has begun. */
const NOBODY = '';
const FIRST = 1;

export function openHosts(database: PostgresDatabase): HostStore {
  const { all, insert, removeOthers, takeOver, disown } = database.with(hostStatements);
  return {
    async begin(host, nowMs, { alone }) {
      const known = await all().all();
      const [newest] = known;
      const own = known.find((one) => one.name === host);
      // Nothing to write at most starts.
      if (own !== undefined && (!alone || known.length === 1)) return own.term;
      return await database.write(async () => {
        const next = newest?.name === NOBODY ? newest.term : (newest?.term ?? 0) + FIRST;
        await insert().run({ name: host, term: next, sinceMs: nowMs });
        if (alone || newest?.name === NOBODY) await removeOthers().run({ name: host });
        if (alone) await takeOver().run({ name: host });
        return next;
      });
    },
    async endTerms(nowMs, after = FIRST) {
      await database.write(async () => {
        // Without a row it had its first term before.
        const last = Math.max((await all().all())[0]?.term ?? FIRST, after);
        await insert().run({ name: NOBODY, term: last + 1, sinceMs: nowMs });
        await removeOthers().run({ name: NOBODY });
        await disown().run();
      });
    },
  };
}
