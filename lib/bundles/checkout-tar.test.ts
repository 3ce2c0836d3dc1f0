import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { openAtRest } from '../vfs/open.ts';
import { bytes, tmpFile, tmpFolder, vfsPath, writeRows } from '../vfs/testing/tmp-files.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { checkoutTar, safeLinkTarget } from './checkout-tar.ts';
import { ignoreFile } from './gitignore.ts';
import { vfsFile } from './testing/bundle.ts';

/** Unpacks the checkout of a VFS file with the real tar. */
async function unpacked(file: string): Promise<string> {
  const folder = tmpFolder();
  const tar = join(folder, 'work.tar');
  const vfs = openAtRest(file);
  await pipeline(Readable.from(checkoutTar(vfs.db)), createWriteStream(tar));
  vfs.close();
  const out = join(folder, 'out');
  mkdirSync(out);
  execFileSync('tar', ['-xf', tar, '-C', out, '--no-same-owner']);
  return out;
}

const checkout = (fill: (vfs: Vfs) => void) => unpacked(vfsFile(fill));

/** What git stages of a folder, by name. */
function staged(folder: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'core.quotepath=off', ...args], { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  git('add', '-A');
  return git('ls-files', '-z').split('\0').filter(Boolean).sort();
}

const LONG = `/${Array.from({ length: 6 }, (_, n) => `${n}`.repeat(160)).join('/')}/${'é'.repeat(28)}x`;

test('23. contents, modes, times, links and empty directories come out as they are', async () => {
  const out = await checkout((vfs) => {
    vfs.put(vfsPath('/src/main.js'), bytes('run()'), 'workspace', { mode: 0o755 });
    vfs.utimes(vfsPath('/src/main.js'), 1_700_000_000);
    vfs.put(vfsPath('/empty'), bytes(''));
    vfs.put(
      vfsPath('/data.bin'),
      Uint8Array.from({ length: 70_000 }, (_, n) => n % 251),
    );
    vfs.mkdir(vfsPath('/folder/inner'), 'workspace', { recursive: true, mode: 0o700 });
    vfs.link(vfsPath('/src/link'), 'main.js');
    vfs.link(vfsPath('/up'), './src/../src');
    vfs.link(vfsPath('/src/top'), '../data.bin');
    vfs.put(vfsPath('/-rf'), bytes('a name'));
    vfs.put(vfsPath('/new\nline'), bytes('another'));
    vfs.put(vfsPath('/set'), bytes('uid'), 'workspace', { mode: 0o4755 });
  });
  expect(readFileSync(join(out, 'src/main.js'), 'utf8')).toBe('run()');
  expect(statSync(join(out, 'src/main.js')).mode & 0o777).toBe(0o755);
  expect(statSync(join(out, 'src/main.js')).mtimeMs).toBe(1_700_000_000_000);
  expect(statSync(join(out, 'folder/inner')).mode & 0o7777).toBe(0o700);
  expect(readFileSync(join(out, 'data.bin'))).toEqual(
    Buffer.from(Uint8Array.from({ length: 70_000 }, (_, n) => n % 251)),
  );
  expect(readFileSync(join(out, 'empty'))).toHaveLength(0);
  expect(readlinkSync(join(out, 'src/link'))).toBe('main.js');
  expect(readFileSync(join(out, 'src/top'))).toHaveLength(70_000);
  expect(readFileSync(join(out, '-rf'), 'utf8')).toBe('a name');
  expect(readFileSync(join(out, 'new\nline'), 'utf8')).toBe('another');
  expect(statSync(join(out, 'set')).mode & 0o7777).toBe(0o755);
});

test('23. names of 1 024 bytes come out', async () => {
  expect(Buffer.byteLength(LONG)).toBe(1024);
  const out = await checkout((vfs) => {
    vfs.put(vfsPath(LONG), bytes('far down'));
    vfs.link(vfsPath('/short'), LONG.slice(1));
  });
  expect(readFileSync(join(out, LONG), 'utf8')).toBe('far down');
  expect(readlinkSync(join(out, 'short'))).toBe(LONG.slice(1));
});

