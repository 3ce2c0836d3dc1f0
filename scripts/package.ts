/**
 * `npm run package [-- DIR]`: makes one folder (dist/winterdock) that runs Winterdock on another machine of the same
 * system and processor, without npm, a network or a build. Replaces an earlier one.
 */
import { renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../lib/base/errors.ts';
import { ensureBuilt, ROOT } from './build.ts';
import { MOST_BYTES, makePackage, refuseOther } from './package/folder.ts';

const MIB = 1024 * 1024;

/** Where it goes. Throws for an option, of which there is none. */
function targetFolder(): string {
  const { positionals } = parseArgs({ allowPositionals: true });
  if (positionals.length > 1) throw new Error('it is made in one folder.');
  const [given] = positionals;
  return given === undefined ? join(ROOT, 'dist', 'winterdock') : resolve(process.env.INIT_CWD ?? '.', given);
}

async function makeIn(target: string): Promise<void> {
  const making = `${target}.making`;
  refuseOther(target);
  ensureBuilt();
  let bytes: number;
  try {
    rmSync(making, { recursive: true, force: true });
    bytes = await makePackage(ROOT, making);
    if (bytes > MOST_BYTES) {
      throw new Error(`The folder takes ${Math.ceil(bytes / MIB)} MiB, which is more than ${MOST_BYTES / MIB}.`);
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(making, target);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    throw error;
  }
  process.stdout.write(`${target}: ${Math.ceil(bytes / MIB)} MiB for ${process.platform}-${process.arch}.\n`);
  process.stdout.write(`Copy it to where it is to run, and start it there with bin/winterdock start.\n`);
}

try {
  await makeIn(targetFolder());
} catch (error) {
  process.stderr.write(`No package: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
