/** For tests: a folder of roots whose one root is this machine. Only `usr` and what leads there is seen of it. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** No root has this version: it is no hash of anything. */
const VERSION = '0'.repeat(64);

/** Makes the root `base` in a folder of roots, which is made too. */
export function machineRoot(rootsFolder: string): void {
  const folder = join(rootsFolder, `base@${VERSION}`);
  mkdirSync(join(folder, 'leases'), { recursive: true });
  symlinkSync('/', join(folder, 'rootfs'));
  writeFileSync(join(folder, 'root.json'), JSON.stringify({ name: 'base', bytes: 0, entries: 0, builtAt: 0 }));
}
