import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { inTerminal } from './testing/terminal.ts';
import { type CommandLine, commandLine, LAUNCHER } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  for (const id of ['sess-1', 'sess-2', 'other']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', name: `of ${id}` });
  }
  await server.call('POST', '/api/instances/other/exec', {
    command: 'mkdir src; echo x > src/main.js; echo y > "src/m; reboot"; echo z > src/-rf; touch "src/m\\$(id)"',
  });
  await server.call('POST', '/api/instances/other/suspend');
  mkdirSync(join(cli.home, 'made'));
  writeFileSync(join(cli.home, 'made', 'winterdock'), `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`);
  chmodSync(join(cli.home, 'made', 'winterdock'), 0o755);
  env = {
    PATH: `${join(cli.home, 'made')}${delimiter}${process.env.PATH}`,
    HOME: cli.home,
    XDG_CONFIG_HOME: cli.home,
    WINTERDOCK_URL: server.url,
    WINTERDOCK_KEY: TEST_KEY,
  };
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

/** The words that are offered for a command line whose last word is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const ended = await cli.run(['completion', 'candidates', '--', ...words]);
  expect(ended).toMatchObject({ exit: 0, stderr: '' });
  return ended.stdout
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter(Boolean);
}

test('commands, options and their values are those of the program itself', async () => {
  expect(await offered('sus')).toEqual(['suspend']);
  expect(await offered('files', 'm')).toEqual(['mv', 'mkdir']);
  expect(await offered('wait', 'sess-1', '--f')).toEqual(['--for']);
  expect(await offered('wait', 'sess-1', '--for', 'fr')).toEqual(['frozen']);
  expect(await offered('exec', 'sess-1', 'ls', '--')).toEqual([]);
  expect(await offered('exec', 'sess-1', '--cw')).toEqual(['--cwd']);
  expect(await offered('create', '--policy', '')).toEqual(['posix', 'minimal', 'compute', 'network', 'native']);
  expect(await offered('list', '--state', 'f')).toEqual(['frozen']);
  expect(await offered('list', '--sort', 'n')).toEqual(['name']);
  expect(await offered('jobs', 'list', '--state', '')).toEqual(['running', 'done', 'cancelled']);
  expect(await offered('keys', 'create', 'x', '--role', 't')).toEqual(['tenant']);
  expect(await offered('nonsense', '')).toEqual([]);
  expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect((await offered('')).length).toBeGreaterThan(40);
});

test('sandboxes and paths come from the server, nothing wakes, and no name that a shell would act on is offered', async () => {
  expect((await offered('show', 's')).sort()).toEqual(['sess-1', 'sess-2']);
  expect(await offered('list', '--tenant', 'a')).toEqual(['acme']);
  expect(await offered('events', '--sandbox', 'o')).toEqual(['other']);
  const { json: key } = await server.call<{ id: string }>('POST', '/api/keys', { name: 'made here', role: 'viewer' });
  expect(await offered('keys', 'revoke', key.id.slice(0, 3))).toContain(key.id);
  expect(await offered('files', 'get', 'other', 'sr')).toEqual(['src/']);
  // A name that means something to a shell is not offered: nobody runs what a guest called a file.
  expect(await offered('files', 'get', 'other', 'src/')).toEqual(['src/-rf', 'src/main.js']);
  expect(await offered('cp', '-r', 'oth')).toEqual(['other:', ':files']);
  expect(await offered('cp', 'other:src/m')).toEqual(['other:src/main.js']);
  expect(await offered('files', 'put', 'other', '')).toEqual([':files']);
  expect(await offered('create', 's')).toEqual([]);
  expect((await cli.run(['show', 'other', '--json'])).json).toMatchObject({ state: 'suspended' });
});

test('without a key, a right or a server nothing is offered, and nothing is said', async () => {
  const without: Record<string, string>[] = [
    { WINTERDOCK_KEY: '' },
    { WINTERDOCK_KEY: 'wrong' },
    { WINTERDOCK_URL: 'http://127.0.0.1:4' },
  ];
  for (const other of without) {
    const ended = await cli.run(['completion', 'candidates', '--', 'show', ''], { env: other });
    expect(ended).toMatchObject({ exit: 0, stdout: '', stderr: '' });
  }
  expect((await cli.run(['completion', 'tcsh'])).exit).toBe(2);
});

test('bash completes what a person types', async () => {
  const terminal = inTerminal(['bash', '--norc', '--noprofile', '-i'], { env });
  try {
    await terminal.shows('bash');
    terminal.type(
      `cd '${cli.home}' && source <(winterdock completion bash) && bind 'set bell-style none' && echo lo''aded\r`,
    );
    let at = await terminal.shows('loaded\r\n');
    terminal.type('winterdock files ge\t');
    at = await terminal.shows('files get ', at);
    terminal.type('oth\t');
    at = await terminal.shows('her ', at - 4);
    terminal.type('src/m\t');
    at = await terminal.shows('main.js ', at);
    terminal.type('\r');
    // The file's one line, and then the next prompt: what was completed ran as it stood.
    at = await terminal.shows('x\r\n', at);
    terminal.type('winterdock cp other:src/m\t');
    at = await terminal.shows('main.js ', at);
    terminal.type('ma\t');
    at = await terminal.shows('made/', at);
    terminal.type('\r');
    at = await terminal.shows('made/main.js: 1 file', at);
    terminal.type('exit\r');
    await terminal.ended;
  } finally {
    terminal.end();
  }
});

/** Whether a shell is on this machine; bash is everywhere. */
const isHere = (shell: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${shell}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
/** What is added to a test's name that is skipped for want of a shell. */
const because = (shell: string) => (isHere(shell) ? '' : `, which is not installed here`);

/** Types into a shell that has loaded the completion, and looks what it ran. */
async function completesIn(shell: string, start: string[], load: string): Promise<void> {
  const terminal = inTerminal(start, { env });
  // Only what ran is looked at: each shell draws the line that is typed in a way of its own.
  const ranAs = async (typed: string, ...seen: string[]) => {
    let at = terminal.shown().length;
    terminal.type(typed);
    for (const text of seen) at = await terminal.shows(text, at);
  };
  try {
    terminal.type(`cd '${cli.home}'; ${load}; echo loa''ded-by ${shell}\r`);
    await terminal.shows(`loaded-by ${shell}`);
    await ranAs('winterdock files ge\t', 'get');
    await ranAs('oth\t', 'er');
    await ranAs('src/m\t', 'main.js');
    await ranAs('\r', 'x\r\n');
    await ranAs('winterdock cp --force other:src/m\t', 'main.js');
    await ranAs('ma\t', 'made');
    await ranAs('\r', 'made/main.js: 1 file');
    terminal.type('exit\r');
    await terminal.ended;
  } finally {
    terminal.end();
  }
}

test.skipIf(!isHere('zsh'))(`zsh completes what a person types${because('zsh')}`, () =>
  completesIn(
    'zsh',
    ['zsh', '-f', '-i'],
    'autoload -U compinit && compinit -u -D && source <(winterdock completion zsh)',
  ),
);

test.skipIf(!isHere('fish'))(`fish completes what a person types${because('fish')}`, () =>
  completesIn('fish', ['fish', '--no-config', '-i'], 'winterdock completion fish | source'),
);

for (const shell of ['bash', 'zsh', 'fish']) {
  test.skipIf(!isHere(shell))(`the script of ${shell} is one${because(shell)}`, async () => {
    const script = join(cli.home, `script.${shell}`);
    writeFileSync(script, (await cli.run(['completion', shell])).stdout);
    execFileSync(shell, ['-n', script]);
  });
}
