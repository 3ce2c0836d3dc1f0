import { randomBytes } from 'node:crypto';
import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { hashFile } from '../base/hash-file.ts';
import { openAtRest } from '../vfs/open.ts';
import { bytes, codeOf, tmpFile, tmpFolder, vfsPath } from '../vfs/testing/tmp-files.ts';
import { DISK, MANIFEST, type Manifest, MEMBERS, type Member, PAGE, readManifest, signedBytes } from './manifest.ts';
import { LIMITS, MIB, makeBundle, unpackFile, vfsFile } from './testing/bundle.ts';
import { inspectVfs } from './vfs-inspection.ts';
import { BundleZip } from './zip-reader.ts';
import { descriptor as descriptorOf, directory, localHeader, STORED, type ZipMember } from './zip-records.ts';

const SECRETS = ['secret-in-memory', 'secret-in-tmp', 'secret-deleted', 'secret-replaced', 'secret-in-a-table'];

/** A sandbox whose file holds secrets everywhere but in what its workspace holds now. */
function secretive(): string {
  const file = vfsFile((vfs) => {
    vfs.put(vfsPath('/work.txt'), bytes('the work itself'));
    vfs.put(vfsPath('/memory.txt'), bytes('secret-in-memory '.repeat(5000)), 'memory');
    vfs.put(vfsPath('/secret-in-memory/small'), bytes('secret-in-memory'), 'memory');
    vfs.put(vfsPath('/tmp.txt'), bytes('secret-in-tmp '.repeat(5000)), 'tmp');
    vfs.link(vfsPath('/link'), 'secret-in-tmp', 'tmp');
    vfs.put(vfsPath('/old.txt'), bytes('secret-deleted '.repeat(5000)));
    vfs.put(vfsPath('/changed.txt'), bytes('secret-replaced '.repeat(5000)));
    vfs.put(vfsPath('/changed.txt'), bytes('new'));
    vfs.delete(vfsPath('/old.txt'));
  });
  const db = new DatabaseSync(file);
  db.exec("CREATE TABLE _litestream_seq (x); INSERT INTO _litestream_seq VALUES ('secret-in-a-table')");
  db.close();
  return file;
}

