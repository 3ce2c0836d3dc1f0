/** For tests: rows from the store alone, of a real server on a store of any kind. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { objectNameOf } from '../../base/cloud-address.ts';
import type { Instance } from '../../contract/schema.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { type CommandResult, run } from './server-content.ts';

const said = (done: CommandResult) => `${done.stdout}${done.stderr}`;

/** A server with its data folder below `root`, and the restore command for it. */
export class RowsStage {
  readonly root = mkdtempSync(join(tmpdir(), 'winterdock-rows-whole-'));
  readonly #settings: Record<string, string>;
  server: TestServer | null = null;

  /** `settings`: where the store is. */
  constructor(settings: (root: string) => Record<string, string>) {
    this.#settings = settings(this.root);
  }

  get url(): string {
    return this.#settings.WB_COLD_URL ?? '';
  }
  get data(): string {
    return join(this.root, 'data');
  }

  async start(): Promise<TestServer> {
    const settings = { ...this.#settings, WB_LOG: 'silent' };
    this.server = await startServer({ folder: this.data, clock: systemClock, settings });
    return this.server;
  }
  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = null;
  }
  async end(): Promise<void> {
    await this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  async ok(method: string, path: string, body: unknown = {}): Promise<{ id: string }> {
    const answer = await this.server?.call<{ id: string }>(method, `/api${path}`, body);
    expect(answer?.status, `${path}: ${answer?.text}`).toBeLessThan(300);
    return answer?.json ?? { id: '' };
  }
  async make(id: string, ...verbs: string[]): Promise<void> {
    const row = { id, tenant: 'acme', name: `n-${id}`, labels: { kind: id }, policy: 'minimal' };
    await this.ok('POST', '/instances', row);
    await this.ok('PUT', `/instances/${id}/volumes/workspace/what`, id);
    for (const verb of verbs) await this.ok('POST', `/instances/${id}/${verb}`);
  }
  restore(...args: string[]): CommandResult {
    return this.restoreWith({}, ...args);
  }
  /** With other settings beside those of the store. */
  restoreWith(over: Record<string, string>, ...args: string[]): CommandResult {
    const { WB_COLD_URL: _, ...connection } = this.#settings;
    return run('restore', this.data, ['--from', this.url, ...args], { ...connection, ...over });
  }
  async states(): Promise<Record<string, string>> {
    const answer = await this.server?.call<{ id: string; state: string }[]>('GET', '/api/instances?limit=200');
    return Object.fromEntries((answer?.json ?? []).map(({ id, state }) => [id, state]));
  }
  async text(id: string): Promise<string | undefined> {
    return (await this.server?.call('GET', `/api/instances/${id}/volumes/workspace/what`))?.text;
  }
  /** The name in the store of the object that a sandbox was last filed as. */
  async objectOf(id: string): Promise<string> {
    const answer = await this.server?.call<Instance>('GET', `/api/instances/${id}`);
    return objectNameOf(answer?.json.stored?.address ?? '');
  }
}

/** A server with sandboxes in every state loses its machine; one command on an empty one brings what was stored. */
export async function wholeFromTheStore(stage: RowsStage): Promise<void> {
  const { host } = await stage.start();
  await stage.ok('POST', '/instances', { id: 'created', tenant: 'acme' });
  await stage.make('awake');
  await stage.make('suspended', 'suspend');
  await stage.make('frozen', 'suspend', 'freeze');
  await stage.make('packed', 'archive');
  await stage.make('newer', 'suspend', 'freeze');
  await stage.ok('PUT', '/instances/newer/volumes/workspace/what', 'written since');
  const { id: snapshot } = await stage.ok('POST', '/instances/frozen/snapshots', { tag: 'kept' });
  await stage.ok('POST', '/blueprints', { name: 'base', from_instance: 'suspended' });
  const [file = ''] = readdirSync(join(stage.data, 'snapshots')).filter((name) => name.endsWith('.sqlite'));
  await stage.ok('POST', '/blueprints?name=uploaded', readFileSync(join(stage.data, 'snapshots', file)));
  await expect.poll(() => host.registry.storeNames.copiesToStore(9, []), { timeout: 240_000 }).toEqual([]);
  await stage.stop();
  rmSync(stage.data, { recursive: true });

  const dry = stage.restore('--dry-run');
  expect([dry.status, dry.stderr], said(dry)).toEqual([0, '']);
  expect(dry.stdout).toMatch(
    /2 frozen, 1 archived; 1 snapshots, 2 blueprints[\s\S]*keys and secrets[\s\S]*Nothing was changed/,
  );
  expect(existsSync(stage.data) ? readdirSync(stage.data) : []).toEqual([]);
  const done = stage.restore('--verify');
  expect([done.status, done.stderr], said(done)).toEqual([0, '']);
  expect(done.stdout).toMatch(/Tenants: acme \(3\)[\s\S]*Start the server with WB_COLD_URL=/);

  await stage.start();
  expect(await stage.states()).toEqual({ frozen: 'frozen', packed: 'archived', newer: 'frozen' });
  expect([await stage.text('frozen'), await stage.text('packed'), await stage.text('newer')]).toEqual([
    'frozen',
    'packed',
    'newer',
  ]);
  expect((await stage.server?.call('GET', '/api/instances/packed'))?.json).toMatchObject({
    ...{ name: 'n-packed', labels: { kind: 'packed' }, policy: 'minimal', tenant: 'acme', fault: null },
  });
  await stage.ok('POST', '/instances/packed/resume');
  const ran = await stage.server?.call('POST', '/api/instances/frozen/exec', {
    command: 'echo more >> what; cat what',
  });
  expect(ran?.json).toMatchObject({ stdout: 'frozenmore\n' });
  for (const path of [`/snapshots/${snapshot}/restore`, '/blueprints/base/clone', '/blueprints/uploaded/clone']) {
    const [clone] = (await stage.ok('POST', path, { tenant: 'acme' })) as unknown as { id: string }[];
    expect([path, await stage.text(clone?.id ?? '')]).toEqual([path, path.includes('base') ? 'suspended' : 'frozen']);
  }
  expect((await stage.server?.call('GET', '/api/events/verify'))?.json).toMatchObject({ ok: true });

  // In a registry that is in use only what is not there is made.
  for (const verb of ['suspend', 'freeze']) await stage.ok('POST', `/instances/frozen/${verb}`);
  await stage.ok('POST', '/instances/newer/archive');
  await stage.ok('DELETE', '/instances/newer');
  await stage.stop();
  const again = stage.restore('--rows');
  expect([again.status, again.stderr], said(again)).toEqual([0, '']);
  expect(again.stdout).toMatch(
    /no sandboxes; 0 snapshots, 0 blueprints[\s\S]*left as they are: 6, of which 1 are deleted/,
  );
  await stage.start();
  expect(await stage.states()).toMatchObject({ frozen: 'frozen', packed: 'suspended' });
  expect(await stage.states()).not.toHaveProperty('newer');
  expect(await stage.text('frozen')).toBe('frozenmore\n');
}

/**
 * What the store lost or cut of the newest objects: the ones before them are taken, and what has none is named.
 * `objects`: the same store, as somebody else has it.
 */
export async function olderFromTheStore(stage: RowsStage, objects: ObjectStore): Promise<void> {
  await stage.start();
  for (const id of ['whole', 'lost', 'other', 'alone']) await stage.make(id, 'suspend', 'freeze');
  const [alone, before] = [await stage.objectOf('alone'), await stage.objectOf('lost')];
  for (const id of ['lost', 'other']) {
    await stage.ok('PUT', `/instances/${id}/volumes/workspace/what`, 'since');
    for (const verb of ['suspend', 'freeze']) await stage.ok('POST', `/instances/${id}/${verb}`);
  }
  const [lost, other] = [await stage.objectOf('lost'), await stage.objectOf('other')];
  expect(lost).not.toBe(before);
  await stage.stop();
  rmSync(stage.data, { recursive: true });
  for (const name of [lost, alone]) await objects.remove(name);
  // As many bytes, and others.
  const { bytes } = (await objects.head(other)) ?? { bytes: 0 };
  await objects.remove(other);
  await objects.put(other, Buffer.alloc(bytes, 7));
  const done = stage.restore('--verify');
  expect([done.status, said(done)]).toEqual([expect.any(Number), expect.stringContaining('3 frozen')]);
  for (const name of [lost, other, alone]) expect(said(done)).toContain(name);
  await stage.start();
  expect(await stage.states()).toEqual({ whole: 'frozen', lost: 'frozen', other: 'frozen' });
  expect([await stage.text('whole'), await stage.text('lost'), await stage.text('other')]).toEqual([
    'whole',
    'lost',
    'other',
  ]);
  await stage.ok('POST', '/instances/lost/resume');
}
