/**
 * The commands that work on this machine's data folder (WB_DATA) without a server: each runs the script of its name in
 * scripts/ and ends with its exit code. `start` is here for its help only: bin/winterdock.js runs the server in its own
 * process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { examplesText } from '../command.ts';
import { CliError, reportFailure } from '../failure.ts';

const SCRIPTS = new URL('../../../scripts/', import.meta.url);

interface LocalCommand {
  /** The command's name with its arguments, as Commander takes it. */
  usage: string;
  /** The file in scripts/, without `.ts`, that it runs with the same arguments and options. */
  script: string;
  summary: string;
  description: string;
  /** Flags, what each does, and whether it is required or may be repeated. */
  options: readonly (readonly [string, string, ('required' | 'repeated')?])[];
  /** Command lines without `winterdock`, each with what it does. */
  examples: readonly (readonly [string, string])[];
}

const START = {
  summary: 'start the server on this machine, in this process',
  description:
    'Starts the server with the settings of the environment (PORT, HOST, WB_DATA and the others, see docs/settings.md) and runs until SIGTERM or Ctrl-C, which first suspends every running sandbox.',
  examples: [['start', 'serves http://localhost:3000']],
} as const;

const COMMANDS: readonly LocalCommand[] = [
  {
    usage: 'backup <path>',
    script: 'backup',
    summary: 'back the data folder of this machine up, or verify a backup',
    description:
      'Makes a backup in a folder, where every further one copies only what changed, or in one .tar file. Works on the data folder of this machine (WB_DATA, WB_REGISTRY), whatever server the last login was to, and whether its server runs or not. Exits with 0 when the backup is made, 1 when not, 2 when it is made but a file in it is not sound. `winterdock restore-backup` restores it: see docs/operations.md.',
    options: [
      ['--with-keys', 'include the key files, encrypted with WB_BACKUP_PASSPHRASE or a typed passphrase'],
      ['--keep <n>', 'remove all but the newest n backups of the folder'],
      ['--verify', 'make no backup: read and hash every object of one'],
      ['--json', 'print JSON, and failures as JSON on stderr'],
    ],
    examples: [
      ['backup /mnt/elsewhere/winterdock --keep 14', 'keeps the newest 14'],
      ['backup --verify /mnt/elsewhere/winterdock', 'names what is damaged, and whose it is'],
    ],
  },
  {
    usage: 'restore-backup',
    script: 'restore',
    summary: 'restore the data folder of this machine from a backup, or one sandbox',
    description:
      'Works on the data folder of this machine (WB_DATA, WB_REGISTRY), whose server must be stopped. With --to it only writes a file. Exits with 0 when it is done, with 1 when nothing was. See docs/operations.md.',
    options: [
      ['--from <path>', 'the backup: a folder, a .tar file, or the URL of a store; or that of a replica', 'required'],
      ['--all', 'everything, as without --instance'],
      ['--at <time>', 'the newest backup, or moment of a replica, up to then, as 2026-11-21T18:00:00Z'],
      ['--instance <id>', 'only this sandbox'],
      ['--as <id>', 'under another id'],
      ['--to <file>', 'only write its file out'],
      ['--dry-run', 'print what it would do'],
      ['--force', 'set existing files aside'],
      ['--with-keys', 'restore the key files too, with WB_BACKUP_PASSPHRASE or a typed passphrase'],
    ],
    examples: [
      [
        'restore-backup --from /mnt/elsewhere/winterdock --dry-run',
        'prints what the backup holds, and what it would set aside',
      ],
      [
        'restore-backup --from /mnt/elsewhere/winterdock --instance sess-841 --as sess-841-before',
        'restores one sandbox beside the existing one',
      ],
    ],
  },
  {
    usage: 'doctor [keys...]',
    script: 'doctor',
    summary: 'explain where the registry and the files of this machine disagree',
    description:
      'Checks the data folder of this machine (WB_DATA, WB_REGISTRY) and changes nothing, unless --fix, --adopt or --accept is given and the server is stopped. Keys name files to adopt. Exits with 0 when all is well, with 1 when something is wrong, with 2 when it could not do what was asked. See docs/operations.md.',
    options: [
      ['--full', 'hash every file at rest and every snapshot and blueprint'],
      ['--fix', 'do the safe repairs, each with a ledger line'],
      ['--adopt', 'make rows for files that have none: all of them, or those of the keys'],
      ['--tenant <tenant>', 'the tenant of the adopted files'],
      ['--accept <reason>', 'continue with a registry that is not the newest'],
      ['--json', 'print JSON'],
    ],
    examples: [
      ['doctor', 'lists every disagreement; the server may run'],
      ['doctor --adopt --tenant acme', 'makes rows for files that have none'],
    ],
  },
  {
    usage: 'server-keys <verb> [name]',
    script: 'keys',
    summary: 'list, rotate or accept the key files of the server on this machine',
    description:
      'Works on the key files of this machine (WB_DATA, WB_REGISTRY, WB_KEYS): `list`, or `rotate`, `finish` or `accept` with one of auth, secrets, signing and admin. All but `list` need the server stopped. No key is ever shown. Exits with 0 when it is done, with 1 when not, with 3 when a start of the server would be refused. See docs/secrets.md.',
    options: [],
    examples: [
      ['server-keys list', 'says which key is which; the server may run'],
      ['server-keys rotate secrets', 'makes a new key and accepts the one before'],
    ],
  },
  {
    usage: 'root <verb> [name]',
    script: 'roots',
    summary: 'build, list, verify or remove the root file systems of this machine',
    description:
      'Works on the root file systems of real programs on this machine (WB_ROOTS, by default WB_DATA/roots): `list`, `build` with base or dev, `verify` with a name or an id, `remove` with an id. A build needs root, mmdebstrap and the archives of packages of this Debian. Exits with 0 when it is done, with 1 when not, and with 2 when a verified root is not as it was built.',
    options: [],
    examples: [
      ['root build base', 'builds the root file system with bash, git, Python, Node and more'],
      ['root list', 'says which there are, their sizes, and how many use each'],
    ],
  },
  {
    usage: 'ledger-verify',
    script: 'ledger-verify',
    summary: 'prove the ledger of this machine line by line',
    description:
      'Proves that no line of the ledger in the data folder of this machine (WB_DATA, WB_REGISTRY) was changed, removed or reordered, whether a server runs or not; or proves an exported segment by itself. `ledger verify` asks a server instead. Exits with 0 only when all is proved.',
    options: [
      ['--file <file>', 'an exported segment'],
      ['--head <file>', 'a head that was kept elsewhere, to compare with; may be repeated', 'repeated'],
      ['--issuer <did>', 'another trusted signature besides the own; may be repeated', 'repeated'],
    ],
    examples: [['ledger-verify --head kept-head.json', 'also proves that the ledger contains that head']],
  },
];

