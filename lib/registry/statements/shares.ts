/** Statements over exported bundles. */
import { and, desc, eq, getTableColumns, lt, placeholder } from '../../../db/drizzle.ts';
import { shares } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const { seq, ...SHARE } = getTableColumns(shares);

/** The filters of shares; `seq` selects earlier ones. */
export type ShareColumn = 'tenants' | 'tenant' | 'instance' | 'seq' | 'sha256' | 'id' | 'diskSha256';

export function shareStatements(database: StatementMaker) {
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
  return {
    insert,
    select,
  };
}
