/** `webhook`: who is told of ledger lines, and what was delivered. */
import type { Command } from 'commander';
import type { Webhook, WebhookDelivery } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { facts, millisecondsText, table, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';

interface WebhookOptions {
  name?: string;
  tenant?: string;
  types?: string;
}

const whenMs = (time: number | null) => (time === null ? '–' : timeText(Math.floor(time / 1000)));
const typesOf = (text: string | undefined) => text?.split(',').map((type) => type.trim());

function stateOf({ enabled, failures, failing_since_ms: since }: Webhook): string {
  if (!enabled) return 'off';
  return failures > 0 ? `failing since ${whenMs(since)}` : 'on';
}

function webhookFacts(webhook: Webhook): string {
  return facts([
    ['id', webhook.id],
    ['name', webhook.name],
    ['url', webhook.url],
    ['tenant', webhook.tenant ?? 'all'],
    ['types', webhook.types?.join(', ') ?? 'all'],
    ['state', stateOf(webhook)],
    ['why', webhook.off_reason],
    ['waiting', String(webhook.pending)],
    ['last success', whenMs(webhook.last_success_ms)],
  ]);
}

function deliveryFacts(delivery: WebhookDelivery): string {
  return facts([
    ['id', delivery.id],
    ['state', delivery.state],
    ['answer', delivery.status === null ? null : String(delivery.status)],
    ['took', delivery.took_ms === null ? null : millisecondsText(delivery.took_ms)],
    ['error', delivery.error],
  ]);
}

export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command('webhook')
    .summary('tell other systems of ledger lines')
    .description('Tell other systems of ledger lines, signed as Standard Webhooks says, at least once each.');

  addCommand<{ tenant?: string }>(webhooks, 'list', {
    summary: 'list the webhooks',
    options: (command) => command.option('--tenant <tenant>', 'those of this tenant only'),
    examples: [['webhook list', 'and how each fares']],
    async run({ client, print, signal }, { tenant }) {
      const list = await client.listWebhooks({ tenant }, { signal });
      print(list, () =>
        table(
          ['ID', 'NAME', 'TENANT', 'STATE', 'WAITING', 'URL'],
          list.map((one) => [one.id, one.name, one.tenant ?? 'all', stateOf(one), String(one.pending), one.url]),
        ),
      );
    },
  });

  addCommand<WebhookOptions>(webhooks, 'add <url>', {
    summary: 'set up a webhook',
    description: 'Prints only the secret to stdout, so that a script can save it. It cannot be shown again.',
    options: (command) =>
      command
        .option('--name <name>', 'what people call it (default: its host)')
        .option('--tenant <tenant>', 'the lines of this tenant only')
        .option('--types <types>', 'with commas: transition, instance.*, problems (default: all)'),
    examples: [
      ['webhook add https://ops.example/hook --types problems > secret', 'faults and refusals'],
      ['webhook add https://acme.example/hook --tenant acme', 'all lines of one tenant'],
    ],
    async run({ client, print, note, signal }, { name, tenant, types }, url: string) {
      const host = URL.canParse(url) ? new URL(url).host : url;
      const input = { name: name ?? host, url, tenant, types: typesOf(types) };
      const made = await client.createWebhook(input, { signal });
      print(made, () => `${made.secret}\n`);
      note(`This is shown once. To try it: winterdock webhook test ${made.id}`);
    },
  });

  addCommand(webhooks, 'show <id>', {
    summary: 'show a webhook and how it fares',
    examples: [['webhook show hook-7', 'what waits, and why it is off']],
    async run({ client, print, signal }, _options, id: string) {
      const webhook = await client.getWebhook(id, { signal });
      print(webhook, () => webhookFacts(webhook));
    },
  });

  addCommand<WebhookOptions & { to?: string }>(webhooks, 'change <id>', {
    summary: 'change what a webhook is told, and where',
    options: (command) =>
      command
        .option('--name <name>', 'what people call it')
        .option('--to <url>', 'its address')
        .option('--types <types>', 'with commas; all for every type'),
    examples: [['webhook change hook-7 --types all', 'tell it everything']],
    async run({ client, print, signal }, { name, to, types }, id: string) {
      const wanted = types === 'all' ? null : typesOf(types);
      const changed = await client.patchWebhook(id, { name, url: to, types: wanted }, { signal });
      print(changed, () => webhookFacts(changed));
    },
  });

  addCommand<{ fromNow?: boolean }>(webhooks, 'on <id>', {
    summary: 'turn a webhook on',
    description: 'It goes on where it stopped.',
    options: (command) => command.option('--from-now', 'leave out what happened meanwhile'),
    examples: [['webhook on hook-7', 'once its receiver works again']],
    async run({ client, print, signal }, { fromNow }, id: string) {
      const patch = { enabled: true, resume_from: fromNow ? ('now' as const) : ('stopped' as const) };
      const changed = await client.patchWebhook(id, patch, { signal });
      print(changed, () => webhookFacts(changed));
    },
  });

  addCommand(webhooks, 'off <id>', {
    summary: 'turn a webhook off',
    examples: [['webhook off hook-7', 'nothing is sent, and nothing is lost']],
    async run({ client, print, signal }, _options, id: string) {
      const changed = await client.patchWebhook(id, { enabled: false }, { signal });
      print(changed, () => webhookFacts(changed));
    },
  });

  addCommand(webhooks, 'test <id>', {
    summary: 'send a test and show what comes of it',
    description: 'Exits with 5 when it was not taken.',
    examples: [['webhook test hook-7', 'also while it is off']],
    async run({ client, print, exitWith, signal }, _options, id: string) {
      const sent = await client.testWebhook(id, { signal });
      print(sent, () => deliveryFacts(sent));
      if (sent.state !== 'delivered') exitWith(exitCode('conflict'));
    },
  });

  addCommand<ListOptions & { state?: WebhookDelivery['state'] }>(webhooks, 'deliveries <id>', {
    summary: 'list what a webhook was told, newest first',
    options: (command) =>
      listOptions(command, 20).addOption(
        choice('--state <state>', 'only in this state', ['pending', 'delivered', 'failed']),
      ),
    examples: [['webhook deliveries hook-7 --state failed', 'what did not arrive']],
    async run(context, options, id: string) {
      await printList(context, options, {
        read: (limit) =>
          context.client.listWebhookDeliveries(id, { limit, state: options.state }, { signal: context.signal }),
        headings: ['ID', 'TYPE', 'STATE', 'ATTEMPTS', 'ANSWER', 'TOOK', 'LAST', 'ERROR'],
        row: (one) => [
          one.id,
          one.type,
          one.state,
          String(one.attempts),
          one.status === null ? '–' : String(one.status),
          one.took_ms === null ? '–' : millisecondsText(one.took_ms),
          whenMs(one.attempted_ms),
          one.error ?? '',
        ],
        none: 'It was not told anything yet.',
      });
    },
  });

  addCommand(webhooks, 'resend <id> <delivery>', {
    summary: 'deliver something again',
    examples: [['webhook resend hook-7 hook-7.1204', 'with the same webhook-id']],
    async run({ client, print, signal }, _options, id: string, delivery: string) {
      const again = await client.resendDelivery(id, delivery, { signal });
      print(again, () => deliveryFacts(again));
    },
  });

  addCommand(webhooks, 'rotate <id>', {
    summary: 'replace the secret',
    description: 'Prints only the new secret. The old one signs too for 24 hours.',
    examples: [['webhook rotate hook-7 > secret', 'then give it to the receiver']],
    async run({ client, print, note, signal }, _options, id: string) {
      const rotated = await client.rotateWebhookSecret(id, { signal });
      print(rotated, () => `${rotated.secret}\n`);
      note('This is shown once. The old one signs too for 24 hours.');
    },
  });

  addCommand(webhooks, 'remove <id>', {
    summary: 'remove a webhook with its deliveries',
    examples: [['webhook remove hook-7', 'it is told of nothing any more']],
    async run({ client, print, signal }, _options, id: string) {
      await client.deleteWebhook(id, { signal });
      print({ id }, () => `${id} is removed.\n`);
    },
  });
}
