/** Installs Ceph's S3 server for the tests, from Debian's packages, where the system lets one. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hasRadosgw } from '../lib/storage/object-store/testing/radosgw.ts';

const PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd'];
const INSTALL_MS = 600_000;

/** Null when it is here or was installed; else the line that says which suite does not run, and why. */
export function ensureRadosgw(): string | null {
  const lacks = (why: string) => `Not run: lib/storage/object-store/radosgw.test.ts, ${why}.`;
  if (hasRadosgw()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return lacks(`which needs radosgw, and only root of a Debian can install ${PACKAGES.join(', ')}`);
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...PACKAGES]]) {
    process.stdout.write(`\n> apt-get ${args.join(' ')}\n`);
    // Whether it worked is judged by what it leaves.
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS, env: environment });
  }
  return hasRadosgw() ? null : lacks(`which needs radosgw, and apt-get could not install ${PACKAGES.join(', ')}`);
}
