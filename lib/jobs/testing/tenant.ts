/**
 * For tests: a tenant whose every text has a word that nothing else has, and ways to look for that word in everything
 * that a data folder holds.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import type { Auth } from '../../auth/auth.ts';
import { onPostgres } from '../../registry/testing/registry-of-tests.ts';
import { rowsWith, sqlOfTests } from '../../registry/testing/sql-of-tests.ts';
import type { Call } from '../../testing/call.ts';
import { invited } from '../../testing/people.ts';

export const WORD = 'xylophobia';

const STATES = ['created', 'active', 'suspended', 'frozen', 'archived', 'deleted'] as const;

/**
 * Makes a tenant with a sandbox in every state, copies, a share, a schedule, a key, jobs and reasons; each text has
 * `word`. Gives what its programs call it by.
 */
export async function makeTenant(call: Call, tenant: string, word: string): Promise<{ key: string }> {
  const good = async (method: string, path: string, body?: unknown, options?: Parameters<Call>[3]) => {
    const answer = await call<{ id: string; key: string }>(method, path, body, options);
    expect([method, path, answer.status < 300 ? '' : answer.text]).toEqual([method, path, '']);
    return answer;
  };
  for (const state of STATES) {
    const id = `${tenant}-${state}`;
    await good('POST', '/api/instances', { id, tenant, name: `${word} ${state}`, labels: { why: `${word}-${state}` } });
    if (state === 'created') continue;
    await good('PUT', `/api/instances/${id}/volumes/workspace/${word}.txt`, `the ${word} of ${id}\n`.repeat(400));
    await good('PUT', `/api/instances/${id}/volumes/memory/note.txt`, `remember ${word}`);
    await good('PATCH', `/api/instances/${id}`, { labels: { why: `${word}-again`, [`${word}-key`]: 'x' } });
    if (state !== 'active') await good('POST', `/api/instances/${id}/plan`, { to: state, reason: `${word} is done` });
  }
  const id = `${tenant}-active`;
  await good(
    'POST',
    `/api/instances/${id}/exec`,
    { command: `echo ${word} > also.txt` },
    { headers: { 'x-request-id': word } },
  );
  await good('PATCH', `/api/instances/${id}`, { keep_hot: true });
  await good('POST', `/api/instances/${id}/snapshots`, { tag: word });
  const taken = await good('POST', `/api/instances/${tenant}-frozen/snapshots`, { tag: `${word}-2` });
  await good('POST', `/api/instances/${tenant}-suspended/restore`, {
    snapshot: taken.json.id,
    reason: `back to ${word}`,
  });
  await good('POST', '/api/blueprints', { name: `${word}-base`, from_instance: id });
  await good('POST', `/api/blueprints/${word}-base/clone`, { tenant, count: 1, name: `${word} clone` });
  await good('POST', `/api/instances/${id}/schedules`, { cron: '0 0 1 1 *', command: `echo ${word} is due` });
  await good('GET', `/api/instances/${tenant}-archived/volumes/workspace/${word}.txt`);
  await good('POST', `/api/instances/${id}/ship`, {});
  for (const body of [
    { filter: { tenant, q: word }, labels: { job: word } },
    { ids: [`${tenant}-frozen`], labels: { job: `${word}-2` } },
  ]) {
    const job = await good('POST', '/api/jobs', { verb: 'label', reason: `${word} says so`, ...body });
    const state = async () => (await call('GET', `/api/jobs/${job.json.id}`)).json.state;
    await vi.waitFor(async () => expect(await state()).toBe('done'), { timeout: 240_000 });
  }
  await good('PATCH', `/api/tenants/${tenant}`, { max_sandboxes: 50 });
  const { key } = (await good('POST', '/api/keys', { name: `${word} program`, role: 'tenant', tenant })).json;
  await good('GET', '/api/me', undefined, { key });
  return { key };
}

/**
 * People of the tenant alone and of others too, and an open invitation, all with `word`. Gives a cookie of the first.
 */
export async function makePeople(auth: Auth, call: Call, tenant: string, word: string): Promise<string> {
  const cookie = await invited(auth, 'operator', { email: `${word}@example.com`, tenants: [tenant] });
  await invited(auth, 'viewer', { email: `both-${tenant}@example.com`, tenants: [tenant, 'globex'] });
  await call('POST', '/api/people/invitations', {
    email: `${word}.two@example.com`,
    role: 'viewer',
    tenants: [tenant],
  });
  await call('POST', '/api/people/invitations', {
    email: `three-${tenant}@example.com`,
    role: 'viewer',
    tenants: [tenant, 'globex'],
  });
  return cookie;
}

