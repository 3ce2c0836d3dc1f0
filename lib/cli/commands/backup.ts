/**
 * `backup`: a command of the machine that the server's data is on, run as `npm run backup` does. It works on the data folder itself (WB_DATA),
 * not through a server, which need not run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CliError, reportFailure } from '../failure.ts';

const SCRIPT = fileURLToPath(new URL('../../../scripts/backup.ts', import.meta.url));

/** Runs it with the terminal as it is. Its exit code becomes this program's. */
async function runHere(args: string[]): Promise<void> {
  if (!existsSync(SCRIPT)) {
    throw new CliError(
      'usage',
      "backup works on the server's own files, and this is the command line for other machines.",
      'Run it where the server is installed: npm run backup',
    );
  }
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    stdio: 'inherit',
    env: { ...process.env, INIT_CWD: process.cwd() },
  });
  // The terminal sends its signals to both: this one waits for the other's end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
}

/** The options as they were given. */
function flagsOf(command: Command): string[] {
  const given: Record<string, unknown> = command.opts();
  return command.options.flatMap((option) => {
    const value = given[option.attributeName()];
    if (value === undefined || value === false) return [];
    return value === true ? [option.long ?? ''] : [option.long ?? '', String(value)];
  });
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup <path>')
    .summary('back the data folder of this machine up, or verify a backup')
    .description(
      'Makes a backup in a folder, where every further one copies only what changed, or in one .tar file. Works on the data folder of this machine (WB_DATA, WB_REGISTRY), whatever server the last login was to; that may run or not. Exits with 0 when it is made, 1 when not, 2 when something of the store itself is not sound. `npm run restore` brings it back: see docs/operations.md.',
    )
    .option('--with-keys', 'take the key files along, encrypted with WB_BACKUP_PASSPHRASE or what is typed')
    .option('--keep <n>', 'remove all but the newest n backups of the folder')
    .option('--verify', 'make none: read and hash every object that is there')
    .option('--json', 'print JSON, and failures as JSON on stderr')
    .addHelpText(
      'after',
      `
Examples:
  winterdock backup /mnt/elsewhere/winterdock --keep 14
      the newest 14 stay
  winterdock backup --verify /mnt/elsewhere/winterdock
      says what is damaged, and whose it is`,
    )
    .action((path: string, _options: unknown, command: Command) => passed([path, ...flagsOf(command)]));
}

async function passed(args: string[]): Promise<void> {
  try {
    await runHere(args);
  } catch (error) {
    process.exitCode = reportFailure(error, false);
  }
}
