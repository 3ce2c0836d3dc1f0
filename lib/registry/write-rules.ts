/**
 * What each method of the registry is when its answer does not come: a read; a write that may happen twice, and why; or
 * one that happens once, and what it answers when it had happened. A method without a rule does not compile.
 */

import { answerLost } from './lost-answer.ts';
import type { PeopleCondition, PeopleRecord } from './people.ts';
import { NO_QUOTAS } from './quotas.ts';
import type { Registry } from './registry.ts';

/** The parts of a registry that have methods. */
export type StoreName = Exclude<keyof Registry, 'commitEvents' | 'carrying' | 'close'>;

type WriteRule<M> = M extends (...args: infer A) => Promise<infer R>
  ?
      | 'read'
      /** It has an id or a compare of its own: lib/registry/with-answers.ts. */
      | 'own'
      /** Why it may be made again. `differs`: its answer is then that of the last attempt. */
      | { again: string; differs?: true }
      /** It carries an id. What it answers when an earlier attempt had made it; with what was `read` before. */
      | { answer: (registry: Registry, args: A) => Promise<R> | R; differs?: true }
  : never;

export type WriteRules = { [S in StoreName]: { [M in keyof Registry[S]]-?: WriteRule<Registry[S][M]> } };

const SETS = { again: 'it sets the same values again' };
const REMOVES = { again: 'it removes what is left', differs: true } as const;
const COMPARES = { again: 'it leaves out what has changed since', differs: true } as const;
const nothing = { answer: () => undefined };
const yes = { answer: () => true };

/** Methods that change nothing. */
function reads<M extends string>(...methods: M[]): Record<M, 'read'> {
  return Object.fromEntries(methods.map((method) => [method, 'read'])) as Record<M, 'read'>;
}

/** A row that this write has made or changed. */
async function there<T>(row: Promise<T | null>): Promise<T> {
  const found = await row;
  // It was removed since: what became of it is for the caller to look up.
  if (found === null) throw answerLost();
  return found;
}

