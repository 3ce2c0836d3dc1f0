/** The option by which a list or a download is of one sandbox alone: everywhere of the same name. */
import { type Command, Option } from 'commander';

export interface SandboxOption {
  sandbox?: string;
  /** The name that it had in events, shares and exports before. */
  instance?: string;
}

/** Adds `--sandbox`. `--instance` is still understood, and not shown. */
export function sandboxOption(command: Command): Command {
  return command
    .option('--sandbox <id>', 'only of this sandbox')
    .addOption(new Option('--instance <id>', 'as --sandbox').hideHelp());
}

/** The sandbox that was named. */
export const sandboxFrom = ({ sandbox, instance }: SandboxOption): string | undefined => sandbox ?? instance;
