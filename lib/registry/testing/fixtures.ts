/** Rows and drivers for the tests of a registry. */
import type { State } from '../../lifecycle/state-map.ts';
import type { Plain, PlainIds } from '../../testing/plain-ids.ts';
import type { Transition } from '../instances.ts';
import type { Registry } from '../registry.ts';
import type { FileRecord, InstanceRow, Intent, LedgerEntry, NewInstance, Thresholds } from '../types.ts';

/** Epoch seconds at which tests begin. */
export const START = 1_765_500_000;

export const THRESHOLDS: Thresholds = {
  hotToWarmSeconds: 30,
  idleToSuspendSeconds: 900,
  idleToFreezeSeconds: 86_400,
};

/** The record of a filed file. Its inode does not fit a double. */
export const FILE: FileRecord = {
  size: 4096,
  inode: '9007199254740993',
  mtimeNs: '1765500000123456789',
  ctimeNs: '1765500000123456790',
  sha256: null,
  quickCheck: null,
};

/** One driver: how the suite opens a registry, a second connection to the same data, and how it cleans up. */
export interface RegistryUnderTest {
  /** A new and empty registry. */
  open(): Promise<PlainIds<Registry>>;
  /** Another connection to the registry that `open` returned last; `thresholds` as of another start. */
  again(thresholds?: Thresholds): Promise<PlainIds<Registry>>;
  discard(): Promise<void>;
}

export function entry(over: Partial<Plain<LedgerEntry>> = {}): LedgerEntry {
  return {
    timeMs: START * 1000,
    instance: null,
    tenant: null,
    type: 'test.line',
    from: null,
    to: null,
    trigger: 'request',
    actor: 'key:test',
    via: 'api',
    source: null,
    tookMs: null,
    reason: null,
    error: null,
    requestId: null,
    address: null,
    ...over,
  } as LedgerEntry;
}

/** Stores the first version of a workbook that declares `schedules`. */
export async function storeWorkbook(registry: Registry, tenant: string, id: string, schedules = 0): Promise<void> {
  await registry.workbooks.put(
    {
      tenant,
      id,
      title: null,
      hash: `hash of ${id}`,
      bytes: 1,
      components: 1,
      problems: 0,
      source: '*',
      plan: '{"worlds":[]}',
      problemList: '[]',
      builder: 1,
      schedules,
      now: START,
      actor: 'key:test',
    },
    { keep: 9, most: 9 },
    entry({ type: 'workbook.put', tenant }),
  );
}

export function instance(id: string, over: Partial<Plain<NewInstance>> = {}): NewInstance {
  return {
    id,
    tenant: 'acme',
    name: null,
    vfsPath: null,
    ephemeral: false,
    policy: 'posix',
    keepHot: false,
    hotToWarmSeconds: null,
    idleToSuspendSeconds: null,
    idleToFreezeSeconds: null,
    labels: {},
    workbook: null,
    lineageBlueprint: null,
    lineageSnapshot: null,
    lineageParent: null,
    ...over,
  } as NewInstance;
}

export function transitionTo(
  row: Pick<Plain<InstanceRow>, 'id' | 'tenant' | 'state' | 'generation' | 'updated'>,
  to: State,
  over: Partial<Transition> = {},
): Transition {
  return {
    id: row.id,
    from: row.state,
    to,
    generation: row.generation,
    vfsPath: to === 'deleted' ? null : `${to}/${row.id}`,
    file: null,
    now: row.updated,
    ledger: [entry({ instance: row.id, tenant: row.tenant, type: 'transition', from: row.state, to })],
    ...over,
  } as Transition;
}

export function intent(row: InstanceRow, over: Partial<Intent> = {}): Intent {
  return {
    verb: 'resume',
    from: row.state,
    to: 'active',
    generation: row.generation,
    fromPath: row.vfsPath,
    toPath: `live/${row.id}/vfs.sqlite`,
    startedMs: START * 1000,
    trigger: 'request',
    actor: 'key:test',
    via: 'api',
    reason: null,
    requestId: 'req-1',
    ...over,
  };
}

/** The hops to each state from `created`. */
const PATH_TO: Readonly<Record<State, readonly State[]>> = {
  created: [],
  active: ['active'],
  suspended: ['active', 'suspended'],
  frozen: ['active', 'suspended', 'frozen'],
  archived: ['active', 'archived'],
  deleted: ['active', 'archived', 'deleted'],
};

/** Creates an instance and moves it to `state`, everything at `now`. */
export async function makeInstance(
  registry: Registry,
  id: string,
  state: State = 'created',
  over: Partial<Plain<NewInstance>> = {},
  now: number = START,
): Promise<InstanceRow> {
  let row = await registry.instances.create(instance(id, over), now, entry({ instance: id, type: 'instance.created' }));
  for (const next of PATH_TO[state]) row = await registry.instances.commit(transitionTo(row, next, { now }));
  return row;
}

/** Every row of a registry, tombstones included, by the lists. */
export async function everyRow(registry: Registry): Promise<InstanceRow[]> {
  const rows: InstanceRow[] = [];
  for (const filter of [{}, { state: 'deleted' as const }]) {
    let cursor: string | undefined;
    do {
      const page = await registry.instances.list({ ...filter, sort: 'created', reverse: false, limit: 500, cursor });
      rows.push(...page.rows);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }
  return rows;
}

/** Text that has broken SQL elsewhere. */
export const HOSTILE = [
  "'; DROP TABLE instances; --",
  '" OR "1"="1',
  "Robert'); DELETE FROM events;--",
  '%_\\*?[a-z]',
  'a\u0000b',
  '\u{1F9CA} ice \u202E reversed',
  '$.x"] OR 1=1',
  'words NEAR/2 "x" AND NOT (y:*)',
  '__proto__',
  '',
];
