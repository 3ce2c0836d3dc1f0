/**
 * Records what the real tools answer to the cases beside this file: runs each script with the machine's bash, git,
 * sqlite3 and Python, and writes what came out. `node lib/guest/shell/commands/testing/record-cases.ts [FOLDER …]`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatOutcome } from './recorded-cases.ts';

const wanted = process.argv.slice(2);
for (const folder of ['git', 'sqlite'].filter((name) => wanted.length === 0 || wanted.includes(name))) {
  const cases = join(import.meta.dirname, folder);
  for (const name of readdirSync(cases).filter((file) => file.endsWith('.sh'))) {
    const home = join(mkdtempSync(join(tmpdir(), 'winterdock-record-')), 'workspace');
    mkdirSync(home);
    const { stdout, stderr, status } = spawnSync('bash', ['-s'], {
      cwd: home,
      input: readFileSync(join(cases, name)),
      env: {
        NODE_ENV: 'test',
        PATH: process.env.PATH ?? '',
        HOME: home,
        LANG: 'C.UTF-8',
        GIT_CONFIG_NOSYSTEM: '1',
        TZ: 'UTC',
      },
      encoding: 'utf8',
    });
    const shown = (text: string) =>
      text.replaceAll(home, '/workspace').replace(/\(got '.*'\)/, "(got 'sandbox@sandbox.(none)')");
    const outcome = formatOutcome({ stdout: shown(stdout), stderr: shown(stderr), exitCode: status ?? -1 });
    writeFileSync(join(cases, name.replace('.sh', '.out')), outcome);
    rmSync(join(home, '..'), { recursive: true });
  }
}
