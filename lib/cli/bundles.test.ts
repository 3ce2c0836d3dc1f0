import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DISK } from '../bundles/manifest.ts';
import { membersOf } from '../testing/bundle-server.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('PUT', '/api/instances/a/volumes/workspace/note', 'shared');
  await server.call('PUT', '/api/instances/a/volumes/memory/secret', 'private');
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

test('a sandbox is shipped, inspected, imported, and listed as a share', async () => {
  const shipped = await ok('ship', 'a', '--json', '--progress');
  expect(shipped.json).toMatchObject({ file: 'a.wbundle.zip', share: expect.any(String) });
  expect(shipped.stderr).toMatch(/^a: /m);
  expect((await cli.run(['ship', 'a'])).exit).toBe(2);
  await ok('ship', 'a', '--force', '--include-private', '--reason', 'moving house');
  expect((await ok('shares', '--json')).json).toMatchObject([{ private_included: true }, { private_included: false }]);
  expect((await ok('shares', '--instance', 'a')).stdout).toContain('workspace memory');

  expect((await ok('inspect', 'a.wbundle.zip', '--json')).json).toMatchObject({ verified: true, importable: true });
  expect((await ok('inspect', 'a.wbundle.zip')).stdout).toMatch(/^verified +yes$/m);
  const imported = await ok('import', 'a.wbundle.zip', '--tenant', 'globex', '--id', 'b', '--progress');
  expect(imported).toMatchObject({
    stdout: 'b is created.\n',
    stderr: expect.stringMatching(/a\.wbundle\.zip: .*100 %/),
  });
  expect((await ok('files', 'get', 'b', 'note')).stdout).toBe('shared');

  const bundle = readFileSync(join(cli.home, 'a.wbundle.zip'));
  writeFileSync(join(cli.home, 'broken.zip'), bundle.subarray(0, bundle.length / 2));
  expect((await cli.run(['inspect', 'broken.zip'])).exit).toBe(6);
  const refused = await cli.run(['import', 'broken.zip', '--tenant', 'globex']);
  expect(refused).toMatchObject({ exit: 6, stderr: expect.stringContaining('[validation]') });
});

test('what nobody signed is said by inspect and import, and refused where a signature is wanted', async () => {
  await ok('ship', 'a', 'signed.zip');
  const signed = await ok('import', 'signed.zip', '--tenant', 'globex', '--require-signed');
  expect(signed.stderr).not.toContain('UNSIGNED');
  const { [DISK]: bare = Buffer.alloc(0) } = await membersOf(readFileSync(join(cli.home, 'signed.zip')));
  writeFileSync(join(cli.home, 'bare.sqlite'), bare);
  const seen = await ok('inspect', 'bare.sqlite');
  expect(seen.stdout).toMatch(/signed by +NOBODY: it is unsigned/);
  const taken = await ok('import', 'bare.sqlite', '--tenant', 'globex');
  expect(taken.stderr).toContain('UNSIGNED: it is a bare VFS file');
  const refused = await cli.run(['import', 'bare.sqlite', '--tenant', 'globex', '--require-signed']);
  expect(refused).toMatchObject({ exit: 6, stderr: expect.stringContaining('UNSIGNED: only what is signed') });
});

test('a bundle goes through a pipe to another dock', async () => {
  const ended = cli.start(['ship', 'a', '-']);
  const chunks: Buffer[] = [];
  ended.child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  expect((await ended.ended).exit).toBe(0);
  const imported = await cli.run(['import', '-', '--tenant', 'globex', '--id', 'c'], { input: Buffer.concat(chunks) });
  expect(imported).toMatchObject({ exit: 0, stdout: 'c is created.\n' });
  expect((await ok('files', 'get', 'c', 'note')).stdout).toBe('shared');
});

test('a checkout is a tree of the workspace', async () => {
  expect((await ok('checkout', 'a')).stdout).toMatch(/^a\.tar\.gz: /);
  expect(existsSync(join(cli.home, 'a.tar.gz'))).toBe(true);
  expect(readFileSync(join(cli.home, 'a.tar.gz')).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
});
