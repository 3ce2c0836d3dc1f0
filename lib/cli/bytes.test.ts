/** Bytes through the command line, with the programs that people pipe it to. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine, LAUNCHER } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Runs a line in a shell of this machine, where `winterdock` is the command line. */
async function shell(line: string): Promise<number | null> {
  const child = spawn('bash', ['-c', `set -o pipefail; winterdock() { "$NODE" "$LAUNCHER" "$@"; }; ${line}`], {
    cwd: cli.home,
    env: {
      ...process.env,
      NODE: process.execPath,
      LAUNCHER,
      WINTERDOCK_URL: server.url,
      WINTERDOCK_KEY: TEST_KEY,
      HOME: cli.home,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'close');
  return child.exitCode;
}

test('a folder goes in as a tar and comes out as one with the same hashes', async () => {
  const folder = join(cli.home, 'd');
  mkdirSync(join(folder, 'é'), { recursive: true });
  const files = {
    'a.bin': randomBytes(300_000),
    'é/b.bin': Buffer.from([0, 0xff, 0xfe, 0x0a]),
    text: Buffer.from('é\n'),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  expect(await shell(`tar cz d | winterdock exec --stdin a 'tar xz'`)).toBe(0);
  const sums = (await cli.run(['exec', 'a', 'cd d && sha256sum a.bin é/b.bin text'])).stdout;
  for (const [name, content] of Object.entries(files)) expect(sums).toContain(`${sha256(content)}  ${name}\n`);
  expect(await shell(`mkdir back && winterdock exec a 'tar cz d' | tar xz -C back && diff -r d back/d`)).toBe(0);
});

test('what a command writes arrives byte by byte, with --json as base64', async () => {
  const content = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(1_000_000)]);
  writeFileSync(join(cli.home, 'b.bin'), content);
  await cli.run(['files', 'put', 'a', 'b.bin']);
  expect(await shell(`winterdock exec a 'cat b.bin' > out.bin`)).toBe(0);
  expect(sha256(readFileSync(join(cli.home, 'out.bin')))).toBe(sha256(content));
  expect(await shell(`winterdock exec a 'cat b.bin >&2' 2> err.bin`)).toBe(0);
  expect(sha256(readFileSync(join(cli.home, 'err.bin')))).toBe(sha256(content));
  const { json } = await cli.run(['exec', '--json', '--stdin', 'a', 'cat'], { input: content.subarray(0, 300) });
  expect(json).toMatchObject({ stdout: content.subarray(0, 300).toString('base64'), stdout_encoding: 'base64' });
  const line = await cli.run(['shell', 'a'], { input: 'head -c 256 b.bin\n' });
  expect(line.bytes.equals(content.subarray(0, 256))).toBe(true);
});

test('more than a command is given on stdin is refused with the way to do it', async () => {
  const refused = await cli.run(['exec', '--stdin', 'a', 'wc -c'], { input: Buffer.alloc(17 * 1024 * 1024) });
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain('winterdock files put a');
});
