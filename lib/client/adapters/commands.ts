/** What the adapters do alike about commands. Safe for the browser. */

import { HOME } from '../sandbox/paths.ts';
import type { CommandResult } from '../sandbox.ts';

/** Where a command begins: frameworks count from the sandbox's folder, the server takes whole paths. */
export function wholeCwd(cwd: string | undefined): string | undefined {
  return cwd === undefined || cwd.startsWith('/') ? cwd : `${HOME}/${cwd}`;
}

/**
 * What a result has to say beside its exit code and output, in a line of its own; empty when there is nothing.
 * Frameworks have no field for it, and a model that takes half an output for the whole goes wrong.
 */
export function remarkOn({ truncated, timedOut }: Pick<CommandResult, 'truncated' | 'timedOut'>): string {
  const remarks = [
    truncated ? 'the output is cut: it was longer than an answer holds' : '',
    timedOut ? 'the command was stopped: its time ran out' : '',
  ].filter((remark) => remark !== '');
  return remarks.length === 0 ? '' : `[winterdock: ${remarks.join('; ')}]\n`;
}

/** Says that the server no longer had some of an output. */
export function dropRemark(bytes: number): string {
  return `[winterdock: ${bytes} bytes of output were dropped]\n`;
}

/** A remark after an output, in a line of its own. */
export function withRemark(output: string, remark: string): string {
  return remark === '' || output === '' || output.endsWith('\n') ? output + remark : `${output}\n${remark}`;
}

/** What a model is to know of a sandbox before its first command. */
export const DESCRIPTION = `A Winterdock sandbox: a Linux-like shell (bash, the common Unix tools, git for local work, sqlite3, python3) in which every command runs for itself, from /workspace on.
Files in /workspace and /memory are kept while the sandbox sleeps; /tmp is emptied and processes end. There is nothing to install packages with, no port can be reached from outside, and the network only where its policy allows it.`;
