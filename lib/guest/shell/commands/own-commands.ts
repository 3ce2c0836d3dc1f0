/** The shell's own commands, in front of just-bash's: which there are, and where their code is. */
import type { Command } from 'just-bash';
import type { Run } from '../../../workers/protocol/call.ts';
import type { CommandSystem } from './command-files.ts';
import { FILE_COMMANDS } from './file-commands.ts';
import { type OwnCommand, shellCommand } from './own-command.ts';
import { SYSTEM_COMMANDS } from './system-commands.ts';
import { TEXT_COMMANDS } from './text-commands.ts';

const OWN_COMMANDS: Readonly<Record<string, () => Promise<OwnCommand>>> = {
  ...FILE_COMMANDS,
  ...SYSTEM_COMMANDS,
  ...TEXT_COMMANDS,
};

/** Creates the commands. `running` returns the call that they are part of. */
export function ownCommands(system: CommandSystem, running: () => Run): Command[] {
  return Object.entries(OWN_COMMANDS).map(([name, load]) => shellCommand(name, load, system, running));
}
