/** A disk that is really full: a small one of its own, in a mount namespace that needs no privileges. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attention } from '../lib/contract/schema.ts';
import { namesIn } from '../lib/testing/files-in.ts';
import { canMount, withMounts } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const DISK_BYTES = 24_000_000;
/** What something else takes up at first: room to be made. */
const ROOM_BYTES = 18_000_000;
/** Content of the nth file: of a size that no page boundary explains. */
const bytesOf = (n: number) => Buffer.alloc(300_001, `file ${n}, `);

let folder: string;
let server: ServerProcess;
/** The data folder as the server sees it. */
let inside: string;

beforeAll(async () => {
  if (!canMount) return;
  folder = mkdtempSync(join(tmpdir(), 'winterdock-full-'));
  server = await spawnServer({
    folder,
    within: withMounts(`mount -t tmpfs -o size=${DISK_BYTES} none "$WB_DATA" && exec "$0" "$@"`),
    settings: { WB_POOL: '0', WB_LOG: 'silent', WB_TICK_MS: '200' },
  });
  inside = join(`/proc/${server.child.pid}/root`, folder);
});
afterAll(async () => {
  if (!canMount) return;
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

// Where only an administrator can mount, there is no disk to fill.
test.runIf(canMount)(
  'a full disk refuses what it cannot keep, loses nothing that was answered, and all goes on once there is room',
  async () => {
    const { call } = server;
    const at = (id: string, rest = '') => `/api/instances/${id}${rest}`;
    const file = (n: number | string) => at('hot', `/volumes/workspace/${n}`);
    for (const id of ['hot', 'rest', 'cold']) {
      await call('POST', '/api/instances', { id, tenant: 'acme' });
      expect((await call('PUT', at(id, '/volumes/workspace/kept'), `the work of ${id}`)).status).toBe(201);
    }
    for (const id of ['rest', 'cold']) expect((await call('POST', at(id, '/suspend'), {})).status).toBe(200);
    expect((await call('POST', at('cold', '/freeze'), {})).status).toBe(200);
    const bundle = await call('POST', at('rest', '/ship'), {});
    expect(bundle.status).toBe(200);

    writeFileSync(join(inside, 'ballast'), Buffer.alloc(ROOM_BYTES, 1));
    let kept = 0;
    let refused = await call('PUT', file(kept), bytesOf(kept));
    while (refused.status === 201) {
      kept += 1;
      refused = await call('PUT', file(kept), bytesOf(kept));
    }
    expect(kept).toBeGreaterThan(2);
    expect([refused.status, refused.json.code]).toEqual([503, 'storage_unavailable']);

    // What the last write did not need would keep the registry going for a while.
    expect(() => writeFileSync(join(inside, 'rest'), Buffer.alloc(DISK_BYTES))).toThrow('ENOSPC');
    const disk = (await call<Attention[]>('GET', '/api/attention')).json.filter(({ kind }) => kind === 'disk');
    expect(disk).toMatchObject([{ id: 'disk:full', level: 'wrong', tenant: null, page: '/settings/storage' }]);
    const writes: [string, string, unknown][] = [
      ['PUT', file('more'), bytesOf(0)],
      ['POST', '/api/instances', { id: 'new', tenant: 'acme' }],
      ['POST', at('hot', '/exec'), { command: 'printf "%900000s" x > z' }],
      ['POST', at('hot', '/snapshots'), {}],
      ['POST', at('rest', '/ship'), {}],
      ['GET', at('rest', '/checkout'), undefined],
      ['POST', '/api/instances/import?tenant=acme&id=in', bundle.bytes],
      ['POST', at('rest', '/resume'), {}],
      ['POST', at('hot', '/suspend'), {}],
      ['POST', at('cold', '/archive'), {}],
    ];
    for (const [method, path, body] of writes) {
      const answer = await call(method, path, body);
      expect([method, path, answer.status, answer.json.code]).toEqual([method, path, 503, 'storage_unavailable']);
      expect([method, path, answer.json.hint]).toEqual([method, path, expect.stringContaining('/readyz')]);
      expect(answer.text).not.toContain(folder);
    }
    const read = await call('POST', at('hot', '/exec'), { command: 'cat kept' });
    expect([read.status, read.json.stdout]).toEqual([200, 'the work of hot']);
    expect((await call('GET', '/readyz')).status).toBe(503);
    expect((await call('GET', '/healthz')).status).toBe(200);
    for (let n = 0; n < kept; n += 1) expect((await call('GET', file(n))).bytes.equals(bytesOf(n)), `${n}`).toBe(true);
    for (const drawer of ['bundles', 'snapshots']) expect(namesIn(join(inside, drawer))).toEqual([]);

    for (const name of ['ballast', 'rest']) rmSync(join(inside, name));
    await expect.poll(async () => (await call('GET', '/readyz')).status, { timeout: 240_000 }).toBe(200);
    for (const [method, path, body] of writes) {
      const answer = await call(method, path, body);
      expect([method, path, [200, 201].includes(answer.status)], answer.text.slice(0, 300)).toEqual([
        method,
        path,
        true,
      ]);
    }
    for (let n = 0; n < kept; n += 1) expect((await call('GET', file(n))).bytes.equals(bytesOf(n)), `${n}`).toBe(true);
    const states = { hot: 'suspended', rest: 'active', cold: 'archived', in: 'created', new: 'created' };
    for (const [id, state] of Object.entries(states)) {
      expect((await call('GET', at(id))).json).toMatchObject({ state, fault: null });
      const text = id === 'in' ? 'the work of rest' : `the work of ${id}`;
      if (id !== 'new') expect((await call('GET', at(id, '/volumes/workspace/kept'))).text).toBe(text);
    }
    expect((await call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  },
);
