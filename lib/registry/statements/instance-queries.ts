/**
 * Statements over rows that the engine looks up for its own work: due, unsettled, with a file; and the tenant of an id.
 */
import {
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  max,
  min,
  ne,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import { instances, settings } from '../../../db/schema.ts';
import { STATES } from '../../lifecycle/state-map.ts';
import { boundValue } from './bound-values.ts';
import { INSTANCE_COLUMNS } from './instance-rows.ts';
import { IS_IN_STORE, IS_UPLOAD_DUE, inBoundList, pastPosition, selectBy, sumOfMember, unplanned } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const LIVING = STATES.filter((state) => state !== 'deleted');
const { id, tenant, stateSince } = instances;

/** Rows that are the host's that is bound as `host`, or nobody's. */
function isOwnOrFree() {
  return or(isNull(instances.ownerHost), eq(instances.ownerHost, placeholder('host')));
}

/** Only those, where a host asks. */
function whose(host: string | undefined) {
  return host === undefined ? undefined : isOwnOrFree();
}

/** What to bind for each of some tenants, or once for all of them: an index begins with at most one tenant. */
export function eachOrAll(tenants?: readonly string[]): { tenant?: string }[] {
  return tenants === undefined ? [{}] : [...new Set(tenants)].map((tenant) => ({ tenant }));
}

/** Reads beside the lists. `host`: of one host and of nobody; undefined: of all. */
export function instanceStatements(database: StatementMaker) {
  return {
    /** Due rows, of one tenant or of all, soonest first. */
    due(ofTenant: boolean, host: string | undefined) {
      const index = ofTenant ? 'instances_by_tenant_due' : 'instances_due';
      return database.shape(`due: ${index} ${host === undefined}`, (queries) =>
        selectBy(queries, { ...INSTANCE_COLUMNS, dueAt: instances.dueAt }, instances, index)
          .where(
            and(
              lte(instances.dueAt, unplanned('until', 'bigint')),
              isNotNull(instances.dueAt),
              isNull(instances.pending),
              ofTenant ? eq(tenant, unplanned('tenant', 'text')) : undefined,
              whose(host),
            ),
          )
          .orderBy(asc(instances.dueAt))
          .limit(unplanned('limit', 'bigint') as unknown as number)
          .prepare(),
      );
    },
    /** Read from an index alone, so that a known id takes as long as an unknown one. */
    tenantOf: database.statement((queries) =>
      selectBy(queries, { tenant: max(tenant) }, instances, 'instances_whose')
        .where(eq(id, placeholder('id')))
        .prepare(),
    ),
    intended: (host: string | undefined) =>
      database.shape(`due: intended ${host === undefined}`, (queries) =>
        selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_pending')
          .where(and(isNotNull(instances.pending), whose(host)))
          .prepare(),
      ),
    active: (host: string | undefined) =>
      database.shape(`due: active ${host === undefined}`, (queries) =>
        selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_by_state_updated')
          .where(and(eq(instances.state, 'active'), isNull(instances.pending), whose(host)))
          .prepare(),
      ),
    laterThan: (host: string | undefined) =>
      database.shape(`due: later ${host === undefined}`, (queries) =>
        selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_by_state_updated')
          .where(and(inArray(instances.state, LIVING), gt(instances.updated, placeholder('time')), whose(host)))
          .limit(placeholder('limit'))
          .prepare(),
      ),
    tokensOf: database.statement((queries) =>
      queries.select({ id, token: instances.ownerToken }).from(instances).where(inBoundList(id, 'ids')).prepare(),
    ),
    withFile: database.statement((queries) =>
      queries
        .select(INSTANCE_COLUMNS)
        .from(instances)
        .where(and(gt(id, placeholder('after')), ne(instances.vfsPath, ':memory:')))
        .orderBy(asc(id))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    ping: database.statement((queries) =>
      queries
        .insert(settings)
        .values({ key: 'ping', value: true, updated: boundValue('now') })
        .onConflictDoUpdate({ target: settings.key, set: { updated: boundValue('now') } })
        .prepare(),
    ),
    uploadsDue: (host: string | undefined) =>
      database.shape(`uploads: due ${host === undefined}`, (queries) =>
        selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_upload_due')
          .where(and(IS_UPLOAD_DUE, pastPosition([tenant, id], '>', ['tenant', 'id']), whose(host)))
          .orderBy(asc(tenant), asc(id))
          .limit(placeholder('limit'))
          .prepare(),
      ),
    uploadBacklog: (host: string | undefined) =>
      database.shape(`uploads: backlog ${host === undefined}`, (queries) =>
        selectBy(queries, { n: count(), since: min(stateSince) }, instances, 'instances_upload_due')
          .where(and(IS_UPLOAD_DUE, isNotNull(tenant), whose(host)))
          .prepare(),
      ),
    inStore: database.statement((queries) =>
      selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_in_store')
        .where(and(IS_IN_STORE, gt(id, placeholder('after'))))
        .orderBy(asc(id))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    countInStore: database.statement((queries) =>
      selectBy(queries, { n: count() }, instances, 'instances_in_store').where(IS_IN_STORE).prepare(),
    ),
    sizeInStore: database.statement((queries) =>
      selectBy(
        queries,
        { sandboxes: count(), bytes: sumOfMember(instances.stored, 'bytes') },
        instances,
        'instances_in_store',
      )
        .where(IS_IN_STORE)
        .prepare(),
    ),
  };
}
