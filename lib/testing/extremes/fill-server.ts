/**
 * For tests: what a server holds after months of work: sandboxes, ledger, usage, and of every other kind enough for
 * several pages. Its first sandbox is that of the API's examples. Knows nothing of what is measured on it.
 */
import { EXAMPLE_ID } from '../../http/examples.ts';
import { entry, instance } from '../../registry/testing/fixtures.ts';
import { openTestRegistry } from '../../registry/testing/open-test-registry.ts';
import type { Call } from '../call.ts';
import { instanceId } from '../plain-ids.ts';

/** More of each than 20 000 steps can visit one by one, where it may grow beyond that. */
const SANDBOXES = 2000;
const LINES = 30_000;
const USAGE_DAYS = 150;
const FILES = 1000;
const TENANTS = 40;

/** Ids of what was made, by the placeholders of the examples. */
export type Made = Record<string, string>;

/** Makes what only a running server makes: files, copies, runs. `call` reaches it. */
export async function fillServer(call: Call): Promise<Made> {
  const made: Made = {};
  const keep = async (placeholder: string, method: string, path: string, body: unknown, name = 'id') => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    made[placeholder] = String(answer.json[name]);
  };
  const at = `/api/instances/${EXAMPLE_ID}`;
  const files = `for (let i = 0; i < ${FILES}; i += 1) vfs.put('/many/file-' + i, 'hello ' + i);
    vfs.put('/hello.txt', Array.from({ length: 300 }, (_, i) => i + ',hello').join('\\n')); 'done'`;
  const rows = 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)';
  const filled = await call('POST', `${at}/eval`, { language: 'js', code: files, timeout_ms: 60_000 });
  if (filled.status !== 200) throw new Error(`It has no files: ${filled.text}`);
  await call('POST', `${at}/exec`, { command: `sqlite3 store.db "CREATE TABLE apples AS ${rows} SELECT i FROM n"` });
  await keep('id-of-a-snapshot', 'POST', `${at}/snapshots`, {});
  for (let n = 0; n < 5; n += 1) await call('POST', `${at}/snapshots`, { tag: `tag ${n}` });
  await keep('', 'POST', '/api/blueprints', { name: EXAMPLE_ID, from_instance: EXAMPLE_ID });
  for (let n = 0; n < 80; n += 1)
    await keep('id-of-a-schedule', 'POST', `${at}/schedules`, { cron: `${n % 60} 3 * * *`, command: 'true' });
  for (let n = 0; n < 20; n += 1)
    await keep('id-of-a-webhook', 'POST', '/api/webhooks', { name: `w${n}`, url: `https://hooks.example.com/${n}` });
  for (let n = 0; n < 8; n += 1) await keep('id-of-a-run', 'POST', `${at}/runs`, { command: `seq 1000; echo ${n}` });
  await keep('id-of-a-terminal', 'POST', `${at}/terminals`, undefined);
  await keep('id-of-a-key', 'POST', '/api/keys', { name: 'k', role: 'viewer' });
  await keep('id-of-an-invitation', 'POST', '/api/people/invitations', { role: 'viewer' });
  const source = `#+TITLE: Report\n* etl :workflow:\n${Array.from({ length: 50 }, (_, n) => `** c${n} :component:\n#+begin_src js :out n:integer\nexport default () => ({ n: ${n} });\n#+end_src\n`).join('')}`;
  for (let n = 0; n < 30; n += 1) await call('PUT', `/api/workbooks/${EXAMPLE_ID}?tenant=acme`, `${source}\n${n}`);
  await keep('id-of-a-job', 'POST', '/api/jobs', { verb: 'label', filter: { tenant: 'tenant-3' }, labels: { a: 'b' } });
  return made;
}

/** Makes the registry at `path`, which no server has open. Syncs nothing. */
export async function fillRegistry(path: string): Promise<void> {
  const thresholds = { hotToWarmSeconds: 30, idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 };
  const registry = await openTestRegistry(path, { thresholds, durable: false });
  const now = Math.floor(Date.now() / 1000);
  const first = instance(EXAMPLE_ID, { labels: { made_by: 'explorer' } });
  await registry.instances.create(first, now, entry({ timeMs: now * 1000, type: 'created', tenant: 'acme' }));
  for (let n = 0; n < SANDBOXES; n += 1) {
    const tenant = `tenant-${n % TENANTS}`;
    const labels = { made_by: 'explorer', part: `${n % 7}`, number: `${n}` };
    const row = instance(`sb-${n}`, { tenant, name: `Customer ${n} of many, ${'word '.repeat(n % 9)}`, labels });
    await registry.instances.create(row, now - n, entry({ timeMs: (now - n) * 1000, type: 'created', tenant }));
  }
  for (let n = 0; n < LINES; n += 5000) {
    await registry.ledger.append(
      Array.from({ length: 5000 }, (_, k) =>
        entry({
          timeMs: (now - (LINES - n - k) * 400) * 1000,
          tenant: k % 3 === 0 ? 'acme' : `tenant-${k % TENANTS}`,
          instance: k % 3 === 0 ? instanceId(EXAMPLE_ID) : instanceId(`sb-${k % SANDBOXES}`),
          type: k % 5 === 0 ? 'fault.raised' : 'transition',
          ...(k % 5 === 0 ? {} : { from: 'active', to: 'suspended' }),
          actor: `user:${k % 50}`,
          reason: `because of ${k}`,
          requestId: `req-${n + k}`,
        }),
      ),
    );
  }
  const hour = Math.floor(now / 3600);
  const use = { cpuMs: 5, calls: 2, memoryBytes: 1e8 };
  for (let n = USAGE_DAYS * 24; n >= 0; n -= 1) {
    await registry.usage.add(hour - n, {
      sandboxes: [{ id: instanceId(EXAMPLE_ID), ...use }],
      tenants: [{ tenant: 'acme', ...use }],
    });
  }
  await registry.close();
}
