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

const KEPT = `Files in /workspace and /memory are kept while the sandbox sleeps; /tmp is emptied and processes end. No port can be reached from outside.`;
const SHELL = 'a Linux-like shell (bash, the common Unix tools, git for local work, sqlite3';
const EACH = 'in which every command runs for itself, from /workspace on.';

/** By policy: what there is to run, and what of the network and of packages. Others are of a newer server. */
const WHAT: Readonly<Record<string, readonly [tools: string, network: string]>> = {
  compute: [
    'files without a shell: commands and code are refused, files are read and written.',
    'There is no network.',
  ],
  minimal: [`${SHELL}, js for JavaScript; no python3 and no archives) ${EACH}`, 'There is no network.'],
  posix: [
    `${SHELL}, js for JavaScript, python3) ${EACH}`,
    'There is no network, and so nothing to install packages with.',
  ],
  network: [
    `${SHELL}, js for JavaScript, python3) ${EACH}`,
    'The network is reached by HTTP requests to addresses that its list allows; pip and npm install pure packages from there.',
  ],
  native: [
    `real programs on Linux (bash, coreutils, git, python3, node, sqlite3 and whatever else its root has) ${EACH} Programs in the background go on between commands.`,
    'There is no network.',
  ],
};

/** What a model is to know of a sandbox before its first command; `policy` null: nobody asked which it has. */
export function descriptionFor(policy: string | null): string {
  const [tools, network] = WHAT[policy ?? ''] ?? [
    `${SHELL}, js for JavaScript, and python3 where its policy allows it) ${EACH}`,
    'The network is reached only where its policy allows it.',
  ];
  return `A Winterdock sandbox: ${tools}\n${KEPT} ${network}`;
}
