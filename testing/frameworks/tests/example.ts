/** Runs the examples of docs/agents.md with the real frameworks, and a scripted model in the place of theirs. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestServer } from './test-server.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The first line that names a model of somebody's, which the test has none of. */
const MODEL = /model: .*?,\n/;

/** What the JavaScript under a heading prints. `model`: code in the place of its model, if it has one. */
export async function runExample(heading: string, { connection }: TestServer, model?: string): Promise<string> {
  const text = readFileSync(join(ROOT, 'docs', 'agents.md'), 'utf8');
  const at = text.indexOf(`\n${heading}\n`);
  const program = /```js\n([\s\S]*?)```/.exec(text.slice(at))?.[1];
  if (at < 0 || program === undefined || MODEL.test(program) !== (model !== undefined))
    throw new Error(`There is no example at ${heading}.`);
  // Beside the tests, where the packages of the framework are found.
  const file = fileURLToPath(new URL(`example-${process.pid}-${Date.now()}.mjs`, import.meta.url));
  const ours = program.replaceAll(/'winterdock\/([\w-]+)'/g, (_, entry: string) => {
    const path = entry === 'client' || entry === 'sandbox' ? entry : `adapters/${entry}`;
    return JSON.stringify(join(ROOT, 'lib', 'client', `${path}.ts`));
  });
  // Of this framework its core is installed, which it hands on.
  const core = ours.replaceAll(/'@openai\/agents(?=['/])/g, "'@openai/agents-core");
  writeFileSync(file, core.replace(MODEL, `model: ${model},\n`));
  try {
    const env = { ...process.env, WINTERDOCK_URL: connection.url, WINTERDOCK_KEY: connection.key };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
    return stdout;
  } finally {
    rmSync(file);
  }
}
