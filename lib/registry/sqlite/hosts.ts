/** The hosts of this registry, and their terms. */
import { type HostStore, saysAlready } from '../hosts.ts';
import { hostOf, hostStatements, NOBODY, ownedByHost } from '../statements/hosts.ts';
import type { LedgerEntry } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const FIRST = 1;

export function openHosts(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<HostStore> {
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
  } = hostStatements(database);
  /** Does it, with its line where it was done. */
  const recorded = (entry: LedgerEntry, work: () => boolean): boolean => {
    const lines = database.write(() => (work() ? ledger.append([entry]) : null));
    if (lines !== null) ledger.announce(lines);
    return lines !== null;
  };
  return {
    begin(host, nowMs, { alone }) {
      const before = all().all();
      // Nothing to write at most starts.
      const own = before.find((one) => one.name === host);
      if (own !== undefined && alone === (before.length === 1)) return own.term;
      return database.write(() => {
        // Two that begin at the same time have terms of their own.
        const known = all().all();
        const [newest] = known;
        let term = alone && known.length > 1 ? undefined : known.find((one) => one.name === host)?.term;
        if (term === undefined) {
          term = newest?.name === NOBODY ? newest.term : (newest?.term ?? 0) + FIRST;
          insert().run({ name: host, term, sinceMs: nowMs });
          if (alone || newest?.name === NOBODY) removeOthers().run({ name: host });
        }
        if (alone) takeOver().run({ name: host });
        else if (known.every(({ name }) => name === host || name === NOBODY))
          adopt().run({ ownerHost: host, ownerTerm: term });
        return term;
      });
    },
    describe(name, details) {
      const row = list()
        .all()
        .find((one) => one.name === name);
      if (row === undefined || saysAlready(hostOf(row), details)) return;
      const labels = details.labels ?? row.labels;
      database.write(() => describe().run({ name, ...details, labels }));
    },
    renew: (name, token, renewedMs) =>
      database.writeWithoutSync(() => renew().run({ name, token, one: 1, renewedMs }).changes === 1),
    giveBack: (name, token) => database.writeWithoutSync(() => void giveBack().run({ name, token })),
    setDrain: (name, drain, entry) =>
      recorded(entry, () => setDrain().run({ name, drain, draining: drain === null ? 0 : 1 }).changes === 1),
    setLabels: (name, labels, entry) => recorded(entry, () => setLabels().run({ name, labels }).changes === 1),
    list: () => list().all().map(hostOf),
    owned: () => owned().all().map(ownedByHost),
    endTerms(nowMs, after = FIRST) {
      database.write(() => {
        // Without a row it had its first term before.
        const last = Math.max(all().all()[0]?.term ?? FIRST, lastSeries().get({})?.last ?? FIRST, after);
        insert().run({ name: NOBODY, term: last + 1, sinceMs: nowMs });
        removeOthers().run({ name: NOBODY });
        disown().run();
      });
    },
  };
}
