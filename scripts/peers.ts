/**
 * The room of what only some tests, checks and measurements need: testing/peers, with a lock of its own. Knows nothing
 * of what is in it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { isInstalled, type Lock } from './install/lock.ts';

export const PEERS = join(ROOT, 'testing', 'peers');

/** Whether what lies there is what the lock says. */
function areInstalled(): boolean {
  const noted = join(PEERS, 'node_modules', '.package-lock.json');
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Lock;
  return existsSync(noted) && isInstalled(read(join(PEERS, 'package-lock.json')), read(noted));
}

/** Installs what is missing. Throws when npm cannot. */
export function ensurePeers(): void {
  if (areInstalled()) return;
  process.stderr.write('Installing what tests and checks need beside the rest (testing/peers)…\n');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: PEERS,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (npm.status !== 0) throw new Error('npm could not install testing/peers; its words are above.');
}
