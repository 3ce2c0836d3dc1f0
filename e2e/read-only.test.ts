/** Drawers that cannot be written: mounted read-only under a server, in a mount namespace that needs no privileges. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event, Instance } from '../lib/contract/schema.ts';
import { canMount, mountInside, withMounts } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const DRAWERS = ['live', 'cold', 'archive', 'snapshots', 'blueprints', 'bundles', 'expanded', 'orphans'];

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  if (!canMount) return;
  folder = mkdtempSync(join(tmpdir(), 'winterdock-read-only-'));
  server = await spawnServer({
    folder,
    within: withMounts('exec "$0" "$@"'),
    settings: { WB_POOL: '0', WB_LOG: 'silent', WB_TICK_MS: '100', WB_IDLE_TO_SUSPEND: '1', WB_IDLE_TO_FREEZE: '2' },
  });
});
afterAll(async () => {
  if (!canMount) return;
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function remount(how: 'ro' | 'rw', drawers: readonly string[]): void {
  for (const drawer of drawers) mountInside(server.child.pid, '-o', `remount,bind,${how}`, join(folder, drawer));
}

// Where only an administrator can mount, there is nothing to make read-only.
test.runIf(canMount)(
  'drawers that cannot be written are 503 for whatever needs them, no fault, named by /readyz, and all goes on afterwards',
  async () => {
    const { call } = server;
    for (const drawer of DRAWERS) mountInside(server.child.pid, '--bind', join(folder, drawer), join(folder, drawer));
    const at = (id: string, rest = '') => `/api/instances/${id}${rest}`;
    const kept = async (id: string) => (await call('GET', at(id, '/volumes/workspace/kept'))).text;
    for (const id of ['rest', 'cold', 'packed', 'waits']) {
      await call('POST', '/api/instances', { id, tenant: 'acme' });
      await call('PATCH', at(id), { keep_hot: true });
      expect((await call('PUT', at(id, '/volumes/workspace/kept'), `the work of ${id}`)).status).toBe(201);
      expect((await call('POST', at(id, '/suspend'), {})).status).toBe(200);
    }
    expect((await call('POST', at('cold', '/freeze'), {})).status).toBe(200);
    expect((await call('POST', at('packed', '/plan'), { to: 'archived' })).status).toBe(200);
    await call('POST', '/api/instances', { id: 'new', tenant: 'acme' });
    expect((await call('GET', '/readyz')).status).toBe(200);

    remount('ro', ['cold']);
    // An answer holds for a second.
    await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(503);
    const one = await call('GET', '/readyz');
    expect([one.status, one.json.code, one.json.drawers]).toEqual([503, 'storage_unavailable', ['cold']]);
    expect(one.text).toContain('cold (EROFS');
    expect(one.text).not.toContain(folder);
    for (let n = 0; n < 4; n += 1) {
      const frozen = await call('POST', at('rest', '/freeze'), {});
      expect([frozen.status, frozen.json.code, frozen.headers['retry-after']]).toEqual([
        503,
        'storage_unavailable',
        '5',
      ]);
    }
    // The ladder waits between its tries, and others are not kept waiting by what it cannot move.
    await call('PATCH', at('waits'), { keep_hot: false });
    await new Promise((resolve) => setTimeout(resolve, 3500));
    const tries = (await call<Event[]>('GET', at('waits', '/events'))).json.filter(
      ({ type }) => type === 'freeze.failed',
    );
    expect(tries.length).toBe(1);
    for (const id of ['rest', 'waits']) {
      expect((await call<Instance>('GET', at(id))).json).toMatchObject({ state: 'suspended', fault: null });
    }

    remount(
      'ro',
      DRAWERS.filter((drawer) => drawer !== 'cold'),
    );
    await expect.poll(async () => (await call('GET', '/readyz')).json.drawers).toEqual(DRAWERS);
    const writes: [string, string, unknown][] = [
      ['POST', at('new', '/resume'), {}],
      ['POST', at('cold', '/resume'), {}],
      ['POST', at('cold', '/archive'), {}],
      ['POST', at('packed', '/revive'), {}],
      ['GET', at('packed', '/volumes/workspace/kept'), undefined],
      ['POST', at('rest', '/snapshots'), {}],
      ['POST', at('rest', '/freeze'), {}],
      ['POST', at('rest', '/ship'), {}],
      ['POST', '/api/blueprints', { name: 'base', from_instance: 'rest' }],
      ['PUT', at('rest', '/volumes/workspace/more'), 'more'],
    ];
    for (let n = 0; n < 4; n += 1) {
      for (const [method, path, body] of writes) {
        const answer = await call(method, path, body);
        expect([method, path, answer.status, answer.json.code], answer.text).toEqual([
          method,
          path,
          503,
          'storage_unavailable',
        ]);
        expect(answer.text).not.toContain(folder);
      }
    }
    expect(await kept('rest')).toBe('the work of rest');
    for (const [id, state] of [
      ['new', 'created'],
      ['cold', 'frozen'],
      ['packed', 'archived'],
    ]) {
      expect((await call<Instance>('GET', at(id ?? ''))).json).toMatchObject({ state, fault: null });
    }

    remount('rw', DRAWERS);
    await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
    for (const id of ['rest', 'cold', 'packed', 'waits']) expect(await kept(id)).toBe(`the work of ${id}`);
    for (const [method, path, body] of writes) {
      const answer = await call(method, path, body);
      expect([method, path, [200, 201, 204].includes(answer.status)], answer.text.slice(0, 300)).toEqual([
        method,
        path,
        true,
      ]);
    }
  },
);
