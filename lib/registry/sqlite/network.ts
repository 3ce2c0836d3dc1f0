/** The network of sandboxes, in the registry's file: lists of what may be reached, and what was, by the hour. */
import { and, desc, eq, getTableColumns, gte, inArray, isNull, lt, placeholder } from '../../../db/drizzle.ts';
import { instances, networkHours, networkRules, tenantForgettings } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { NetworkStore } from '../network.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { plusBound, sumOrZero } from './raw.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

export function openNetwork(
  database: RegistryDatabase,
  ledger: LedgerTable,
  isNew: NoteWrite,
): SyncMethods<NetworkStore> {
  const statements = networkStatements(database);
  return {
    policy: (kind, id) => statements.policy().get({ kind, id }) ?? null,
    setPolicy(subject, policy, entry) {
      const lines = database.write(() => {
        const isGone = subject.kind === 'sandbox' && statements.living().get({ id: subject.id }) === undefined;
        if (isGone) throw new WinterdockError('gone', `The sandbox "${subject.id}" was deleted.`);
        statements.setPolicy().run({ ...subject, ...policy });
        return ledger.append([entry]);
      });
      ledger.announce(lines);
    },
    addTraffic(hour, traffic, writeId) {
      if (traffic.length === 0) return;
      database.writeWithoutSync(() => {
        if (!isNew(writeId)) return;
        for (const use of traffic) {
          if (statements.living().get({ id: use.instance }) === undefined) continue;
          if (statements.forgotten().get({ tenant: use.tenant }) !== undefined) continue;
          statements.add().run({ ...use, hour });
        }
      });
    },
    traffic: (instance, sinceHour, limit) => statements.traffic().all({ instance, sinceHour, limit }),
    bytesSince: (kind, id, hour) =>
      (kind === 'sandbox' ? statements.bytesOfSandbox() : statements.bytesOfTenant()).get({ id, hour })?.bytes ?? 0,
    prune: (before, limit) => database.writeWithoutSync(() => statements.prune().run({ before, limit }).changes),
  };
}

function networkStatements(database: RegistryDatabase) {
  const { kind, id, tenant, ...policy } = getTableColumns(networkRules);
  const { seq, ...added } = getTableColumns(networkHours);
  const { bytesOut, bytesIn } = networkHours;
  const bytes = { out: sumOrZero(bytesOut), in: sumOrZero(bytesIn) };
  const bytesOf = (of: typeof networkHours.tenant | typeof networkHours.instance) => {
    const statement = database.statement((queries) =>
      queries
        .select(bytes)
        .from(networkHours)
        .where(and(eq(of, placeholder('id')), gte(networkHours.hour, placeholder('hour'))))
        .prepare(),
    );
    return () => ({
      get(values: { id: string; hour: number }) {
        const found = statement().get(values);
        return found === undefined ? undefined : { bytes: found.out + found.in };
      },
    });
  };
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
