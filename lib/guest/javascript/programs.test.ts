/** Programs of the sandbox's `js` against the real Node: what they print, how they end, and what they leave. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';
import { type TableProgram, tablePrograms } from './testing/programs.ts';

interface Answer {
  stdout: string;
  exitCode: number | null;
  /** The first line of stderr that names an error, when it ended with one. */
  error: string;
  /** A line for each file: its path, and its target or the sum of its content. */
  tree: string[];
}

const at = stage();
/** In place of each one's own. */
const FOLDER = '/FOLDER';
const STDIN = 'first\nsecond é\n';
const ENV: NodeJS.ProcessEnv = { NODE_ENV: 'test', LANG: 'C.UTF-8', TZ: 'UTC' };
const MARK = '\u0001';
/** Programs that are run by one call. */
const BATCH = 12;
let box: InstanceProcess | null = null;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-programs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const errorOf = (stderr: string) => {
  const line = /^\s*(?:Uncaught )?\[?((?:[A-Z]\w*)?Error)(?: \[[A-Z_]+\])?(?::|\b)/m.exec(stderr);
  return line?.[1] ?? '';
};

/** What the real Node answers, which runs these tests. */
async function answerOfNode({ files, main }: TableProgram, number: number): Promise<Answer> {
  const place = join(folder, String(number));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  const child = spawn(process.execPath, ['--no-warnings', main], {
    cwd: place,
    env: { ...ENV, PATH: process.env.PATH, HOME: place },
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (printed[name] += text));
  child.stdin.on('error', () => undefined).end(STDIN);
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const stdout = printed.stdout.replaceAll(realpathSync(place), FOLDER);
  return { stdout, exitCode, error: exitCode ? errorOf(printed.stderr) : '', tree: treeOf(place) };
}

function treeOf(place: string): string[] {
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(place.length + 1);
      if (entry.isDirectory()) return `${name}/`;
      if (entry.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
      return `${name} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    })
    .sort();
}

const TREE = `find . -mindepth 1 -type d -printf '%P/\\n'; find . -type l -printf '%P -> %l\\n'; find . -type f -exec sha256sum {} + | sed -E 's,^([0-9a-f]+)  \\./(.*)$,\\2 \\1,'`;

async function answersOf(sandbox: InstanceProcess, programs: readonly TableProgram[]): Promise<Answer[]> {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const lines = programs.flatMap(({ files, main }, number) => [
    `mkdir -p /workspace/cases/${number}; cd /workspace/cases/${number}`,
    ...Object.entries(files).map(
      ([name, text]) => `mkdir -p '${dirname(name)}'; echo ${base64(text)} | base64 -d > '${name}'`,
    ),
    `printf '${STDIN.replaceAll('\n', '\\n')}' | node ${main} > /tmp/out 2> /tmp/err; code=$?`,
    `cat /tmp/out; printf '\\001%d\\001' $code; cat /tmp/err; printf '\\001'; ${TREE}; printf '\\001'`,
  ]);
  const command = `rm -rf /workspace/cases; export TZ=UTC\n${lines.join('\n')}`;
  const ran = await sandbox.exec({ command, timeoutMs: 600_000 });
  const parts = ran.stdout.split(MARK);
  return programs.map((_, number) => {
    const [stdout = '', code = '', stderr = '', tree = ''] = parts.slice(4 * number, 4 * number + 4);
    const exitCode = Number(code);
    return {
      stdout: stdout.replaceAll(`/workspace/cases/${number}`, FOLDER),
      exitCode,
      error: exitCode ? errorOf(stderr) : '',
      tree: tree.split('\n').filter(Boolean).sort(),
    };
  });
}

const all = tablePrograms();
const batches = Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) => all.slice(n * BATCH, (n + 1) * BATCH));

describe.each(batches.map((programs) => ({ programs })))('$programs.0.title, and on', ({ programs }) => {
  let here: Answer[] = [];
  const there: Answer[] = [];

  beforeAll(async () => {
    box ??= at.open('programs');
    here = await answersOf(box, programs);
    for (const program of programs) there.push(await answerOfNode(program, all.indexOf(program)));
  });

  test.each(programs.map(({ title }, number) => ({ title, number })))('$title', ({ number }) => {
    expect(here[number]).toEqual(there[number]);
  });
});
