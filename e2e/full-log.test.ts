/**
 * A log that cannot be written: its disk is full, or whoever read it is gone. The server goes on, and so does the log
 * once it can.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { caller } from '../lib/testing/call.ts';
import { canMount, withMounts } from '../lib/testing/private-mounts.ts';
import { spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

const SERVER = join(import.meta.dirname, '../lib/front/server.ts');
const TALKER = join(import.meta.dirname, '../lib/testing/talker.ts');

let folder: string;
const ends: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-log-'));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Runs a program whose stdout and stderr are files on a disk of `size`. `said` reads one of them, `fill` takes what is
 * free.
 */
function onSmallDisk(size: string, program: string[], environment: Record<string, string> = {}) {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=${size} none "$DISK" && exec "$0" "$@" >>"$DISK/out" 2>>"$DISK/err"`;
  const [command = '', ...args] = [...withMounts(mount), process.execPath, ...program];
  const child = spawn(command, args, { env: { ...process.env, DISK: disk, ...environment }, stdio: 'ignore' });
  ends.push(() => child.kill('SIGKILL'));
  const inside = (name: string) => join(`/proc/${child.pid}/root`, disk, name);
  return {
    child,
    output(name: 'out' | 'err'): string {
      try {
        return readFileSync(inside(name), 'utf8');
      } catch {
        // Not mounted yet.
        return '';
      }
    },
    fill: () =>
      expect(() => writeFileSync(inside('ballast'), Buffer.alloc(64 * 1024 * 1024), { flag: 'a' })).toThrow('ENOSPC'),
    makeRoom: () => rmSync(inside('ballast')),
  };
}

test.runIf(canMount)(
  'a server whose output is on a full disk goes on, logs again once there is room, and ends well',
  async () => {
    const disk = onSmallDisk('256k', [SERVER, '--api-only'], {
      WB_DATA: join(folder, 'data'),
      WB_ADMIN_KEY: TEST_KEY,
      WB_POOL: '0',
      WB_LOG: 'info',
      PORT: '0',
    });
    await expect.poll(() => disk.output('out'), { timeout: 240_000 }).toMatch(/^ready /m);
    const call = caller(/^ready (\S+)$/m.exec(disk.output('out'))?.[1] ?? '', TEST_KEY);
    await call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    disk.fill();
    for (let n = 0; n < 100; n += 1) await call('GET', '/api/instances/a');
    expect((await call('PUT', '/api/instances/a/volumes/workspace/kept', 'kept')).status).toBe(201);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await call('GET', '/readyz')).status).toBe(200);
    const before = disk.output('err').length;
    disk.makeRoom();
    await expect.poll(() => disk.output('err').length).toBeGreaterThan(before);
    const [walls, ...lines] = disk.output('err').trim().split('\n');
    // Within the mounts of the test the server has no privilege: it says which walls are missing.
    expect(walls).toMatch(/^Walls around sandboxes:/);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg');
    disk.fill();
    await call('GET', '/api/instances/a');
    disk.child.kill('SIGTERM');
    expect(await once(disk.child, 'exit')).toEqual([0, null]);
  },
);

test.runIf(canMount)('lines for which there is no room are counted, and how many were lost is said', async () => {
  const disk = onSmallDisk('2m', [TALKER]);
  await expect.poll(() => disk.output('err')).toContain('so many lines are lost');
  const lines = disk
    .output('err')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { n?: number; lines?: number });
  const kept = lines.filter(({ n }) => n !== undefined).length;
  const lost = lines.reduce((sum, line) => sum + (line.lines ?? 0), 0);
  expect(lost).toBeGreaterThan(1000);
  expect(kept + lost).toBe(40_000);
});

test('a server whose reader is gone goes on', async () => {
  const server = await spawnServer({ folder, settings: { WB_POOL: '0', WB_LOG: 'info' } });
  ends.push(() => server.child.kill('SIGKILL'));
  server.child.stdout?.destroy();
  server.child.stderr?.destroy();
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  for (let n = 0; n < 100; n += 1) await server.call('GET', '/api/instances/a');
  expect((await server.call('GET', '/readyz')).status).toBe(200);
  expect(await server.end()).toBe(0);
});
