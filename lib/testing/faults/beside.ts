/**
 * A first engine beside the one that faults befall: over the same registry, with a folder and sandboxes of its own, and
 * work under way all the time. Says what of its rows and files was changed. It does nothing by itself meanwhile.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { FakeClock } from '../../base/clock.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { filesIn } from '../files-in.ts';
import { CALLER, CAUSE, KEPT, openHost, textIn } from './stage.ts';

/** The names of the two hosts. */
const FIRST = 'first';
export const SECOND = { WB_HOST_NAME: 'second' } as const;

const AT_REST = ['suspended', 'frozen', 'archived', 'moving'] as const;
const SANDBOXES = ['fresh', 'awake', 'busy', 'deleted', ...AT_REST] as const;
/** Marks of files that are landing, and where those are: copies still in the folder of unfinished work. */
const LANDING: Readonly<Record<string, string>> = {
  [`snapshots/${'a'.repeat(64)}.sqlite`]: 'snapshots/.staging/landing',
  [`blueprints/${'b'.repeat(64)}.sqlite`]: 'blueprints/.staging/landing',
  'live/landing/vfs.sqlite': 'live/landing/vfs.sqlite',
};
const LONG = 'sleep 590';
const LONG_MS = 595_000;
const WAITS_MS = 60_000;
/** After so long an engine may take claims over that it has not seen renewed: nobody renews those of a copy. */
const CLAIMS_LAST_MS = 25_000;

export interface Beside {
  /**
   * A sentence for each of its rows in the registry at a path, and each of its files, that is not as before.
   * `unrenewedMs`: for how long nobody can have renewed its claims there.
   */
  changes(registry: string, unrenewedMs?: number): string[];
  /** Ends its work as planned and stops it. A sentence for what did not end so. */
  end(): Promise<string[]>;
}

/**
 * Starts it in an empty folder (absolute), over the registry and with the keys of another host's folder, and fills it:
 * sandboxes in each state, one in the middle of a move, files that are landing, and a run, a job and the firing of a
 * schedule under way.
 */
