/** Compares the counts that triggers keep with the counted rows, and recomputes them. */
import { recountStatements } from '../statements/recount.ts';
import type { LedgerEntry } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

/** Keeps writers away from the rows and their counts until the transaction ends. */
const ALONE = 'lock table instances, labels in share row exclusive mode';

/** Recomputes wrong counts from the rows, in one transaction with its ledger line. Returns the names of the tables. */
export function recount(database: PostgresDatabase, ledger: LedgerTable, entry: LedgerEntry): Promise<string[]> {
  const tables = database.with(recountStatements);
  return ledger.logged(async (append) => {
    await database.ask(ALONE);
    const names: string[] = [];
    for (const { name, tooMany, tooFew, empty, fill } of tables) {
      if ((await tooMany().get()) === undefined && (await tooFew().get()) === undefined) continue;
      await empty().run();
      await fill().run();
      names.push(name);
    }
    if (names.length > 0) await append([{ ...entry, reason: names.join(', ') }]);
    return names;
  });
}
