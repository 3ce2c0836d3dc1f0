/**
 * Every verb on a disk that fails for real, below SQLite too: whatever request fails, with whatever error, the answer
 * is a refusal of the machine's, the sandbox has no fault, and all goes on once the disk is whole. `WB_FAULT_ALL=1`
 * tries every request of each verb; without it some are drawn by the day (lib/testing/draw.ts).
 */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Got } from '../lib/testing/call.ts';
import { DRAWN_BY, ROUND } from '../lib/testing/draw.ts';
import type { DiskRequest } from '../lib/testing/failing-disk/control.ts';
import { type FailingDisk, mountFailingDisk } from '../lib/testing/failing-disk/failing-disk.ts';
import { canMount } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const TRIES_ALL = process.env.WB_FAULT_ALL === '1';
/** Requests of each verb that fail, of those that are drawn. */
const DRAWN = 5;
const ERRORS = ['EIO', 'ENOSPC', 'EROFS', 'EACCES', 'EDQUOT', 'ESTALE', 'ENODEV', 'EMFILE', 'ENFILE', 'ENOMEM'];
/** What lies in the drawers; the registry has tests of its own. */
const DRAWERS = '^(live|cold|archive|snapshots|blueprints|orphans|bundles)';
/**
 * A look-up of each folder on the way to a file is a request of its own: of these one in many is tried. Not of the
 * folders on or above which a mount of the processes that open guests' files stands: a system that is told that such a
 * folder is not there takes the mount away, and the next start makes it again (docs/reliability.md).
 */
const LOOKUPS: DiskRequest[] = ['stat'];
const LOOKED_UP = `^(?!(?:cold|snapshots|blueprints)(?:/[.]staging)?$)${DRAWERS.slice(1)}`;
const WORK: DiskRequest[] = ['open', 'create', 'read', 'write', 'sync', 'rename', 'unlink', 'list', 'change'];
const KEPT = 'the work';
const SETTLES_MS = 120_000;

/** Nothing of it is shown once it is deleted. */
interface Shown {
  state?: string;
  fault?: string | null;
  fault_reason?: string | null;
}
type Answer = Pick<Got, 'status' | 'text'>;

let disk: FailingDisk;
let server: ServerProcess;
let snapshot = '';
let bundle: Uint8Array;

const canFail = canMount && existsSync('/dev/fuse');
const at = (id: string, rest = '') => `/api/instances/${id}${rest}`;
const post =
  (path: string, body: object = {}) =>
  (id: string) =>
    server.call('POST', at(id, path), body);
const get = (path: string) => (id: string) => server.call('GET', at(id, path));

/** A verb, the state that it starts from, and whether it can be repeated after a success. */
const VERBS: { name: string; from: string; act: (id: string) => Promise<Answer>; ends?: boolean }[] = [
  { name: 'resume of what is created', from: 'created', act: post('/resume') },
  { name: 'resume of what is suspended', from: 'suspended', act: post('/resume') },
  { name: 'resume of what is frozen', from: 'frozen', act: post('/resume') },
  { name: 'revive', from: 'archived', act: post('/revive') },
  { name: 'suspend', from: 'active', act: post('/suspend') },
  { name: 'freeze', from: 'suspended', act: post('/freeze') },
  { name: 'archive of what is frozen', from: 'frozen', act: post('/archive') },
  { name: 'archive of what is active', from: 'active', act: post('/plan', { to: 'archived' }) },
  { name: 'delete', from: 'archived', act: (id) => server.call('DELETE', at(id)), ends: true },
  { name: 'prefetch', from: 'frozen', act: post('/prefetch') },
  { name: 'restore in place', from: 'suspended', act: (id) => post('/restore', { snapshot })(id) },
  { name: 'salvage', from: 'suspended', act: post('/salvage') },
  { name: 'snapshot of what is active', from: 'active', act: post('/snapshots') },
  { name: 'snapshot of what is archived', from: 'archived', act: post('/snapshots') },
  {
    name: 'clone and its first resume',
    from: 'suspended',
    async act() {
      const made = await server.call<{ id: string }[]>('POST', `/api/snapshots/${snapshot}/restore`, { count: 1 });
      return made.status < 300 ? post('/resume')(made.json[0]?.id ?? '') : made;
    },
  },
  { name: 'ship', from: 'suspended', act: post('/ship') },
  { name: 'import', from: 'suspended', act: () => server.call('POST', '/api/instances/import?tenant=acme', bundle) },
  { name: 'checkout', from: 'suspended', act: get('/checkout') },
  { name: 'upload', from: 'active', act: (id) => server.call('PUT', at(id, '/volumes/workspace/more'), 'more') },
  { name: 'command', from: 'active', act: post('/exec', { command: 'echo more > more && cat kept' }) },
  { name: 'read at rest', from: 'suspended', act: get('/volumes/workspace/kept') },
  { name: 'read of what is archived', from: 'archived', act: get('/volumes/workspace/kept') },
];