export async function openBeside(folder: string, other: string): Promise<Beside> {
  // The time of the other goes on, and its own stands: nothing becomes due for it.
  const clock = new FakeClock();
  const host = await openHost(folder, clock, {
    WB_HOST_NAME: FIRST,
    WB_REGISTRY: join(other, 'registry.sqlite'),
    WB_KEYS: other,
    // Its job waits for its run.
    WB_DRAIN_MS: '600000',
  });
  const { operations, sandboxes, registry } = host;
  for (const id of SANDBOXES) {
    await operations.createInstance(CALLER, { id, tenant: 'acme' } as never);
    if (id === 'fresh') continue;
    const content = Buffer.from(KEPT.workspace);
    await sandboxes.write(id, { op: 'put', volume: 'workspace', path: vfsPath('/kept'), content }, CAUSE);
  }
  for (const id of AT_REST) await sandboxes.runPlan(id, id === 'moving' ? 'suspended' : id, CAUSE);
  await sandboxes.runPlan('deleted', 'deleted', CAUSE);
  const row = await registry.instances.get('moving');
  if (row === null) throw new Error('A sandbox that was made has no row.');
  await registry.instances.begin('moving', {
    verb: 'freeze',
    from: 'suspended',
    to: 'frozen',
    generation: row.generation,
    fromPath: row.vfsPath,
    toPath: 'cold/moving.sqlite',
    startedMs: clock.now(),
    ...CAUSE,
  });
  for (const [mark, path] of Object.entries(LANDING)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'it is landing');
    await registry.copies.markUnclaimed(mark);
  }
  for (const id of AT_REST)
    await operations.createSchedule(CALLER, id, { cron: '0 1 * * *', command: 'true' } as never);
  const run = await operations.startRun(CALLER, 'busy', { command: LONG, timeout_ms: LONG_MS });
  await until('the run has begun', async () => (await operations.getRun(CALLER, 'busy', run.id)).state === 'running');
  const job = await operations.startJob(CALLER, { verb: 'freeze', ids: ['busy'], dry_run: false } as never);
  if (!('id' in job)) throw new Error('A job that is no trial has an id.');
  const firing = { cron: '0 1 1 1 *', command: LONG, timeout_ms: LONG_MS };
  const schedule = await operations.createSchedule(CALLER, 'awake', firing as never);
  await operations.runSchedule(CALLER, 'awake', schedule.id);
  await until('its claims are there', async () => {
    const kinds = (await registry.claims.list()).filter((claim) => claim.host === FIRST).map(({ kind }) => kind);
    return ['firing', 'job'].every((kind) => kinds.includes(kind as never));
  });
  const path = join(other, 'registry.sqlite');
  const now = (registryPath: string) => ({ ...rowsIn(registryPath, job.id), ...filesOf(folder) });
  // Its checks in the background, and the begin of calls, are recorded a little later.
  for (const id of ['suspended', 'frozen', 'moving']) {
    await until(`${id} was checked`, async () => (await registry.instances.get(id))?.file?.quickCheck === 'ok');
  }
  let before = now(path);
  await until('nothing of it changes', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const last = before;
    before = now(path);
    return differences(last, before).length === 0;
  });
  return {
    changes(registryPath, unrenewedMs = 0) {
      const found = differences(before, now(registryPath));
      return unrenewedMs < CLAIMS_LAST_MS ? found : found.filter((sentence) => !sentence.startsWith('claims '));
    },
    async end() {
      const found: string[] = [];
      const awake = await textIn(host, 'awake', 'workspace');
      if (awake !== KEPT.workspace) found.push(`its awake sandbox has ${JSON.stringify(awake)}`);
      await operations.stopRun(CALLER, 'busy', run.id);
      await until('its job ends', async () => (await operations.getJob(CALLER, job.id)).state !== 'running');
      const { done } = await operations.getJob(CALLER, job.id);
      if (done !== 1) found.push('its job was not done');
      await sandboxes.runPlan('awake', 'suspended', CAUSE, { force: true });
      await host.stop();
      return found.map((sentence) => `the first host: ${sentence}`);
    },
  };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WAITS_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`The first host: it was not so in a minute that ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

type Things = Readonly<Record<string, string>>;

function differences(before: Things, after: Things): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => before[key] !== after[key])
    .map((key) => `${key} of the first host was ${before[key] ?? 'not there'}, and is ${after[key] ?? 'gone'}`);
}

/** Every row, of any table, that is about one of its sandboxes, its job or its marks, or that has its name. */
function rowsIn(path: string, job: string): Record<string, string> {
  const client = new Database(path, { readonly: true });
  try {
    const list = (values: readonly string[]) => values.map((value) => `'${value}'`).join();
    const seq = `(SELECT seq FROM jobs WHERE id = '${job}')`;
    const ids = list(SANDBOXES);
    const schedules = `(SELECT id FROM schedules WHERE instance IN (${ids}))`;
    const about: Record<string, string> = {
      'instances.id': `IN (${ids})`,
      'hosts.name': `= '${FIRST}'`,
      'jobs.id': `= '${job}'`,
      'job_pages.job': `= ${seq}`,
      'job_results.job': `= ${seq}`,
      'schedule_runs.schedule': `IN ${schedules}`,
      'unclaimed_files.path': `IN (${list(Object.keys(LANDING))})`,
    };
    const found: Record<string, string> = {};
    const tables = client
      .prepare<[], { name: string; column: string }>(
        `SELECT t.name, c.name AS column FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'
           ORDER BY t.name, c.cid`,
      )
      .all();
    for (const [table, columns] of Map.groupBy(tables, ({ name }) => name)) {
      const conditions = columns.flatMap(({ column }) => {
        const own = about[`${table}.${column}`];
        if (own !== undefined) return [`"${column}" ${own}`];
        if (column === 'instance') return [`"${column}" IN (${ids})`];
        return column === 'owner_host' || (column === 'host' && table === 'claims') ? [`"${column}" = '${FIRST}'`] : [];
      });
      if (conditions.length === 0) continue;
      const rows = client.prepare<[], Record<string, unknown>>(
        `SELECT * FROM "${table}" WHERE ${conditions.join(' OR ')}`,
      );
      // It renews its claims itself.
      const texts = rows.all().map(({ renewals, expires_ms, ...row }) => JSON.stringify(row));
      for (const text of texts) found[`${table} ${text}`] = 'there';
    }
    return found;
  } finally {
    client.close();
  }
}

/** Every file of a host's folder with its size and hash, without the indexes of logs, which readers write. */
function filesOf(folder: string): Record<string, string> {
  const names = filesIn(folder).filter((name) => !name.endsWith('-shm'));
  return Object.fromEntries(
    names.map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [`the file ${name}`, `${bytes.byteLength} bytes, ${hash('sha256', bytes)}`];
    }),
  );
}
