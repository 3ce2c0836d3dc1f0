/**
 * The shell's `git`, for local work. What it does is loaded by its first use (git/run.ts): a sandbox that never calls
 * it keeps nothing of it in memory.
 */
import type { Command } from 'just-bash';
import type { Run } from '../../../workers/protocol/call.ts';
import { defineCommand } from '../bash.ts';

/** Creates the command. `running` returns the call whose deadline applies. */
export function gitCommand(running: () => Run): Command {
  return defineCommand('git', async (args, context) => {
    const { runGit } = await import('./git/run.ts');
    return runGit(args, context, running());
  });
}
