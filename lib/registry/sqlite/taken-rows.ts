/** Rows that are taken from a host which is dead. */
import type { InstanceStore } from '../instances.ts';
import { takenRow, wasTaken } from '../row-changes.ts';
import { hostStatements } from '../statements/hosts.ts';
import type { RegistryDatabase } from './database.ts';
import { findRow, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function takenRows(
  database: RegistryDatabase,
  ledger: LedgerTable,
): SyncMethods<Pick<InstanceStore, 'takeOver'>> {
  const { isAsSeen } = hostStatements(database);
  return {
    takeOver(taking) {
      const { row, from, ledger: entries } = taking;
      const done = database.write(() => {
        const before = findRow(database, row.id);
        if (before === null || wasTaken(before, taking)) return { row: before };
        const after = takenRow(before, taking);
        if (after === null || isAsSeen().run({ ...from, none: 0 }).changes !== 1) return { row: null };
        updateRow(database, before, after, {});
        return { row: after, lines: ledger.append(entries) };
      });
      if (done.lines !== undefined) ledger.announce(done.lines);
      return done.row;
    },
  };
}
