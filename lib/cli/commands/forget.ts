/** `tenants forget`: shows what would be deleted, asks the person to type the tenant's name, then starts it. */
import type { Command } from 'commander';
import type { TenantForgetPlan } from '../../contract/schema.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { bytesText, timeText } from '../format.ts';
import { confirmName } from '../prompt.ts';
import { jobFacts, waitFor } from './jobs.ts';

interface ForgetOptions {
  dryRun?: boolean;
  confirm?: string;
  wait: boolean;
  progress?: boolean;
}

const total = (counts: Record<string, number | undefined>) =>
  Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);

/** The copies that remain afterwards, such as backups, in sentences. */
function heldLines({
  backups,
  set_aside,
  store,
  registry_moments_end: momentsEnd,
}: Pick<TenantForgetPlan, 'backups' | 'set_aside' | 'store' | 'registry_moments_end'>): string[] {
  const [last] = backups;
  const to = last?.to ? ` (to ${last.to})` : '';
  const ends = backups.map(({ gone_by: by }) => by ?? Number.POSITIVE_INFINITY);
  const by = Math.max(...ends);
  const way = Number.isFinite(by)
    ? `The retention has removed them all by ${timeText(by)}, as long as backups go on being made.`
    : 'Remove or replace them.';
  return [
    last === undefined
      ? 'No backup on record was made while there was something of it. What nobody told this server of, it does not know.'
      : `Backups still hold it: ${backups.length} on record, the last of ${timeText(last.time)}${to}. ${way}`,
    ...(store.objects === 0 ? [] : [`${store.objects} objects in the store go too, with all their versions.`]),
    ...(store.remain_until === null
      ? []
      : [`A lock of the store keeps bytes of them until ${timeText(store.remain_until)}.`]),
    ...(momentsEnd
      ? [
          'What its sandboxes committed goes from the replica, by themselves and in bundles.',
          'Earlier moments of the registry go from the replica: it can be restored from then on only.',
        ]
      : []),
    ...set_aside.map((folder) => `A restore set everything of its time aside in ${folder}: remove it yourself.`),
  ];
}

/** What would be deleted, in sentences. */
function planLines(plan: TenantForgetPlan): string[] {
  const states = Object.entries(plan.sandboxes).filter(([, count]) => count > 0);
  const counts: [string, number][] = [
    ['snapshots', plan.snapshots],
    ['blueprints', plan.blueprints.length],
    ['shares', plan.shares],
    ['workbooks', plan.workbooks],
    ['keys', plan.keys],
    ['people, who have no other tenant', plan.people],
    ['people, who keep their others', plan.limited],
    ['invitations', plan.invitations],
    ['jobs', plan.jobs],
    ['files set aside', plan.orphans],
    ['lines of the ledger, which keep ids only', plan.lines],
  ];
  return [
    `forget ${plan.tenant}: ${total(plan.sandboxes)} sandboxes${states.length === 0 ? '' : ` (${states.map(([state, count]) => `${count} ${state}`).join(', ')})`}, for good.`,
    ...counts.filter(([, count]) => count > 0).map(([what, count]) => `  ${count} × ${what}`),
    ...plan.kept.map(({ id, why }) => `  ${id} is ${why === 'held' ? 'held' : 'kept hot'}, and goes all the same.`),
    ...(plan.kept_count > plan.kept.length ? [`  So are ${plan.kept_count - plan.kept.length} more.`] : []),
    ...(plan.clones > 0
      ? [`  ${plan.clones} sandboxes of others came from its copies: they keep what they have.`]
      : []),
    ...plan.registry_copies.map((name) => `  ${name}, the copy of the registry that an upgrade kept, goes too.`),
    ...plan.doubtful.map((name) => `  orphans/${name} may be another tenant’s, and stays.`),
    `  The registry (${bytesText(plan.registry_bytes)}) is written anew at the end; nothing else is answered meanwhile.`,
    ...heldLines(plan).map((text) => `  ${text}`),
  ];
}

async function forget(context: CommandContext, options: ForgetOptions, tenant: string): Promise<void> {
  const { client, signal, print, note } = context;
  const plan = await client.forgetTenant(tenant, { dry_run: true }, { signal });
  if (!(options.dryRun === true && context.json)) for (const text of planLines(plan)) note(text);
  if (options.dryRun === true) return print(plan, () => '');
  if (options.confirm === undefined) await confirmName(`Forget ${tenant}?`, tenant, '--confirm', signal);
  else if (options.confirm !== tenant) {
    throw new CliError('usage', `--confirm says ${options.confirm}, not ${tenant}: nothing was done.`);
  }
  const started = await client.forgetTenant(tenant, { confirm: tenant }, { signal });
  if (!options.wait) return print(started, () => `${started.id} is under way.\n`);
  const job = await waitFor(context, started.id, options.progress);
  print(job, () => jobFacts(job));
  if (job.state !== 'done') context.exitWith(exitCode('conflict'));
}

export function addForgetCommand(tenants: Command): void {
  addCommand<ForgetOptions>(tenants, 'forget <tenant>', {
    summary: 'forget a tenant for good',
    description:
      'Its sandboxes, snapshots, blueprints, shares, keys and people go; the ledger keeps ids only. What would go, and which backups still hold it, is shown first; then its name is typed. Nothing cancels it.',
    options: (command) =>
      command
        .option('--dry-run', 'only say what would go')
        .option('--confirm <tenant>', 'its name once more, instead of being asked for it')
        .option('--no-wait', 'do not wait for its end')
        .option('--progress', 'show progress on stderr even when that is no terminal'),
    examples: [
      ['tenants forget acme --dry-run', 'what would go, and what would still hold it'],
      ['tenants forget acme --confirm acme', 'without being asked'],
    ],
    run: forget,
  });
}
