/**
 * Ten thousand sandboxes to look at, and trouble: names of two hundred signs and of many scripts, many labels, faults
 * of each kind, operations that were interrupted and jobs under way. Written straight into the registry: there are no
 * files behind them. For tests and pictures.
 */

import { join } from 'node:path';
import { type InstanceId, parseInstanceId } from '#lib/base/ids.ts';
import type { State } from '../lib/lifecycle/state-map.ts';
import { eachOf } from '../lib/registry/each-of.ts';
import type { Registry } from '../lib/registry/registry.ts';
import { fillRegistry, placeFilledFiles } from '../lib/registry/sqlite/testing/fill.ts';
import { entry, instance, intent, THRESHOLDS, transitionTo } from '../lib/registry/testing/fixtures.ts';
import { openTestRegistry } from '../lib/registry/testing/open-test-registry.ts';
import type { Intent, NewInstance } from '../lib/registry/types.ts';

const NAMES: readonly ((n: number) => string)[] = [
  (n) => `Nachtlauf-${'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(4)}`.slice(0, 190) + n,
  (n) =>
    `The quarterly reconciliation of everything that was shipped, returned, lost and found again, ${'and of what came after '.repeat(5)}`.slice(
      0,
      192,
    ) + n,
  (n) => `冬の港の砂場 ${n} – 氷の上で待つ`,
  (n) => `зимний причал № ${n}`,
  (n) => `مرفأ الشتاء ${n}`,
  (n) => `🧊🚢 Eisbrecher Ærø ${n}`,
];

const REASONS = {
  error: 'The process ran out of memory: it had 256 MiB and asked for more.',
  unknown: 'freeze failed 3 times: The cold drawer has no room.',
  corrupt: 'Its file failed its check: Tree 4 page 1207 cell 3: Rowid 91 out of order.',
  missing: 'its file is not where the row says',
} as const;

/**
 * Opens the registry of a data folder beside a server that may run on it, for as long as `work` takes. Nothing is
 * durable.
 */
async function within(folder: string, work: (registry: Registry) => Promise<void>): Promise<void> {
  const registry = await openTestRegistry(join(folder, 'registry.sqlite'), { thresholds: THRESHOLDS, durable: false });
  try {
    await work(registry);
  } finally {
    await registry.close();
  }
}

/** Fills a new data folder. `now` in epoch seconds: what is suspended falls due within the two hours after it. */
export async function crowd(folder: string, rows: number, now: number): Promise<void> {
  fillRegistry(join(folder, 'registry.sqlite'), rows);
  placeFilledFiles(folder);
  await within(folder, async (registry) => {
    const { rows: some } = await registry.instances.list({ sort: 'created', reverse: false, limit: 500 });
    for (const [n, row] of some.entries()) {
      const named = NAMES[n % 12];
      const labels = n % 5 === 0 ? manyLabels(n) : row.labels;
      const holdUntil = row.state === 'suspended' ? null : undefined;
      if (holdUntil === null) {
        await registry.instances.touch([
          { id: row.id, updated: now - THRESHOLDS.idleToFreezeSeconds + ((n * 37) % 7200) },
        ]);
      }
      const change = { ...(named === undefined ? {} : { name: named(n) }), labels, holdUntil };
      await registry.instances.patch(row.id, change, now, entry());
    }
    await registry.quotas.set('tenant-0', { maxSandboxes: 1200, maxBytes: 10 ** 12 }, entry());
    await registry.quotas.set('tenant-1', { maxActive: 3, maxSandboxes: 100 }, entry());
  });
}

function manyLabels(n: number): Record<string, string> {
  const pairs = Array.from({ length: 14 }, (_, at) => [
    `label-${at}`,
    at % 3 === 0 ? `value ${n} `.repeat(9) : String(n),
  ]);
  return { ...Object.fromEntries(pairs), [`a-very-long-key/${'of-many-parts'.repeat(3)}`]: 'w'.repeat(200) };
}

