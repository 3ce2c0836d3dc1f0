/**
 * Records what the machine's CPython answers to the programs beside this file, each in an empty folder:
 * `node bin/run.cjs lib/guest/python/testing/record-scripts.ts`. It needs Linux, GNU's tools, and Python 3.11.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CASE_FOLDER, fileScripts, RECORDED, type ScriptAnswer, TREE_COMMAND, withoutNumbers } from './file-scripts.ts';

const answers: Record<string, ScriptAnswer> = {};
for (const { title, source } of fileScripts()) {
  const home = mkdtempSync(join(tmpdir(), 'winterdock-record-'));
  const folder = join(home, 'case');
  mkdirSync(folder);
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'test',
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: home,
  };
  const ran = spawnSync('python3', ['-c', source], { cwd: folder, env, encoding: 'utf8' });
  const tree = spawnSync('bash', ['-c', TREE_COMMAND], { cwd: folder, env, encoding: 'utf8' });
  answers[title] = {
    stdout: withoutNumbers(ran.stdout.replaceAll(folder, CASE_FOLDER)),
    exitCode: ran.status ?? -1,
    tree: tree.stdout,
  };
  rmSync(home, { recursive: true });
  if (ran.stderr !== '') process.stderr.write(`${title}\n${ran.stderr}`);
}
writeFileSync(RECORDED, `${JSON.stringify(answers, null, 1)}\n`);
