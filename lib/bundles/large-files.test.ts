import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenedFile } from '../native/testing/opened.ts';
import { answerRead } from '../vfs/answer.ts';
import { copyVfs } from '../vfs/copy.ts';
import { openAtRest } from '../vfs/open.ts';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import { checkoutTar } from './checkout-tar.ts';
import { FORMAT, type Manifest } from './manifest.ts';
import { bundlePage } from './page.ts';
import { inspectVfs, rebuildVfs } from './vfs-inspection.ts';

const MIB = 1024 * 1024;
const SIZE = 66 * MIB + 3;
const at = new OpenedFile();
const copy = join(at.folder, 'disk.sqlite');
beforeAll(async () => {
  at.open();
  at.mkdir('workspace/d');
  at.write('workspace/d/large', 'begin');
  at.truncate('workspace/d/large', 66 * MIB);
  at.write('workspace/d/large', 'end', 66 * MIB);
  at.write('workspace/small', 'small');
  at.native.close();
  await copyVfs({ path: at.file, mode: 'rest' }, copy, ['workspace']);
});
afterAll(() => at.remove());

/** What the bytes of the large file are, without 66 MiB of them. */
function ends(file: string): string {
  const tail = Buffer.alloc(8);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, tail, 0, 8, SIZE - 4);
  return `${readFileSync(file).toString('latin1', 0, 6)}…${tail.toString('latin1', 0, 4)}`;
}

test('a bundle with a file above 64 MiB passes its inspection, is imported with it, and its page has its size', async () => {
  inspectVfs(copy, 64 * MIB);
  const imported = join(at.folder, 'imported.sqlite');
  const options = { declared: ['workspace'], kept: ['workspace'], maxFileBytes: 64 * MIB, bundled: true } as const;
  const rebuilt = await rebuildVfs(copy, imported, options);
  expect(rebuilt.volumes[0]).toEqual({ volume: 'workspace', files: 2, bytes: SIZE + 5 });
  const vfs = openAtRest(imported);
  try {
    expect(Buffer.from(vfs.slice(vfsPath('/d/large'), 'workspace', SIZE - 4, SIZE) ?? []).toString()).toBe('\0end');
    const of = { id: 'ship-test', format: FORMAT, volumes: ['workspace'], signed: false, private_included: false };
    const manifest: Manifest = { ...of, created: 1, tenant: 'acme', instance: 'sb-1' } as Manifest;
    const page = [...bundlePage(vfs.db, { manifest, disk: { sha256: 'x', bytes: 1 } })].join('');
    expect(page).toContain(String(SIZE).replace(/\B(?=(\d{3})+$)/g, '\u202f'));
  } finally {
    vfs.close();
  }
});

test('a checkout has a file above 64 MiB whole', async () => {
  const vfs = openAtRest(copy);
  const tar = join(at.folder, 'work.tar');
  await pipeline(Readable.from(checkoutTar(vfs.db)), createWriteStream(tar));
  vfs.close();
  execFileSync('tar', ['-xf', tar, '-C', at.folder, '--no-same-owner']);
  const file = join(at.folder, 'd', 'large');
  expect([statSync(file).size, ends(file)]).toEqual([SIZE, 'begin\0…\0end']);
});

test('a comparison takes the hash of a file above 64 MiB, the same one in each copy', () => {
  const hashes = [at.file, copy].map((path) => {
    const vfs = openAtRest(path);
    try {
      const answer = answerRead(vfs, { op: 'digests', volume: 'workspace', limit: 10, bytes: 2 ** 40 });
      return answer.op === 'digests' ? answer.files.map(({ path: name, size, sha256 }) => [name, size, sha256]) : [];
    } finally {
      vfs.close();
    }
  });
  const bytes = Buffer.alloc(SIZE);
  bytes.write('begin');
  bytes.write('end', SIZE - 3);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(hashes[0]?.[0]).toEqual(['/d/large', SIZE, sha256]);
  expect(hashes[1]).toEqual(hashes[0]);
});
