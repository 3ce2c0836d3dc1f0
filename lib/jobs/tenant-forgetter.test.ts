import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HostOptions } from '../host/host.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { filesWith, leaveFiles, makePeople, makeTenant, thingsOf, WORD, wordsIndexed } from './testing/tenant.ts';

const VICTIM = fileURLToPath(new URL('../testing/forget-victim.ts', import.meta.url));
const settings = { WB_POOL: '0', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0', WB_LOG: 'silent' };

let template: string;
let untouched: Awaited<ReturnType<typeof thingsOf>>;
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'winterdock-forget-'));
  const server = await startServer({ folder: template, settings });
  await makeTenant(server.call, 'acme', WORD);
  await makeTenant(server.call, 'globex', 'granite');
  await makePeople(server.host.auth, server.call, 'acme', WORD);
  await server.stop();
  leaveFiles(template, 'acme', WORD);
  untouched = await thingsOf(template, 'globex');
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** Runs `work` on a copy of the folder. */
async function onCopy(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-forget-'));
  try {
    cpSync(template, folder, { recursive: true, preserveTimestamps: true });
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function on(
  folder: string,
  failpoint: NonNullable<HostOptions['failpoint']>,
  work: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startServer({ folder, settings, failpoint });
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}
const nothing = () => {};

/** The states of the forgettings. One that goes on after a start may not be shown yet. */
const forgettings = async ({ call }: TestServer) =>
  (await call<{ verb: string; state: string }[]>('GET', '/api/jobs')).json
    .filter(({ verb }) => verb === 'forget')
    .map(({ state }) => state);

test.each(['forget:sandboxes', 'delete.removed', 'forget:files', 'forget:ledger', 'forget:compact', 'forget:finished'])(
  'killed at %s, the next start forgets the rest',
  async (step) => {
    await onCopy(async (folder) => {
      const victim = spawn(process.execPath, [programOf(VICTIM), folder, 'acme', step], { stdio: 'inherit' });
      expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
      await on(folder, nothing, async (server) => {
        await expect.poll(() => forgettings(server)).toEqual(['done']);
        expect(filesWith(folder, WORD)).toEqual([]);
        expect(await wordsIndexed(folder, WORD)).toEqual([]);
        expect((await server.call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
        const jobs = await server.call<{ verb: string; state: string; done: number; chosen: number }[]>(
          'GET',
          '/api/jobs',
        );
        const [job] = jobs.json.filter(({ verb }) => verb === 'forget');
        expect(job).toMatchObject({ state: 'done', done: job?.chosen });
        expect((await server.call('POST', '/api/instances', { id: 'again', tenant: 'acme' })).status).toBe(201);
      });
      const { files, snapshots, shares, labels } = await thingsOf(folder, 'globex');
      // A wake of the victim's registry stamps nothing of another tenant.
      expect({ files, snapshots, shares, labels }).toEqual({
        files: untouched.files,
        snapshots: untouched.snapshots,
        shares: untouched.shares,
        labels: untouched.labels,
      });
    });
  },
);

test('while a tenant is being forgotten nobody can create anything for it, and other tenants are unaffected', async () => {
  await onCopy(async (folder) => {
    await on(folder, nothing, async ({ call, host }) => {
      const { json } = await call<{ id: string; email: string }[]>('GET', '/api/people');
      const both = json.find(({ email }) => email === 'both-acme@example.com')?.id;
      // As a server that was killed right after it began.
      const actor = 'key:admin';
      await host.registry.tenantForgettings.begin(
        { job: 'job-of-it', tenant: 'acme', actor, via: 'api', started: 1_765_500_000 },
        {
          timeMs: host.clock.now(),
          instance: null,
          tenant: 'acme',
          type: 'tenant.forgetting',
          from: null,
          to: null,
          trigger: 'operator',
          actor,
          via: 'api',
          source: null,
          tookMs: null,
          reason: null,
          error: null,
          requestId: 'job-of-it',
          address: null,
        },
      );
      const refused: [string, string, object?][] = [
        ['POST', '/api/instances', { tenant: 'acme' }],
        ['POST', '/api/instances/acme-frozen/snapshots', {}],
        ['POST', '/api/blueprints', { name: 'another', from_instance: 'acme-frozen' }],
        ['POST', '/api/blueprints/granite-base/clone', { tenant: 'acme', count: 2, start: true }],
        ['POST', '/api/instances/acme-suspended/resume', {}],
        ['POST', '/api/instances/acme-suspended/exec', { command: 'true' }],
        ['POST', '/api/instances/acme-frozen/ship', {}],
        ['POST', '/api/keys', { name: 'late', role: 'tenant', tenant: 'acme' }],
        ['POST', '/api/people/invitations', { role: 'viewer', tenants: ['globex', 'acme'] }],
        ['PATCH', `/api/people/${both}`, { tenants: ['acme'] }],
        ['PATCH', '/api/tenants/acme', { max_active: 3 }],
        ['PATCH', '/api/tenants/acme', { idle_to_suspend_s: 300 }],
        ['DELETE', '/api/tenants/acme', { confirm: 'acme' }],
      ];
      for (const [method, path, body] of refused) {
        const { status, json: problem } = await call(method, path, body);
        expect([path, status, problem.code, problem.detail]).toEqual([
          path,
          409,
          'conflict',
          'The tenant "acme" is being forgotten: nothing is made for it meanwhile.',
        ]);
      }
      expect((await call('POST', '/api/instances', { tenant: 'globex' })).status).toBe(201);
      expect((await call('GET', '/api/tenants/acme')).json.forgetting).toMatchObject({
        job: 'job-of-it',
        finished: null,
      });
    });
    await on(folder, nothing, async (server) => {
      await expect.poll(() => forgettings(server)).toEqual(['done']);
      expect((await server.call('GET', '/api/jobs/job-of-it')).json).toMatchObject({ verb: 'forget', state: 'done' });
      expect(filesWith(folder, WORD)).toEqual([]);
    });
  });
});

test('what another tenant made from its blueprint stays that tenant’s, also before it was ever resumed', async () => {
  await onCopy(async (folder) => {
    await on(folder, nothing, async (server) => {
      const cloned = await server.call<{ id: string }[]>('POST', `/api/blueprints/${WORD}-base/clone`, {
        tenant: 'globex',
      });
      const [clone] = cloned.json;
      expect((await server.call('DELETE', '/api/tenants/acme', { dry_run: true })).json.clones).toBe(1);
      await server.call('DELETE', '/api/tenants/acme', { confirm: 'acme' });
      await expect.poll(() => forgettings(server)).toEqual(['done']);
      expect((await server.call('GET', `/api/blueprints/${WORD}-base`)).status).toBe(404);
      const read = () => server.call('GET', `/api/instances/${clone?.id}/volumes/workspace/${WORD}.txt`);
      expect((await read()).text).toContain('of acme-active');
      expect((await server.call('POST', `/api/instances/${clone?.id}/resume`, {})).status).toBe(200);
      expect((await read()).text).toContain('of acme-active');
      // The file that it was made from goes with the last sandbox that waited for it.
      await expect.poll(() => filesWith(folder, WORD).filter((path) => path.startsWith('blueprints/'))).toEqual([]);
    });
  });
});

test('a failed step is repeated, and the job cannot be cancelled', async () => {
  await onCopy(async (folder) => {
    let failures = 0;
    const failpoint = (step: string) => {
      if (step !== 'forget:files' || failures === 2) return;
      failures += 1;
      throw new Error('the disk says no');
    };
    await on(folder, failpoint, async (server) => {
      const { id } = (await server.call('DELETE', '/api/tenants/acme', { confirm: 'acme' })).json;
      await expect.poll(() => failures).toBeGreaterThan(0);
      const cancelled = await server.call('DELETE', `/api/jobs/${id}`);
      expect([cancelled.status, cancelled.json.code]).toEqual([409, 'conflict']);
      await expect.poll(() => forgettings(server)).toEqual(['done']);
      expect(failures).toBe(2);
      expect(filesWith(folder, WORD)).toEqual([]);
    });
  });
});
