/** Statements over what sandboxes may reach and did reach. */
import { and, desc, eq, getTableColumns, gte, inArray, isNull, lt, placeholder } from '../../../db/drizzle.ts';
import { instances, networkHours, networkRules, tenantForgettings } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { plusBound, sumOrZero } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function networkStatements(database: StatementMaker) {
  const { kind, id, tenant, ...policy } = getTableColumns(networkRules);
  const { seq, ...added } = getTableColumns(networkHours);
  const { bytesOut, bytesIn } = networkHours;
  const bytes = { out: sumOrZero(bytesOut), in: sumOrZero(bytesIn) };
  const bytesOf = (of: typeof networkHours.tenant | typeof networkHours.instance) =>
    database.statement((queries) =>
      queries
        .select(bytes)
        .from(networkHours)
        .where(and(eq(of, placeholder('id')), gte(networkHours.hour, placeholder('hour'))))
        .prepare(),
    );
  return {
    policy: database.statement((queries) =>
      queries
        .select(policy)
        .from(networkRules)
        .where(and(eq(kind, placeholder('kind')), eq(id, placeholder('id'))))
        .prepare(),
    ),
    setPolicy: database.statement((queries) =>
      queries
        .insert(networkRules)
        .values(boundColumns({ kind, id, tenant, ...policy }))
        .onConflictDoUpdate({ target: [kind, id], set: boundColumns(policy) })
        .prepare(),
    ),
    living: database.statement((queries) =>
      queries
        .select({ id: instances.id })
        .from(instances)
        .where(and(eq(instances.id, placeholder('id')), eq(instances.tombstone, 0).inlineParams()))
        .prepare(),
    ),
    forgotten: database.statement((queries) =>
      queries
        .select({ job: tenantForgettings.job })
        .from(tenantForgettings)
        .where(and(eq(tenantForgettings.tenant, placeholder('tenant')), isNull(tenantForgettings.finished)))
        .prepare(),
    ),
    add: database.statement((queries) =>
      queries
        .insert(networkHours)
        .values(boundColumns(added))
        .onConflictDoUpdate({
          target: [networkHours.instance, networkHours.hour, networkHours.host],
          set: {
            calls: plusBound(networkHours.calls, 'calls'),
            refused: plusBound(networkHours.refused, 'refused'),
            bytesOut: plusBound(bytesOut, 'bytesOut'),
            bytesIn: plusBound(bytesIn, 'bytesIn'),
          },
        })
        .prepare(),
    ),
    traffic: database.statement((queries) =>
      queries
        .select({
          host: networkHours.host,
          calls: sumOrZero(networkHours.calls),
          refused: sumOrZero(networkHours.refused),
          bytesOut: bytes.out,
          bytesIn: bytes.in,
        })
        .from(networkHours)
        .where(
          and(eq(networkHours.instance, placeholder('instance')), gte(networkHours.hour, placeholder('sinceHour'))),
        )
        .groupBy(networkHours.host)
        .orderBy(desc(sumOrZero(networkHours.calls)), desc(sumOrZero(networkHours.refused)), networkHours.host)
        .limit(placeholder('limit'))
        .prepare(),
    ),
    bytesOfSandbox: bytesOf(networkHours.instance),
    bytesOfTenant: bytesOf(networkHours.tenant),
    prune: database.statement((queries) => {
      const old = queries
        .select({ seq })
        .from(networkHours)
        .where(lt(networkHours.hour, placeholder('before')))
        .orderBy(seq)
        .limit(placeholder('limit'));
      return queries.delete(networkHours).where(inArray(networkHours.seq, old)).prepare();
    }),
  };
}
