/** `network`: what sandboxes may reach, and what they did reach. */
import type { Command } from 'commander';
import type { WinterdockClient } from '../../client/client.ts';
import type { InstanceNetwork, NetworkRule } from '../../contract/schema.ts';
import { addCommand } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, facts, table } from '../format.ts';

interface SubjectFlags {
  tenant?: string;
  sandbox?: string;
}
interface RuleFlags extends SubjectFlags {
  methods?: string;
  private?: boolean;
}

type Method = NetworkRule['methods'][number];

const METHODS = ['GET', 'HEAD'];

const subjectOptions = (command: Command) =>
  command
    .option('--tenant <tenant>', 'the list of a tenant')
    .option('--sandbox <id>', 'the list of a sandbox, which narrows that of its tenant');

const ruleText = ({ methods, url, private: isPrivate }: NetworkRule) =>
  `${methods.join(',')} ${url}${isPrivate ? ' (private)' : ''}`;

export function addNetworkCommands(program: Command): void {
  const network = program
    .command('network')
    .summary('say what sandboxes may reach of the network')
    .description(
      'What sandboxes with the policy "network" may reach: what their own list and their tenant’s both allow. A sandbox without a list has its tenant’s.',
    );

  addCommand(network, 'show <id>', {
    summary: 'show what a sandbox may reach and did reach',
    examples: [['network show sess-841', 'with calls, refusals and bytes by host of seven days']],
    async run({ client, print, signal }, _options, id: string) {
      const shown = await client.instanceNetwork(id, { signal });
      print(shown, () => {
        const reached = shown.reached.map((one) => [
          one.host === '' ? 'others' : one.host,
          String(one.calls),
          String(one.refused),
          bytesText(one.bytes_out),
          bytesText(one.bytes_in),
        ]);
        const rules = shown.allowed.rules.map(ruleText);
        const head = facts([
          ['enabled', enabledInWords(shown)],
          ['own list', shown.rules === null ? 'none, that of its tenant' : `${shown.rules.length} entries`],
          ['a minute', `${shown.allowed.requests_per_minute} requests`],
          ['a day', `${bytesText(shown.bytes_today)} of ${bytesText(shown.allowed.bytes_per_day)}`],
          ...(rules.length === 0 ? [['may reach', 'nothing'] as [string, string]] : []),
          ...rules.map((rule): [string, string] => ['may reach', rule]),
        ]);
        return reached.length === 0
          ? head
          : `${head}\n${table(['HOST', 'CALLS', 'REFUSED', 'SENT', 'RECEIVED'], reached)}`;
      });
    },
  });

  addCommand<SubjectFlags>(network, 'list', {
    summary: 'list the entries of a tenant or a sandbox',
    options: subjectOptions,
    examples: [['network list --tenant acme', 'what its sandboxes may reach']],
    async run({ client, print, signal }, flags) {
      const list = await listOf(client, flags, signal);
      print(list, () =>
        list.rules === null ? 'no list of its own\n' : list.rules.map((rule) => `${ruleText(rule)}\n`).join(''),
      );
    },
  });

  addCommand<RuleFlags>(network, 'allow <url>', {
    summary: 'add an entry, or change its methods',
    description: 'A prefix is compared by whole segments of its path. "*" is every public address.',
    options: (command) =>
      subjectOptions(command)
        .option('--methods <methods>', 'with commas (default: GET,HEAD)')
        .option('--private', 'of a tenant: the host may have an address that is not public'),
    examples: [
      ['network allow https://api.example.com/v1/ --tenant acme --methods GET,POST', 'for all its sandboxes'],
      ['network allow https://api.example.com/v1/things/ --sandbox sess-841', 'this one no further'],
    ],
    async run({ client, print, signal }, flags, url: string) {
      const methods = (flags.methods?.toUpperCase().split(',') ?? METHODS) as Method[];
      const changed = await change(client, flags, signal, (rules) => [
        ...rules.filter((rule) => rule.url !== url),
        { url, methods, private: flags.private ?? false },
      ]);
      print(changed, () => (changed.rules ?? []).map((rule) => `${ruleText(rule)}\n`).join(''));
    },
  });

  addCommand<SubjectFlags>(network, 'forbid <url>', {
    summary: 'remove an entry',
    options: subjectOptions,
    examples: [['network forbid https://api.example.com/v1/ --tenant acme', 'from the next request']],
    async run({ client, print, signal }, flags, url: string) {
      const changed = await change(client, flags, signal, (rules) => {
        const left = rules.filter((rule) => rule.url !== url);
        if (left.length === rules.length) throw new CliError('absent', `The list has no entry ${url}.`);
        return left;
      });
      print(changed, () => (changed.rules ?? []).map((rule) => `${ruleText(rule)}\n`).join(''));
    },
  });

  addCommand(network, 'inherit <id>', {
    summary: 'give a sandbox no list of its own, but that of its tenant',
    examples: [['network inherit sess-841', 'what its tenant may reach']],
    async run({ client, print, signal }, _options, id: string) {
      const { requests_per_minute, bytes_per_day } = await client.instanceNetwork(id, { signal });
      const changed = await client.putInstanceNetwork(
        id,
        { rules: null, requests_per_minute, bytes_per_day },
        { signal },
      );
      print(changed, () => changed.allowed.rules.map((rule) => `${ruleText(rule)}\n`).join(''));
    },
  });
}

function listOf(client: WinterdockClient, { tenant, sandbox }: SubjectFlags, signal: AbortSignal) {
  if ((tenant === undefined) === (sandbox === undefined)) {
    throw new CliError('usage', 'Name a tenant or a sandbox: --tenant acme or --sandbox sess-841.');
  }
  return tenant === undefined
    ? client.instanceNetwork(sandbox ?? '', { signal })
    : client.tenantNetwork(tenant, { signal });
}

/** Replaces the list by what `edit` makes of it; the numbers stay. */
async function change(
  client: WinterdockClient,
  flags: SubjectFlags,
  signal: AbortSignal,
  edit: (rules: NetworkRule[]) => NetworkRule[],
) {
  const { rules, requests_per_minute, bytes_per_day } = await listOf(client, flags, signal);
  const edited = edit(rules ?? []);
  const numbers = { requests_per_minute, bytes_per_day };
  if (flags.tenant !== undefined) {
    return client.putTenantNetwork(flags.tenant, { rules: edited, ...numbers }, { signal });
  }
  const plain = edited.map(({ private: _private, ...rule }) => rule);
  return client.putInstanceNetwork(flags.sandbox ?? '', { rules: plain, ...numbers }, { signal });
}

/** A policy that was changed while a process runs holds from its next start. */
function enabledInWords({ enabled, enabled_now: now, running_policy: running }: InstanceNetwork): string {
  if (!enabled) return 'no: its policy reaches no network';
  return now || running === null ? 'yes' : `from its next start: its process has the policy "${running}"`;
}
