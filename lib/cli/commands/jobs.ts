/**
 * `jobs`: one verb for many sandboxes, run by the server. A dry run is shown and confirmed first.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { StartJobInput } from '../../client/client.ts';
import type { DryRun, Instance, Job, JobFilter, JobResult } from '../../contract/schema.ts';
import { JOB_VERBS } from '../../lifecycle/job-verbs.ts';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS } from '../../lifecycle/words.ts';
import { choice } from '../choice.ts';
import { addCommand, type CommandContext, parsePairs } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError, Interrupted } from '../failure.ts';
import { actorText, facts, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { showProgress } from '../progress.ts';
import { confirm } from '../prompt.ts';
import { combinedFilter, type FilterOptions, filterOptions } from '../typed-filter.ts';

/** Milliseconds between looks at a job that is waited for. */
const LOOK_MS = 500;

interface Choice extends FilterOptions {
  tenant?: string;
  state?: Instance['state'];
  fault?: NonNullable<Instance['fault']>;
  label?: string;
  search?: string;
  everything?: boolean;
}

interface StartOptions extends Choice {
  set?: Record<string, string>;
  unset?: string[];
  reason?: string;
  includeHeld?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  wait: boolean;
  progress?: boolean;
}

const total = ({ done, failed, skipped }: Job) => done + failed + skipped;

export function jobFacts(job: Job): string {
  const filter = job.filter === null ? null : Object.entries(job.filter).map(([name, value]) => `${name} ${value}`);
  return facts([
    ['id', job.id],
    ['verb', job.verb],
    ['state', job.state],
    ['for', filter === null ? `${job.chosen} by their ids` : filter.join(', ') || 'everything'],
    ['done', `${job.done} of ${job.chosen}`],
    ['failed', job.failed === 0 ? null : String(job.failed)],
    ['skipped', job.skipped === 0 ? null : String(job.skipped)],
    ['by', actorText(job.actor, job.actor_name)],
    ['reason', job.reason],
    ['began', timeText(job.created)],
    ['ended', job.finished === null ? null : timeText(job.finished)],
  ]);
}

/** The sandboxes of a job. All of them only with `--everything`. */
function choiceOf(ids: readonly string[], options: Choice): Pick<StartJobInput, 'ids' | 'filter'> {
  const { tenant, state, fault, search, everything } = options;
  const label = options.label?.replace('=', ':');
  const filter: JobFilter = combinedFilter(options, { tenant, state, fault, label, q: search });
  const filtered = Object.values(filter).some((value) => value !== undefined);
  if (ids.length > 0 && (filtered || everything === true)) {
    throw new CliError('usage', 'Name sandboxes by their ids or by what they have in common, not both.');
  }
  if (ids.length > 0) return { ids: [...ids] };
  if (filtered || everything === true) return { filter };
  throw new CliError(
    'usage',
    'For which sandboxes?',
    'Name ids, filter by --filter, --tenant, --state, --label …, or add --everything.',
  );
}

/** Prints what a job would do, on stderr. */
function printDryRun(
  { note }: CommandContext,
  verb: string,
  { matched, will, held, skip, plans, losses }: DryRun,
): void {
  note(`${verb}: ${will} of ${matched} that match.`);
  for (const { from, hops, count } of plans) if (hops.length > 0) note(`  ${count} × ${[from, ...hops].join(' → ')}`);
  for (const { words, count } of losses) note(`  Lost in ${count}: ${words}`);
  for (const { words, count } of held) note(`  Set apart, ${count}: ${words} --include-held takes them in.`);
  for (const { reason, count } of skip) note(`  Passed over, ${count}: ${reason}`);
}

