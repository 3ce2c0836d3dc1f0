/** Named moments on a disk that is really full: refused, nothing of them is left, and all goes on afterwards. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Instance, Moment } from '../lib/contract/schema.ts';
import { namesIn } from '../lib/testing/files-in.ts';
import { canMount, withMounts } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const DISK_BYTES = 32_000_000;
const SOON = { timeout: 240_000, interval: 200 };

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
    settings: {
      ...{ WB_POOL: '0', WB_LOG: 'silent', WB_TICK_MS: '200' },
      WB_REPLICA_URL: pathToFileURL(`${folder}-replica`).href,
    },
  });
  inside = join(`/proc/${server.child.pid}/root`, folder);
});
afterAll(async () => {
  if (!canMount) return;
  await server.end();
  for (const left of [folder, `${folder}-replica`]) rmSync(left, { recursive: true, force: true });
});

const at = (rest = '') => `/api/instances/one${rest}`;
const named = async () => (await server.call<Moment[]>('GET', at('/moments?kind=named'))).json.map(({ name }) => name);
const copies = () => namesIn(join(inside, 'snapshots')).filter((name) => name.includes('.sqlite'));
const read = async () => (await server.call('GET', at('/volumes/workspace/kept'))).text;

async function shipped(): Promise<number> {
  return vi.waitFor(async () => {
    const { recovery_point: point } = (await server.call<Instance>('GET', at())).json;
    expect(point).toMatchObject({ behind_s: 0 });
    return point.at as number;
  }, SOON);
}

// Where only an administrator can mount, there is no disk to fill.
test.runIf(canMount)(
  'a full disk takes no named moment and no restore, and has neither a row nor a file of them',
  async () => {
    const { call } = server;
    await call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
    const noise = Buffer.from(Array.from({ length: 3_000_000 }, () => Math.floor(Math.random() * 256)));
    expect((await call('PUT', at('/volumes/workspace/noise'), noise)).status).toBe(201);
    expect((await call('PUT', at('/volumes/workspace/kept'), 'first')).status).toBe(201);
    const first = await shipped();
    await vi.waitFor(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(first), SOON);
    await call('PUT', at('/volumes/workspace/kept'), 'second');
    expect((await call('POST', at('/suspend'), {})).status).toBe(200);
    await shipped();
    // A copy of it needs its hash, which follows its filing.
    await vi.waitFor(async () => expect((await call('POST', at('/snapshots'), {})).status).toBe(201), SOON);
    const before = copies();

    expect(() => writeFileSync(join(inside, 'ballast'), Buffer.alloc(DISK_BYTES))).toThrow('ENOSPC');
    for (const [method, path, body] of [
      ['PUT', '/moments/now', {}],
      ['PUT', '/moments/then', { time: first }],
      ['POST', '/restore', { time: first }],
      ['POST', '/from-moment', { time: first }],
      ['GET', `/volumes/workspace/kept?at=${first}`, undefined],
    ] as const) {
      const answer = await call(method, at(path), body);
      expect([path, answer.status, answer.json.code]).toEqual([path, 503, 'storage_unavailable']);
      expect([path, answer.text.includes(folder)]).toEqual([path, false]);
    }
    expect([await named(), copies(), await read()]).toEqual([[], before, 'second']);
    expect(namesIn(join(inside, 'bundles')).filter((name) => name.includes('sqlite'))).toEqual([]);

    rmSync(join(inside, 'ballast'));
    await vi.waitFor(
      async () => expect((await call('PUT', at('/moments/then'), { time: first })).status).toBe(200),
      SOON,
    );
    expect((await call('POST', at('/restore'), { moment: 'then' })).status).toBe(200);
    expect([await read(), (await named()).length]).toEqual(['first', 2]);
  },
);
