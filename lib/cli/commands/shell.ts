/** `shell`: a shell of a sandbox to type into. */
import type { Command } from 'commander';
import { addCommand } from '../command.ts';
import { typeInto } from '../typed-shell.ts';

export function addShellCommand(program: Command): void {
  addCommand<{ cwd?: string }>(program, 'shell <id>', {
    summary: 'type commands into a sandbox, line by line',
    description:
      'Each line is a script of its own: the folder is carried over, variables are not. Says when a line had to wake the sandbox and how long that took. Tab completes commands and files. Ctrl-C stops the running line, Ctrl-D or `exit` leaves. Lines are kept for the next time, except those that begin with a space. Lines may also come from a pipe; the exit code is then that of the last one.',
    options: (command) => command.option('--cwd <folder>', 'where to begin (default: /workspace)'),
    examples: [
      ['shell sess-841', 'look around in it'],
      ['shell sess-841 < steps.txt', 'line by line from a file'],
    ],
    run: (context, { cwd }, id: string) => typeInto(context, id, { cwd }),
  });
}