describe('what leaves', () => {
  test('1. the zip holds the three members, as they were made, and nothing else', async () => {
    const { file, bytes: of } = await makeBundle(secretive());
    const zip = await openPromise(file, { strictFileNames: true });
    const found: string[] = [];
    for await (const entry of zip.eachEntry()) {
      found.push(entry.fileName);
      expect(await buffer(await zip.openReadStreamPromise(entry))).toEqual(of(entry.fileName as Member));
    }
    expect(found).toEqual([MANIFEST, PAGE, DISK]);
  });

  test('1. what does not shrink is stored, what does is deflated', async () => {
    const noise = await makeBundle(vfsFile((vfs) => vfs.put(vfsPath('/noise'), randomBytes(2 * MIB))));
    expect(readFileSync(noise.file).indexOf(noise.bytes(DISK))).toBeGreaterThan(0);
    const text = await makeBundle(
      vfsFile((vfs) => vfs.put(vfsPath('/text'), bytes('again and again '.repeat(100_000)))),
    );
    expect(readFileSync(text.file).length).toBeLessThan(text.bytes(DISK).length / 10);
  });

  test('1. noise beside text costs its own size, and the text shrinks as if it were alone', async () => {
    const text = 'the work of a week, line by line\n'.repeat(100_000);
    const { file, bytes: of } = await makeBundle(
      vfsFile((vfs) => {
        vfs.put(vfsPath('/a-text'), bytes(text));
        vfs.put(vfsPath('/b-noise'), randomBytes(4 * MIB));
        vfs.put(vfsPath('/c-text'), bytes(text));
      }),
    );
    // A block that holds the border of both is packed as one of them.
    expect(readFileSync(file).length).toBeLessThan(5 * MIB);
    expect((await unpackFile(file)).members[DISK]).toEqual(await hashFile(join(dirname(file), DISK)));
    expect(of(DISK).length).toBeGreaterThan(10 * MIB);
  });

  test('1. every zip tool finds the members of a bundle over 4 GiB', async () => {
    const file = join(tmpFolder(), 'large.zip');
    const sizes = [3 * 1024 * MIB, 5 * 1024 * MIB, 1000];
    const descriptor = openSync(file, 'w');
    const written: ZipMember[] = [];
    let at = 0;
    const write = (piece: Uint8Array) => {
      writeSync(descriptor, piece, 0, piece.length, at);
      at += piece.length;
    };
    // The contents are holes: they take no room on the disk.
    for (const [index, name] of MEMBERS.entries()) {
      const size = sizes[index] ?? 0;
      const dated = { name, method: STORED, mtime: 1_765_500_000 } as const;
      const member: ZipMember = { ...dated, start: at, crc: 7, packedBytes: size, bytes: size };
      write(localHeader(member));
      at += size;
      write(descriptorOf(member));
      written.push(member);
    }
    write(directory(written, at));
    closeSync(descriptor);
    await expect(BundleZip.open(file)).resolves.toBeInstanceOf(BundleZip);
    const zip = await openPromise(file);
    const found: unknown[] = [];
    for await (const entry of zip.eachEntry()) {
      found.push([entry.fileName, entry.uncompressedSize, entry.getLastModDate().getTime()]);
    }
    expect(found).toEqual(MEMBERS.map((name, index) => [name, sizes[index], 1_765_500_000_000]));
  });

  test('2. the manifest has the seed’s fields, the hashes of the members and where it comes from', async () => {
    const { bytes: of, manifest } = await makeBundle(secretive());
    const parsed = JSON.parse(of(MANIFEST).toString());
    expect(parsed).toEqual(JSON.parse(JSON.stringify(manifest)));
    expect(parsed).toMatchObject({
      id: 'ship-test',
      format: 'wbundle/1',
      volumes: ['workspace'],
      signed: false,
      private_included: false,
      created: 1_765_500_000,
      tenant: 'acme',
      instance: 'sb-1',
    });
    const { members } = await unpackFile((await makeBundle(secretive())).file);
    expect(Object.keys(members).sort()).toEqual([...MEMBERS].sort());
    expect(parsed.members[DISK].bytes).toBe(of(DISK).length);
  });

  test('3. no byte of memory, tmp, deleted files, free pages or foreign tables is in any member', async () => {
    const source = secretive();
    const before = readFileSync(source).toString('latin1');
    for (const secret of SECRETS) expect([secret, before.includes(secret)]).toEqual([secret, true]);
    const { bytes: of } = await makeBundle(source);
    for (const member of MEMBERS) {
      const shipped = of(member).toString('latin1');
      for (const secret of [...SECRETS, 'secret-'])
        expect([member, secret, shipped.includes(secret)]).toEqual([member, secret, false]);
    }
    expect(of(DISK).toString('latin1')).toContain('the work itself');
    const vfs = openAtRest(join((await makeBundle(source)).folder, DISK));
    expect(vfs.sizes().map(({ files }) => files)).toEqual([2, 0, 0]);
    expect(vfs.db.prepare('PRAGMA freelist_count').get()).toEqual({ freelist_count: 0 });
    vfs.close();
  });

  test('4. with private volumes all three ship, and the manifest and the page both say so', async () => {
    const { bytes: of, manifest } = await makeBundle(secretive(), { includePrivate: true });
    expect([manifest.volumes, manifest.private_included]).toEqual([['workspace', 'memory', 'tmp'], true]);
    expect(of(PAGE).toString()).toContain('Private volumes are included');
    expect(
      of(PAGE)
        .toString()
        .match(/Private: it is in this bundle/g),
    ).toHaveLength(2);
    expect(of(DISK).toString('latin1')).toContain('secret-in-memory');
    expect(of(DISK).toString('latin1')).not.toContain('secret-deleted');
    expect((await makeBundle(secretive())).bytes(PAGE).toString()).not.toContain('Private volumes are included');
  });

  test('5. a damaged file, no database and one of another kind do not ship', async () => {
    const healthy = vfsFile((vfs) => {
      for (let n = 0; n < 200; n += 1) vfs.put(vfsPath(`/${n}`), bytes(`content ${n} `.repeat(200)));
    });
    const damaged = tmpFile();
    const broken = readFileSync(healthy);
    broken.fill(0xff, 8192, 16_384);
    writeFileSync(damaged, broken);
    await expect(makeBundle(damaged)).rejects.toMatchObject({ code: 'corrupt' });
    const garbage = tmpFile();
    writeFileSync(garbage, 'no database at all');
    await expect(makeBundle(garbage)).rejects.toMatchObject({ code: 'corrupt' });
    const other = tmpFile();
    new DatabaseSync(other).exec('CREATE TABLE tasks (id)');
    await expect(makeBundle(other)).rejects.toMatchObject({ code: 'corrupt' });
    expect(codeOf(() => inspectVfs(garbage, 1))).toBe('corrupt');
  });

  test('6. the signed bytes change with every field but the signature, and not with the order of fields', async () => {
    const { manifest } = await makeBundle(secretive());
    const signedText = (changed: Partial<Manifest>) => Buffer.from(signedBytes({ ...manifest, ...changed })).toString();
    expect(signedText({ signature: 'x' })).toBe(signedText({}));
    const reversed = Object.fromEntries(Object.entries(manifest).reverse());
    expect(Buffer.from(signedBytes(reversed)).toString()).toBe(signedText({}));
    expect(signedText({}).startsWith('winterdock wbundle/1\n')).toBe(true);
    const page = manifest.members?.[PAGE] ?? { sha256: '', bytes: 0 };
    const disk = manifest.members?.[DISK] ?? { sha256: '', bytes: 0 };
    const others: Partial<Manifest>[] = [
      { id: 'other' },
      { tenant: 'other' },
      { created: 1 },
      { private_included: true },
      { volumes: ['memory'] },
      { issuer: 'did:key:z6Mk' },
      { members: { [PAGE]: page, [DISK]: { ...disk, sha256: 'f'.repeat(64) } } },
      { unknown: 'field' },
    ];
    for (const other of others) expect(signedText(other)).not.toBe(signedText({}));
  });
});