export function addLocalCommands(program: Command): void {
  program
    .command('start')
    .summary(START.summary)
    .description(START.description)
    .option('--api-only', 'serve no console')
    .addHelpText('after', examplesText(START.examples))
    .action(() => {
      process.exitCode = reportFailure(notInstalled('start'), false);
    });
  for (const { usage, script, summary, description, options, examples } of COMMANDS) {
    const command = program
      .command(usage)
      .summary(summary)
      .description(description)
      .addHelpText('after', examplesText(examples));
    for (const [flags, text, kind] of options) {
      if (kind === 'required') command.requiredOption(flags, text);
      else if (kind === 'repeated') command.option(flags, text, collect, []);
      else command.option(flags, text);
    }
    command.action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      try {
        await runScript(script, [...self.args, ...flagsOf(self)]);
      } catch (error) {
        process.exitCode = reportFailure(error, false);
      }
    });
  }
}

const collect = (value: string, before: string[]) => [...before, value];

/** Runs a script on the same terminal. Its exit code becomes this program's. */
async function runScript(name: string, args: string[]): Promise<void> {
  const script = fileURLToPath(new URL(`${name}.ts`, SCRIPTS));
  if (!existsSync(script)) throw notInstalled(name);
  const child = spawn(process.execPath, [script, ...args], {
    stdio: 'inherit',
    env: { ...process.env, INIT_CWD: process.cwd() },
  });
  // A terminal sends its signals to both processes: this one waits for the child's end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
}

/** The error of a command line that was installed without the server. */
function notInstalled(name: string): CliError {
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
