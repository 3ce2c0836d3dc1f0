import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { inTerminal, type Terminal } from './testing/terminal.ts';
import { type CommandLine, commandLine, LAUNCHER } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('POST', '/api/instances/a/exec', {
    command:
      'mkdir src; echo one > src/plain.txt; echo two > "src/odd; name"; echo three > "src/it\'s"; touch src/plan.md $\'src/pla\\e[31mcrimson\'',
  });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

const typed = (...args: string[]): Terminal =>
  inTerminal([process.execPath, LAUNCHER, ...args], {
    env: {
      HOME: cli.home,
      XDG_CONFIG_HOME: cli.home,
      XDG_STATE_HOME: cli.home,
      WINTERDOCK_URL: server.url,
      WINTERDOCK_KEY: TEST_KEY,
    },
  });

test('exec -it is a shell with a line editor: Tab completes, arrows edit, the folder stays, the code is the last one', async () => {
  const terminal = typed('exec', '-it', '--env', 'WHO=me', 'a', 'bash');
  try {
    let at = await terminal.shows('a:/workspace$ ');
    terminal.type('cat sr\t');
    at = await terminal.shows('src/', at);
    terminal.type('plai\t');
    at = await terminal.shows('plain.txt ', at);
    terminal.type('\r');
    at = await terminal.shows('one\r\n', at);
    // A name with spaces is quoted as it is typed: without and within quotes.
    terminal.type('cat src/od\t');
    at = await terminal.shows('odd\\;\\ name ', at);
    terminal.type('\r');
    at = await terminal.shows('two\r\n', at);
    terminal.type('cat "src/it\t');
    at = await terminal.shows(`it's" `, at);
    terminal.type('\r');
    at = await terminal.shows('three\r\n', at);
    // Names that a terminal would act on are not shown.
    terminal.type('ls src/p\t');
    at = await terminal.shows('src/pla', at);
    terminal.type('\t');
    at = await terminal.shows('plan.md', at);
    expect(terminal.shown()).not.toContain('crimson');
    terminal.type('\x15echo xWHO\x1b[D\x1b[D\x1b[D\x7f$\r');
    at = await terminal.shows('me\r\n', at);
    terminal.type('cd src; false\r');
    at = await terminal.shows('a:/workspace/src$ ', at);
    terminal.type('\x1b[A\x15exit\r');
    await terminal.ended;
    expect(terminal.exit()).toBe(1);
  } finally {
    terminal.end();
  }
});

test('-i gives a command stdin, and -t takes nothing but a shell', async () => {
  expect(await cli.run(['exec', '-i', 'a', 'cat'], { input: 'given' })).toMatchObject({ exit: 0, stdout: 'given' });
  expect(await cli.run(['exec', '-it', 'a', '/bin/sh', '-l'], { input: 'echo typed\nexit 4\n' })).toMatchObject({
    exit: 4,
    stdout: 'typed\n',
  });
  for (const command of [['python3'], ['bash', '-c', 'true']]) {
    const refused = await cli.run(['exec', '-it', 'a', ...command]);
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('There is no terminal in a sandbox') });
  }
});

test('list --watch draws the table anew on a terminal, and prints what changed elsewhere', async () => {
  const terminal = typed('list', '--watch', '--interval', '1s', '--tenant', 'watched');
  const json = cli.start(['list', '-w', '--interval', '1s', '--tenant', 'watched', '--json']);
  const plain = cli.start(['list', '-w', '--interval', '1s', '--tenant', 'watched']);
  try {
    const at = await terminal.shows('No sandboxes.');
    await expect.poll(plain.stdout).toMatch(/^ID +TENANT/);
    await server.call('POST', '/api/instances', { id: 'w', tenant: 'watched' });
    const drawn = await terminal.shows('created', at);
    await server.call('POST', '/api/instances/w/resume');
    await server.call('POST', '/api/instances/w/suspend');
    await terminal.shows('suspended', drawn);
    expect(terminal.shown().slice(at)).toContain('\x1b[H');
    const states = () =>
      json
        .stdout()
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    await expect.poll(states).toContainEqual(expect.objectContaining({ id: 'w', state: 'suspended' }));
    await server.call('POST', '/api/instances/w/plan', { to: 'deleted' });
    await expect.poll(states).toContainEqual({ id: 'w', listed: false });
    await expect.poll(plain.stdout).toMatch(/\nw +not listed\n/);
    expect(plain.stdout().match(/^ID /gm)).toHaveLength(1);
    terminal.type('\x03');
    await terminal.ended;
    expect(terminal.exit()).toBe(130);
  } finally {
    terminal.end();
    json.child.kill('SIGINT');
    plain.child.kill('SIGINT');
  }
  expect((await json.ended).exit).toBe(130);
  expect((await plain.ended).exit).toBe(130);
  expect((await cli.run(['list', '--watch', '--interval', '0'])).exit).toBe(2);
});
