/**
 * The packages that only some tests, checks and measurements need, in folders with locks of their own: testing/peers,
 * testing/frameworks with what the client's adapters are for, and testing/bench-peers for the bench alone. Knows
 * nothing of what is in them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './build.ts';
import { isInstalled, type Lock } from './install/lock.ts';

export const PEERS = join(ROOT, 'testing', 'peers');
/** The agent frameworks that the client's adapters are tested with, with a tsconfig.json of their own. */
export const FRAMEWORKS = join(ROOT, 'testing', 'frameworks');
/** What the bench measures beside this: too large for every run of the tests. */
export const BENCH_PEERS = join(ROOT, 'testing', 'bench-peers');

/** Whether what lies in a folder is what its lock says. */
export function areInstalled(folder: string): boolean {
  const noted = join(folder, 'node_modules', '.package-lock.json');
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Lock;
  return existsSync(noted) && isInstalled(read(join(folder, 'package-lock.json')), read(noted));
}

/** Installs what is missing in a folder. Throws when npm cannot. */
export function ensurePeers(folder = PEERS): void {
  if (areInstalled(folder)) return;
  const name = relative(ROOT, folder);
  process.stderr.write(`Installing what is needed beside the rest (${name})…\n`);
  // A registry may lack a peer's binaries for other systems; `npm ci` then refuses the lock, which cannot name them.
  const verb = folder === BENCH_PEERS ? ['install', '--no-save'] : ['ci'];
  const npm = spawnSync('npm', [...verb, '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (npm.status !== 0) throw new Error(`npm could not install ${name}; its words are above.`);
}
