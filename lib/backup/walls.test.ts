import { spawnSync } from 'node:child_process';
import { constants, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loseRegistry } from '../registry/testing/registry-of-tests.ts';
import { OpenedFiles, type Opening, whyNotWatched } from '../testing/opened-files.ts';
import type { ServerProcess } from '../testing/process.ts';
import { populate, run, spawnServer } from './testing/server-content.ts';

/** The users of sandboxes and of helpers are numbers from here on. */
const FIRST_USER = 0x7000_0000;

/** A filesystem of its own, so that every open on it is by a process of this test. */
const disk = mkdtempSync(join(tmpdir(), 'winterdock-alone-'));
const isMounted =
  process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512m', 'tmpfs', disk]).status === 0;
const whyNot = isMounted ? whyNotWatched(disk) : 'not root';
const at = (...names: string[]) => join(disk, ...names);

let server: ServerProcess;
let opened: OpenedFiles;

beforeAll(async () => {
  if (whyNot !== null) return;
  mkdirSync(at('tmp'), { mode: 0o700 });
  server = await spawnServer({ folder: at('data') });
  await populate(server);
  opened = await OpenedFiles.watch(disk);
});

afterAll(async () => {
  if (server?.child.exitCode === null) await server.end('SIGKILL');
  await opened?.stop();
  if (isMounted) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Where a SQLite file of a sandbox lies, without ids and random names; null for what is none. */
function kindOf({ path }: Opening): string | null {
  const from = relative(disk, path).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…');
  if (
    !/^(data\/(live|cold|archive|snapshots|blueprints)|restored\/(live|cold|archive|snapshots|blueprints)|backup\/drafts|tmp\/winterdock-\w+)\//.test(
      from,
    )
  )
    return null;
  return from
    .replace(/^tmp\/[^/]+/, 'tmp')
    .replace(/\/(?:[\w-]+|[0-9a-f]{64})(\.sqlite|\/vfs\.sqlite)/, '/…$1')
    .replace(/(live\/)[\w-]+(?=\/)/, '$1…');
}

/** What tells that a file was touched, by its path. */
function marksOf(folder: string): Record<string, unknown> {
  const drawers = ['live', 'cold', 'archive', 'snapshots', 'blueprints'].filter((name) =>
    existsSync(join(folder, name)),
  );
  const paths = drawers.flatMap((drawer) => [
    join(folder, drawer),
    ...readdirSync(join(folder, drawer), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, drawer, name),
    ),
  ]);
  return Object.fromEntries(
    paths.map((path) => {
      const { ino, uid, gid, mode, size, ctimeMs } = lstatSync(path);
      // The lock of a data folder closes its folders to others, and who reads in them has to pass.
      const isFolder = (mode & constants.S_IFMT) === constants.S_IFDIR;
      return [relative(folder, path), isFolder ? { ino, uid, gid } : { ino, uid, gid, mode, size, ctimeMs }];
    }),
  );
}

test.runIf(whyNot === null)(
  'backup, restore and doctor open files of sandboxes behind walls alone, and a look changes none',
  async () => {
    const settings = { TMPDIR: at('tmp') };
    const command = (...args: Parameters<typeof run>) => {
      const [name, folder, words] = args;
      const { status, stdout, stderr } = run(name, folder, words, settings);
      expect(status, `${name} ${words.join(' ')}: ${stdout}${stderr}`).toBe(0);
      return stdout;
    };
    const seen: (Opening & { by: string; kind: string })[] = [];
    let before = opened.seen().length;
    const during = (by: string, work: () => string) => {
      const said = work();
      expect(said).not.toContain('without these walls');
      const all = opened.seen();
      for (const one of all.slice(before)) {
        const kind = kindOf(one);
        if (kind !== null) seen.push({ ...one, by, kind });
      }
      before = all.length;
    };
    during('backup beside', () => command('backup', at('data'), [at('backup')]));
    await server.end('SIGKILL');
    during('backup alone', () => command('backup', at('data'), [at('backup')]));
    const marks = marksOf(at('data'));
    // A killed server’s folder is not well, and a look says so.
    during('doctor', () => run('doctor', at('data'), ['--full'], settings).stdout);
    expect(marksOf(at('data'))).toEqual(marks);
    command('restore', at('restored'), ['--from', at('backup')]);
    const restored = marksOf(at('restored'));
    during('doctor of what was restored', () => command('doctor', at('restored'), ['--full']));
    expect(marksOf(at('restored'))).toEqual(restored);
    await loseRegistry(at('restored'));
    during('doctor takes back', () =>
      command('doctor', at('restored'), ['--adopt', '--accept', 'lost', '--tenant', 'acme']),
    );
    during('restore of one', () =>
      command('restore', at('restored'), ['--from', at('backup'), '--instance', 'frozen', '--as', 'thawed']),
    );

    const helpers = seen.filter(({ program }) => /\/reader(?:\.cjs|\.ts)/.test(program));
    const table = helpers.map(({ by, kind, uid, capabilities, net, files, pids, isFiltered }) =>
      [
        ...[by.padEnd(28), kind.padEnd(36), uid === 0 ? 'root' : 'own user'],
        ...[capabilities === 0n ? 'no capability' : 'some', net ? 'no network' : 'network', files ? 'its room' : 'all'],
        ...[pids ? 'its processes' : 'all', isFiltered ? 'filter' : 'no filter'],
      ].join('  '),
    );
    process.stdout.write(`${[...new Set(table)].sort().join('\n')}\n`);
    for (const by of new Set(seen.map((one) => one.by)))
      expect(helpers.filter((one) => one.by === by).length, by).toBeGreaterThan(0);
    for (const { by, path, uid, capabilities, net, files, pids, isFiltered } of helpers)
      expect({ by, path, isOwn: uid >= FIRST_USER, capabilities, net, files, pids, isFiltered }).toEqual({
        ...{ by, path, isOwn: true, capabilities: 0n, net: true, files: true, pids: true, isFiltered: true },
      });
    // Who opens a file with a log as a database opens the log’s index. The commands copy and hash bytes.
    const others = seen.filter((one) => !helpers.includes(one) && !/\/worker(?:\.cjs|\.ts)/.test(one.program));
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter(({ path }) => path.endsWith('-shm')).map(({ by, path }) => [by, path])).toEqual([]);
    expect(readdirSync(at('tmp'))).toEqual([]);
  },
);
