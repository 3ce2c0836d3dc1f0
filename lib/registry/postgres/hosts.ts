/** The hosts of this registry, and their terms. */
import { type HostStore, saysAlready } from '../hosts.ts';
import { hostOf, hostStatements, NOBODY, ownedByHost } from '../statements/hosts.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

const FIRST = 1;

export function openHosts(database: PostgresDatabase, ledger: LedgerTable): HostStore {
  const {
    all,
    list,
    describe,
    renew,
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
  } = database.with(hostStatements);
  return {
    async begin(host, nowMs, { alone }) {
      const before = await all().all();
      // Nothing to write at most starts.
      const own = before.find((one) => one.name === host);
      if (own !== undefined && alone === (before.length === 1)) return own.term;
      return await database.write(async () => {
        // Two that begin at the same time have terms of their own.
        const known = await all().all();
        const [newest] = known;
        let term = alone && known.length > 1 ? undefined : known.find((one) => one.name === host)?.term;
        if (term === undefined) {
          term = newest?.name === NOBODY ? newest.term : (newest?.term ?? 0) + FIRST;
          await insert().run({ name: host, term, sinceMs: nowMs });
          if (alone || newest?.name === NOBODY) await removeOthers().run({ name: host });
        }
        if (alone) await takeOver().run({ name: host });
        else if (known.every(({ name }) => name === host || name === NOBODY))
          await adopt().run({ ownerHost: host, ownerTerm: term });
        return term;
      });
    },
    async describe(name, details) {
      const row = (await list().all()).find((one) => one.name === name);
      if (row === undefined || saysAlready(hostOf(row), details)) return;
      const labels = details.labels ?? row.labels;
      await database.write(async () => void (await describe().run({ name, ...details, labels })));
    },
    // Each is one statement, which compares and sets: a renewal waits for no transaction.
    renew: async (name, token, renewedMs) => (await renew().run({ name, token, one: 1, renewedMs })).changes === 1,
    giveBack: async (name, token) => void (await giveBack().run({ name, token })),
    setDrain: (name, drain, entry) =>
      ledger.recorded(
        [entry],
        async () => (await setDrain().run({ name, drain, draining: drain === null ? 0 : 1 })).changes === 1,
      ),
    setLabels: (name, labels, entry) =>
      ledger.recorded([entry], async () => (await setLabels().run({ name, labels })).changes === 1),
    list: async () => (await list().all()).map(hostOf),
    owned: async () => (await owned().all()).map(ownedByHost),
    async endTerms(nowMs, after = FIRST) {
      await database.write(async () => {
        // Without a row it had its first term before.
        const series = Number((await lastSeries().get({}))?.last ?? FIRST);
        const last = Math.max((await all().all())[0]?.term ?? FIRST, series, after);
        await insert().run({ name: NOBODY, term: last + 1, sinceMs: nowMs });
        await removeOthers().run({ name: NOBODY });
        await disown().run();
      });
    },
  };
}
