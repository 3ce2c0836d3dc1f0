/** Every way on which a sandbox's files become files of people: git runs nothing of what comes out. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostileTrees, linkIn, runsCommand } from '../bundles/testing/hostile-repositories.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

const markerFolder = mkdtempSync(join(tmpdir(), 'winterdock-ran-'));
const marker = join(markerFolder, 'ran');
const TREES = Object.entries(hostileTrees(marker));

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer({ settings: { WB_SESSION_API: 'on' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  rmSync(markerFolder, { recursive: true });
  await server.stop();
});

const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};

let made = 0;
/** A new folder here with the contents of a tar.gz. */
function unpack(archive: Buffer): string {
  made += 1;
  const out = join(cli.home, `out-${made}`);
  mkdirSync(out);
  execFileSync('tar', ['-xz', '-C', out, '--no-same-owner'], { input: archive });
  return out;
}

describe.each(TREES)('%s', (what, tree) => {
  const id = `box-${TREES.findIndex(([name]) => name === what)}`;
  beforeAll(async () => {
    await server.call('POST', '/api/instances', { id, tenant: 'acme' });
    for (const [path, content] of Object.entries(tree)) {
      const target = linkIn(content);
      const answer =
        target === null
          ? await server.call('PUT', `/api/instances/${id}/volumes/workspace/${path}`, content)
          : await server.call('POST', `/api/instances/${id}/exec`, {
              command: `mkdir -p "$(dirname ${path})"; ln -s ${target} ${path}`,
            });
      expect(answer.status).toBeLessThan(300);
    }
  });

  test('runs nothing from a checkout, whose answer says what it lacks', async () => {
    const answer = await server.call('GET', `/api/instances/${id}/checkout`);
    expect(answer.headers['x-left-out']).toMatch(/^\d+ \S/);
    const out = unpack(answer.bytes);
    expect(existsSync(join(out, 'WINTERDOCK-LEFT-OUT.txt'))).toBe(true);
    expect(runsCommand(out, marker)).toBe(false);
    const [line] = (await server.call<{ reason: string }[]>('GET', `/api/events?instance=${id}&type=checkout.sent`))
      .json;
    expect(line?.reason).toContain('without what git takes commands from');
  });

  test('runs nothing from the checkout of the command line, which says so', async () => {
    const ended = await ok('checkout', id, `${id}.tar.gz`);
    expect(ended.stderr).toMatch(/Left out, as git would run what it says: \S/);
    expect(runsCommand(unpack(readFileSync(join(cli.home, `${id}.tar.gz`))), marker)).toBe(false);
  });

  test('runs nothing from the workspace of a session', async () => {
    const answer = await server.call('GET', `/api/sessions/${id}/workspace`);
    expect(answer.headers['x-left-out']).toMatch(/^\d+ \S/);
    expect(runsCommand(unpack(answer.bytes), marker)).toBe(false);
  });

  test('runs nothing from cp -r, which says what it left out', async () => {
    for (const [from, to] of [
      [`${id}:`, `cp-${id}`],
      [`${id}:/workspace/.`, `flat-${id}`],
    ] as const) {
      const ended = await ok('cp', '-r', from, to);
      const hasOnlyLinks = what === 'a bare repository whose settings are a link';
      if (!hasOnlyLinks) expect(ended.stderr).toMatch(/Left out, as git would run what it says: \S/);
      expect(runsCommand(join(cli.home, to), marker)).toBe(false);
    }
  });
});

test('cp -r keeps what is in a repository but its settings and hooks, also when it is copied by itself, and a file by its path', async () => {
  await server.call('POST', '/api/instances', { id: 'kept', tenant: 'acme' });
  for (const path of [
    '.git/HEAD',
    '.git/objects/a',
    '.git/refs/b',
    '.git/config',
    '.git/hooks/x',
    '.git/index',
    'work',
  ]) {
    await server.call('PUT', `/api/instances/kept/volumes/workspace/repo/${path}`, path);
  }
  const ended = await ok('cp', '-r', 'kept:repo', 'repo', '--json');
  expect(ended.json).toMatchObject({ files: 5, left_out: ['.git/config', '.git/hooks/'] });
  expect(readFileSync(join(cli.home, 'repo/.git/index'), 'utf8')).toBe('.git/index');
  // Into a clone of one's own, whose settings stay as they are.
  mkdirSync(join(cli.home, 'mine/.git'), { recursive: true });
  writeFileSync(join(cli.home, 'mine/.git/config'), 'mine');
  await ok('cp', '-r', '--force', 'kept:repo/.git', 'mine');
  await ok('cp', '-r', '--force', 'kept:repo/.', 'mine');
  await ok('cp', '-r', '--force', 'kept:repo/.git/.', 'mine/.git');
  expect(readFileSync(join(cli.home, 'mine/.git/config'), 'utf8')).toBe('mine');
  await ok('cp', 'kept:repo/.git/config', 'config');
  expect(readFileSync(join(cli.home, 'config'), 'utf8')).toBe('.git/config');
});
