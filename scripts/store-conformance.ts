/**
 * `npm run store:conformance [-- URL]`: tries what Winterdock needs of an object store, and says what else it keeps.
 * Without a URL it tries WB_COLD_URL. It writes below `probe/` and removes what it wrote. Ends with 1 when something
 * that is needed is not kept.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../lib/base/config.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import type { ObjectStore, StoreTraits } from '../lib/storage/object-store/object-store.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';

/** Goes in several parts, by a process of its own. */
const LARGE_BYTES = 12 * 1024 * 1024;
const MARK = { true: 'yes', false: 'NO' } as const;

type Check = readonly [what: string, work: () => Promise<unknown>];

function checksOf(store: ObjectStore, folder: string): Check[] {
  const place = `probe/${randomUUID()}`;
  const name = (last: string) => `${place}/${last}`;
  const file = join(folder, 'file');
  const content = randomBytes(LARGE_BYTES);
  const sha256 = createHash('sha256').update(content).digest('hex');
  writeFileSync(file, content);
  const requireSame = (found: Uint8Array, wanted: string) => {
    if (Buffer.from(found).toString() !== wanted) throw new Error('other bytes came back');
  };
  return [
    [
      'a document is read back',
      async () => {
        await store.put(name('a'), Buffer.from('one'));
        requireSame(await store.get(name('a')), 'one');
      },
    ],
    [
      'a range is read',
      async () => {
        const pieces = await (await store.open(name('a'), { range: { first: 1, last: 1 } })).toArray();
        requireSame(Buffer.concat(pieces), 'n');
      },
    ],
    ['a file of several parts is stored', () => store.upload(name('large'), file, { sha256 })],
    [
      'it comes back, hashed',
      () => store.download(name('large'), join(folder, 'back'), { sha256, bytes: LARGE_BYTES }),
    ],
    ['it is copied within the store', () => store.copy(name('large'), name('copy'))],
    [
      'a missing object is told apart from a missing store',
      async () => {
        const found = await store.head(name('nothing'));
        if (found !== null) throw new Error('there is one');
        await store.get(name('nothing')).then(
          () => Promise.reject(new Error('there is one')),
          (error: unknown) => {
            if (!isWinterdockError(error) || error.code !== 'missing_file') throw error;
          },
        );
      },
    ],
    [
      'what is removed is gone, with its versions and unfinished uploads',
      async () => {
        for (const last of ['a', 'large', 'copy']) {
          const { remainsUntil } = await store.purge(name(last));
          if (remainsUntil !== null) throw new Error(`bytes remain until ${new Date(remainsUntil).toISOString()}`);
          if ((await store.head(name(last))) !== null) throw new Error('it is still there');
        }
      },
    ],
  ];
}

function traitLines({ read, list, remove, versioning, lockDays, expiry, ...conditions }: StoreTraits): string[] {
  const said = (kept: boolean | null) => (kept === null ? 'not known' : MARK[`${kept}`]);
  return [
    `read after write: ${said(read)}; list after write: ${said(list)}; removing: ${said(remove)}`,
    `writes on condition (nothing needs them): ${Object.entries(conditions)
      .map(([name, kept]) => `${name} ${said(kept)}`)
      .join(', ')}`,
    `versions: ${versioning ?? 'not known'}; locked for ${lockDays ?? 'an unknown number of'} days`,
    `rules that touch objects here: ${expiry === null ? 'not known' : expiry.length === 0 ? 'none' : expiry.join('; ')}`,
  ];
}

async function conforms(store: ObjectStore): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-conformance-'));
  let isGood = true;
  try {
    for (const [what, work] of checksOf(store, folder)) {
      const failed = await work().then(
        () => null,
        (error: unknown) => messageOf(error),
      );
      isGood &&= failed === null;
      process.stdout.write(`${failed === null ? 'yes' : 'NO '}  ${what}${failed === null ? '' : `: ${failed}`}\n`);
    }
    process.stdout.write(`\n${traitLines(await store.traits()).join('\n')}\n`);
    return isGood;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  const { cold, connection } = readConfig(process.env).store;
  const url = process.argv[2] ?? cold?.url;
  if (url === undefined) throw new Error('Name a store: npm run store:conformance -- s3://BUCKET/PREFIX');
  const store = await openObjectStore(url, connection);
  try {
    process.exitCode = (await conforms(store)) ? 0 : 1;
  } finally {
    await store.close();
  }
} catch (error) {
  process.stderr.write(`Not tried: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
