/** Compares the counts that triggers keep with the counted rows, and recomputes them. */
import { recountStatements } from '../statements/recount.ts';
import type { StatementMaker } from '../statements/statements.ts';
import type { LedgerEntry, LedgerLine } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

/** The names of the tables whose counts differ from the rows. */
export function wrongCounts(database: Pick<StatementMaker, 'statement'>): string[] {
  return wrongIn(database).map(({ name }) => name);
}

function wrongIn(database: Pick<StatementMaker, 'statement'>) {
  return recountStatements(database).filter(
    ({ tooMany, tooFew }) => tooMany().get() !== undefined || tooFew().get() !== undefined,
  );
}

/** Recomputes wrong counts from the rows, in one transaction with its ledger line. Returns the names of the tables. */
export function recount(database: RegistryDatabase, ledger: LedgerTable, entry: LedgerEntry): string[] {
  let lines: LedgerLine[] = [];
  const tables = database.write(() => {
    const wrong = wrongIn(database);
    for (const { empty, fill } of wrong) {
      empty().run();
      fill().run();
    }
    const names = wrong.map(({ name }) => name);
    if (names.length > 0) lines = ledger.append([{ ...entry, reason: names.join(', ') }]);
    return names;
  });
  ledger.announce(lines);
  return tables;
}
