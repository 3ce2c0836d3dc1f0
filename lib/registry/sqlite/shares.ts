/**
 * Exported bundles: a row per bundle, written with its ledger line before the first byte is sent, never changed. Knows
 * nothing of zips.
 */

import { isNumberPosition, pageOfRows, readCursor } from '../cursor.ts';
import { shareTaken } from '../registry-errors.ts';
import { type ShareStore, shareOf } from '../shares.ts';
import { type ShareColumn, shareStatements } from '../statements/shares.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** The shares in the registry's file. */
export function openShares(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<ShareStore> {
  const { insert, select } = shareStatements(database);
  const find = (values: { [K in ShareColumn]?: unknown }, limit: number) => {
    const by = (Object.keys(values) as ShareColumn[]).filter((name) => values[name] !== undefined);
    const bind = { ...values, tenants: JSON.stringify(values.tenants), limit };
    return select(by).all(bind);
  };

  return {
    add(share, entries) {
      const lines = database.write(() => {
        if (insert().run({ ...share }).changes !== 1) throw shareTaken(share.id);
        return ledger.append(entries);
      });
      ledger.announce(lines);
    },

    list({ tenant, tenants, instance }, limit, cursor) {
      const [before] = cursor === undefined ? [] : readCursor(cursor, isNumberPosition);
      const found = find({ tenants, tenant, instance, seq: before }, limit + 1);
      const { rows, next } = pageOfRows(found, limit, ({ seq }) => [seq]);
      return { rows: rows.map(shareOf), next };
    },

    find({ sha256, id, diskSha256 }, { tenants }) {
      for (const trait of [{ sha256 }, { id }, { diskSha256 }]) {
        if (Object.values(trait)[0] === null) continue;
        const [found] = find({ ...trait, tenants }, 1);
        if (found !== undefined) return shareOf(found);
      }
      return null;
    },
  };
}
