/**
 * For tests: ext4 on a file, mounted where only the server within sees it. Data that the filesystem has not written
 * through is not in the file, so a copy of the file is what a power cut leaves. Needs an administrator and loop
 * devices.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BYTES = 128 * 1024 * 1024;
/** Time alone writes nothing to the disk: the journal is written on request only. */
export const LOOP_OPTIONS = 'loop,commit=600';

/** The name of the setting that tells the image to the shell that mounts it. */
const IMAGE = 'WINTERDOCK_TEST_IMAGE';

/** A command that mounts the image over the data folder and then becomes the given command. */
export const WITHIN_IMAGE = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  `mount -o ${LOOP_OPTIONS} "$${IMAGE}" "$WB_DATA" && exec "$0" "$@"`,
];

/** The environment of that command. */
export function imageSettings(image: string): Record<string, string> {
  return { [IMAGE]: image };
}

/** Makes an empty filesystem in a file. Throws with the tool's message. */
export function makeImage(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, BYTES);
  run('mkfs.ext4', ['-q', '-F', path]);
}

/** The present content of the device, without data that is only in memory. */
export function copyImage(from: string, to: string): void {
  run('cp', ['--sparse=always', from, to]);
}

function run(command: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr ?? error}`);
}

/** Why power cannot be cut on this machine, in the failed tool's words; null when it can. */
export function whyNoLoopDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-loop-'));
  try {
    const image = join(folder, 'image');
    makeImage(image);
    const [command = '', ...args] = WITHIN_IMAGE;
    const env = { ...process.env, ...imageSettings(image), WB_DATA: folder };
    const { status, stderr, error } = spawnSync(command, [...args, 'true'], { encoding: 'utf8', env });
    return status === 0 ? null : String(stderr ?? error).trim();
  } catch (error) {
    return String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
