/** `tail -f`: prints what is added to files while it runs, until the call or its reader ends. */
import { setTimeout as pause } from 'node:timers/promises';
import { BROKEN_PIPE_EXIT } from '../pipes.ts';
import type { CommandCall } from './own-command.ts';

/** How often the files are looked at, in milliseconds. */
const LOOK_MS = 100;

export interface FollowedFile {
  /** As given; `-` is standard input, which has ended. */
  name: string;
  /** How much of it has been seen; null while there is no such file. */
  bytes: number | null;
}

/** Returns the exit code, when there is nothing to follow or the reader of a pipeline has enough. */
export async function follow(call: CommandCall, given: readonly FollowedFile[], titled: boolean): Promise<number> {
  const files = given.filter(({ name }) => name !== '-');
  if (files.length === 0) {
    if (given.length === 0) call.fail('no files remaining');
    return call.exitCode;
  }
  let shown = files.at(-1);
  for (;;) {
    call.send();
    if (call.outlet?.live === false && (await call.outlet.hasEnough(call.printed))) return BROKEN_PIPE_EXIT;
    // Throws when the call ends; the next line then ends the command, with what it has printed.
    await pause(LOOK_MS, undefined, { signal: call.signal }).catch(() => undefined);
    call.requireTime();
    for (const file of files) {
      const added = addedTo(call, file);
      if (added === null) continue;
      if (titled && shown !== file) call.print(`\n==> ${file.name} <==\n`);
      shown = file;
      call.print(added);
    }
  }
}

/** What was added to a file since it was last seen; null for nothing. */
function addedTo(call: CommandCall, file: FollowedFile): Buffer | null {
  const path = call.path(file.name);
  const size = sizeOf(call, path);
  if (size === null || size === file.bytes) {
    // A file that is gone is begun anew when it comes back.
    if (size === null) file.bytes = null;
    return null;
  }
  if (file.bytes === null) call.warn(`tail: '${file.name}' has appeared;  following new file\n`);
  else if (size < file.bytes) call.warn(`tail: ${file.name}: file truncated\n`);
  const from = file.bytes === null || size < file.bytes ? 0 : file.bytes;
  const content = call.files.read(path);
  file.bytes = content.length;
  return content.length > from ? content.subarray(from) : null;
}

function sizeOf(call: CommandCall, path: string): number | null {
  try {
    const info = call.files.look(path);
    return info?.kind === 'file' ? info.size : null;
  } catch {
    // A path that leads nowhere now.
    return null;
  }
}
