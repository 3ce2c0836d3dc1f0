import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
beforeEach(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};
const inSandbox = async (command: string) => (await ok('exec', 'a', command)).stdout;
/** Every path below a folder here. */
const here = (folder: string) => readdirSync(join(cli.home, folder), { recursive: true, encoding: 'utf8' }).sort();

test('a folder goes into a sandbox and comes out as it was, bytes, odd names and empty folders', async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);
  mkdirSync(join(cli.home, 'src', 'deep', 'er'), { recursive: true });
  mkdirSync(join(cli.home, 'src', 'empty'));
  writeFileSync(join(cli.home, 'src', 'deep', 'er', 'b.bin'), bytes);
  writeFileSync(join(cli.home, 'src', 'a b;$x'), 'odd');
  for (let index = 0; index < 20; index++) writeFileSync(join(cli.home, 'src', 'deep', `n${index}`), `${index}`);
  symlinkSync('/etc/passwd', join(cli.home, 'src', 'link'));

  expect(await cli.run(['cp', 'src', 'a:'])).toMatchObject({ exit: 2, stderr: /Add -r/ });
  const up = await ok('cp', '-r', 'src', 'a:');
  expect(up.stdout).toBe('a:/workspace/src: 22 files, 70.0 kB\n');
  expect(up.stderr).toContain('Passed over, being no files: link');
  expect(await inSandbox('cat "src/a b;\\$x"; ls -d src/*/; ls src/deep | wc -l')).toBe(
    'oddsrc/deep/\nsrc/empty/\n21\n',
  );

  const sleeping = await ok('suspend', 'a', '--json');
  expect(sleeping.json).toMatchObject({ state: 'suspended' });
  expect((await ok('cp', '-r', 'a:src', 'out', '--json')).json).toMatchObject({ target: 'out', files: 22, folders: 3 });
  expect(here('out')).toEqual(here('src').filter((path) => path !== 'link'));
  expect(readFileSync(join(cli.home, 'out', 'deep', 'er', 'b.bin')).equals(bytes)).toBe(true);
  expect((await ok('show', 'a', '--json')).json).toMatchObject({ state: 'suspended' });

  // A folder that is there is copied into; its contents are, with /.
  await ok('cp', '-r', 'a:src', 'out');
  expect(existsSync(join(cli.home, 'out', 'src', 'deep', 'n1'))).toBe(true);
  await ok('cp', '-r', 'a:/workspace/src/.', 'flat');
  expect(existsSync(join(cli.home, 'flat', 'deep', 'n1'))).toBe(true);
  await ok('cp', '-r', 'src/.', 'a:/tmp/flat');
  expect(await inSandbox('cat /tmp/flat/deep/n1')).toBe('1');
  await ok('cp', '-r', 'a:', 'whole');
  expect(existsSync(join(cli.home, 'whole', 'src', 'deep', 'n1'))).toBe(true);
});

test('one file goes either way, and none is overwritten without --force', async () => {
  writeFileSync(join(cli.home, 'one'), 'first');
  await ok('cp', 'one', 'a:/memory/two');
  await ok('cp', 'a:/memory/two', '.');
  expect(readFileSync(join(cli.home, 'two'), 'utf8')).toBe('first');
  writeFileSync(join(cli.home, 'one'), 'second');
  expect(await cli.run(['cp', 'one', 'a:/memory/two'])).toMatchObject({ exit: 5, stderr: /memory\/two" is there/ });
  expect(await cli.run(['cp', 'a:/memory/two', 'one'])).toMatchObject({ exit: 5, stderr: /"one" is there/ });
  expect(readFileSync(join(cli.home, 'one'), 'utf8')).toBe('second');
  await ok('cp', '--force', 'one', 'a:/memory/two');
  await ok('cp', '--force', 'a:/memory/two', 'two');
  expect(readFileSync(join(cli.home, 'two'), 'utf8')).toBe('second');
  // Of a folder nothing is copied when one of its files is there.
  mkdirSync(join(cli.home, 'f'));
  for (const name of ['x', 'y', 'z']) writeFileSync(join(cli.home, 'f', name), name);
  await ok('cp', 'f/z', 'a:f/');
  expect((await cli.run(['cp', '-r', 'f', 'a:'])).exit).toBe(5);
  expect(await inSandbox('ls f')).toBe('z\n');
});

test('what does not fit is refused with its exit code', async () => {
  writeFileSync(join(cli.home, 'one'), '1');
  mkdirSync(join(cli.home, 'f'));
  expect((await cli.run(['cp', 'one', 'two'])).exit).toBe(2);
  expect((await cli.run(['cp', 'a:one', 'a:two'])).exit).toBe(2);
  expect((await cli.run(['cp', 'none', 'a:'])).exit).toBe(2);
  expect((await cli.run(['cp', 'one', 'nobody:'])).exit).toBe(4);
  expect((await cli.run(['cp', 'a:none', '.'])).exit).toBe(4);
  expect((await cli.run(['cp', 'one', 'a:/home/x'])).exit).toBe(4);
  await ok('cp', 'one', 'a:');
  expect((await cli.run(['cp', '-r', 'f', 'a:one'])).exit).toBe(5);
});

test('no name in a sandbox leads out of the folder that it is copied to', async () => {
  mkdirSync(join(cli.home, 'outside'));
  mkdirSync(join(cli.home, 'out'));
  symlinkSync(join(cli.home, 'outside'), join(cli.home, 'out', 'sub'));
  await inSandbox('mkdir sub; echo x > sub/taken; ln -s /etc/passwd gone');
  expect(await cli.run(['cp', '-r', '--force', 'a:/workspace/.', 'out'])).toMatchObject({
    exit: 5,
    stderr: /no folder/,
  });
  expect(here('outside')).toEqual([]);
  // A file's name that a link here has: the link is replaced, and what it leads to stays.
  writeFileSync(join(cli.home, 'kept'), 'kept');
  symlinkSync(join(cli.home, 'kept'), join(cli.home, 'outside', 'taken'));
  await ok('cp', '--force', 'a:sub/taken', 'outside/taken');
  expect(readFileSync(join(cli.home, 'kept'), 'utf8')).toBe('kept');
});

test.skipIf(process.platform === 'darwin')('a name here that is no text is named, and nothing is copied', async () => {
  mkdirSync(join(cli.home, 'odd'));
  writeFileSync(join(cli.home, 'odd', 'good'), 'x');
  writeFileSync(Buffer.concat([Buffer.from(join(cli.home, 'odd', 'bad')), Buffer.of(0xff)]), 'x');
  const ended = await cli.run(['cp', '-r', 'odd', 'a:']);
  expect([ended.exit, ended.stderr]).toEqual([2, expect.stringMatching(/"bad.+" in "odd" is not UTF-8/)]);
  expect(await inSandbox('ls')).toBe('');
});