export const WRITE_RULES: WriteRules = {
  instances: {
    create: 'own',
    begin: 'own',
    commit: 'own',
    abandon: 'own',
    recordStored: { again: 'its name is written once, and tells whether this one happened' },
    recordBrought: { again: 'it compares the generation, and records the same' },
    takeOver: { again: 'it finds what it has taken', differs: true },
    patch: { answer: (registry, [id]) => registry.instances.get(id) },
    relabel: { answer: () => 'changed' },
    setFault: yes,
    adopt: { answer: (registry, [{ id }]) => there(registry.instances.get(id)) },
    recordCheck: { again: 'it compares the generation, and records the same' },
    touch: { again: 'times never go backwards, and the sizes are the same' },
    clampUpdated: { again: 'it sets back what is still ahead', differs: true },
    ...reads(
      'tenantOf',
      'get',
      'list',
      'count',
      'total',
      'countsByState',
      'countsByFault',
      'tenants',
      'due',
      'dueUntil',
      'dueCounts',
      'unsettled',
      'withFile',
      'stillHeld',
      'uploadsDue',
      'uploadBacklog',
      'countInStore',
      'sizeInStore',
      'inStore',
    ),
  },
  ledger: {
    append: 'own',
    appendRepeatCounts: { again: 'what was written is not counted any more' },
    ...reads(
      'page',
      'after',
      'ofTenants',
      'lastSeq',
      'chain',
      'view',
      'head',
      'acknowledged',
      'transitions',
      'linesBetween',
      'countBetween',
      'lastHopBefore',
    ),
  },
  segments: {
    seal: nothing,
    markExported: { again: 'the first time stays' },
    markDropped: nothing,
    deleteDropped: REMOVES,
    ...reads('list', 'get', 'firstSince'),
  },
  jobs: {
    add: { answer: (registry, [job]) => there(registry.jobs.get(job.id)) },
    record: { again: 'an instance that has a result keeps it, and is counted once' },
    end: yes,
    deleteEndedBefore: REMOVES,
    ...reads('select', 'get', 'tenantsOf', 'list', 'running', 'open', 'results'),
  },
  schedules: {
    add: { answer: (registry, [{ id }]) => there(registry.schedules.get(id)) },
    change: { answer: (registry, [{ id }]) => registry.schedules.get(id) },
    remove: yes,
    synchronise: nothing,
    markSynchronised: { again: 'it compares what it is docked to' },
    arm: yes,
    beginRun: yes,
    endRun: { answer: () => 'ended' },
    passOver: yes,
    ...reads(
      'get',
      'getOf',
      'list',
      'usedBy',
      'declared',
      'unsynchronised',
      'due',
      'earliest',
      'armed',
      'interrupted',
      'failing',
      'getRun',
      'runs',
      'counts',
    ),
  },
  webhooks: {
    add: { answer: (registry, [{ id }]) => there(registry.webhooks.get(id)) },
    change: { answer: (registry, [id]) => registry.webhooks.get(id) },
    reseal: COMPARES,
    remove: yes,
    plan: {
      // Only one host plans for a webhook: a cursor at the end of its step is there by this write.
      async answer(registry, [steps]) {
        const cursors = new Map((await registry.webhooks.list()).map(({ id, cursor }) => [id, cursor]));
        return steps.filter(({ webhook, to }) => (cursors.get(webhook) ?? 0) >= to);
      },
    },
    recordAttempt: nothing,
    hasten: SETS,
    hastenAhead: SETS,
    addTest: { answer: (registry, [{ id }]) => there(registry.webhooks.getDelivery(id)) },
    resend: { answer: (registry, [id]) => registry.webhooks.getDelivery(id) },
    ...reads('get', 'tenantOf', 'list', 'pending', 'due', 'earliest', 'getDelivery', 'deliveries'),
  },
  network: {
    setPolicy: nothing,
    addTraffic: 'own',
    prune: REMOVES,
    ...reads('policy', 'traffic', 'bytesSince'),
  },
  runs: {
    add: { answer: (registry, [{ instance, id }]) => there(registry.runs.get(instance, id)) },
    begun: SETS,
    end: nothing,
    ...reads('get', 'list', 'underWay'),
  },
  environments: {
    change: { answer: (registry, [{ kind, owner }]) => there(registry.environments.get(kind, owner)) },
    want: { again: 'names that are there stay as they are' },
    ...reads('get', 'of'),
  },
  secrets: {
    put: {
      async answer(registry, [{ tenant, instance, name }, { now }]) {
        const rows = await registry.secrets.list(tenant, instance);
        const row = rows.find((one) => one.name === name);
        if (row === undefined) throw answerLost();
        return { row, created: row.created === now };
      },
      // In the second in which it was made.
      differs: true,
    },
    remove: yes,
    reseal: COMPARES,
    used: SETS,
    ...reads('list', 'usable', 'all'),
  },
  keys: {
    add: { answer: (registry, [{ id }]) => there(registry.keys.get(id)) },
    revoke: yes,
    recordUse: { again: 'times never go backwards' },
    ...reads('get', 'list'),
  },
  invitations: {
    add: nothing,
    use: yes,
    release: nothing,
    withdraw: yes,
    withdrawAllOf: REMOVES,
    ...reads('find', 'stateOf', 'list'),
  },
  people: {
    create: { answer: (registry, [kind, record]) => there(registry.people.find(kind, only(record))) },
    change: { answer: (registry, [kind, where, patch]) => registry.people.find(kind, after(where, patch)) },
    changeAll: { again: 'it sets the same values again', differs: true },
    take: 'own',
    removeAll: REMOVES,
    ...reads('find', 'findAll', 'count'),
  },
  agents: {
    add: nothing,
    change: { answer: (registry, [key]) => registry.agents.get(key) },
    remove: yes,
    ...reads('get', 'list', 'unfinished'),
  },
  copies: {
    addSnapshot: nothing,
    deleteSnapshot: yes,
    addBlueprint: nothing,
    deleteBlueprint: yes,
    seed: {
      answer: (registry, [, instances, , , { atOnce = instances.length } = {}]) =>
        Promise.all(instances.slice(0, atOnce).map(({ id }) => there(registry.instances.get(id)))),
    },
    continueSeeding: 'own',
    removePendingStart: nothing,
    markUnclaimed: SETS,
    updateFileRecord: SETS,
    clearUnclaimed: REMOVES,
    ...reads(
      'snapshotTenant',
      'snapshot',
      'snapshotsOf',
      'namedMoments',
      'snapshots',
      'blueprint',
      'blueprints',
      'blueprintsOf',
      'unfinishedSeedings',
      'nextOfSeeding',
      'pendingStarts',
      'descendants',
      'countDescendants',
      'unclaimedFiles',
      'isNeeded',
    ),
  },
  shares: { add: nothing, list: 'read', find: 'read' },
  quotas: {
    set: { answer: async (registry, [tenant]) => (await registry.quotas.tenant(tenant))?.quotas ?? NO_QUOTAS },
    setReplicate: { answer: (registry, [tenant]) => registry.quotas.replicateOf(tenant) },
    reserve: nothing,
    ...reads(
      'tenants',
      'tenant',
      'replicateOf',
      'replicated',
      'limited',
      'maxRunSeconds',
      'maxCallSeconds',
      'bytesLeft',
    ),
  },
  tenantForgettings: {
    begin: nothing,
    removeAccess: REMOVES,
    removeJobs: REMOVES,
    emptyTombstones: REMOVES,
    removeRecords: REMOVES,
    blank: SETS,
    finish: nothing,
    ...reads(
      'open',
      'last',
      'requireNone',
      'holdings',
      'people',
      'living',
      'runningJobs',
      'snapshots',
      'blueprints',
      'ownersOfCopy',
      'toBlank',
      'notes',
    ),
  },
  thresholds: {
    setGlobal: { answer: (registry) => registry.thresholds.global() },
    setOfTenant: { answer: (registry, [tenant]) => registry.thresholds.ofTenant(tenant) },
    ...reads('ofTenant', 'global', 'compare'),
  },
  facts: { write: 'own', read: 'read' },
  wakeTimes: { add: 'own', deleteBefore: REMOVES, since: 'read' },
  cpuUse: { deleteBefore: REMOVES, of: 'read', limited: 'read' },
  usage: {
    add: 'own',
    countLedger: { again: 'each line is counted once, with the position of the last one' },
    prune: REMOVES,
    ...reads('ofSandbox', 'ofTenant', 'sizes'),
  },
  workbooks: {
    put: {
      async answer(registry, [{ tenant, id }]) {
        const row = await there(registry.workbooks.get(tenant, id));
        return { row, stored: true, created: row.version === 1 };
      },
    },
    rebuild: { again: 'a plan that is as new stays' },
    remove: yes,
    ...reads('get', 'ofId', 'ofHash', 'list', 'version', 'planOf', 'versions'),
  },
  claims: {
    acquire: 'own',
    renew: { again: 'it compares the token; one renewal more is none too many', differs: true },
    release: REMOVES,
    revoke: nothing,
    removeFormer: { again: 'only before this process has acquired any' },
    list: 'read',
  },
  storeNames: {
    begin: nothing,
    supersede: { again: 'those that are marked stay as they are' },
    clampSuperseded: { again: 'what was set back is not later than now', differs: true },
    finishCopy: yes,
    supersedeCopy: { again: 'those that are marked stay as they are' },
    ...reads('copyName', 'copiesToStore'),
    remove: REMOVES,
    ...reads('get', 'begunUploads', 'superseded', 'ofInstance', 'ofTenant', 'page'),
  },
  backups: {
    ask: { answer: (registry, [{ id }]) => registry.backups.get(id) },
    begin: yes,
    progress: SETS,
    made: yes,
    failed: yes,
    tried: nothing,
    removed: nothing,
    forget: REMOVES,
    ...reads('get', 'list', 'open'),
  },
  hosts: {
    begin: { again: 'a host that is known keeps its term' },
    describe: SETS,
    renew: { again: 'one more renewal tells the same' },
    giveBack: REMOVES,
    // Only what was done is written down.
    setDrain: { answer: () => true },
    setLabels: { answer: () => true },
    endTerms: nothing,
    list: 'read',
    owned: 'read',
  },
  maintenance: {
    ping: SETS,
    recount: { again: 'what was made right stays so', differs: true },
    ...reads('sizes', 'keptRows'),
  },
  storage: {
    checkpoint: SETS,
    compact: SETS,
    emptyLog: SETS,
    removeKeptCopies: REMOVES,
    ...reads('status', 'check', 'upgrade', 'keptCopies'),
  },
  writes: reads('happened', 'rowMadeBy'),
};

const equals = (field: string, value: PeopleCondition['value']): PeopleCondition => ({
  field,
  operator: 'eq',
  value,
  connector: 'and',
});

/** Finds the record itself. */
function only(record: PeopleRecord): PeopleCondition[] {
  return record.id === undefined
    ? Object.entries(record).map(([field, value]) => equals(field, value))
    : [equals('id', record.id)];
}

/** Finds the record that matched these conditions before the patch. */
function after(where: readonly PeopleCondition[], patch: PeopleRecord): PeopleCondition[] {
  return where.map((one) => {
    const value = patch[one.field];
    return value === undefined || one.connector === 'or' ? one : equals(one.field, value);
  });
}
