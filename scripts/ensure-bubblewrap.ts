/** Installs bubblewrap for the tests of real programs, from Debian's packages, where the system lets one. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { jailTool } from '../lib/native/jail/jail-command.ts';

const INSTALL_MS = 600_000;

/** Null when it is here or was installed; else the line that says which suites do not run, and why. */
export function ensureBubblewrap(): string | null {
  const lacks = (why: string) => `Not run: the jails of lib/native/jail, which need bubblewrap, and ${why}.`;
  if (jailTool('bwrap') !== null) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return lacks('only root of a Debian can install it');
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'bubblewrap']]) {
    process.stdout.write(`\n> apt-get ${args.join(' ')}\n`);
    // Whether it worked is judged by what it leaves.
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS, env: environment });
  }
  return jailTool('bwrap') === null ? lacks('apt-get could not install it') : null;
}