describe('the page', () => {
  test('7. it has no script and no address, and its policy allows none', async () => {
    const { bytes: of } = await makeBundle(secretive());
    const html = of(PAGE).toString();
    expect(html).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
    expect(html).not.toMatch(/<script|<img|<link|<iframe|src=|href=|url\(|@import|https?:/i);
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).toContain('the work itself');
  });

  test('7. what comes from a sandbox is text and never markup', async () => {
    const evil = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>';
    const { bytes: of } = await makeBundle(
      vfsFile((vfs) => {
        vfs.put(vfsPath(`/${evil.replaceAll('/', '|')}`), bytes(evil));
        vfs.put(vfsPath('/control'), bytes('\u001b[31mred\u0007 \u007f'));
        vfs.link(vfsPath('/link'), '"><script>alert(3)</script>');
      }),
      { manifest: { name: '<script>alert(4)</script>' } },
    );
    const html = of(PAGE).toString();
    expect(html).not.toMatch(/<script|<img/i);
    expect(html.match(/&lt;script&gt;alert/g)?.length).toBeGreaterThanOrEqual(5);
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
    expect(html).toContain('\u241b[31mred\u2407');
  });

  test('8. long lists and large files are left to the disk', async () => {
    const { bytes: of } = await makeBundle(
      vfsFile((vfs) => {
        const overlay = vfs.overlay();
        for (let n = 0; n < 2100; n += 1)
          overlay.put(vfsPath(`/many/${String(n).padStart(5, '0')}`), bytes(`text ${n} `.repeat(200)));
        overlay.put(vfsPath('/large.txt'), bytes('large '.repeat(20_000)));
        overlay.put(vfsPath('/binary'), Uint8Array.of(0, 1, 2, 255));
        overlay.commit();
      }),
    );
    const html = of(PAGE).toString();
    expect(html.match(/<tr><td/g)).toHaveLength(2000);
    expect(html).toContain('2\u202f102 files');
    expect(html).not.toContain('large large');
    expect(html.length).toBeLessThan(4 * MIB);
    expect(html.match(/<pre dir="auto">/g)?.length).toBeLessThan(1999);
  });
});

test('15. a manifest that is not JSON, lacks a field or contradicts itself is told so', () => {
  const sound = {
    id: 'a',
    format: 'wbundle/1',
    volumes: ['workspace'],
    signed: false,
    private_included: false,
    created: 1,
  };
  const read = (change: object) => readManifest(Buffer.from(JSON.stringify({ ...sound, ...change })));
  expect(read({})).toEqual({ manifest: sound });
  for (const [change, says] of [
    [{ id: undefined }, 'id'],
    [{ format: 'wbundle/2' }, 'format'],
    [{ volumes: ['workspace', 'secrets'] }, 'volumes'],
    [{ volumes: [] }, 'volumes'],
    [{ volumes: ['workspace', 'workspace'] }, 'volumes'],
    [{ created: 'today' }, 'created'],
    [{ volumes: ['workspace', 'memory'] }, 'contradict'],
    [{ private_included: true }, 'contradict'],
    [{ signed: true }, 'signed'],
    [{ signature: 'x' }, 'signed'],
    [{ members: { [PAGE]: { sha256: 'x', bytes: 1 } } }, 'members'],
  ] as const) {
    expect(JSON.stringify(read(change))).toMatch(new RegExp(`problems.*${says}`));
  }
  expect(readManifest(Buffer.from('{'))).toEqual({ problems: ['manifest.json is not JSON.'] });
  expect(readManifest(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ problems: ['manifest.json is not JSON.'] });
});

test('22. a bundle comes apart into what went in', async () => {
  const { file } = await makeBundle(secretive(), { includePrivate: true });
  const { problems, rebuilt, target, kind } = await unpackFile(file);
  expect([problems, kind]).toEqual([[], 'bundle']);
  expect(rebuilt?.volumes.map(({ volume, files }) => [volume, files])).toEqual([
    ['workspace', 2],
    ['memory', 2],
    ['tmp', 0],
  ]);
  const copy = join(tmpFolder(), 'copy.sqlite');
  copyFileSync(target, copy);
  expect(() => inspectVfs(copy, LIMITS.maxFileBytes)).not.toThrow();
});
