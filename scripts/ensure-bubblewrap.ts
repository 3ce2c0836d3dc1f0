/** Installs bubblewrap for the tests of real programs, from Debian's packages, where the system lets one. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { jailTool } from '../lib/native/jail/jail-command.ts';
import { nativeSupport } from '../lib/native/jail/support.ts';

const INSTALL_MS = 600_000;
/** Any user but root, as a jail's is. */
const USER = { uid: 61_000, gid: 61_000 };

/** Null when jails can be built, now or before; else the line that says which suites do not run, and why. */
export async function ensureBubblewrap(): Promise<string | null> {
  const isRoot = process.getuid?.() === 0;
  if (jailTool('bwrap') === null && isRoot && existsSync('/usr/bin/apt-get')) {
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'bubblewrap']]) {
      process.stdout.write(`\n> apt-get ${args.join(' ')}\n`);
      // Whether it worked is judged by what it leaves.
      spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS, env: environment });
    }
  }
  // A jail needs everything but the file system.
  const missing = (await nativeSupport(isRoot ? USER : null)).filter(({ part }) => part !== 'fuse');
  if (missing.length === 0) return null;
  return `Not run: the jails of lib/native/jail: ${missing.map(({ why }) => why).join('; ')}.`;
}
