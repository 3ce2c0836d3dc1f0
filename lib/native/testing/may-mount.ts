/** Whether tests can mount a FUSE file system here, and if not, why. Mounts one for a moment to find out. */
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeDevice, mountDevice, unmountFolder } from '../fuse/device.ts';

/** What runs where a FUSE file system can be mounted, and nowhere else. */
const SUITES = ['mount', 'differential', 'programs', 'posix'].map((name) => `lib/native/fuse/${name}.test.ts`);

/** Null where it can be mounted; else the line that says which suites do not run, and why. */
export async function whyNotMountable(): Promise<string | null> {
  const lacks = (why: string) => `Not run: ${SUITES.join(', ')}, which mount a FUSE file system, and ${why}.`;
  if (process.platform !== 'linux' || !existsSync('/dev/fuse')) return lacks('this machine has no /dev/fuse');
  if (process.getuid?.() !== 0) return lacks('only root can where other programs see it');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-mountable-'));
  try {
    const device = mountDevice({ folder, owner: { uid: 0, gid: 0 }, forOthers: false });
    closeDevice(device);
    await unmountFolder(folder, { lazy: true });
    return null;
  } catch (error) {
    return lacks(`here it cannot be done (${error instanceof Error ? error.message : error})`);
  } finally {
    rmdirSync(folder);
  }
}