beforeAll(async () => {
  if (!canFail) return;
  disk = await mountFailingDisk();
  const settings = { WB_LOG: 'silent', WB_TICK_MS: '200', WB_POOL: '0', WB_MAX_ACTIVE: '500' };
  server = await spawnServer({ folder: disk.folder, within: disk.within, settings });
  const { call } = server;
  await call('POST', '/api/instances', { id: 'origin', tenant: 'acme' });
  expect((await call('PUT', at('origin', '/volumes/workspace/kept'), KEPT)).status).toBe(201);
  snapshot = (await call<{ id: string }>('POST', at('origin', '/snapshots'), {})).json.id;
  bundle = (await call('POST', at('origin', '/ship'), {})).bytes;
});
afterAll(async () => {
  if (!canFail) return;
  await server.end('SIGKILL');
  await disk.end();
});

async function make(state: string): Promise<string> {
  const made = await server.call<{ id: string }[]>('POST', `/api/snapshots/${snapshot}/restore`, { count: 1 });
  const id = made.json[0]?.id ?? '';
  if (state !== 'created') {
    const moved = await server.call('POST', at(id, '/plan'), { to: state });
    expect(moved.status, moved.text).toBe(200);
  }
  return id;
}

/** Which requests fail, of so many. */
function drawn(name: string, requests: number, most: number): number[] {
  if (TRIES_ALL || requests <= most) return Array.from({ length: requests }, (_, nth) => nth + 1);
  const step = requests / most;
  const first = (ROUND + name.length * 7) % Math.ceil(step);
  return Array.from({ length: most }, (_, nth) => 1 + Math.min(requests - 1, Math.floor(nth * step + first)));
}

function isRefusal({ status, text }: Answer): boolean {
  return status === 503 && /"code":"(?:storage_unavailable|capacity)"/.test(text);
}

/**
 * What is wrong while the disk fails once, or from that request on, and after it is whole again; null: there was no
 * such request.
 */
async function findings(
  verb: (typeof VERBS)[number],
  fault: Parameters<FailingDisk['fail']>[0],
): Promise<string[] | null> {
  const id = await make(verb.from);
  disk.fail(fault);
  const answer = await verb.act(id).catch((error: unknown) => ({ status: 0, text: String(error) }));
  const what = disk.failed();
  disk.fail(null);
  if (what.length === 0) return null;
  cells += 1;
  const found: string[] = [];
  const isDone = answer.status >= 200 && answer.status < 300;
  if (!isDone && !isRefusal(answer)) found.push(`the answer is ${answer.status} ${answer.text.slice(0, 200)}`);
  const row = async () => (await server.call<Shown>('GET', at(id))).json;
  const noFault = async () => {
    const { fault, fault_reason: why } = await row();
    if (fault != null) found.push(`it is ${fault}: ${why}`);
  };
  await noFault();
  const until = performance.now() + SETTLES_MS;
  let again: Answer = answer;
  while (!(again.status >= 200 && again.status < 300) && performance.now() < until) {
    await pause(100);
    again = await verb.act(id);
  }
  if (again.status < 200 || again.status >= 300) found.push(`again: ${again.status} ${again.text.slice(0, 200)}`);
  if (verb.ends !== true) {
    if ((await row()).state === 'archived') await server.call('POST', at(id, '/revive'), {});
    const read = await server.call('GET', at(id, '/volumes/workspace/kept'));
    if (read.text !== KEPT) found.push(`afterwards it has ${read.status} ${read.text.slice(0, 200)}`);
    await noFault();
  }
  // What failed may have left it awake.
  await server.call('DELETE', at(id));
  return found.map((sentence) => `${fault?.error} of "${what[0]}" and ${what.length - 1} more: ${sentence}`);
}

let cells = 0;

vi.setConfig({ testTimeout: TRIES_ALL ? 1_800_000 : 600_000 });

test.runIf(canFail).each(VERBS)('$name: whatever the disk refuses is 503 and no fault, and goes on', async (verb) => {
  cells = 0;
  const first = await make(verb.from);
  disk.trace(DRAWERS);
  const whole = await verb.act(first);
  expect(whole.status, whole.text).toBeLessThan(300);
  const seen = disk.seen();
  disk.trace(null);
  const found: string[] = [];
  let error = ROUND + verb.name.length;
  for (const [requests, path, most] of [
    [WORK, DRAWERS, DRAWN],
    [LOOKUPS, LOOKED_UP, 2],
  ] as const) {
    const isOne = ([request, about = '']: string[]) =>
      requests.some((one) => one === request) && new RegExp(path).test(about);
    const count = seen.filter((line) => isOne(line.split(' '))).length;
    for (const from of drawn(verb.name, count, most)) {
      error += 1;
      const fault = { error: ERRORS[error % ERRORS.length] ?? 'EIO', path, requests };
      // Once, or for as long as the call takes. What was counted may have been of others: then an earlier one fails.
      for (let nth = from; nth >= 1; nth = Math.floor(nth / 2)) {
        const wrong = await findings(verb, { ...fault, from: nth, count: from % 3 === 0 ? null : 1 });
        found.push(...(wrong ?? []));
        if (wrong !== null) break;
      }
    }
  }
  process.stdout.write(`${verb.name}: ${seen.length} requests, ${cells} failed, ${found.length} findings\n`);
  expect(found, DRAWN_BY).toEqual([]);
  expect(cells).toBeGreaterThan(0);
});
