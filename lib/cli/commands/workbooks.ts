/** `workbook`: sources, plans, versions, upgrades, docking. */
import { openAsBlob } from 'node:fs';
import type { Command } from 'commander';
import type { Upload } from '../../client/client.ts';
import type { PlanAnswer, PlanComponent, PlanWorld, UpgradeAnswer, Workbook } from '../../contract/schema.ts';
import { addCommand, parseWholeNumber } from '../command.ts';
import { CliError } from '../failure.ts';
import { actorText, bytesText, facts, printable, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { showProgress } from '../progress.ts';
import { confirm, readStdinBytes } from '../prompt.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';
import { addWorkbookCallCommand } from './workbook-calls.ts';

interface OfTenant {
  tenant?: string;
}

const tenantOption = (command: Command) =>
  command.option('--tenant <tenant>', 'of this tenant; without it the only one that has the id');

const workbookFacts = (workbook: Workbook) =>
  facts([
    ['id', workbook.id],
    ['tenant', workbook.tenant],
    ['title', workbook.title],
    ['version', String(workbook.version)],
    ['hash', workbook.hash],
    ['size', bytesText(workbook.bytes)],
    ['components', workbook.components === null ? null : String(workbook.components)],
    ['problems', workbook.problems === 0 ? null : `${workbook.problems}: nothing can dock to it`],
    ['docked', String(workbook.docked)],
    ['changed', `${timeText(workbook.updated_at)} by ${actorText(workbook.updated_by, workbook.updated_by_name)}`],
  ]);

const ports = (list: PlanComponent['in']) =>
  list.map(({ name, type, optional }) => `${name}${optional ? '?' : ''}:${type}`).join(' ');

function componentLine({ name, lang, deps, uses, in: inputs, out, persist }: PlanComponent): string {
  const parts = [
    `${name} (${lang})`,
    inputs.length === 0 ? null : `in ${ports(inputs)}`,
    out.length === 0 ? null : `out ${ports(out)}`,
    deps.length === 0 ? null : `after ${deps.join(', ')}`,
    uses.length === 0 ? null : `uses ${uses.join(', ')}`,
    persist ? 'keeps its state' : null,
  ];
  return parts.filter((part) => part !== null).join('; ');
}

function worldText(world: PlanWorld, indent = ''): string {
  const when = world.schedule?.cron ?? null;
  return [
    `${indent}${world.name}${when === null ? '' : ` (at ${when})`}\n`,
    ...world.components.map((component) => `${indent}  ${componentLine(component)}\n`),
    ...world.workflows.map((nested) => worldText(nested, `${indent}  `)),
  ].join('');
}

/** How many components a source declares, or how much is wrong with it. */
function declared(components: number | null, problems: number): string {
  if (components !== null) return String(components);
  return problems === 1 ? '1 problem' : `${problems} problems`;
}

/** The plan as a tree, or the problems as compilers print them. `file`: what is before the line. */
function planText({ plan, problems }: PlanAnswer, file: string): string {
  if (plan !== null) return plan.worlds.map((world) => worldText(world)).join('');
  return problems
    .map(({ line, column, message, mend }) => `${file}:${line}:${column}: ${printable(message)} ${printable(mend)}\n`)
    .join('');
}

const upgradeText = ({ from, to, changes }: UpgradeAnswer) =>
  changes.length === 0
    ? `Nothing changes from version ${from} to ${to}.\n`
    : changes.map(({ message, breaking }) => `${breaking ? 'breaks' : '      '}  ${printable(message)}\n`).join('');

/** A file, or standard input for `-`. */
const sourceAt = async (file: string): Promise<Upload> => (file === '-' ? readStdinBytes() : openAsBlob(file));

function addSourceCommands(workbook: Command): void {
  addCommand<OfTenant & { ifVersion?: number; new?: boolean }>(workbook, 'put <id> <file>', {
    summary: 'store a source as the newest version',
    description: 'The same bytes again are no new version. A source with problems is stored too, and they are listed.',
    options: (command) =>
      tenantOption(command)
        .option('--if-version <version>', 'only when this is the newest', parseWholeNumber)
        .option('--new', 'only when there is none of this id'),
    examples: [
      ['workbook put etl etl.org --tenant acme', 'a file'],
      ['workbook put etl - --tenant acme --if-version 3', 'standard input, unless somebody was faster'],
    ],
    async run({ client, print, signal, exitWith, note }, { tenant, ifVersion, new: isNew }, id: string, file: string) {
      const headers = {
        ...(ifVersion === undefined ? {} : { 'if-match': `"v${ifVersion}"` }),
        ...(isNew === true ? { 'if-none-match': '*' } : {}),
      };
      const stored = await client.putWorkbook(id, await sourceAt(file), { tenant }, { signal, headers });
      print(stored, () => workbookFacts(stored));
      if (stored.problems === 0) return;
      note(planText(await client.getWorkbookPlan(id, { tenant: stored.tenant }, { signal }), file).trimEnd());
      exitWith(6);
    },
  });

  addCommand<OfTenant & { version?: number; force?: boolean }>(workbook, 'get <id> [file]', {
    summary: 'read a source',
    options: (command) =>
      tenantOption(command)
        .option('--version <version>', 'an older one', parseWholeNumber)
        .option('--force', 'overwrite the file'),
    examples: [
      ['workbook get etl', 'to standard output'],
      ['workbook get etl old.org --version 2', 'an older version, to a file'],
    ],
    async run({ client, print, signal }, { tenant, version, force }, id: string, file = '-') {
      refuseOverwrite(file, force);
      const download = await client.getWorkbook(id, { tenant, version }, { signal });
      const saved = await saveDownload(download, file, { force, progress: showProgress(id, false) });
      if (saved !== null) print(saved, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
    },
  });

  addCommand<ListOptions & OfTenant & { search?: string }>(workbook, 'list', {
    summary: 'list workbooks by tenant and id',
    options: (command) =>
      listOptions(
        command
          .option('--tenant <tenant>', 'only of this tenant')
          .option('--search <words>', 'whose id or title has this'),
        100,
      ),
    examples: [['workbook list --tenant acme', 'those of one tenant']],
    async run(context, options) {
      await printList(context, options, {
        read: (limit) =>
          context.client.listWorkbooks(
            { tenant: options.tenant, q: options.search, limit },
            { signal: context.signal },
          ),
        headings: ['ID', 'TENANT', 'VERSION', 'COMPONENTS', 'DOCKED', 'SIZE', 'TITLE'],
        row: ({ id, tenant, version, components, problems, docked, bytes, title }) => [
          id,
          tenant,
          String(version),
          declared(components, problems),
          String(docked),
          bytesText(bytes),
          printable(title ?? ''),
        ],
        none: 'No workbooks.',
      });
    },
  });

  addCommand<OfTenant & { yes?: boolean }>(workbook, 'delete <id>', {
    summary: 'delete a workbook with all its versions',
    description: 'Refused while a sandbox is docked to it.',
    options: (command) => tenantOption(command).option('--yes', 'without asking'),
    examples: [['workbook delete etl --tenant acme', 'asks first']],
    async run({ client, print, signal }, { tenant, yes }, id: string) {
      if (yes !== true) await confirm(`Delete the workbook ${id} with all its versions?`, signal);
      await client.deleteWorkbook(id, { tenant }, { signal });
      print({ id, deleted: true }, () => `${id} is deleted.\n`);
    },
  });
}

function addPlanCommands(workbook: Command): void {
  addCommand<OfTenant & { version?: number; file?: string }>(workbook, 'plan [id]', {
    summary: 'show what a source declares, or all that is wrong with it',
    options: (command) =>
      tenantOption(command)
        .option('--version <version>', 'of an older version', parseWholeNumber)
        .option('--file <file>', 'of a file that is not stored; - is standard input'),
    examples: [
      ['workbook plan etl', 'of the newest version'],
      ['workbook plan --file etl.org', 'of a file, as one writes it'],
    ],
    async run({ client, print, signal, exitWith }, { tenant, version, file }, id?: string) {
      if ((id === undefined) === (file === undefined)) throw new CliError('usage', 'Name a workbook, or a --file.');
      const answer =
        id === undefined
          ? await client.planSource(await sourceAt(file ?? '-'), { signal })
          : await client.getWorkbookPlan(id, { tenant, version }, { signal });
      print(answer, () => planText(answer, id ?? file ?? ''));
      if (answer.plan === null) exitWith(6);
    },
  });

  addCommand<ListOptions & OfTenant>(workbook, 'versions <id>', {
    summary: 'list the versions of a workbook, newest first',
    options: (command) => listOptions(tenantOption(command), 100),
    examples: [['workbook versions etl', 'with their hashes']],
    async run(context, options, id: string) {
      await printList(context, options, {
        read: (limit) =>
          context.client.listWorkbookVersions(id, { tenant: options.tenant, limit }, { signal: context.signal }),
        headings: ['VERSION', 'COMPONENTS', 'SIZE', 'WHEN', 'WHO', 'HASH'],
        row: ({ version, components, problems, bytes, created_at, created_by, created_by_name, hash }) => [
          String(version),
          declared(components, problems),
          bytesText(bytes),
          timeText(created_at),
          actorText(created_by, created_by_name),
          hash.slice(0, 23),
        ],
        none: 'No versions.',
      });
    },
  });

  addCommand<OfTenant & { from?: number; to?: number }>(workbook, 'check-upgrade <id>', {
    summary: 'show what changes from one version to another',
    options: (command) =>
      tenantOption(command)
        .requiredOption('--from <version>', 'the version that is docked', parseWholeNumber)
        .option('--to <version>', 'otherwise the newest', parseWholeNumber),
    examples: [['workbook check-upgrade etl --from 3', 'to the newest']],
    async run({ client, print, signal, exitWith }, { tenant, from = 1, to }, id: string) {
      const answer = await client.checkWorkbookUpgrade(id, { tenant, from, to }, { signal });
      print(answer, () => upgradeText(answer));
      if (answer.breaking) exitWith(6);
    },
  });

  addCommand<{ version?: number; acceptChanges?: boolean; none?: boolean }>(workbook, 'dock <sandbox> [workbook]', {
    summary: 'dock a sandbox to a workbook of its tenant',
    description: 'Without an id, to the newest version of the one that it has. What that breaks is told first.',
    options: (command) =>
      command
        .option('--version <version>', 'a version other than the newest', parseWholeNumber)
        .option('--accept-changes', 'also when something breaks')
        .option('--none', 'to no workbook'),
    examples: [
      ['workbook dock sess-841 etl', 'to the newest version'],
      ['workbook dock sess-841 --accept-changes', 'upgrade it, whatever breaks'],
    ],
    async run({ client, print, signal }, { version, acceptChanges, none }, instance: string, id?: string) {
      const workbook = none === true ? null : (id ?? (await client.getInstance(instance, { signal })).workbook);
      if (workbook === null && none !== true) throw new CliError('usage', `${instance} has no workbook: name one.`);
      const input = { workbook, workbook_version: version, accept_changes: acceptChanges };
      const docked = await client.patchInstance(instance, input, { signal });
      print(docked, () =>
        docked.workbook === null
          ? `${instance} has no workbook.\n`
          : `${instance} is docked to ${docked.workbook}, version ${docked.workbook_version}.\n`,
      );
    },
  });
}

export function addWorkbookCommands(program: Command): void {
  const workbook = program
    .command('workbook')
    .summary('store, plan, upgrade, dock and call workbooks')
    .description('Store, plan, upgrade, dock and call workbooks: org sources that declare components.');
  addSourceCommands(workbook);
  addPlanCommands(workbook);
  addWorkbookCallCommand(workbook);
}
