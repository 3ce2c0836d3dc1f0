/** `tenants` and `settings`: use, quotas and idle thresholds. */
import type { Command } from 'commander';
import type { Settings, Tenant } from '../../contract/schema.ts';
import { replicateChoice } from '../choice.ts';
import { addCommand, parseSeconds, parseWholeNumber } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, durationText, facts } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { addForgetCommand } from './forget.ts';

/** An option's value; `none` removes the setting. */
type OrNone = number | 'none';

interface TenantChanges {
  maxSandboxes?: OrNone;
  maxActive?: OrNone;
  maxBytes?: OrNone;
  maxDailyCpu?: OrNone;
  maxCall?: OrNone;
  maxRun?: OrNone;
  hotToWarm?: OrNone;
  idleToSuspend?: OrNone;
  idleToFreeze?: OrNone;
  replicate?: string;
}

const orNone =
  (read: (text: string) => number) =>
  (text: string): OrNone =>
    text === 'none' ? text : read(text);

const nullForNone = <T extends number | string>(value: T | 'none' | undefined) => (value === 'none' ? null : value);

const awake = ({ counts }: Tenant) => counts.active ?? 0;
const filed = ({ counts }: Tenant) => (counts.suspended ?? 0) + (counts.frozen ?? 0) + (counts.archived ?? 0);

function usedText({ limit, used }: { limit: number | null; used: number }, text: (value: number) => string): string {
  return limit === null ? `${text(used)}, no limit` : `${text(used)} of ${text(limit)}`;
}

function thresholdText(own: number | null, applies: number): string {
  return own === null ? `${durationText(applies)}, as for all` : durationText(own);
}

function pauseText(own: number | null, applies: number): string {
  if (applies > 0) return thresholdText(own, applies);
  return own === null ? 'never, as for all' : 'never';
}

function tenantFacts(tenant: Tenant): string {
  const { counts, quotas, thresholds } = tenant;
  const states = Object.entries(counts).filter(([, count]) => count > 0);
  return facts([
    ['tenant', tenant.tenant],
    ['sandboxes', usedText(quotas.max_sandboxes, String)],
    ['active', usedText(quotas.max_active, String)],
    ['bytes', usedText(quotas.max_bytes, bytesText)],
    ['processor today', usedText(quotas.max_daily_cpu_s, (seconds) => `${seconds} s`)],
    ['a call may ask for', tenant.max_call_s === null ? 'as its policy' : `${tenant.max_call_s} s`],
    ['a run at most', tenant.max_run_s === null ? 'as for all' : `${tenant.max_run_s} s`],
    ['states', states.map(([state, count]) => `${count} ${state}`).join(', ')],
    ['paused after', pauseText(tenant.hot_to_warm_s, thresholds.hot_to_warm_s)],
    ['suspended after', thresholdText(tenant.idle_to_suspend_s, thresholds.idle_to_suspend_s)],
    ['frozen after', thresholdText(tenant.idle_to_freeze_s, thresholds.idle_to_freeze_s)],
    ['replicates', tenant.replicate ?? 'as for all'],
  ]);
}

function settingsFacts({ hot_to_warm_s, idle_to_suspend_s, idle_to_freeze_s }: Settings): string {
  return facts([
    ['paused after', hot_to_warm_s === 0 ? 'never' : `${durationText(hot_to_warm_s)} idle`],
    ['suspended after', `${durationText(idle_to_suspend_s)} idle`],
    ['frozen after', `${durationText(idle_to_freeze_s)} suspended`],
  ]);
}

function requireChange(changes: object): void {
  if (Object.values(changes).some((value) => value !== undefined)) return;
  throw new CliError('usage', 'There is nothing to change.', 'Name at least one option; --help lists them.');
}