const IN_TROUBLE: readonly (readonly [
  state: 'suspended' | 'frozen',
  fault: keyof typeof REASONS | null,
  verb: Intent['verb'] | null,
])[] = [
  ['frozen', 'error', null],
  ['frozen', 'unknown', null],
  ['frozen', 'corrupt', null],
  ['frozen', 'missing', null],
  ['suspended', null, 'freeze'],
  ['frozen', null, 'resume'],
  ['frozen', null, 'archive'],
];

const LEADS_TO: Readonly<Partial<Record<Intent['verb'], State>>> = {
  freeze: 'frozen',
  resume: 'active',
  archive: 'archived',
};

/** One more than a page of them. */
const SHIPPED = 51;

function shareOf(id: InstanceId, tenant: string, n: number, now: number) {
  const hash = String(n).padStart(64, 'a');
  return {
    id: `${id}-share-${n}`,
    instance: id,
    tenant,
    format: 'wbundle/1',
    volumes: ['workspace'],
    privateIncluded: false,
    issuer: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    members: { 'vfs.sqlite': { sha256: hash, bytes: 4096 } },
    diskSha256: hash,
    sha256: hash,
    bytes: 5000 + n,
    created: now - SHIPPED + n,
    actor: 'key:admin',
    requestId: null,
  };
}

/** A row moved to its resting state, as the engine would have left it, but for the file. */
async function filed(registry: Registry, given: NewInstance, state: 'suspended' | 'frozen', now: number) {
  let row = await registry.instances.create(given, now, entry({ instance: given.id, tenant: given.tenant }));
  for (const to of ['active', 'suspended', ...(state === 'frozen' ? (['frozen'] as const) : [])] as const) {
    const vfsPath = to === 'frozen' ? `cold/${given.id}.sqlite` : `live/${given.id}/vfs.sqlite`;
    row = await registry.instances.commit(transitionTo(row, to, { now, vfsPath }));
  }
  return row;
}

/**
 * Makes a tenant in trouble beside a server that runs: long names and many labels, a fault of each kind, operations
 * that were interrupted, and two jobs that nobody carries on. `nowMs`: epoch milliseconds. Returns the ids of the jobs.
 */
export async function trouble(folder: string, tenant: string, nowMs: number): Promise<string[]> {
  const now = Math.floor(nowMs / 1000);
  const jobs = [0, 1].map((n) => `job-under-way-${tenant}-${n}`);
  await within(folder, async (registry) => {
    for (const [n, [state, fault, verb]] of IN_TROUBLE.entries()) {
      const given = { tenant, name: NAMES[n % NAMES.length]?.(n) ?? null, labels: manyLabels(n) };
      const row = await filed(registry, instance(`${tenant}-${n}`, given), state, now - 40 * n);
      if (fault !== null) {
        await registry.instances.setFault(
          row.id,
          { fault, reason: REASONS[fault] },
          entry({ instance: row.id, tenant }),
        );
      }
      if (verb !== null) {
        const to = LEADS_TO[verb] ?? state;
        await registry.instances.begin(row.id, intent(row, { verb, to, startedMs: nowMs - n ** 3 * 20_000 }));
      }
    }
    for (let n = 0; n < SHIPPED; n += 1)
      await registry.shares.add(shareOf(parseInstanceId(`${tenant}-0`), tenant, n, now), []);
    const chosen: number[] = [];
    for await (const { row } of eachOf(await registry.jobs.select({ filter: { tenant } }))) chosen.push(row);
    for (const [n, id] of jobs.entries()) {
      const results = chosen.slice(0, 2 + 3 * n).map((_, position) => ({
        position,
        outcome: position === 1 ? ('failed' as const) : ('done' as const),
        reason: position === 1 ? 'A call is running in the sandbox.' : null,
        timeMs: nowMs,
      }));
      const job = {
        id,
        verb: n === 0 ? ('archive' as const) : ('label' as const),
        reason: 'the season is over, and nobody has asked for any of this since the great migration',
        labels: n === 0 ? null : { season: 'over' },
        request: { filter: { tenant } },
        includeHeld: false,
        tenants: [tenant],
        actor: 'key:admin',
        via: 'console' as const,
        address: null,
        created: now - 90,
      };
      await registry.jobs.add(job, Uint32Array.from(chosen), results, entry({ tenant, type: 'job.started' }));
    }
  });
  return jobs;
}
