import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addressText,
  type CallName,
  curlText,
  type SampleCall,
  shellWord,
  typeScriptText,
} from '../client/call-text.ts';
import { CALLS } from '../client/calls.ts';
import { commandText, commandWords } from '../client/command-lines.ts';
import { exampleOf } from '../http/examples.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { createProgram } from './program.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

const NAMES = Object.keys(CALLS) as CallName[];
const CLIENT = fileURLToPath(new URL('../client/client.ts', import.meta.url));

function sampleOf(name: CallName): SampleCall {
  const { path, query, body, text } = exampleOf(name);
  return { name, path, query, body: body ?? text };
}

let server: TestServer;
let cli: CommandLine;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await startServer();
  environment = { ...process.env, WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY };
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

/** Runs a line of a shell and returns what it printed. */
async function shell(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: cli.home, env: environment });
  return stdout;
}

test('a word of a shell is the text, whatever it holds, and has nothing that acts as a key where it is pasted', async () => {
  const texts = [
    "it's",
    '',
    'a b',
    '$(id) `id` \\ "x" !',
    'é\u202e\nsecond',
    'x\x1b[201~\nrm -rf ~\n',
    '-n%s\t\x03\x7f\x9bé\n\n',
  ];
  for (const text of texts) {
    const word = shellWord(text);
    expect([text, word.match(/[^\P{Cc}\n]/u)]).toEqual([text, null]);
    expect([text, await shell(`printf '%s' ${word}`)]).toEqual([text, text]);
  }
});

/** The command that a line names, and what is left for it. */
function parse(words: readonly string[]): { command: Command; operands: string[]; unknown: string[] } {
  let command = createProgram('0');
  let rest = [...words];
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0]);
    if (next === undefined) return { command, ...command.parseOptions(rest) };
    command = next;
    rest = rest.slice(1);
  }
}

test('a command line names a command, its options and as many arguments as it takes', () => {
  const lines = NAMES.flatMap((name) => {
    const words = commandWords(sampleOf(name));
    return words === null ? [] : [words];
  });
  expect(lines.length).toBeGreaterThan(60);
  for (const words of lines) {
    const { command, operands, unknown } = parse(words);
    const line = words.join(' ');
    expect(command.commands, line).toEqual([]);
    expect(unknown, line).toEqual([]);
    const { registeredArguments } = command;
    expect(operands.length, line).toBeGreaterThanOrEqual(registeredArguments.filter(({ required }) => required).length);
    if (!registeredArguments.some(({ variadic }) => variadic)) {
      expect(operands.length, line).toBeLessThanOrEqual(registeredArguments.length);
    }
  }
});

test('a value that no option takes leaves a call without a command line', () => {
  const call: SampleCall = { name: 'patchInstance', path: { id: 'a' }, body: { hold_until: 1 } };
  expect(commandText(call)).toBeNull();
  expect(commandText({ ...call, body: { keep_hot: true } })).toBe('npx winterdock set --keep-hot a');
  expect(commandText({ ...call, body: { keep_hot: null } })).toBeNull();
});

test('the command line of a secret asks for its value', () => {
  const body = { value: 'tok', url: 'https://api.example.com/', header: 'x-key' };
  const call: SampleCall = { name: 'setTenantSecret', path: { tenant: 'acme', name: 'KEY' }, body };
  expect(commandText(call)).toBe(
    'npx winterdock secrets set --tenant acme --address https://api.example.com/ --header x-key KEY',
  );
});

test('what a shell or an address would take for its own is kept', () => {
  const call: SampleCall = { name: 'getFile', path: { id: 'a', volume: 'workspace', path: "/it's 1?/ü#" } };
  expect(addressText(call)).toBe("/api/instances/a/volumes/workspace/it's%201%3F/%C3%BC%23");
  const exec: SampleCall = { name: 'execInInstance', path: { id: 'a' }, body: { command: `echo "it's" $HOME` } };
  expect(curlText(exec, 'http://x')).toContain(`--data '{"command":"echo \\"it'\\''s\\" $HOME"}'`);
});

test('no text holds a key, and all name its variable', () => {
  for (const name of NAMES.filter((each) => !['health', 'readiness', 'openapi'].includes(each))) {
    expect(curlText(sampleOf(name), 'http://x')).toContain('$WINTERDOCK_KEY');
    expect(typeScriptText(sampleOf(name), 'http://x')).toContain('WINTERDOCK_KEY');
  }
});

test('curl, the command line and TypeScript do what they say, each on a sandbox of its own', async () => {
  const seen: Record<string, unknown> = {};
  const calls = (id: string): SampleCall[] => [
    { name: 'createInstance', body: { id, tenant: 'acme', labels: { 'made-by': 'it’s me' } } },
    { name: 'execInInstance', path: { id }, body: { command: `echo "it's $((6 * 7))" > 'a b'` } },
    { name: 'suspendInstance', path: { id }, body: { reason: "it's late" } },
  ];
  for (const call of calls('by-curl')) await shell(`${curlText(call, server.url)} --fail --silent`);
  for (const call of calls('by-cli')) {
    const ended = await cli.run(commandWords(call) ?? []);
    expect(ended, ended.stderr).toMatchObject({ exit: 0 });
  }
  const [head] = typeScriptText({ name: 'me' }, server.url).split('const dock');
  const program = calls('by-client').map((call) => typeScriptText(call, server.url).replace(head ?? '', ''));
  // The package's own name leads to its build: the test imports what that is built from.
  const source = [head?.replace('winterdock/client', CLIENT), ...program.map((text) => `{\n${text}\n}`)].join('\n');
  writeFileSync(join(cli.home, 'program.ts'), source);
  await shell(`${process.execPath} program.ts`);
  for (const id of ['by-curl', 'by-cli', 'by-client']) {
    const { json } = await server.call<Record<string, unknown>>('GET', `/api/instances/${id}`);
    const file = await server.call('GET', `/api/instances/${id}/volumes/workspace/a%20b`);
    const lines = await server.call<{ reason: string }[]>('GET', `/api/instances/${id}/events?type=transition&limit=1`);
    seen[id] = [json.state, json.labels, file.text, lines.json[0]?.reason];
  }
  const same = ['suspended', { 'made-by': 'it’s me' }, "it's 42\n", "it's late"];
  expect(seen).toEqual({ 'by-curl': same, 'by-cli': same, 'by-client': same });
});
