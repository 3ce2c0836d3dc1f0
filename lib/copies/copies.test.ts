import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { InstanceId } from '../base/ids.ts';
import type { Instance, Snapshot } from '../contract/schema.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import { stampOf } from '../storage/files.ts';
import { filesIn, namesIn } from '../testing/files-in.ts';
import { processesOf } from '../testing/leftovers.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { COPY_STEPS } from './copies.ts';

const VICTIM = join(import.meta.dirname, '../testing/copies-victim.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-copies-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const copiesIn = () => filesIn(folder).filter((path) => /^(snapshots|blueprints|staging)\//.test(path));
const get = (server: TestServer, id: string, path: string) =>
  server.call('GET', `/api/instances/${id}/volumes/workspace${path}`).then((got) => got.text);

/**
 * A sandbox with a snapshot of what it held before its last write, which `clone` was made from and never resumed; then
 * what `before` does.
 */
async function prepare(before: (server: TestServer) => Promise<void> = async () => undefined): Promise<Snapshot> {
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  await server.call('POST', '/api/instances', { id: 'origin', tenant: 'acme' });
  await server.call('PUT', '/api/instances/origin/volumes/workspace/kept', 'the first work');
  const { json: snapshot } = await server.call<Snapshot>('POST', '/api/instances/origin/snapshots', {});
  await server.call('PUT', '/api/instances/origin/volumes/workspace/kept', 'the second work');
  const { registry } = server.host;
  const [row] = await registry.copies.seed(
    { snapshot: snapshot.id },
    [
      {
        id: 'clone',
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
        lineageSnapshot: snapshot.id,
        lineageParent: 'origin',
      },
    ],
    server.clock.now() / 1000,
    [],
  );
  expect(row?.state).toBe('created');
  await before(server);
  await server.stop();
  return snapshot;
}

function kill(operation: string, step: string): string {
  const victim = spawnSync(process.execPath, ['--no-warnings', programOf(VICTIM), folder, operation, step], {
    encoding: 'utf8',
  });
  expect(victim.signal, `${victim.stdout}${victim.stderr}`).toBe('SIGKILL');
  return victim.stdout;
}

const SCENARIOS: { operation: string; steps: string[]; before?: (server: TestServer) => Promise<void> }[] = [
  { operation: 'snapshot', steps: ['copy.staged', 'copy.marked', 'copy.put', 'copy.claimed'] },
  { operation: 'blueprint', steps: ['copy.staged', 'copy.marked', 'copy.put', 'copy.claimed'] },
  {
    operation: 'delete',
    steps: ['copy.unclaimed', 'copy.removed'],
    before: async (server) => {
      await server.call('POST', '/api/instances/clone/resume');
    },
  },
  {
    operation: 'resume',
    steps: ['resume.intent', 'resume.brought', 'resume.opened', 'resume.committed', 'copy.unclaimed', 'copy.removed'],
    before: async (server) => {
      const [snapshot] = (await server.call<Snapshot[]>('GET', '/api/snapshots')).json;
      expect((await server.call('DELETE', `/api/snapshots/${snapshot?.id}`)).status).toBe(204);
    },
  },
];

test('every step of keeping and removing a file is killed at by some scenario', () => {
  expect(new Set(SCENARIOS.flatMap(({ steps }) => steps.filter((step) => step.startsWith('copy.'))))).toEqual(
    new Set(COPY_STEPS),
  );
});

for (const { operation, steps, before } of SCENARIOS) {
  const deleted = operation === 'delete' || operation === 'resume';
  describe(`a server killed during ${operation}`, () => {
    test.each(steps)('loses nothing and leaves no file behind at the step "%s"', async (step) => {
      const snapshot = await prepare(before);
      kill(operation, step);
      await expect.poll(() => processesOf(folder)).toEqual([]);

      const server = await startServer({ folder, settings: { WB_POOL: '0' } });
      const { registry } = server.host;
      const kept = (await server.call<Snapshot[]>('GET', '/api/snapshots')).json;
      const blueprints = (await server.call<{ name: string; hash: string }[]>('GET', '/api/blueprints')).json;
      const clone = (await server.call<Instance>('GET', '/api/instances/clone')).json;
      const second = operation === 'snapshot' && step === 'copy.claimed';
      // The clock stood still: which of two came first is not said.
      expect(new Set(kept.map(({ tag }) => tag))).toEqual(
        new Set([...(deleted ? [] : [null]), ...(second ? ['second'] : [])]),
      );
      expect(blueprints.length).toBe(operation === 'blueprint' && step === 'copy.claimed' ? 1 : 0);

      const needed = [
        ...kept.map(({ hash }) => `snapshots/${hash.slice(7)}.sqlite`),
        ...blueprints.map(({ hash }) => `blueprints/${hash.slice(7)}.sqlite`),
        ...(clone.state === 'created' ? [`snapshots/${snapshot.hash.slice(7)}.sqlite`] : []),
      ];
      expect(copiesIn()).toEqual([...new Set(needed)].sort());
      expect(filesIn(folder).filter((path) => path.startsWith('orphans/'))).toEqual([]);
      for (const path of await registry.copies.unclaimedFiles()) expect(needed).toContain(path);

      expect(await get(server, 'origin', '/kept')).toBe('the second work');
      expect(await get(server, 'clone', '/kept')).toBe('the first work');
      await server.call('POST', '/api/instances/clone/resume');
      expect(await get(server, 'clone', '/kept')).toBe('the first work');
      if (deleted) await expect.poll(copiesIn).toEqual([]);
      await server.stop();
    });
  });
}

test('pending resumes of a killed server are done by the next one', async () => {
  await prepare();
  expect(kill('start', 'resume.committed')).toBe('answered\n');
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  const ends = async () => (await server.call<{ reason: string }[]>('GET', '/api/events?type=start.done')).json;
  await expect.poll(async () => (await ends()).map(({ reason }) => reason.slice(0, 14))).toEqual(['6 of 6 started']);
  const made = (await server.call<Instance[]>('GET', '/api/instances?q=started')).json;
  // The one that was starting when the server was killed, and any that was running, sleep like all that run then.
  expect(made.map(({ state }) => state).filter((state) => state !== 'active' && state !== 'suspended')).toEqual([]);
  expect(made.filter(({ state }) => state === 'active').length).toBeGreaterThanOrEqual(2);
  for (const { id } of made) expect(await get(server, id, '/kept')).toBe('the first work');
  expect(await server.host.registry.copies.pendingStarts()).toEqual([]);
  await server.stop();
});

test('a stop during resumes pauses them, loses none, and the ledger records the pause and the continuation', async () => {
  const snapshot = await prepare();
  let stopped: Promise<void> | null = null;
  const first = await startServer({
    folder,
    settings: { WB_POOL: '0' },
    failpoint: (step) => {
      if (step === 'resume.opened') stopped ??= first.stop();
    },
  });
  const restored = await first.call('POST', `/api/snapshots/${snapshot.id}/restore`, {
    count: 6,
    name: 'many',
    start: true,
  });
  expect(restored.status).toBe(201);
  await expect.poll(() => stopped).not.toBeNull();
  await stopped;

  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  const linesSoFar = async () => {
    const { json } = await server.call<{ type: string; reason: string | null }[]>('GET', '/api/events?limit=200');
    return json.filter(({ type }) => /^(start\.(?!progress)|fault)/.test(type)).reverse();
  };
  await expect.poll(async () => (await linesSoFar()).at(-1)?.type).toBe('start.done');
  expect(await linesSoFar()).toMatchObject([
    { type: 'start.paused', reason: expect.stringMatching(/^[1-5] of 6 started from .*; the server stops/) },
    { type: 'start.resumed', reason: expect.stringMatching(/^going on with 6 /) },
    { type: 'start.done', reason: expect.stringMatching(/^6 of 6 started /) },
  ]);
  await server.stop();
});

test('a clone that is deleted without ever having been resumed lets go of its file', async () => {
  const snapshot = await prepare();
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  const refused = await server.call('DELETE', '/api/instances/clone');
  expect([refused.status, refused.json.hint]).toEqual([
    409,
    'Only an archived sandbox can be deleted. A plan gets there in steps: active, archived, deleted.',
  ]);
  await server.call('DELETE', `/api/snapshots/${snapshot.id}`);
  expect(copiesIn()).toHaveLength(1);
  const cause = {
    trigger: 'request',
    actor: 'key:test',
    via: 'api',
    requestId: null,
    reason: null,
    address: null,
  } as const;
  await server.host.sandboxes.runPlan('clone', 'deleted', cause);
  await expect.poll(copiesIn).toEqual([]);
  expect(existsSync(join(folder, 'live', 'clone'))).toBe(false);
  await server.stop();
});

test('a copy that was filed without a process is known again in a copied folder, in the middle of its first resume', async () => {
  await prepare();
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  const cause = { trigger: 'request', actor: 'key:test', via: 'api', requestId: null, reason: null, address: null };
  await server.host.sandboxes.runPlan('clone', 'frozen', cause as AuditContext);
  const filed = async () => (await server.host.registry.instances.get('clone'))?.file;
  await expect.poll(async () => (await filed())?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect((await filed())?.identity).toMatch(/^[0-9a-f]{32}$/);
  await server.stop();
  kill('resume', 'resume.opened');
  const copied = `${folder}-copied`;
  cpSync(folder, copied, { recursive: true, preserveTimestamps: true });
  rmSync(folder, { recursive: true });
  renameSync(copied, folder);
  const after = await startServer({ folder, settings: { WB_POOL: '0' } });
  const resumed = await after.call('POST', '/api/instances/clone/resume', {});
  expect(resumed.status, resumed.text).toBe(200);
  expect(await get(after, 'clone', '/kept')).toBe('the first work');
  await after.stop();
});

test('a file that no row knows is set aside and never deleted', async () => {
  const stranger = `${'e'.repeat(64)}.sqlite`;
  const before = await startServer({ folder, settings: { WB_POOL: '0' } });
  await before.call('POST', '/api/instances', { id: 'origin', tenant: 'acme' });
  await before.stop();
  writeFileSync(join(folder, 'snapshots', stranger), 'somebody’s work');
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  await expect.poll(copiesIn).toEqual([]);
  const [aside] = namesIn(join(folder, 'orphans'));
  expect(readFileSync(join(folder, 'orphans', aside ?? ''), 'utf8')).toBe('somebody’s work');
  // The line follows the file.
  const lines = async () => (await server.call<unknown[]>('GET', '/api/events?type=orphan.set_aside')).json;
  await expect.poll(lines).toHaveLength(1);
  await server.stop();
});

test('snapshots, restores, resumes and deletions at once lose no sandbox its content and leave no file', async () => {
  const server = await startServer({ folder, settings: { WB_POOL: '2' } });
  await server.call('POST', '/api/instances', { id: 'origin', tenant: 'acme' });
  await server.call('PUT', '/api/instances/origin/volumes/workspace/kept', 'the work');
  const made: string[] = [];
  const rounds = async () => {
    for (let round = 0; round < 4; round += 1) {
      const { json: snapshot } = await server.call<Snapshot>('POST', '/api/instances/origin/snapshots', {});
      const restoring = server.call<Instance[]>('POST', `/api/snapshots/${snapshot.id}/restore`, { count: 2 });
      const deleting = server.call('DELETE', `/api/snapshots/${snapshot.id}`);
      const [restored, deleted] = await Promise.all([restoring, deleting]);
      expect(deleted.status).toBe(204);
      expect([201, 404]).toContain(restored.status);
      if (restored.status === 404) continue;
      const [first, second] = restored.json.map(({ id }) => id) as [InstanceId, InstanceId];
      expect(await get(server, second, '/kept')).toBe('the work');
      expect((await server.call('POST', `/api/instances/${first}/resume`)).json.source).toBe('snapshot');
      made.push(first, second);
    }
  };
  await Promise.all([rounds(), rounds(), rounds()]);
  for (const id of made) expect(await get(server, id, '/kept')).toBe('the work');
  const waiting = (await server.call<Instance[]>('GET', '/api/instances?state=created&limit=500')).json;
  expect(copiesIn().length).toBe(waiting.length > 0 ? 1 : 0);
  for (const { id } of waiting) await server.call('POST', `/api/instances/${id}/resume`);
  await expect.poll(copiesIn).toEqual([]);
  for (const id of made) expect(await get(server, id, '/kept')).toBe('the work');
  expect(existsSync(join(folder, 'orphans')) ? namesIn(join(folder, 'orphans')) : []).toEqual([]);
  await server.stop();
});

test('a log beside a snapshot is set aside: it is restored, taken again and read as before', async () => {
  const snapshot = await prepare();
  const [name = ''] = namesIn(join(folder, 'snapshots'));
  const file = join(folder, 'snapshots', name);
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  try {
    for (const [suffix, use] of [
      ['-wal', () => get(server, 'clone', '/kept')],
      ['-journal', () => server.call('POST', `/api/snapshots/${snapshot.id}/restore`, {})],
      ['-wal', () => server.call('POST', '/api/instances/clone/snapshots', {})],
      ['-wal', () => server.call('POST', '/api/instances/clone/resume')],
    ] as const) {
      writeFileSync(file + suffix, 'not its own');
      const answer = await use();
      expect(existsSync(file + suffix), `${suffix} ${JSON.stringify(answer)}`).toBe(false);
    }
    expect(namesIn(join(folder, 'orphans'))).toHaveLength(4);
    const { json } = await server.call<Instance[]>('POST', `/api/snapshots/${snapshot.id}/restore`, {});
    expect(await get(server, json[0]?.id ?? '', '/kept')).toBe('the first work');
    expect(await get(server, 'clone', '/kept')).toBe('the first work');
  } finally {
    await server.stop();
  }
});

test('damage in a snapshot’s file under an unchanged stat does not get into its clones', async () => {
  const snapshot = await prepare();
  const [path = ''] = copiesIn();
  const file = join(folder, path);
  const bytes = readFileSync(file);
  const at = bytes.indexOf('the first work');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
  chmodSync(file, 0o400);
  const server = await startServer({ folder, settings: { WB_POOL: '0' } });
  try {
    const stamp = stampOf(file);
    if (stamp === null) throw new Error('The copy is gone.');
    const sha256 = snapshot.hash.replace('sha256:', '');
    await server.host.registry.copies.updateFileRecord(
      'snapshot',
      sha256,
      fileRecord(stamp, { sha256, quickCheck: 'ok' }),
    );
    const answer = await server.call('POST', '/api/instances/clone/resume', {});
    expect([answer.status, answer.json.code]).toEqual([409, 'corrupt']);
    expect(existsSync(join(folder, 'live', 'clone', 'vfs.sqlite'))).toBe(false);
  } finally {
    await server.stop();
  }
});
