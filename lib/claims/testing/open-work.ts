/** For tests: work that is due in a registry: a schedule, and what a webhook is to be told. */
import { openSecretSealer } from '../../base/sealed-secrets.ts';
import type { Registry } from '../../registry/registry.ts';
import type { MissedPolicy } from '../../registry/schedules.ts';
import { entry, instance, START } from '../../registry/testing/fixtures.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { newWebhookSecret } from '../../webhooks/signature.ts';

/** A sandbox with a schedule that is due in five seconds. */
export async function addSchedule(registry: Registry, missed: MissedPolicy): Promise<void> {
  await registry.instances.create(instance('sb-1'), START, entry());
  await registry.schedules.add(
    {
      id: 's',
      instance: instanceId('sb-1'),
      tenant: 'acme',
      source: 'api',
      declaration: null,
      cron: '0 0 1 1 *',
      at: null,
      repeat: null,
      timezone: 'UTC',
      target: 'command',
      action: 'true',
      input: null,
      timeoutMs: null,
      missed,
      paused: false,
      created: START,
      actor: 'key:test',
    },
    { nextAt: START + 5, notBefore: null, spread: 0, backlogUntil: null },
    { perSandbox: 9, perTenant: 9 },
    entry(),
  );
}

/** A webhook, and three lines that it is told of. */
export async function addWebhook(
  registry: Registry,
  { port, folder }: { port: number; folder: string },
): Promise<void> {
  await registry.webhooks.add(
    {
      id: 'wh-1',
      name: 'pager',
      url: `https://localhost:${port}/hook`,
      types: ['note.*'],
      tenant: null,
      secret: openSecretSealer(folder).seal(newWebhookSecret(), 'wh-1'),
      cursor: await registry.ledger.lastSeq(),
      created: START,
      createdBy: 'key:test',
    },
    9,
    entry({ type: 'webhook.created' }),
  );
  for (const reason of ['a', 'b', 'c']) await registry.ledger.append([entry({ type: 'note.made', reason })]);
}
