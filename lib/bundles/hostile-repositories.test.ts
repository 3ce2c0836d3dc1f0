/** Repositories that a sandbox made, unpacked by people: git runs nothing of them, and what is not there is told. */
import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, expect, test } from 'vitest';
import { DOT_GITS } from '../base/testing/dot-gits.ts';
import { openAtRest } from '../vfs/open.ts';
import { bytes, tmpFolder, vfsPath } from '../vfs/testing/tmp-files.ts';
import { surveyWorkspace } from './checkout-survey.ts';
import { checkoutTar } from './checkout-tar.ts';
import { leftOutHeader, leftOutList, listName, summaryOf } from './left-out.ts';
import { vfsFile } from './testing/bundle.ts';
import { hostileTrees, linkIn, runsCommand, type Tree, writeTree } from './testing/hostile-repositories.ts';

const markerFolder = mkdtempSync(join(tmpdir(), 'winterdock-ran-'));
const marker = join(markerFolder, 'ran');
const TREES = Object.entries(hostileTrees(marker));
const LIST = 'WINTERDOCK-LEFT-OUT.txt';

afterAll(() => rmSync(markerFolder, { recursive: true }));

/** The checkout of a tree, unpacked; and what it says that it lacks. */
async function checkedOut(tree: Tree): Promise<{ out: string; leftOut: string[] }> {
  const vfs = openAtRest(
    vfsFile((open) => {
      for (const [path, content] of Object.entries(tree)) {
        const target = linkIn(content);
        if (target === null) open.put(vfsPath(`/${path}`), bytes(content), 'workspace', { mode: 0o755 });
        else open.link(vfsPath(`/${path}`), target);
      }
    }),
  );
  const folder = tmpFolder();
  const out = join(folder, 'out');
  const survey = surveyWorkspace(vfs.db);
  await pipeline(Readable.from(checkoutTar(vfs.db, { survey })), createWriteStream(join(folder, 'work.tar')));
  vfs.close();
  mkdirSync(out);
  const names = execFileSync('tar', ['-tf', join(folder, 'work.tar')], { encoding: 'utf8' })
    .trim()
    .split('\n');
  if (survey.leftOut.size > 0) expect(names.at(-1)).toMatch(/^WINTERDOCK-LEFT-OUT(-\d+)?\.txt$/);
  execFileSync('tar', ['-xf', join(folder, 'work.tar'), '-C', out, '--no-same-owner']);
  return { out, leftOut: [...survey.leftOut] };
}

test.each(TREES)('25. %s runs a command as it is, and none as a checkout', async (_what, tree) => {
  const raw = join(tmpFolder(), 'raw');
  writeTree(raw, tree);
  expect(runsCommand(raw, marker)).toBe(true);
  const { out, leftOut } = await checkedOut({ ...tree, 'work.txt': 'work' });
  expect(runsCommand(out, marker)).toBe(false);
  expect(readFileSync(join(out, 'work.txt'), 'utf8')).toBe('work');
  expect(leftOut.length).toBeGreaterThan(0);
  for (const path of leftOut) {
    expect(readFileSync(join(out, LIST), 'utf8')).toContain(`\n${path}\n`);
    expect(existsSync(join(out, path))).toBe(false);
  }
  // All else is there, with its content.
  for (const path of Object.keys(tree)) {
    const isOut = leftOut.some((one) => path === one || (one.endsWith('/') && path.startsWith(one)));
    if (!isOut)
      expect([path, readdirSync(join(out, path, '..')).includes(path.split('/').at(-1) ?? '')]).toEqual([path, true]);
  }
});

test('25. names that are .git elsewhere stay out, with what is in them, and are listed', async () => {
  const names = [...DOT_GITS, 'a\\.git'];
  const { out, leftOut } = await checkedOut(Object.fromEntries(names.map((name, n) => [`s${n}/${name}/config`, 'x'])));
  expect(leftOut).toHaveLength(names.length);
  const rest = readdirSync(out, { recursive: true, encoding: 'utf8' });
  expect(rest.filter((path) => path.endsWith('config') || /\.g.?it/i.test(path.replace('.gitignore', '')))).toEqual([]);
  expect(readFileSync(join(out, LIST), 'utf8')).toContain('s5/.git /');
});

test('25. a workspace without any has neither a list nor a header, and keeps its config and hooks', async () => {
  const { out, leftOut } = await checkedOut({ config: 'mine', 'hooks/x': 'mine', 'a/HEAD': 'x', 'a/config': 'mine' });
  expect([leftOut, existsSync(join(out, LIST))]).toEqual([[], false]);
  expect(readFileSync(join(out, 'a/config'), 'utf8')).toBe('mine');
  expect(leftOutHeader(summaryOf(new Set()))).toBeNull();
});

test('25. the list takes no name of the workspace, is not staged, and the work keeps all of its own', async () => {
  const { out } = await checkedOut({ [LIST]: 'mine', '.git/config': 'x', work: 'work' });
  expect(readFileSync(join(out, LIST), 'utf8')).toBe('mine');
  expect(readFileSync(join(out, 'WINTERDOCK-LEFT-OUT-2.txt'), 'utf8')).toContain('\n.git/\n');
  execFileSync('git', ['init', '-q'], { cwd: out });
  execFileSync('git', ['add', '-A'], { cwd: out });
  expect(execFileSync('git', ['ls-files'], { cwd: out, encoding: 'utf8' }).trim().split('\n')).toEqual([
    '.gitignore',
    LIST,
    'work',
  ]);
  expect(listName(new Set(['winterdock-left-out.TXT']))).toBe('WINTERDOCK-LEFT-OUT-2.txt');
});

test('25. list and header are bounded, and no name breaks a line of them', () => {
  const many = new Set(Array.from({ length: 30_000 }, (_, n) => `r${n}/${'x'.repeat(300)}/config`));
  const text = leftOutList(many).toString();
  expect(text.split('\n').filter((line) => line.startsWith('r'))).toHaveLength(10_000);
  expect(text).toContain('\nand 20000 more\n');
  expect(leftOutHeader(summaryOf(many))?.length).toBeLessThanOrEqual(1000);
  expect(leftOutHeader(summaryOf(many))).toMatch(/^30000 r0\/x+\/config r1\//);
  const odd = new Set(['a\nb/config', 'ä ö/\r\nset-cookie: x/config', '\ud800/config']);
  expect(leftOutHeader(summaryOf(odd))).toMatch(/^3 [\x21-\x7e]+ [\x21-\x7e]+ [\x21-\x7e]+$/);
  expect(leftOutList(odd).toString()).toContain('\n"a\\nb/config"\n');
});
