/** A replica with anything wrong in it: a restore ends with a sentence, and nothing is laid. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { REGISTRY_ID } from '../replication/names/replica-names.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { filesIn } from '../testing/files-in.ts';
import { ShippedKeys } from './shipped-keys.ts';
import { type FolderReplica, shipFolder } from './testing/replica-of-folder.ts';
import { run, spawnServer } from './testing/server-content.ts';

const PASSPHRASE = { WB_BACKUP_PASSPHRASE: 'a long enough passphrase' };
const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
let root: string;
let replica: FolderReplica;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-damaged-replica-'));
  const folder = join(root, 'data');
  const { call, end } = await spawnServer({ folder });
  for (const id of ['one', 'two']) {
    await call('POST', '/api/instances', { id, tenant: 'acme' });
    await call('PUT', `/api/instances/${id}/volumes/workspace/what`, id);
  }
  await call('POST', '/api/instances/two/suspend', {});
  await end('SIGKILL');
  replica = await shipFolder(folder, join(root, 'store'), { term: 1, timeMs: Date.now() });
  const store = await openObjectStore(pathToFileURL(replica.store).href, CONNECTION);
  const keys = new ShippedKeys({
    ...{ store, clock: systemClock, log: createLogger('silent') },
    config: { dataFolder: folder, keysFolder: folder },
    passphrase: PASSPHRASE.WB_BACKUP_PASSPHRASE,
  });
  keys.start();
  await keys.stop();
  await store.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let nth = 0;
/** Restores a copy of the replica that `spoil` was done to, into an empty folder. */
function restoreSpoilt(spoil: (store: string) => void) {
  nth += 1;
  const [store, to] = [join(root, `store-${nth}`), join(root, `to-${nth}`)];
  cpSync(replica.store, store, { recursive: true });
  spoil(store);
  const { status, stderr } = run('restore', to, ['--from', pathToFileURL(store).href], PASSPHRASE);
  const laid = existsSync(to) ? filesIn(to).filter((name) => !name.endsWith('.lock') && name !== 'lock.sqlite') : [];
  rmSync(store, { recursive: true });
  return { status, stderr, laid };
}
/** The first segment of a sandbox, or the last one, in a copy of the replica. */
const segmentIn = (store: string, id: string, at: 0 | -1 = 0) =>
  join(store, (replica.segments.get(id) ?? []).at(at)?.slice(replica.store.length) ?? 'none');
const keysIn = (store: string) => {
  const folder = join(store, 'replica', '_keys');
  return join(folder, readdirSync(folder)[0] ?? 'none');
};
/** Flips one bit at a share of a file's length. */
function flip(path: string, share: number): void {
  const bytes = readFileSync(path);
  const at = Math.min(bytes.length - 1, Math.floor(bytes.length * share));
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
}
/** One sentence or two for people, and no trace of the program. */
const SENTENCE = /^[A-Z"].*[.?]\n?$/s;

test.each([
  [
    'a bit of the base of the registry',
    'The registry as of',
    (store: string) => flip(segmentIn(store, REGISTRY_ID), 0.5),
  ],
  ['a bit of the head of a base', 'replica/two/', (store: string) => flip(segmentIn(store, 'two'), 0.0001)],
  ['a bit of a page', '"one" as of', (store: string) => flip(segmentIn(store, 'one'), 0.3)],
  ['a bit of the checksum', '"two" as of', (store: string) => flip(segmentIn(store, 'two'), 1)],
  ['a bit of a segment after the base', '"one" as of', (store: string) => flip(segmentIn(store, 'one', -1), 0.6)],
  ['an end', '"one" as of', (store: string) => truncateSync(segmentIn(store, 'one', -1), 300)],
  ['all but the name', 'segment', (store: string) => truncateSync(segmentIn(store, REGISTRY_ID), 0)],
  ['the marker', 'has no marker', (store: string) => rmSync(join(store, 'winterdock.json'))],
  ['a bit of the marker', 'marker', (store: string) => flip(join(store, 'winterdock.json'), 0.02)],
  [
    'the id in the marker',
    'another installation',
    (store: string) => writeFileSync(join(store, 'winterdock.json'), JSON.stringify({ id: 'another', term: 1 })),
  ],
  [
    'the registry',
    'has no registry',
    (store: string) => rmSync(join(store, 'replica', REGISTRY_ID), { recursive: true }),
  ],
])('%s is wrong or gone: a sentence, an exit code, and nothing laid', (_what, says, spoil) => {
  const { status, stderr, laid } = restoreSpoilt(spoil);
  expect([status, stderr]).toEqual([1, expect.stringContaining(says)]);
  expect(stderr).toMatch(SENTENCE);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(laid).toEqual([]);
});

test('keys of which a bit is wrong do not open, or cannot be read and are passed over: either is said', () => {
  for (const share of [0.02, 0.6, 0.75, 0.9]) {
    const { status, stderr, laid } = restoreSpoilt((store) => flip(keysIn(store), share));
    expect(stderr).toMatch(
      status === 0
        ? /^PASSED OVER: The key files in replica\/_keys\/\S+ cannot be read\.\n$/
        : /^The key files in the backup do not open with this passphrase\.\n$/,
    );
    if (status === 0) expect(laid).toContain('live/one/vfs.sqlite');
    else expect([status, laid]).toEqual([1, []]);
  }
});
