/**
 * `npm run lock`: updates every package-lock.json to its package.json, and adds what npm leaves out of it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { completed, type Lock } from './install/lock.ts';
import { BENCH_PEERS, FRAMEWORKS, PEERS } from './peers.ts';

for (const folder of [ROOT, PEERS, FRAMEWORKS, BENCH_PEERS]) {
  const npm = spawnSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (npm.status !== 0) process.exit(1);
  const file = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock;
  const { allowScripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>;
  };
  writeFileSync(file, `${JSON.stringify(completed(lock, allowScripts), null, 2)}\n`);
}
