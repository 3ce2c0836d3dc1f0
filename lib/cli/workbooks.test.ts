import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

const source = (args: string) =>
  `* etl :workflow:\n** count :component:\n#+begin_src js ${args}\nexport const state = {};\n#+end_src\n`;
const write = (name: string, text: string) => writeFileSync(join(cli.home, name), text);

/** Runs a command line that must succeed. */
const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};

test('a workbook is stored, planned, read, docked, upgraded and deleted', async () => {
  write('etl.org', source(':in by?:integer :out n:integer :uses log :persist'));
  expect((await ok('workbook', 'put', 'etl', 'etl.org', '--tenant', 'acme', '--new')).stdout).toMatch(/^version +1$/m);
  expect((await cli.run(['workbook', 'put', 'etl', 'etl.org', '--tenant', 'acme', '--new'])).exit).toBe(5);
  expect((await ok('workbook', 'plan', 'etl')).stdout).toBe(
    'etl\n  count (js); in by?:integer; out n:integer; uses log; keeps its state\n',
  );
  expect((await ok('workbook', 'list', '--tenant', 'acme', '--json')).json).toMatchObject([
    { id: 'etl', components: 1 },
  ]);
  await ok('create', 'sb', '--tenant', 'acme', '--workbook', 'etl');
  expect((await ok('show', 'sb')).stdout).toMatch(/^workbook +etl, version 1$/m);

  const second = source(':in by?:integer :out n:integer');
  const piped = await cli.run(['workbook', 'put', 'etl', '-', '--tenant', 'acme', '--if-version', '1'], {
    input: second,
  });
  expect([piped.exit, piped.stderr]).toEqual([0, '']);
  const check = await cli.run(['workbook', 'check-upgrade', 'etl', '--from', '1']);
  expect([check.exit, check.stdout]).toEqual([6, 'breaks  “etl/count” no longer keeps its state.\n']);
  const refused = await cli.run(['workbook', 'dock', 'sb']);
  expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining('no longer keeps its state')]);
  expect((await ok('workbook', 'dock', 'sb', '--accept-changes')).stdout).toBe('sb is docked to etl, version 2.\n');
  expect((await ok('workbook', 'versions', 'etl', '--json')).json).toMatchObject([{ version: 2 }, { version: 1 }]);
  expect((await ok('workbook', 'get', 'etl')).stdout).toBe(second);
  await ok('workbook', 'get', 'etl', 'old.org', '--version', '1');
  expect(readFileSync(join(cli.home, 'old.org'), 'utf8')).toContain(':persist');

  expect((await cli.run(['workbook', 'delete', 'etl', '--yes'])).exit).toBe(5);
  await ok('workbook', 'dock', 'sb', '--none');
  expect((await ok('workbook', 'delete', 'etl', '--yes')).stdout).toBe('etl is deleted.\n');
  expect((await ok('workbook', 'list', '--json')).json).toEqual([]);
});

test('problems are printed as compilers print them, with a code of their own', async () => {
  write('bad.org', source(':uses vsf'));
  const stored = await cli.run(['workbook', 'put', 'bad', 'bad.org', '--tenant', 'acme']);
  expect([stored.exit, stored.stderr]).toEqual([
    6,
    'bad.org:3:22: There is no capability “vsf”. Did you mean vfs? There are vfs, log, clock, random, fetch.\n',
  ]);
  const planned = await cli.run(['workbook', 'plan', '--file', 'bad.org']);
  expect([planned.exit, planned.stdout]).toEqual([6, stored.stderr]);
});

test('a component and a workflow are called from the command line', async () => {
  const counter = `* etl :workflow:
** count :component:
#+begin_src js :in by?:integer :out n:integer
export default ({ by = 1 }) => { console.log('counting'); if (by < 0) throw new Error('negative'); return { n: by }; };
#+end_src
** twice :component:
#+begin_src js :deps count :in n:integer :out double:integer
export default ({ n }) => ({ double: 2 * n });
#+end_src
`;
  write('calls.org', counter);
  await ok('workbook', 'put', 'calls', 'calls.org', '--tenant', 'acme');
  await ok('create', 'caller', '--tenant', 'acme', '--workbook', 'calls');
  const one = await ok('workbook', 'call', 'caller', 'count', '--input', '{"by": 3}');
  expect([one.json, one.stderr]).toEqual([{ n: 3 }, 'counting\n']);
  const failed = await cli.run(['workbook', 'call', 'caller', 'count', '--input', '{"by": -1}']);
  expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining('negative')]);
  const whole = await ok('workbook', 'call', 'caller', '--input', '{"by": 4}');
  expect(whole.json).toEqual({ double: 8 });
  expect(whole.stderr).toContain('etl/twice done in');
  expect((await ok('workbook', 'call', 'caller', 'count', '--json')).json).toMatchObject({ output: { n: 1 } });
  expect((await cli.run(['workbook', 'call', 'caller', 'count', '--input', '[1]'])).exit).toBe(2);
  expect((await cli.run(['workbook', 'call', 'caller', 'nobody'])).exit).toBe(4);
});
