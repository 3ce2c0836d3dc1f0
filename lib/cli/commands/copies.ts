/** Copies: `snapshot`, `restore`, `clone`, and the lists of snapshots and blueprints. */
import { openAsBlob } from 'node:fs';
import type { Command } from 'commander';
import type { CallOptions, Instance, WinterdockClient } from '../../client/client.ts';
import type { Blueprint, RestoreInput, Snapshot } from '../../contract/schema.ts';
import { policyChoice, replicateChoice } from '../choice.ts';
import { addCommand, type CommandContext, parseWholeNumber } from '../command.ts';
import { CliError } from '../failure.ts';
import { actorText, bytesText, facts, printable, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { parseTypedMoment, type TypedMoment } from '../moment-time.ts';
import { showProgress } from '../progress.ts';
import { confirm } from '../prompt.ts';
import { type TenantOption, tenantFrom, tenantOption } from '../tenant-option.ts';
import { goBackTo } from './repairs.ts';

const contentFacts = (copy: Snapshot | Blueprint): [string, string | null][] => [
  ['size', bytesText(copy.bytes)],
  ['hash', copy.hash],
  [
    'holds',
    copy.contents.map(({ volume, files, bytes }) => `${volume}: ${files} files, ${bytesText(bytes)}`).join('; '),
  ],
  ['made', `${timeText(copy.created)} by ${actorText(copy.actor, copy.actor_name)}`],
  ['instances', String(copy.instances)],
];

const snapshotFacts = (snapshot: Snapshot) =>
  facts([
    ['id', snapshot.id],
    ['tag', snapshot.tag],
    ['tenant', snapshot.tenant],
    ['source', snapshot.source],
    ...contentFacts(snapshot),
  ]);

const blueprintFacts = (blueprint: Blueprint) =>
  facts([
    ['name', blueprint.name],
    ['tenant', blueprint.tenant],
    ['source', blueprint.source],
    ['clones replicate', blueprint.replicate],
    ...contentFacts(blueprint),
  ]);

interface SeedOptions {
  count?: number;
  name?: string;
  start?: boolean;
  wait?: boolean;
  progress?: boolean;
}

interface RestoreOptions extends SeedOptions {
  tenant?: string;
  policy?: RestoreInput['policy'];
  at?: TypedMoment;
  reason?: string;
  yes?: boolean;
}

const seedOptions = (command: Command) =>
  command
    .option('--count <count>', 'so many of them, 1 to 1000, all or none', parseWholeNumber)
    .option('--name <name>', 'a name; with --count it gets -1, -2, … behind it')
    .option('--start', 'resume them in the background')
    .option('--wait', 'with --start: end only when each is active, or could not be started')
    .option('--progress', 'show progress on stderr even when that is no terminal');

/** The ledger's last sequence number, read first so that no line about the new sandboxes is missed. */
async function ledgerEnd(client: WinterdockClient, signal: AbortSignal): Promise<number> {
  return (await client.listEvents({ limit: 1 }, { signal })).items[0]?.seq ?? 0;
}

/**
 * Waits until the server has tried to start every new sandbox, by following the ledger lines of the request's id.
 * Throws when some could not be started: those stay in state `created`, and their first request starts them.
 */
async function waitForAll(
  { client, signal }: CommandContext,
  made: readonly Instance[],
  request: { id: string; since: number },
  wanted: boolean | undefined,
): Promise<void> {
  let active = 0;
  const progress = showProgress('active', wanted);
  try {
    const following = client.streamEvents({ tenant: made[0]?.tenant, last_event_id: request.since }, { signal });
    for await (const { request_id, type, to, reason } of following) {
      if (request_id !== request.id) continue;
      if (to === 'active') progress.count(++active, made.length);
      if (type !== 'start.done') continue;
      if (active < made.length) throw new CliError('fault', `Not all are active: ${reason ?? type}.`);
      return;
    }
  } finally {
    progress.end();
  }
}

/** Makes new sandboxes, prints their ids, and with `--wait` waits until they are started. */
async function seed(
  context: CommandContext,
  options: SeedOptions,
  make: (callOptions: CallOptions) => Promise<Instance[]>,
): Promise<void> {
  const { client, signal } = context;
  if (options.wait === true && options.start !== true) throw new CliError('usage', '--wait is for --start.');
  const id = crypto.randomUUID();
  const since = options.wait === true ? await ledgerEnd(client, signal) : 0;
  const made = await make({ signal, headers: { 'x-request-id': id } });
  context.print(made, () =>
    made.map(({ id, name }) => `${id}${name === null ? '' : `  ${printable(name)}`}\n`).join(''),
  );
  if (options.wait === true) await waitForAll(context, made, { id, since }, options.progress);
}

function addSnapshotCommands(program: Command): void {
  addCommand<{ tag?: string }>(program, 'snapshot <id>', {
    summary: 'make a snapshot of what a sandbox holds now',
    description:
      'Contains its workspace and memory, not its tmp. Wakes and stops nothing; the snapshot outlives the sandbox.',
    options: (command) => command.option('--tag <words>', 'what it is for'),
    examples: [['snapshot sess-841 --tag before-upgrade', 'and print its id']],
    async run({ client, print, signal }, { tag }, id: string) {
      const snapshot = await client.takeSnapshot(id, { tag }, { signal });
      print(snapshot, () => snapshotFacts(snapshot));
    },
  });

  addCommand<RestoreOptions>(program, 'restore <snapshot>', {
    summary: 'make new sandboxes from a snapshot, or put one back to a moment',
    description:
      'Each is new, with its own id, in state created. Prints their ids. With --at the id of a sandbox takes the place of the snapshot: it is put back to that moment, as restore-in-place does, and undo undoes it.',
    options: (command) =>
      seedOptions(command)
        .option('--tenant <tenant>', 'for another tenant')
        .addOption(policyChoice('what they may do (default: what its source may)'))
        .option('--at <time>', 'put a sandbox back to the newest moment up to then, or the named one', parseTypedMoment)
        .option('--reason <words>', 'with --at: why; it goes into the ledger')
        .option('--yes', 'with --at: without asking'),
    examples: [
      ['restore snap_512', 'one'],
      ['restore sess-841 --at 2026-11-21T18:00:00Z', 'no new one: as it was then'],
      ['restore sess-841 --at "before the migration"', 'the same, by the name of a moment'],
      ['restore snap_512 --count 100 --name worker --start --wait', 'a hundred, and wait until all are active'],
    ],
    async run(context, options, id: string) {
      const { tenant, count, name, policy, start, at } = options;
      if (at !== undefined) return goBackTo(context, at, options, id);
      await seed(context, options, (callOptions) =>
        context.client.restoreSnapshot(id, { tenant, count, name, policy, start }, callOptions),
      );
    },
  });

  const snapshots = program
    .command('snapshots')
    .summary('list, show and delete snapshots')
    .description('List, show and delete snapshots.');

  addCommand<ListOptions & { tenant?: string; tag?: string; source?: string }>(snapshots, 'list', {
    summary: 'list snapshots, newest first',
    options: (command) =>
      listOptions(
        command
          .option('--tenant <tenant>', 'only of this tenant')
          .option('--tag <words>', 'only with this tag')
          .option('--source <id>', 'only of this sandbox'),
        100,
      ),
    examples: [['snapshots list --source sess-841', 'of one sandbox']],
    async run(context, options) {
      const { tenant, tag, source } = options;
      await printList(context, options, {
        read: (limit) => context.client.listSnapshots({ tenant, tag, source, limit }, { signal: context.signal }),
        headings: ['ID', 'TENANT', 'SOURCE', 'SIZE', 'MADE', 'TAG'],
        row: (one) => [one.id, one.tenant, one.source, bytesText(one.bytes), timeText(one.created), one.tag ?? ''],
        none: 'No snapshots.',
      });
    },
  });

  addCommand(snapshots, 'show <snapshot>', {
    summary: 'show a snapshot',
    examples: [['snapshots show snap_512', 'what it holds, and how many came from it']],
    async run({ client, print, signal }, _options, id: string) {
      const snapshot = await client.getSnapshot(id, { signal });
      print(snapshot, () => snapshotFacts(snapshot));
    },
  });

  addCommand<{ yes?: boolean }>(snapshots, 'delete <snapshot>', {
    summary: 'delete a snapshot for good',
    description: 'Sandboxes that came from it keep what they have.',
    options: (command) => command.option('--yes', 'without asking'),
    examples: [['snapshots delete snap_512 --yes', 'without asking, for scripts']],
    async run({ client, print, signal }, { yes }, id: string) {
      if (yes !== true) await confirm(`Delete the snapshot ${id} for good?`, signal);
      await client.deleteSnapshot(id, { signal });
      print({ id, deleted: true }, () => `${id} is deleted.\n`);
    },
  });
}

function addBlueprintCommands(program: Command): void {
  addCommand<SeedOptions & TenantOption>(program, 'clone <blueprint>', {
    summary: 'make new sandboxes from a blueprint',
    description: 'Each is new, with its own id, in state created. Prints their ids.',
    options: (command) => tenantOption(seedOptions(command)),
    examples: [
      ['clone python-base --tenant acme', 'one'],
      ['clone python-base --tenant acme --count 20 --name worker --start', 'twenty, started in the background'],
    ],
    async run(context, options, name: string) {
      const { count, start } = options;
      const tenant = await tenantFrom(options, context);
      await seed(context, options, (callOptions) =>
        context.client.cloneBlueprint(name, { tenant, count, name: options.name, start }, callOptions),
      );
    },
  });

  const blueprints = program
    .command('blueprints')
    .summary('list, make and delete blueprints')
    .description('List, make and delete blueprints: read-only bases that clones are made from.');

  addCommand<ListOptions>(blueprints, 'list', {
    summary: 'list blueprints by name',
    options: (command) => listOptions(command, 100),
    examples: [['blueprints list', 'what can be cloned']],
    async run(context, options) {
      await printList(context, options, {
        read: (limit) => context.client.listBlueprints({ limit }, { signal: context.signal }),
        headings: ['NAME', 'SOURCE', 'SIZE', 'MADE', 'CLONES'],
        row: (one) => [one.name, one.source ?? '–', bytesText(one.bytes), timeText(one.created), String(one.instances)],
        none: 'No blueprints.',
      });
    },
  });

  addCommand(blueprints, 'show <blueprint>', {
    summary: 'show a blueprint',
    examples: [['blueprints show python-base', 'what it holds, and how many came from it']],
    async run({ client, print, signal }, _options, name: string) {
      const blueprint = await client.getBlueprint(name, { signal });
      print(blueprint, () => blueprintFacts(blueprint));
    },
  });

  addCommand<{ from?: string; file?: string; replicate?: string; progress?: boolean }>(
    blueprints,
    'create <blueprint>',
    {
      summary: 'make a blueprint of a sandbox’s work, or of a local file',
      options: (command) =>
        command
          .option('--from <id>', 'of what this sandbox holds')
          .option('--file <file>', 'of this SQLite file of a sandbox, or of a bundle')
          .addOption(replicateChoice('what is set for the replicas of its clones'))
          .option('--progress', 'show progress on stderr even when that is no terminal'),
      examples: [
        ['blueprints create python-base --from sess-841', 'of a sandbox'],
        ['blueprints create python-base --file vfs.sqlite', 'of a file'],
      ],
      async run({ client, print, signal }, { from, file, replicate, progress: wanted }, name: string) {
        if ((from === undefined) === (file === undefined))
          throw new CliError('usage', 'Add either --from, a sandbox, or --file.');
        const progress = showProgress(name, wanted);
        try {
          const blueprint =
            file === undefined
              ? await client.createBlueprint({ name, from_instance: from ?? '', replicate }, {}, { signal })
              : await client.createBlueprint(
                  await openAsBlob(file),
                  { name, replicate },
                  { signal, onProgress: progress.bytes },
                );
          progress.end();
          print(blueprint, () => blueprintFacts(blueprint));
        } finally {
          progress.end();
        }
      },
    },
  );

  addCommand<{ yes?: boolean }>(blueprints, 'delete <blueprint>', {
    summary: 'delete a blueprint for good',
    description: 'Clones keep what they have.',
    options: (command) => command.option('--yes', 'without asking'),
    examples: [['blueprints delete python-base --yes', 'without asking, for scripts']],
    async run({ client, print, signal }, { yes }, name: string) {
      if (yes !== true) await confirm(`Delete the blueprint ${name} for good?`, signal);
      await client.deleteBlueprint(name, { signal });
      print({ name, deleted: true }, () => `${name} is deleted.\n`);
    },
  });
}

export function addCopyCommands(program: Command): void {
  addSnapshotCommands(program);
  addBlueprintCommands(program);
}
