import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loseRegistry, openRegistryOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let cli: CommandLine;
beforeEach(() => {
  cli = commandLine();
});
afterEach(() => cli.remove());

test('backup works on the data folder of this machine, without a server, and ends as `npm run backup` does', async () => {
  const folder = join(cli.home, 'data');
  await loseRegistry(folder);
  const env = { WB_DATA: folder, ...settingsOfTests(folder) };
  const none = await cli.run(['backup', 'kept', '--json'], { env });
  expect(none.exit).toBe(1);
  expect(JSON.parse(none.stderr)).toMatchObject({ error: { detail: expect.stringContaining('There is no registry') } });
  mkdirSync(folder, { recursive: true });
  await (await openRegistryOfTests(folder)).close();
  const made = await cli.run(['backup', 'kept', '--keep', '1', '--json'], { env });
  expect([made.exit, made.stderr]).toEqual([0, '']);
  expect(made.json).toMatchObject({ sandboxes: 0, to: 'kept', removed: { backups: 0 } });
  const verified = await cli.run(['backup', '--verify', 'kept'], { env });
  expect(verified.stdout).toMatch(/^Verified: 1 objects/m);
  expect((await cli.run(['backup', 'kept', '--keep', 'none'], { env })).exit).toBe(1);
  expect((await cli.run(['backup'], { env })).exit).toBe(2);
});
