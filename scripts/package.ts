/**
 * `npm run package [-- DIR]`: makes one folder (dist/winterdock) that runs Winterdock on another machine of the same
 * system and processor, without npm, a network or a build. Replaces an earlier one.
 */
import { renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureBuilt, ROOT } from './build.ts';
import { MOST_BYTES, makePackage, refuseOther } from './package/folder.ts';

const MIB = 1024 * 1024;
const [given] = process.argv.slice(2);
const target = given === undefined ? join(ROOT, 'dist', 'winterdock') : resolve(process.env.INIT_CWD ?? '.', given);
const making = `${target}.making`;

try {
  refuseOther(target);
  ensureBuilt();
  rmSync(making, { recursive: true, force: true });
  const bytes = await makePackage(ROOT, making);
  if (bytes > MOST_BYTES) {
    throw new Error(`The folder takes ${Math.ceil(bytes / MIB)} MiB, which is more than ${MOST_BYTES / MIB}.`);
  }
  rmSync(target, { recursive: true, force: true });
  renameSync(making, target);
  process.stdout.write(`${target}: ${Math.ceil(bytes / MIB)} MiB for ${process.platform}-${process.arch}.\n`);
  process.stdout.write(`Copy it to where it is to run, and start it there with bin/winterdock start.\n`);
} catch (error) {
  rmSync(making, { recursive: true, force: true });
  process.stderr.write(`No package: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
