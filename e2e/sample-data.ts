/**
 * A harbour to look at: sandboxes in every state, long names, labels, files of every kind, and faults. For tests and
 * pictures.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '../lib/testing/call.ts';

interface SandboxInput {
  id: string;
  tenant: string;
  name?: string;
  labels?: Record<string, string>;
  keep_hot?: boolean;
}

export interface Berth {
  input: SandboxInput;
  /** The verbs that it goes through once it is registered; files are written after its first `resume`. */
  verbs: readonly ('resume' | 'suspend' | 'freeze' | 'archive' | 'delete')[];
  /** How many hours ago it would have happened, in a picture. */
  hoursAgo: number;
}

const DAY = 24;

export const HARBOUR: readonly Berth[] = [
  {
    input: { id: 'old-experiment', tenant: 'acme', name: 'Old experiment' },
    verbs: ['resume', 'archive', 'delete'],
    hoursAgo: 41 * DAY,
  },
  {
    input: { id: 'onboarding-demo', tenant: 'acme', name: 'Onboarding demo', labels: { kind: 'demo' } },
    verbs: ['resume', 'archive'],
    hoursAgo: 41 * DAY,
  },
  {
    input: { id: 'intern-project', tenant: 'lighthouse', name: 'Intern project' },
    verbs: ['resume', 'archive'],
    hoursAgo: 41 * DAY,
  },
  {
    input: {
      id: 'migration-rehearsal-with-a-very-long-identifier-0001',
      tenant: 'northwind',
      name: 'The rehearsal of the great migration of the customer database, with everything that belongs to it, second try',
      labels: {
        project: 'migration',
        'a-rather-long-label-key': 'with-a-value-that-goes-on-and-on-and-on-without-a-break',
      },
    },
    verbs: ['resume', 'suspend', 'freeze'],
    hoursAgo: 3 * DAY + 2,
  },
  {
    input: { id: 'fraud-model-eval', tenant: 'northwind', name: 'Fraud model evaluation', labels: { env: 'test' } },
    verbs: ['resume', 'suspend', 'freeze'],
    hoursAgo: 3 * DAY + 2,
  },
  {
    input: { id: 'price-watch', tenant: 'lighthouse', name: 'Price watch' },
    verbs: ['resume', 'suspend', 'freeze'],
    hoursAgo: 3 * DAY + 2,
  },
  {
    input: { id: 'support-triage', tenant: 'acme', name: 'Support triage', labels: { env: 'prod' } },
    verbs: ['resume', 'suspend'],
    hoursAgo: 23.4,
  },
  { input: { id: 'notebook-q3', tenant: 'acme' }, verbs: ['resume', 'suspend'], hoursAgo: 7 },
  {
    input: {
      id: 'release-notes-writer',
      tenant: 'acme',
      name: 'Release notes writer',
      labels: { env: 'prod', team: 'docs' },
    },
    verbs: ['resume'],
    hoursAgo: 0,
  },
  {
    input: {
      id: 'crawler-eu-west',
      tenant: 'northwind',
      name: 'Crawler, EU west',
      keep_hot: true,
      labels: { env: 'prod', region: 'eu-west', owner: 'data', tier: '1' },
    },
    verbs: ['resume'],
    hoursAgo: 0,
  },
  { input: { id: 'fresh-one', tenant: 'lighthouse', name: 'Fresh one' }, verbs: [], hoursAgo: 0 },
];

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGUlEQVR4nGNk+M9AEmAiTfmohlENQ0kDALJ4Ah+Xw2/LAAAAAElFTkSuQmCC',
  'base64',
);

const FILES: readonly [volume: string, path: string, content: string | Uint8Array][] = [
  [
    'workspace',
    'README.md',
    '# Release notes\n\nWritten by a sandbox that sleeps as a file.\n\n- gather the merged changes\n- write what people notice\n',
  ],
  [
    'workspace',
    'src/index.js',
    "import { gather } from './gather.js';\n\nconsole.log('<b>escaped</b>', await gather('main'));\n",
  ],
  ['workspace', 'src/gather.js', "export const gather = async (branch) => ['changes of ' + branch];\n"],
  ['workspace', 'data/config.json', '{"branch":"main","sections":["added","fixed"],"limits":{"lines":40}}'],
  ['workspace', 'data/pixel.png', PIXEL],
  ['workspace', 'data/model.bin', Uint8Array.from({ length: 2048 }, (_, index) => (index * 7) % 256)],
  ['memory', 'learned.md', 'People read the first line only.\n'],
  ['tmp', 'draft.txt', 'gone at the next wake\n'],
];