export function addTenantCommands(program: Command): void {
  const tenants = program
    .command('tenants')
    .summary('list tenants, show and change what they may have')
    .description('List tenants, show what they have, and change what they may have.');

  addCommand<ListOptions & { search?: string }>(tenants, 'list', {
    summary: 'list tenants by name',
    options: (command) => listOptions(command.option('--search <words>', 'whose name has this'), 100),
    examples: [['tenants list', 'with what each has']],
    async run(context, options) {
      await printList(context, options, {
        read: (limit) => context.client.listTenants({ q: options.search, limit }, { signal: context.signal }),
        headings: ['TENANT', 'SANDBOXES', 'ACTIVE', 'FILED', 'SIZE'],
        row: (tenant) => [
          tenant.tenant,
          String(tenant.quotas.max_sandboxes.used),
          String(awake(tenant)),
          String(filed(tenant)),
          bytesText(tenant.bytes.total),
        ],
        none: 'No tenants.',
      });
    },
  });

  addCommand(tenants, 'show <tenant>', {
    summary: 'show a tenant: what it has, and what it may have',
    examples: [['tenants show acme', 'quotas with their use, thresholds, states']],
    async run({ client, print, signal }, _options, name: string) {
      const tenant = await client.getTenant(name, { signal });
      print(tenant, () => tenantFacts(tenant));
    },
  });

  addCommand<TenantChanges>(tenants, 'set <tenant>', {
    summary: 'change a tenant’s quotas and thresholds',
    description: '`none` takes one away. What it has beyond a new quota stays; it gets no more.',
    options: (command) =>
      command
        .option('--max-sandboxes <count>', 'how many it may have', orNone(parseWholeNumber))
        .option('--max-active <count>', 'how many may be active at once', orNone(parseWholeNumber))
        .option('--max-bytes <bytes>', 'how much all of them may hold', orNone(parseWholeNumber))
        .option('--max-daily-cpu <duration>', 'processor time a day (UTC), such as 2h', orNone(parseSeconds))
        .option('--max-call <duration>', 'the longest time that a call may ask for, such as 10m', orNone(parseSeconds))
        .option('--max-run <duration>', 'the longest time of a run, such as 2h', orNone(parseSeconds))
        .option('--hot-to-warm <duration>', 'its own threshold, such as 30s; 0 for never', orNone(parseSeconds))
        .option('--idle-to-suspend <duration>', 'its own threshold, such as 15m', orNone(parseSeconds))
        .option('--idle-to-freeze <duration>', 'its own threshold, such as 24h', orNone(parseSeconds))
        .addOption(replicateChoice('what is promised of the replicas of its sandboxes')),
    examples: [
      ['tenants set acme --max-sandboxes 100 --idle-to-suspend 5m', 'two at once'],
      ['tenants set acme --max-sandboxes none', 'no limit any more'],
    ],
    async run({ client, print, signal }, options, name: string) {
      const changes = {
        max_sandboxes: nullForNone(options.maxSandboxes),
        max_active: nullForNone(options.maxActive),
        max_bytes: nullForNone(options.maxBytes),
        max_daily_cpu_s: nullForNone(options.maxDailyCpu),
        max_call_s: nullForNone(options.maxCall),
        max_run_s: nullForNone(options.maxRun),
        hot_to_warm_s: nullForNone(options.hotToWarm),
        idle_to_suspend_s: nullForNone(options.idleToSuspend),
        idle_to_freeze_s: nullForNone(options.idleToFreeze),
        replicate: nullForNone(options.replicate),
      };
      requireChange(changes);
      const tenant = await client.patchTenant(name, changes, { signal });
      print(tenant, () => tenantFacts(tenant));
    },
  });

  addForgetCommand(tenants);

  const settings = program
    .command('settings')
    .summary('show and change when the idle are paused and move')
    .description(
      'Show and change when the idle are paused and move. Tenants and sandboxes may have thresholds of their own.',
    );

  addCommand(settings, 'show', {
    summary: 'show the thresholds of all',
    examples: [['settings show', 'idle for so long, then paused, suspended, frozen']],
    async run({ client, print, signal }) {
      const found = await client.getSettings({ signal });
      print(found, () => settingsFacts(found));
    },
  });

  addCommand<{ hotToWarm?: number; idleToSuspend?: number; idleToFreeze?: number }>(settings, 'set', {
    summary: 'change the thresholds of all',
    options: (command) =>
      command
        .option('--hot-to-warm <duration>', 'such as 30s; 0 for never', parseSeconds)
        .option('--idle-to-suspend <duration>', 'such as 15m', parseSeconds)
        .option('--idle-to-freeze <duration>', 'such as 24h', parseSeconds),
    examples: [['settings set --idle-to-suspend 10m', 'from the next round on']],
    async run({ client, print, signal }, { hotToWarm, idleToSuspend, idleToFreeze }) {
      const changes = { hot_to_warm_s: hotToWarm, idle_to_suspend_s: idleToSuspend, idle_to_freeze_s: idleToFreeze };
      requireChange(changes);
      const found = await client.patchSettings(changes, { signal });
      print(found, () => settingsFacts(found));
    },
  });
}
