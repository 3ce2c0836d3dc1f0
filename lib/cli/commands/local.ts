/**
 * The commands that work on this machine's data folder (WB_DATA) without a server: each runs the script of the same name
 * in scripts/ and ends with its exit code. `start` is here for its help only: bin/winterdock.js runs the server in its
 * own process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CliError, reportFailure } from '../failure.ts';

const SCRIPTS = new URL('../../../scripts/', import.meta.url);

/** Runs a script with the terminal as it is. Its exit code becomes this program's. */
async function runScript(name: string, args: string[]): Promise<void> {
  const script = fileURLToPath(new URL(`${name}.ts`, SCRIPTS));
  if (!existsSync(script)) throw elsewhere(name);
  const child = spawn(process.execPath, [script, ...args], {
    stdio: 'inherit',
    env: { ...process.env, INIT_CWD: process.cwd() },
  });
  // The terminal sends its signals to both: this one waits for the other's end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
}

function elsewhere(name: string): CliError {
  return new CliError(
    'usage',
    `${name} works on the server's own files, and this is the command line for other machines.`,
    'Run it where the server is installed.',
  );
}

/** The options as they were given. */
function flagsOf(command: Command): string[] {
  const given: Record<string, unknown> = command.opts();
  return command.options.flatMap((option) => {
    const value = given[option.attributeName()];
    const flag = option.long ?? '';
    if (value === undefined || value === false) return [];
    if (Array.isArray(value)) return value.flatMap((one) => [flag, String(one)]);
    return value === true ? [flag] : [flag, String(value)];
  });
}

/** Makes the command one that runs the script of the same work, with what was given. */
function runs(command: Command, name: string): void {
  command.action(async (...given: unknown[]) => {
    const self = given.at(-1) as Command;
    try {
      await runScript(name, [...self.args, ...flagsOf(self)]);
    } catch (error) {
      process.exitCode = reportFailure(error, false);
    }
  });
}

const examples = (text: string) => `\nExamples:\n${text}`;
const collect = (value: string, before: string[]) => [...before, value];

export function addLocalCommands(program: Command): void {
  program
    .command('start')
    .summary('start the server on this machine, in this process')
    .description(
      'Starts the server with the settings of the environment (PORT, HOST, WB_DATA and the others, see docs/settings.md) and keeps the terminal. SIGTERM and Ctrl-C end it: what is awake is suspended first.',
    )
    .option('--api-only', 'serve no console')
    .addHelpText('after', examples('  WB_DATA=/srv/winterdock winterdock start\n      serves http://localhost:3000'))
    .action(() => {
      process.exitCode = reportFailure(elsewhere('start'), false);
    });
  runs(backup(program), 'backup');
  runs(restoreBackup(program), 'restore');
  runs(doctor(program), 'doctor');
  runs(ledgerVerify(program), 'ledger-verify');
}

function backup(program: Command): Command {
  return program
    .command('backup <path>')
    .summary('back the data folder of this machine up, or verify a backup')
    .description(
      'Makes a backup in a folder, where every further one copies only what changed, or in one .tar file. Works on the data folder of this machine (WB_DATA, WB_REGISTRY), whatever server the last login was to; that may run or not. Exits with 0 when it is made, 1 when not, 2 when something of the store itself is not sound. `winterdock restore-backup` brings it back: see docs/operations.md.',
    )
    .option('--with-keys', 'take the key files along, encrypted with WB_BACKUP_PASSPHRASE or what is typed')
    .option('--keep <n>', 'remove all but the newest n backups of the folder')
    .option('--verify', 'make none: read and hash every object that is there')
    .option('--json', 'print JSON, and failures as JSON on stderr')
    .addHelpText(
      'after',
      examples(`  winterdock backup /mnt/elsewhere/winterdock --keep 14
      the newest 14 stay
  winterdock backup --verify /mnt/elsewhere/winterdock
      says what is damaged, and whose it is`),
    );
}

function restoreBackup(program: Command): Command {
  return program
    .command('restore-backup')
    .summary('bring the data folder of this machine back from a backup, or one sandbox')
    .description(
      'Works on the data folder of this machine (WB_DATA, WB_REGISTRY), whose server must be stopped; with --to it makes a file and touches no folder. Exits with 0 when it is done, with 1 when nothing was. See docs/operations.md.',
    )
    .requiredOption('--from <path>', 'the backup: a folder or a .tar file')
    .option('--at <time>', 'the newest backup up to then, as 2026-11-21T18:00:00Z')
    .option('--instance <id>', 'only this sandbox')
    .option('--as <id>', 'under another id')
    .option('--to <file>', 'only write its file out')
    .option('--dry-run', 'say what it would do')
    .option('--force', 'set aside what is there')
    .option('--with-keys', 'bring the key files back, with WB_BACKUP_PASSPHRASE or what is typed')
    .addHelpText(
      'after',
      examples(`  winterdock restore-backup --from /mnt/elsewhere/winterdock --dry-run
      says what it holds, and what it would set aside
  winterdock restore-backup --from /mnt/elsewhere/winterdock --instance sess-841 --as sess-841-before
      one sandbox, beside the one that is there`),
    );
}

function doctor(program: Command): Command {
  return program
    .command('doctor [keys...]')
    .summary('explain where the registry and the files of this machine disagree')
    .description(
      'Looks at the data folder of this machine (WB_DATA, WB_REGISTRY) and changes nothing, unless --fix, --adopt or --accept is given and the server is stopped. Keys are those of files to adopt. Exits with 0 when all is well, with 1 when something is wrong, with 2 when it could not do what was asked. See docs/operations.md.',
    )
    .option('--full', 'hash every file at rest and every snapshot and blueprint')
    .option('--fix', 'do the safe part, each with a ledger line')
    .option('--adopt', 'give files without a row one again, all or those of the keys')
    .option('--tenant <tenant>', 'whose the adopted files are')
    .option('--accept <reason>', 'go on from a registry that is not the newest')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(`  winterdock doctor
      everything that disagrees; also beside a running server
  winterdock doctor --adopt --tenant acme
      files that no row names get one again`),
    );
}

function ledgerVerify(program: Command): Command {
  return program
    .command('ledger-verify')
    .summary('prove the ledger of this machine line by line')
    .description(
      'Proves that no line of the ledger in the data folder of this machine (WB_DATA, WB_REGISTRY) was changed, removed or reordered, whether a server runs or not, or proves an exported segment by itself. `ledger verify` asks a server instead. Exits with 0 only when all is proved.',
    )
    .option('--file <file>', 'an exported segment')
    .option('--head <file>', 'a head that was kept elsewhere, to be compared; may be repeated', collect, [])
    .option('--issuer <did>', 'a signature that is trusted besides the own; may be repeated', collect, [])
    .addHelpText(
      'after',
      examples('  winterdock ledger-verify --head kept-head.json\n      also that it goes through that head'),
    );
}
