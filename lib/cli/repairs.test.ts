import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waysOut } from '../lifecycle/ways-out.ts';
import { plant } from '../testing/faulted.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
let snapshot: string;
let path: string;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'model', tenant: 'acme' });
  for (let n = 0; n < 60; n += 1) {
    await server.call('PUT', `/api/instances/model/volumes/workspace/note-${n}`, `note ${n} `.repeat(60));
  }
  snapshot = (await server.call<{ id: string }>('POST', '/api/instances/model/snapshots', {})).json.id;
  await server.call('POST', '/api/instances/model/suspend');
  const whole = join(server.folder, 'whole.sqlite');
  copyFileSync(join(server.folder, 'live/model/vfs.sqlite'), whole);
  ({ path } = await plant(server.host, whole, { id: 'sick', state: 'frozen', fault: 'corrupt' }));
  writeFileSync(
    path,
    readFileSync(whole)
      .fill(0x55, 0, 4096)
      .fill(0x55, 6 * 4096, 7 * 4096),
  );
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

/** Runs a command line that must succeed. */
const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};

test('a damaged sandbox is reported, downloaded, salvaged and restored in place', async () => {
  const refused = await cli.run(['exec', 'sick', 'ls']);
  expect(refused.exit).not.toBe(0);
  expect(refused.stderr).toContain(waysOut('corrupt'));

  const raw = await ok('raw', 'sick', '--reason', 'for the lab');
  expect(raw.stdout).toMatch(/^sick\.sqlite: .*sha256:[0-9a-f]{64}\n$/);
  expect((await cli.run(['raw', 'sick'])).exit).toBe(2);
  expect((await cli.run(['raw', 'sick', '--log'])).exit).not.toBe(0);
  writeFileSync(`${path}-wal`, 'a log');
  expect((await ok('raw', 'sick', '--force')).stdout).toContain('a log of 5 B lies beside it');
  expect((await ok('raw', 'sick', '--log', '--json')).json).toMatchObject({ file: 'sick.sqlite-wal', bytes: 5 });

  const salvaged = await ok('salvage', 'sick', '--id', 'well', '--name', 'what is left');
  expect(salvaged.stdout).toMatch(/^well is created\.\nrecovered +\d+ files/);
  expect(salvaged.stdout).toMatch(/^lost +workspace:\/note-\d+ – /m);
  expect((await ok('salvage', 'sick', '--json')).json).toMatchObject({ instance: { lineage: { parent: 'sick' } } });

  const asked = await cli.run(['restore-in-place', 'sick', snapshot]);
  expect(asked).toMatchObject({ exit: 2, stderr: expect.stringContaining('--yes') });
  expect((await ok('restore-in-place', 'sick', snapshot, '--yes', '--reason', 'ticket 7')).stdout).toBe(
    `sick holds ${snapshot} now. It is frozen.\n`,
  );
  expect((await ok('files', 'get', 'sick', 'note-7')).stdout).toContain('note 7');
  expect(existsSync(path)).toBe(false);
});
