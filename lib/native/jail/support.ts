/**
 * Whether this machine can run real programs of guests, and what it lacks for that, by name. There is no half of it:
 * what is missing is said, and nothing runs in another way. Knows nothing of sandboxes.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import { guestFilter } from './guest-filter.ts';
import { type JailSpec, jailTool, userCommand } from './jail-command.ts';
import { JailGroups } from './jail-groups.ts';

/** What real programs need of a machine. */
type NativePart = 'linux' | 'architecture' | 'setpriv' | 'bubblewrap' | 'user_namespaces' | 'control_groups' | 'fuse';

export interface MissingPart {
  part: NativePart;
  /** Why it is missing, and what brings it, in words. */
  why: string;
}

/** The first version of bubblewrap that knows everything that it is told. */
const FIRST_VERSION = [0, 8] as const;
const MAX_TRY_MS = 60_000;

/**
 * What of this machine is missing for real programs; empty when nothing is. `user`: whom they will be outside; null:
 * this process's own user.
 */
export async function nativeSupport(user: JailSpec['user']): Promise<MissingPart[]> {
  if (process.platform !== 'linux') return [{ part: 'linux', why: 'real programs run on Linux only' }];
  const missing: MissingPart[] = [];
  const lack = (part: NativePart, why: string) => missing.push({ part, why });
  if (guestFilter() === null) lack('architecture', `there is no filter of system calls for ${process.arch}`);
  const [setpriv, bwrap] = [jailTool('setpriv'), jailTool('bwrap')];
  if (setpriv === null) lack('setpriv', 'setpriv is not installed (package util-linux)');
  if (bwrap === null) lack('bubblewrap', 'bwrap is not installed (package bubblewrap)');
  else {
    const version = await outputOf([bwrap, '--version']);
    if (!isNewEnough(version.text))
      lack('bubblewrap', `bwrap is older than ${FIRST_VERSION.join('.')}: ${version.text}`);
    else if (setpriv !== null) {
      const jail = [bwrap, '--unshare-user', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '/bin/true'];
      const { problem } = await outputOf([...userCommand(setpriv, user), ...jail]);
      if (problem !== null) lack('user_namespaces', `this machine lets bwrap make none: ${problem}`);
    }
  }
  const opened = JailGroups.open();
  if (opened.groups === null)
    lack('control_groups', `${opened.missing}: the server has to be root, or be given a control group of its own`);
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
  } catch (error) {
    lack('fuse', `/dev/fuse cannot be opened: ${messageOf(error)}`);
  }
  return missing;
}

function isNewEnough(text: string): boolean {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  return major > FIRST_VERSION[0] || (major === FIRST_VERSION[0] && minor >= FIRST_VERSION[1]);
}

/** What a command prints, and why it failed, in its own words; null when it did not. */
function outputOf(command: readonly string[]): Promise<{ text: string; problem: string | null }> {
  const [file = '', ...args] = command;
  return new Promise((resolve) =>
    execFile(
      file,
      args,
      { env: { NODE_ENV: 'production' }, timeout: MAX_TRY_MS, killSignal: 'SIGKILL' },
      (error, stdout, stderr) =>
        resolve({
          text: stdout.trim(),
          problem: error === null ? null : stderr.trim().split('\n')[0] || messageOf(error),
        }),
    ),
  );
}
