/**
 * Exported bundles: a row per bundle, written with its ledger line before the first byte is sent, never changed. Knows
 * nothing of zips.
 */
import { and, desc, eq, getTableColumns, lt, placeholder } from '../../../db/drizzle.ts';
import { shares } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ShareRow, ShareStore } from '../shares.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { inBoundList } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const { seq, ...SHARE } = getTableColumns(shares);

/** The filters of shares; `seq` selects earlier ones. */
type ShareColumn = 'tenants' | 'tenant' | 'instance' | 'seq' | 'sha256' | 'id' | 'diskSha256';

/** The shares in the registry's file. */
export function openShares(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<ShareStore> {
  const insert = database.statement((queries) =>
    queries.insert(shares).values(boundColumns(SHARE)).onConflictDoNothing({ target: shares.id }).prepare(),
  );
  /** Newest first. */
  const select = (by: readonly ShareColumn[]) =>
    database.shape(`shares: by ${by.join()}`, (queries) =>
      queries
        .select({ ...SHARE, seq })
        .from(shares)
        .where(
          and(
            ...by.map((name) => {
              if (name === 'tenants') return inBoundList(shares.tenant, 'tenants');
              return name === 'seq' ? lt(seq, placeholder('seq')) : eq(shares[name], placeholder(name));
            }),
          ),
        )
        .orderBy(desc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
  const find = (values: { [K in ShareColumn]?: unknown }, limit: number) => {
    const by = (Object.keys(values) as ShareColumn[]).filter((name) => values[name] !== undefined);
    const bind = { ...values, tenants: JSON.stringify(values.tenants), limit };
    return select(by).all(bind);
  };

  return {
    add(share, entries) {
      const lines = database.write(() => {
        if (insert().run({ ...share }).changes !== 1) throw taken(share.id);
        return ledger.append(entries);
      });
      ledger.announce(lines);
    },

    list({ tenant, tenants, instance }, limit, cursor) {
      const [before] = cursor === undefined ? [] : readCursor(cursor, isPosition);
      const found = find({ tenants, tenant, instance, seq: before }, limit + 1);
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows: rows.map(shareOf), next: found.length > limit && last ? writeCursor([last.seq]) : null };
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

/** Without its number, which is part of the cursor. */
function shareOf({ seq: _, ...share }: ShareRow & { seq: number }): ShareRow {
  return share;
}

function isPosition(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}

function taken(id: string): WinterdockError {
  return new WinterdockError('conflict', `There is a share "${id}" already.`);
}