/** Waits until a job has ended. Ctrl-C ends the wait, not the job. */
export async function waitFor(
  { client, signal, note }: CommandContext,
  id: string,
  wanted: boolean | undefined,
): Promise<Job> {
  const progress = showProgress(id, wanted);
  let ends = `: winterdock jobs cancel ${id}`;
  try {
    for (;;) {
      const job = await client.getJob(id, { signal });
      if (job.verb === 'forget') ends = ': nothing does, what is gone is gone';
      progress.count(total(job), job.chosen);
      if (job.state !== 'running') return job;
      await pause(LOOK_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    note(`The job goes on. To end it${ends}`);
    throw signal.reason instanceof Interrupted ? signal.reason : error;
  } finally {
    progress.end();
  }
}

async function start(
  context: CommandContext,
  options: StartOptions,
  verb: string,
  ids: readonly string[],
): Promise<void> {
  const { client, signal, print, note } = context;
  const unset = (options.unset ?? []).map((key) => [key, null] as const);
  const labels = { ...options.set, ...Object.fromEntries(unset) };
  const input = {
    verb,
    reason: options.reason,
    ...choiceOf(ids, options),
    ...(options.includeHeld === true ? { include_held: true } : {}),
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
  } as StartJobInput;
  const dry = await client.startJob({ ...input, dry_run: true }, { signal });
  if (options.dryRun === true) {
    if (!context.json) printDryRun(context, verb, dry);
    return print(dry, () => '');
  }
  printDryRun(context, verb, dry);
  if (dry.will === 0) throw new CliError('conflict', 'There is nothing to do.');
  if (options.yes !== true) await confirm(`${verb} ${dry.will}?`, signal);
  const { id } = await client.startJob({ ...input, dry_run: false }, { signal });
  if (!options.wait) return print({ id }, () => `${id} is under way.\n`);
  const job = await waitFor(context, id, options.progress);
  print(job, () => jobFacts(job));
  if (job.failed > 0) {
    note(`Why: winterdock jobs results ${id} --outcome failed`);
    context.exitWith(exitCode('conflict'));
  }
}

export function addJobCommands(program: Command): void {
  const jobs = program
    .command('jobs')
    .summary('do one thing to many sandboxes')
    .description('Do one thing to many sandboxes. The server does it, a few at a time, and goes on when you leave.');

  addCommand<StartOptions, [string, string[]]>(jobs, 'start <verb> [ids...]', {
    summary: `run a verb on many sandboxes: ${JOB_VERBS.join(', ')}`,
    description:
      'Shows what it would do, what would be lost, which sandboxes it sets apart because they are kept hot, held or shown in a terminal, and which it skips, and asks first. Waits for its end; exits with 5 when some failed.',
    options: (command) =>
      filterOptions(command)
        .option('--tenant <tenant>', 'those of this tenant')
        .addOption(choice('--state <state>', 'those in this state', STATES))
        .addOption(choice('--fault <fault>', 'those with this fault', FAULTS))
        .option('--label <key=value>', 'those with this label')
        .option('--search <text>', 'those whose id, name, tenant or labels contain it')
        .option('--everything', 'all there are')
        .option('--set <key=value>', 'with the verb label: set it; may come again', parsePairs('='))
        .option('--unset <key>', 'with the verb label: take it away; may come again', (key, before: string[] = []) => [
          ...before,
          key,
        ])
        .option('--reason <words>', 'why; it goes into the ledger')
        .option('--include-held', 'file those too that are kept hot, held or shown in a terminal')
        .option('--dry-run', 'only say what it would do')
        .option('--yes', 'do it without asking')
        .option('--no-wait', 'do not wait for its end')
        .option('--progress', 'show progress on stderr even when that is no terminal'),
    examples: [
      ['jobs start freeze --tenant acme --state suspended --dry-run', 'what that would do'],
      ['jobs start archive sess-841 sess-842 --yes', 'these two, without asking'],
      ['jobs start label --label team=red --set team=blue', 'another label for all of a team'],
    ],
    run: start,
  });

  addCommand<ListOptions & { state?: Job['state'] }>(jobs, 'list', {
    summary: 'list jobs, newest first',
    options: (command) =>
      listOptions(
        command.addOption(choice('--state <state>', 'only in this state', ['running', 'done', 'cancelled'])),
        20,
      ),
    examples: [['jobs list --state running', 'what is under way']],
    async run(context, options) {
      await printList(context, options, {
        read: (limit) => context.client.listJobs({ state: options.state, limit }, { signal: context.signal }),
        headings: ['ID', 'VERB', 'STATE', 'DONE', 'BY', 'BEGAN'],
        row: (job) => [
          job.id,
          job.verb,
          job.state,
          `${total(job)} of ${job.chosen}`,
          actorText(job.actor, job.actor_name),
          timeText(job.created),
        ],
        none: 'No jobs.',
      });
    },
  });

  addCommand(jobs, 'show <id>', {
    summary: 'show a job and how far it is',
    examples: [['jobs show job-512', 'how many are done, failed, skipped']],
    async run({ client, print, signal }, _options, id: string) {
      const job = await client.getJob(id, { signal });
      print(job, () => jobFacts(job));
    },
  });

  addCommand<ListOptions & { outcome?: JobResult['outcome'] }>(jobs, 'results <id>', {
    summary: 'list the outcome of a job for each sandbox',
    options: (command) =>
      listOptions(
        command.addOption(choice('--outcome <outcome>', 'only with this outcome', ['done', 'failed', 'skipped'])),
        100,
      ),
    examples: [['jobs results job-512 --outcome failed', 'why some failed']],
    async run(context, options, id: string) {
      await printList(context, options, {
        read: (limit) =>
          context.client.listJobResults(id, { outcome: options.outcome, limit }, { signal: context.signal }),
        headings: ['SANDBOX', 'OUTCOME', 'WHY'],
        row: (result) => [result.instance ?? '–', result.outcome, result.reason ?? ''],
        none: 'None yet.',
      });
    },
  });

  addCommand(jobs, 'cancel <id>', {
    summary: 'cancel a job',
    description: 'Sandboxes that it already works on are finished; no more are begun.',
    examples: [['jobs cancel job-512', 'what it did so far stays done']],
    async run({ client, print, signal }, _options, id: string) {
      const job = await client.cancelJob(id, { signal });
      print(job, () => jobFacts(job));
    },
  });
}
