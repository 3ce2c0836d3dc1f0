/** `backups`: those that the server makes, what they hold, and what is brought back from them. */
import type { Command } from 'commander';
import type { Backup, BackupRestore, BackupSettingsAnswer } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand, parseWholeNumber } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { actorText, bytesText, facts, millisecondsText, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';

const STATES = ['asked', 'running', 'made', 'failed', 'removed'] as const;
const DRAWN = 'one drawn sandbox came back as it was';

interface RestoreWords {
  sandbox?: string;
  as?: string;
  reason?: string;
  dryRun?: boolean;
}

interface SettingWords {
  target?: string;
  cron?: string;
  timezone?: string;
  hourly?: number;
  daily?: number;
  weekly?: number;
  monthly?: number;
  trialCron?: string;
  withKeys?: boolean;
  on?: boolean;
  off?: boolean;
}

const when = (time: number | null) => (time === null ? '–' : timeText(time));

function stateText({ state, progress, wrong }: Backup): string {
  if (progress !== null && progress.all > 0) return `${state} ${progress.done}/${progress.all}`;
  return wrong !== null && wrong > 0 ? `${state}, ${wrong} not sound` : state;
}

function trialText({ verified }: Backup): string {
  if (verified === null) return '–';
  return verified.error === null ? timeText(verified.time) : `${timeText(verified.time)}: ${verified.error}`;
}

function backupFacts(backup: Backup): string {
  const { bytes, added_bytes: added, took_ms: took, actor, actor_name: name } = backup;
  return facts([
    ['id', backup.id],
    ['state', stateText(backup)],
    ['why', backup.error],
    ['of', when(backup.begun)],
    ['in', backup.target],
    ['asked by', backup.planned === null ? actorText(actor, name) : `the schedule, for ${timeText(backup.planned)}`],
    ['reason', backup.reason],
    ['took', took === null ? null : millisecondsText(took)],
    ['sandboxes', backup.sandboxes === null ? null : String(backup.sandboxes)],
    ['would restore', bytes === null ? null : bytesText(bytes)],
    ['added', added === null ? null : `${backup.added_objects} objects, ${bytesText(added)}`],
    ['key files', backup.state === 'made' ? (backup.keys ? 'in it, encrypted' : 'not in it') : null],
    ['last tried', backup.verified?.error === null ? `${timeText(backup.verified.time)}: ${DRAWN}` : trialText(backup)],
  ]);
}

function settingsFacts(settings: BackupSettingsAnswer): string {
  const { keep, fault } = settings;
  return facts([
    ['schedule', settings.enabled ? `${settings.cron} (${settings.timezone})` : 'off'],
    ['in', settings.target ?? 'no place yet'],
    ['keeps', `${keep.hourly} hourly, ${keep.daily} daily, ${keep.weekly} weekly, ${keep.monthly} monthly`],
    ['key files', settings.with_keys ? 'go with it, encrypted' : 'stay here'],
    ['tried', settings.trial_cron ?? 'never by itself'],
    ['last', when(settings.last)],
    ['next', when(settings.next)],
    ['wrong', fault === null ? null : `${fault.reason} (since ${timeText(fault.since)})`],
  ]);
}

function restoreFacts({ backup, time, holds, one, command }: BackupRestore): string {
  const states = Object.entries(holds.states).map(([state, count]) => `${count} ${state}`);
  const shown: [string, string | null][] = [
    ['backup', backup],
    ['of', timeText(time)],
    ['holds', `${states.join(', ') || 'no sandboxes'}; ${holds.copies} copies; ${bytesText(holds.bytes)}`],
    [
      'missing',
      holds.missing === 0 ? null : `${holds.missing}, as ${holds.missing === 1 ? 'it was' : 'they were'} then`,
    ],
  ];
  if (one === null) return facts([...shown, ['all of it', `with the server stopped: ${command}`]]);
  return facts([
    ...shown,
    ['sandbox', one.as === one.instance ? one.instance : `${one.instance}, as ${one.as}`],
    ['it was', `${one.was}, ${bytesText(one.bytes)}`],
    ['it is', one.now ?? 'not there'],
    ['not sound', one.wrong],
    ['refused', one.refusal],
  ]);
}

export function addBackupCommands(program: Command): void {
  const backups = program
    .command('backups')
    .summary('backups that the server makes, and what is brought back from them')
    .description(
      'Backups that the server makes by a schedule or when it is asked. `winterdock backup` makes one of the data folder of this machine instead.',
    );

  addCommand<ListOptions & { state?: Backup['state'] }>(backups, 'list', {
    summary: 'list them, newest first',
    options: (command) => listOptions(command, 50).addOption(choice('--state <state>', 'only in this state', STATES)),
    examples: [['backups list --state made', 'what can be restored']],
    async run(context, options) {
      await printList(context, options, {
        read: (limit) => context.client.listBackups({ limit, state: options.state }, { signal: context.signal }),
        headings: ['ID', 'STATE', 'OF', 'SANDBOXES', 'SIZE', 'ADDED', 'TOOK', 'LAST TRIED'],
        row: (one) => [
          one.id,
          stateText(one),
          when(one.begun),
          one.sandboxes === null ? '–' : String(one.sandboxes),
          bytesText(one.bytes),
          bytesText(one.added_bytes),
          one.took_ms === null ? '–' : millisecondsText(one.took_ms),
          one.state === 'failed' ? (one.error ?? '') : trialText(one),
        ],
        none: 'The server has made no backup yet.',
      });
    },
  });

  addCommand(backups, 'show <backup>', {
    summary: 'show one: how far it is, what it holds',
    examples: [['backups show 2026-11-28T201500.000Z-1a2b3c4d', 'and why it failed']],
    async run({ client, print, signal }, _options, id: string) {
      const backup = await client.getBackup(id, { signal });
      print(backup, () => backupFacts(backup));
    },
  });

  addCommand<{ reason?: string }>(backups, 'make', {
    summary: 'make one now, in the background',
    options: (command) => command.option('--reason <text>', 'for the ledger'),
    examples: [['backups make --reason "before the upgrade"', 'kept for a week, whatever the schedule makes']],
    async run({ client, print, signal }, { reason }) {
      const backup = await client.makeBackup({ reason }, { signal });
      print(backup, () => backupFacts(backup));
    },
  });

  addCommand(backups, 'verify <backup>', {
    summary: 'restore one drawn sandbox of it to a folder that is removed again',
    description: 'Exits with 9 when it did not come back as it was backed up.',
    examples: [['backups verify 2026-11-28T201500.000Z-1a2b3c4d', 'a drill, for one']],
    async run({ client, print, exitWith, signal }, _options, id: string) {
      const backup = await client.verifyBackup(id, { signal });
      print(backup, () => backupFacts(backup));
      if (backup.verified?.error !== null) exitWith(exitCode('fault'));
    },
  });

  addCommand<RestoreWords>(backups, 'restore <backup>', {
    summary: 'bring one sandbox back while the server runs, or show what all of it would be',
    description:
      'As itself its file is replaced, and what it has is kept aside; as a new one it stands beside it. All of it is restored with the server stopped: the command for that is shown.',
    options: (command) =>
      command
        .option('--sandbox <id>', 'the sandbox')
        .option('--as <id>', 'as a new one of this id')
        .option('--reason <text>', 'why: it is needed')
        .option('--dry-run', 'only say what it would do'),
    examples: [
      ['backups restore ID --dry-run', 'what it holds, and the command that restores all of it'],
      [
        'backups restore ID --sandbox sess-841 --as sess-841-before --reason "ticket 7"',
        'beside the one that is there',
      ],
    ],
    async run({ client, print, signal }, { sandbox: instance, as, reason, dryRun }, id: string) {
      const dry_run = dryRun === true || instance === undefined;
      const done = await client.restoreBackup(id, { instance, as, reason, dry_run }, { signal });
      print(done, () => restoreFacts(done));
    },
  });

  addCommand(backups, 'settings', {
    summary: 'show when and where they are made, and what is wrong with them',
    examples: [['backups settings', 'the next time, and which are kept']],
    async run({ client, print, signal }) {
      const settings = await client.backupSettings({ signal });
      print(settings, () => settingsFacts(settings));
    },
  });

  addCommand<SettingWords>(backups, 'set', {
    summary: 'change when and where they are made',
    options: (command) =>
      command
        .option('--target <place>', 'a folder of the server’s machine, or s3://BUCKET/PREFIX')
        .option('--cron <cron>', 'when: five fields')
        .option('--timezone <zone>', 'of the schedule: Europe/Berlin')
        .option('--hourly <count>', 'of the last hours that have one, keep so many', parseWholeNumber)
        .option('--daily <count>', 'of the last days', parseWholeNumber)
        .option('--weekly <count>', 'of the last weeks', parseWholeNumber)
        .option('--monthly <count>', 'of the last months', parseWholeNumber)
        .option('--trial-cron <cron>', 'when one sandbox is restored to try it; `never` for never')
        .option('--with-keys', 'the key files go with it, encrypted')
        .option('--no-with-keys', 'they do not')
        .option('--on', 'make them by the schedule')
        .option('--off', 'make none by itself'),
    examples: [
      ['backups set --target /mnt/elsewhere/winterdock --cron "15 * * * *" --on', 'every hour, to another disk'],
      ['backups set --hourly 48 --daily 30', 'keep more'],
    ],
    async run({ client, print, signal }, words) {
      const { target, cron, timezone, trialCron, withKeys, on, off } = words;
      const before = await client.backupSettings({ signal });
      const { hourly = before.keep.hourly, daily = before.keep.daily } = words;
      const { weekly = before.keep.weekly, monthly = before.keep.monthly } = words;
      const changed = await client.putBackupSettings(
        {
          target,
          cron,
          timezone,
          keep: { hourly, daily, weekly, monthly },
          trial_cron: trialCron === 'never' ? null : trialCron,
          with_keys: withKeys,
          enabled: on === true ? true : off === true ? false : undefined,
        },
        { signal },
      );
      print(changed, () => settingsFacts(changed));
    },
  });
}