test('23. many small files and large ones between them come out, and a time beyond what a tar can say', async () => {
  const large = randomBytes(300_000);
  const out = await checkout((vfs) => {
    const overlay = vfs.overlay();
    for (let n = 0; n < 3000; n += 1) {
      overlay.put(vfsPath(`/many/${n % 7}/${n}`), n % 1000 === 500 ? large : bytes('x'.repeat(n)));
    }
    overlay.put(vfsPath('/late'), bytes('late'));
    overlay.commit();
    vfs.utimes(vfsPath('/late'), 9_000_000_000_000);
  });
  for (let n = 0; n < 3000; n += 1) {
    const content = readFileSync(join(out, `many/${n % 7}/${n}`));
    expect(n % 1000 === 500 ? content.equals(large) : content.toString('latin1') === 'x'.repeat(n)).toBe(true);
  }
  expect(readFileSync(join(out, 'late'), 'utf8')).toBe('late');
});

test('23. a file of the seed is a tree too', async () => {
  const file = tmpFile();
  writeRows(file, [
    ['workspace', '/a/b', 'text', 1_700_000_000],
    ['memory', '/m', 'private', 1],
  ]);
  const out = await unpacked(file);
  expect(readFileSync(join(out, 'a/b'), 'utf8')).toBe('text');
  expect(readdirSync(out).sort()).toEqual(['.gitignore', 'a']);
});

test('24. git stages all of the work, src/tmp too, and nothing private', async () => {
  const out = await checkout((vfs) => {
    vfs.put(vfsPath('/README.md'), bytes('work'));
    vfs.put(vfsPath('/src/tmp/cache.js'), bytes('work'));
    vfs.put(vfsPath('/src/memory/model.js'), bytes('work'));
    vfs.put(vfsPath('/learned'), bytes('private'), 'memory');
    vfs.put(vfsPath('/scratch'), bytes('private'), 'tmp');
  });
  expect(readFileSync(join(out, '.gitignore'), 'utf8').split('\n')).toEqual(
    expect.arrayContaining(['/memory/', '/tmp/']),
  );
  // Volumes that someone unpacks beside the work stay out of the repository.
  for (const volume of ['memory', 'tmp']) {
    mkdirSync(join(out, volume));
    execFileSync('touch', [join(out, volume, 'private')]);
  }
  expect(staged(out)).toEqual(['.gitignore', 'README.md', 'src/memory/model.js', 'src/tmp/cache.js']);
});

test('24. the work’s own .gitignore is kept, and cannot let the private volumes in', async () => {
  const out = await checkout((vfs) => {
    vfs.put(vfsPath('/.gitignore'), bytes('dist/\n!/memory/'));
    vfs.put(vfsPath('/dist/bundle.js'), bytes('built'));
    vfs.put(vfsPath('/lib/.gitignore'), bytes('*.log\n'));
    vfs.put(vfsPath('/lib/a.js'), bytes('work'));
    vfs.put(vfsPath('/lib/a.log'), bytes('log'));
  });
  expect(readFileSync(join(out, '.gitignore'), 'utf8')).toMatch(
    /^dist\/\n!\/memory\/\n[\s\S]*\n\/memory\/\n\/tmp\/\n$/,
  );
  mkdirSync(join(out, 'memory'));
  execFileSync('touch', [join(out, 'memory/private')]);
  expect(staged(out)).toEqual(['.gitignore', 'lib/.gitignore', 'lib/a.js']);
});

test('24. a tmp at the top of the work is work', async () => {
  const out = await checkout((vfs) => {
    vfs.put(vfsPath('/tmp/page.html'), bytes('work'));
    vfs.put(vfsPath('/memory'), bytes('a file of that name'));
  });
  expect(staged(out)).toEqual(['.gitignore', 'memory', 'tmp/page.html']);
});

