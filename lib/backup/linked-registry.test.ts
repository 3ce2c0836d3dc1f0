import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Event } from '../contract/schema.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { run } from './testing/server-content.ts';

let root: string;
let folder: string;
/** The registry's file, and a link to it. */
let file: string;
let link: string;
let server: ServerProcess | null = null;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-linked-'));
  folder = join(root, 'data');
  mkdirSync(join(root, 'disk'));
  file = join(root, 'disk', 'file.sqlite');
  link = join(root, 'link.sqlite');
  // A link that leads to nothing is refused.
  writeFileSync(file, '');
  symlinkSync(file, link);
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

async function start(registry: string): Promise<ServerProcess> {
  server = await spawnServer({ folder, settings: { WB_REGISTRY: registry } });
  return server;
}

async function make(id: string): Promise<void> {
  expect((await server?.call('POST', '/api/instances', { id, tenant: 'acme' }))?.status).toBe(201);
  expect((await server?.call('PUT', `/api/instances/${id}/volumes/workspace/what`, id))?.status).toBe(201);
}

const read = async (id: string) => (await server?.call('GET', `/api/instances/${id}/volumes/workspace/what`))?.text;

test('a head that an earlier version kept beside the link moves to the file, and either name is refused by it', async () => {
  await start(link);
  await make('a');
  await server?.end();
  copyFileSync(file, join(root, 'older'));
  expect([existsSync(`${file}.head`), existsSync(`${link}.head`)]).toEqual([true, false]);
  renameSync(`${file}.head`, `${link}.head`);

  await start(link);
  await make('b');
  const missing = await server?.call<Event[]>('GET', '/api/events?type=ledger.head_missing');
  expect(missing?.json).toEqual([]);
  await server?.end();
  expect([existsSync(`${file}.head`), existsSync(`${link}.head`)]).toEqual([true, false]);

  copyFileSync(join(root, 'older'), file);
  for (const name of [file, link]) {
    await expect(start(name)).rejects.toThrow(/is not the newest one\. Its signed head file\.sqlite\.head is at line/);
    const verified = run('ledger-verify', folder, [], { WB_REGISTRY: name });
    expect([name, verified.status]).toEqual([name, 1]);
    const examined = run('doctor', folder, ['--json'], { WB_REGISTRY: name });
    expect(JSON.parse(examined.stdout).findings.map(({ kind }: { kind: string }) => kind)).toContain('registry.behind');
  }
});

test('a restore replaces the file and not the link to it, and keeps what was there', async () => {
  await start(link);
  await make('a');
  const backup = join(root, 'backup');
  expect(run('backup', folder, [backup], { WB_REGISTRY: file }).status).toBe(0);
  await make('b');
  await server?.end('SIGKILL');
  const before = readFileSync(file);
  const log = readFileSync(`${file}-wal`);

  const restored = run('restore', folder, ['--from', backup, '--force'], { WB_REGISTRY: link });
  expect([restored.status, restored.stderr]).toEqual([0, '']);
  expect([lstatSync(link).isSymbolicLink(), readlinkSync(link)]).toEqual([true, file]);
  expect(readdirSync(join(root, 'disk')).filter((name) => !/\.head\.\d+-/.test(name))).toEqual([
    'file.sqlite',
    'file.sqlite.head',
    'file.sqlite.lock',
  ]);
  const aside = join(folder, readdirSync(folder).find((name) => name.startsWith('replaced-')) ?? '');
  expect(readFileSync(join(aside, 'file.sqlite')).equals(before)).toBe(true);
  expect(readFileSync(join(aside, 'file.sqlite-wal')).equals(log)).toBe(true);

  for (const name of [link, file]) {
    await start(name);
    expect([await read('a'), (await server?.call('GET', '/api/instances/b'))?.status]).toEqual(['a', 404]);
    await server?.end();
  }
});
