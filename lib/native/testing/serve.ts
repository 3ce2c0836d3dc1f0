/**
 * For tests: a process that serves one file at a mount, as a worker does. `FILE FOLDER MAX_BYTES`; it reads lines:
 * `commit`, `close`, `remount`. When its input ends it gives the mount up. A fourth argument is a script of the shell,
 * which runs in the workspace instead: where nobody else sees the mount.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf } from '../../base/errors.ts';
import { openNativeFile } from '../file/native-file.ts';
import { mountNativeFile } from '../fuse/mounted-file.ts';

const [file = '', folder = '', maxBytes = '0', script] = process.argv.slice(2);
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const mount = () => mountNativeFile({ file, folder, maxBytes: Number(maxBytes), owner });

if (!existsSync(file)) openNativeFile(file, { maxBytes: Number(maxBytes), mustExist: false }).close();
let mounted = await mount();
if (script !== undefined) {
  const cwd = join(folder, 'workspace');
  const shell = spawn('/bin/sh', ['-ec', script], { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  const [status] = (await once(shell, 'exit')) as [number | null];
  process.exitCode = (await mounted.close()) ? (status ?? 1) : 1;
  process.exit();
}
say('serving');
for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'commit') await mounted.commit();
    else if (!(await mounted.close())) throw new Error('busy');
    if (line === 'remount') mounted = await mount();
    say('done');
  } catch (error) {
    say(messageOf(error));
  }
}
await mounted.abort();
