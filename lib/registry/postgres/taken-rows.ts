/** Rows that are taken from a host which is dead. */
import type { InstanceStore } from '../instances.ts';
import { takenRow, wasTaken } from '../row-changes.ts';
import { hostStatements } from '../statements/hosts.ts';
import type { PostgresDatabase } from './database.ts';
import { lockRow, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';

export function takenRows(database: PostgresDatabase, ledger: LedgerTable): Pick<InstanceStore, 'takeOver'> {
  const { isAsSeen } = database.with(hostStatements);
  return {
    async takeOver(taking) {
      const { row, from, ledger: entries } = taking;
      const done = await database.write(async () => {
        // The row of the host is locked until the end: it renews before this, or sees what this has done.
        const isDead = (await isAsSeen().run({ ...from, none: 0 })).changes === 1;
        const before = await lockRow(database, row.id);
        if (before === null || wasTaken(before, taking)) return { row: before };
        const after = isDead ? takenRow(before, taking) : null;
        if (after === null) return { row: null };
        await updateRow(database, before, after, {});
        return { row: after, lines: await ledger.append(entries) };
      });
      if (done.lines !== undefined) await ledger.announce(done.lines);
      return done.row;
    },
  };
}