/** Files that only a fault, a restore or an upgrade leaves. */
export function leaveFiles(folder: string, tenant: string, word: string): void {
  mkdirSync(join(folder, 'orphans'), { recursive: true });
  mkdirSync(join(folder, 'expanded'), { recursive: true });
  const names = [
    `orphans/1765500000000-${tenant}-active-vfs.sqlite`,
    `orphans/1765500000000-${tenant}-active-vfs.sqlite-wal`,
    `orphans/1765500000001-${tenant}-deleted-${tenant}-deleted.sqlite`,
    `orphans/1765500000002-${tenant}-frozen-7-${tenant}-frozen.sqlite`,
    `orphans/1765500000003-${tenant}-archived-${tenant}-archived.sqlite.zst`,
    `expanded/${tenant}-archived.9.sqlite`,
    // A registry on Postgres has no copies of upgrades.
    ...(onPostgres() ? [] : ['registry.sqlite.before-9']),
  ];
  for (const name of names) writeFileSync(join(folder, name), `${word} was here`);
}

/** Files, relative to the folder, whose bytes have the word, as they are or expanded. */
export function filesWith(folder: string, word: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = readFileSync(path);
      if (path.toLowerCase().includes(word)) return true;
      if (bytes.includes(word)) return true;
      return bytes.length >= 4 && bytes.readUInt32LE(0) === 0xfd2fb528 && zstdDecompressSync(bytes).includes(word);
    })
    .map((path) => relative(folder, path))
    .sort();
}

/**
 * What a registry still knows of a word: in a file the parts of three letters in its text index, on Postgres every row
 * of any table.
 */
export async function wordsIndexed(folder: string, word: string): Promise<unknown[]> {
  if (onPostgres()) return rowsWith(folder, word);
  const sql = await sqlOfTests(folder);
  try {
    await sql.ask("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'instance_text', 'row')");
    return await sql.ask(`SELECT term FROM temp.terms WHERE length(term) = 3 AND instr('${word}', term) > 0`);
  } finally {
    await sql.close();
  }
}

/** The hash of every file of a tenant, and all rows that are about it, so that both can be compared. */
export async function thingsOf(folder: string, tenant: string): Promise<Record<string, unknown>> {
  const sql = await sqlOfTests(folder);
  const rows = (text: string) => sql.ask(text.replaceAll('?', `'${tenant}'`));
  try {
    const hashes = (await rows('SELECT hash FROM snapshots WHERE tenant = ? AND deleted IS NULL')).map(({ hash }) =>
      String(hash),
    );
    const files = ['live', 'cold', 'archive', 'snapshots', 'blueprints', 'orphans'].flatMap((drawer) =>
      readdirSync(join(folder, drawer), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => path.includes(tenant) || hashes.some((hash) => path.includes(hash))),
    );
    return {
      files: Object.fromEntries(
        files.map((path) => [relative(folder, path), createHash('sha256').update(readFileSync(path)).digest('hex')]),
      ),
      instances: await rows('SELECT * FROM instances WHERE tenant = ? ORDER BY id'),
      snapshots: await rows('SELECT * FROM snapshots WHERE tenant = ? ORDER BY id'),
      blueprints: await rows('SELECT * FROM blueprints WHERE tenant = ? ORDER BY name'),
      shares: await rows('SELECT * FROM shares WHERE tenant = ? ORDER BY id'),
      keys: await rows('SELECT id, name, revoked FROM keys WHERE tenant = ? ORDER BY id'),
      lines: await rows('SELECT * FROM events WHERE tenant = ? ORDER BY seq'),
      quotas: await rows('SELECT * FROM tenants WHERE tenant = ?'),
      counts: await rows('SELECT * FROM counts_by_tenant WHERE tenant = ? ORDER BY state'),
      cpu: await rows('SELECT * FROM cpu_by_day WHERE tenant = ? ORDER BY day'),
      labels: await rows(
        'SELECT labels.* FROM labels JOIN instances ON instances.rowid = instance_row WHERE instances.tenant = ? ORDER BY 1, 2',
      ),
    };
  } finally {
    await sql.close();
  }
}