test('24. a .gitignore that is a link or a directory loses nothing', async () => {
  const linked = await checkout((vfs) => {
    vfs.put(vfsPath('/rules'), bytes('*.log\n'));
    vfs.link(vfsPath('/.gitignore'), 'rules');
  });
  expect(lstatSync(join(linked, '.gitignore')).isFile()).toBe(true);
  expect(staged(linked)).toEqual(['.gitignore', 'rules']);
  const folder = await checkout((vfs) => vfs.put(vfsPath('/.gitignore/file'), bytes('x')));
  expect(staged(folder)).toEqual(['.gitignore/file']);
});

test('24. the lines follow what the work says, with a line end between', () => {
  expect(ignoreFile(null, new Set()).toString()).toMatch(/^# .*\n\/memory\/\n\/tmp\/\n$/);
  expect(ignoreFile(bytes('a'), new Set(['tmp'])).toString()).toMatch(
    /^a\n# .*\n\/memory\/\n# \/tmp\/ has no line.*\n$/,
  );
  expect(ignoreFile(bytes('a\n'), new Set()).toString()).toMatch(/^a\n# /);
});

test.each([
  ['/a', 'b', 'b'],
  ['/a', './b//c', './b//c'],
  ['/d/a', '../b', '../b'],
  ['/d/a', '..', '..'],
  ['/d/e/a', '../../b/c', '../../b/c'],
  ['/d/a', '/workspace/src/x', '../src/x'],
  ['/a', '/workspace', '.'],
  ['/d/a', '/workspace/', '../'],
  ['/a', '..', null],
  ['/a', '../b', null],
  ['/d/a', '../../b', null],
  ['/d/a', 'x/../../../b', null],
  ['/a', 'd/../../secret', null],
  ['/a', 'b/..', null],
  ['/a', '/etc/passwd', null],
  ['/a', '/memory/x', null],
  ['/a', '/workspacer', null],
  ['/a', '/workspace/../memory/x', null],
  ['/d/a', '/workspace/../../etc', null],
  ['/a', '', null],
])('25. a link %s → %s stays inside or is none', (path, target, expected) => {
  expect(safeLinkTarget(path, target)).toBe(expected);
});

test('25. links that would lead out are files with their targets, chains of links too', async () => {
  const out = await checkout((vfs) => {
    vfs.link(vfsPath('/passwd'), '/etc/passwd');
    vfs.link(vfsPath('/climb'), '../../../outside');
    vfs.mkdir(vfsPath('/x/y'), 'workspace', { recursive: true });
    vfs.link(vfsPath('/x/y/root'), '../..');
    vfs.link(vfsPath('/chain'), 'x/y/root/../outside');
    vfs.put(vfsPath('/x/y/file'), bytes('inside'));
    vfs.link(vfsPath('/mounted'), '/workspace/x/y/file');
  });
  for (const [name, target] of [
    ['passwd', '/etc/passwd'],
    ['climb', '../../../outside'],
    ['chain', 'x/y/root/../outside'],
  ] as const) {
    expect([name, lstatSync(join(out, name)).isFile(), readFileSync(join(out, name), 'utf8')]).toEqual([
      name,
      true,
      target,
    ]);
  }
  expect(readlinkSync(join(out, 'x/y/root'))).toBe('../..');
  expect(readFileSync(join(out, 'mounted'), 'utf8')).toBe('inside');
});

test('25. a repository that the sandbox made is left out', async () => {
  const out = await checkout((vfs) => {
    vfs.put(vfsPath('/.git/config'), bytes('[core]\n\tfsmonitor = "touch /tmp/owned"\n'));
    vfs.put(vfsPath('/sub/.GIT/hooks/post-checkout'), bytes('#!/bin/sh\n'), 'workspace', { mode: 0o755 });
    vfs.put(vfsPath('/sub/work'), bytes('work'));
    vfs.put(vfsPath('/.github/workflow'), bytes('work'));
    vfs.link(vfsPath('/lib/.git'), '../sub');
  });
  expect(staged(out)).toEqual(['.github/workflow', '.gitignore', 'sub/work']);
  expect(readdirSync(join(out, 'sub'))).toEqual(['work']);
});