/** Fails with what the server said unless it agreed. */
async function must(call: Call, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
}

/** Registers one sandbox, takes it through its verbs and fills its volumes. */
export async function moor(call: Call, { input: sandbox, verbs }: Berth): Promise<void> {
  const at = `/api/instances/${sandbox.id}`;
  await must(call, 'POST', '/api/instances', sandbox);
  for (const verb of verbs) {
    if (verb === 'delete') await must(call, 'DELETE', at);
    else await must(call, 'POST', `${at}/${verb}`, verb === 'archive' ? { reason: 'the season is over' } : {});
    if (verb !== 'resume') continue;
    for (const [volume, path, content] of FILES) {
      await must(call, 'PUT', `${at}/volumes/${volume}/${path}`, content);
    }
  }
}

/** Harms two sandboxes in the server's data folder and has it notice: one file is gone, one has rotted. */
export async function harm(call: Call, folder: string): Promise<void> {
  const fileOf = async (id: string) =>
    join(folder, (await call<{ vfs_path: string }>('GET', `/api/instances/${id}`)).json.vfs_path);
  rmSync(await fileOf('intern-project'));
  await call('POST', '/api/instances/intern-project/revive', {});
  const rotten = await fileOf('fraud-model-eval');
  const bytes = readFileSync(rotten);
  bytes.fill(0xff, 4200, 4300);
  writeFileSync(rotten, bytes);
  await call('POST', '/api/instances/fraud-model-eval/resume', {});
}

/**
 * Fills the library: snapshots with and without tags, sandboxes made from them, a blueprint with many clones, and what
 * was shipped.
 */
export async function stock(call: Call): Promise<void> {
  const made = async (path: string, body: unknown) => {
    const answer = await call<{ id: string }>('POST', path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const long = 'migration-rehearsal-with-a-very-long-identifier-0001';
  const first = await made('/api/instances/support-triage/snapshots', { tag: 'before the March figures' });
  await made('/api/instances/support-triage/snapshots', {});
  await made(`/api/instances/${long}/snapshots`, {
    tag: 'the state of the great migration on the evening before the customers-are-moved-at-last day, kept for the auditors',
  });
  await must(call, 'POST', `/api/snapshots/${first.id}/restore`, { count: 3, name: 'Triage, second desk' });
  const [desk] = (await call<{ id: string }[]>('GET', '/api/instances?q=triage%20second')).json;
  await must(call, 'POST', `/api/instances/${desk?.id}/resume`, {});
  const again = await made(`/api/instances/${desk?.id}/snapshots`, { tag: 'after the first week' });
  await must(call, 'POST', `/api/snapshots/${again.id}/restore`, { name: 'Third desk' });
  await made('/api/blueprints', { name: 'release-notes', from_instance: 'release-notes-writer' });
  await must(call, 'POST', '/api/blueprints/release-notes/clone', { tenant: 'acme', count: 60, name: 'Notes' });
  await must(call, 'POST', '/api/instances/support-triage/ship', {});
  await must(call, 'POST', '/api/instances/support-triage/ship', { include_private: true });
  await must(call, 'POST', `/api/instances/${long}/ship`, {});
  await must(call, 'POST', '/api/instances/support-triage/schedules', {
    cron: '0 3 * * 1-5',
    timezone: 'Europe/Berlin',
    command: 'find inbox -mtime +30 -delete',
  });
  const orders = readFileSync(new URL('../examples/orders/workbook.org', import.meta.url));
  await must(call, 'PUT', '/api/workbooks/orders?tenant=acme', orders);
  await must(call, 'PATCH', '/api/instances/support-triage', { workbook: 'orders' });
  await must(call, 'PUT', '/api/workbooks/orders?tenant=acme', `${orders}\n* later :workflow:\n`);
  await must(
    call,
    'PUT',
    '/api/workbooks/orders-draft?tenant=acme',
    String(orders).replace(':deps check,shipping', ':deps chekc'),
  );
}

/** Gives a sandbox variables and a secret, and answers their page. */
export async function environmentOf(call: Call): Promise<string> {
  const env = { STAGE: 'test', A_LONG_ONE: 'https://api.example.com/'.repeat(8), EMPTY: '' };
  await call('PATCH', '/api/instances/support-triage/env', { env });
  const secret = { value: 'not-a-secret', url: 'https://api.example.com/v1/a-rather-long-path/of-an-api/' };
  await call('PUT', '/api/instances/support-triage/secrets/A_SECRET_WITH_A_LONG_NAME_OF_ITS_OWN', secret);
  return '/sandboxes/support-triage?tab=environment';
}
