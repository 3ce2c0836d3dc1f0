import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { buildClient } from '../scripts/client/build.ts';

const CLIENTS = 'docs/clients.md';

/** The first block in `language` below a heading of a document. */
function block(document: string, language: string, heading: string): string {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
  const at = text.indexOf(`\n${heading}\n`);
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text.slice(at))?.[1];
  if (at < 0 || found === undefined) throw new Error(`${document} has no ${language} under "${heading}".`);
  return found;
}

/** Durations differ from run to run; everything else must be as printed. */
const timeless = (text: string) =>
  text.replaceAll(/"took_ms":[\d.]+/g, '"took_ms":…').replaceAll(/in [\d.]+ m?s\./g, 'in ….');

const fileOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

let folder: string;
let key: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-readme-'));
  // Without a key of the test's own: the one that the first start makes and keeps is what the README reads.
  server = await spawnServer({ folder, settings: { WB_ADMIN_KEY: '' } });
  key = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
});
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

/** What a script of the README prints, on stdout and stderr, with the test's server for its own. */
async function printed(script: string, env: Record<string, string> = {}): Promise<string> {
  const here = script
    .replaceAll('localhost:3000', server.url.replace('http://', ''))
    .replaceAll('data/admin.key', join(folder, 'admin.key'))
    .replaceAll('npx winterdock', `'${process.execPath}' '${fileOf('bin/winterdock.js')}'`);
  const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${here}`], {
    env: { ...process.env, ...env },
  });
  return stdout.replaceAll(server.url, 'http://localhost:3000');
}

/** What a program prints that imports the package, with the test's server and this key. */
async function printedByProgram(program: string, key: string): Promise<string> {
  const file = join(folder, 'example.mjs');
  const imported = /'winterdock\/(client|sandbox)'/;
  writeFileSync(
    file,
    program.replace(imported, (_, name: string) => JSON.stringify(fileOf(`lib/client/${name}.ts`))),
  );
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    env: { ...process.env, WINTERDOCK_URL: server.url, WINTERDOCK_KEY: key },
  });
  return stdout;
}

test('the five lines of the README print what the README says', async () => {
  const heading = '## Five lines';
  const output = await printed(block('README.md', 'sh', heading));
  expect(timeless(output)).toBe(timeless(block('README.md', 'text', heading)));
});

test('its JavaScript is built, signed in for, and prints what it says, from a folder like this one', async () => {
  const heading = '### From JavaScript';
  const here = join(folder, 'winterdock');
  mkdirSync(here);
  copyFileSync(fileOf('package.json'), join(here, 'package.json'));
  buildClient(join(here, 'dist', 'client'));
  writeFileSync(join(here, 'example.mjs'), block('README.md', 'js', heading));
  const steps = block('README.md', 'sh', heading).split('\n');
  // What this line does was done above, for a folder of the test's own.
  expect(steps.shift()).toBe('npm run -s build:client');
  const script = `${steps.join('\n')}\ncd '${here}' && WINTERDOCK_URL=${server.url} '${process.execPath}' example.mjs`;
  const output = await printed(script, { XDG_CONFIG_HOME: here });
  expect(output.replace(/^This is shown once.*\n/m, '')).toBe(
    `Logged in to http://localhost:3000.\n${block('README.md', 'text', '```js')}`,
  );
});

test('the command lines of docs/clients.md print what it says', async () => {
  const heading = '## Command line';
  const output = await printed(block(CLIENTS, 'sh', heading), { XDG_CONFIG_HOME: folder });
  expect(timeless(output)).toBe(timeless(block(CLIENTS, 'text', heading)));
});

test.each(['## The sandbox object', '## From JavaScript and TypeScript'])(
  'its JavaScript prints what it says, with the address and the key of the environment: %s',
  async (heading) => {
    expect(await printedByProgram(block(CLIENTS, 'js', heading), key)).toBe(block(CLIENTS, 'text', heading));
  },
);
