/**
 * For the tests of power cuts: what is asked of a server, and what its answers promised. Knows nothing of disks, or of
 * what becomes of the server.
 */
import { expect } from 'vitest';
import type { State } from '../lib/lifecycle/state-map.ts';
import type { Call, Got } from '../lib/testing/call.ts';
import { ABSENT, type Kept, only } from '../lib/testing/whole.ts';

/** Sandboxes of a burst. */
const BURST = 8;
const BIG = Buffer.alloc(3_000_001, 'a page is not the whole of it, ');

export type Book = Map<string, Kept>;

/** A thing besides sandboxes that was answered. */
export type Fact = (call: Call) => Promise<string | null>;

/** Does what is answered, and writes into its book what that answer promised. */
export class Life {
  readonly book: Book = new Map();
  readonly facts = new Map<string, Fact>();
  readonly call: Call;
  /** What was asked and not answered yet. */
  underWay: Promise<void>[] = [];

  constructor(call: Call) {
    this.call = call;
  }

  async ask(method: string, path: string, body?: unknown): Promise<Got> {
    const answer = await this.call(method, `/api${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  made(id: string, state: State, files: Kept['files'] = new Map()): void {
    this.book.set(id, { states: new Set([state]), files: new Map(files) });
  }

  is(id: string, state: State): void {
    this.book.set(id, { states: new Set([state]), files: this.of(id) });
  }

  of(id: string): Kept['files'] {
    return this.book.get(id)?.files ?? new Map();
  }

  async create(id: string): Promise<void> {
    await this.ask('POST', '/instances', { id, tenant: 'acme' });
    this.made(id, 'created');
  }

  async put(id: string, name: string, bytes: string | Buffer): Promise<void> {
    await this.ask('PUT', `/instances/${id}/volumes/${name}`, bytes);
    this.of(id).set(name, only(bytes));
    this.is(id, 'active');
  }

  async exec(id: string, command: string, writes: Record<string, string | null>): Promise<void> {
    const answer = await this.ask('POST', `/instances/${id}/exec`, { command });
    if (answer.json.exit_code !== (0 as unknown)) throw new Error(answer.text);
    for (const [name, text] of Object.entries(writes))
      this.of(id).set(name, text === null ? new Set([ABSENT]) : only(text));
    this.is(id, 'active');
  }

  async verb(id: string, verb: string, state: State): Promise<void> {
    await this.ask('POST', `/instances/${id}/${verb}`, {});
    this.is(id, state);
  }

  /** A sandbox with a file in two volumes, brought to a state. */
  async bring(id: string, to: 'active' | 'suspended' | 'frozen' | 'archived'): Promise<void> {
    await this.create(id);
    await this.put(id, 'workspace/kept', `the work of ${id}`);
    await this.put(id, 'memory/kept', `the memory of ${id}`);
    if (to === 'active') return;
    await this.ask('POST', `/instances/${id}/plan`, { to });
    this.is(id, to);
  }
}

/** Every kind of acknowledged write, each on a sandbox that is as it says. After each the power is cut. */
export const CUTS: Record<string, (life: Life) => Promise<void>> = {
  'a sandbox is created': (life) => life.create('made'),
  'the first write of a new sandbox is a file': async (life) => {
    await life.create('put');
    await life.put('put', 'workspace/first', 'the first');
  },
  'the first write of a new sandbox is a command': async (life) => {
    await life.create('ran');
    await life.exec('ran', 'printf one > first', { 'workspace/first': 'one' });
  },
  'the first write of a new sandbox is evaluated': async (life) => {
    await life.create('evaluated');
    const code = 'vfs.put("/first", "one")';
    const answer = await life.ask('POST', '/instances/evaluated/eval', { language: 'js', code });
    if (answer.json.ok !== (true as unknown)) throw new Error(answer.text);
    life.of('evaluated').set('workspace/first', only('one'));
    life.is('evaluated', 'active');
  },
  'the first write of a new sandbox is a folder': async (life) => {
    await life.create('folder');
    await life.ask('POST', '/instances/folder/folders/workspace', { path: '/new' });
    life.is('folder', 'active');
    life.facts.set('the folder', async (call) => {
      const { json } = await call<{ name: string }[]>('GET', '/api/instances/folder/folders/workspace?path=/');
      return json[0]?.name === 'new' ? null : JSON.stringify(json);
    });
  },
  'a new sandbox is resumed': async (life) => {
    await life.create('resumed');
    await life.verb('resumed', 'resume', 'active');
  },
  'a new sandbox is suspended after its first write': async (life) => {
    await life.create('suspended');
    await life.put('suspended', 'workspace/first', 'the first');
    await life.verb('suspended', 'suspend', 'suspended');
  },
  'a new sandbox is frozen by one plan': async (life) => life.bring('plan', 'frozen'),
  'a suspended one is written to': async (life) => {
    await life.bring('filed', 'suspended');
    await life.put('filed', 'workspace/second', 'the second');
  },
  'a large file is written': (life) => life.put('filed', 'workspace/big', BIG),
  'a command writes and removes': (life) =>
    life.exec('filed', 'printf two > second && printf x > gone && rm gone kept', {
      'workspace/second': 'two',
      'workspace/gone': null,
      'workspace/kept': null,
    }),
  'a file is moved': async (life) => {
    await life.ask('POST', '/instances/filed/volumes/workspace/move', { from: '/second', to: '/moved' });
    life
      .of('filed')
      .set('workspace/second', new Set([ABSENT]))
      .set('workspace/moved', only('two'));
  },
  'a file is deleted': async (life) => {
    await life.ask('DELETE', '/instances/filed/volumes/workspace/moved');
    life.of('filed').set('workspace/moved', new Set([ABSENT]));
  },
  'a suspended one is frozen': async (life) => {
    await life.verb('filed', 'suspend', 'suspended');
    await life.verb('filed', 'freeze', 'frozen');
  },
  'a frozen one is resumed': (life) => life.verb('filed', 'resume', 'active'),
  'a frozen one is written to': async (life) => {
    await life.bring('thawed', 'frozen');
    await life.put('thawed', 'workspace/kept', 'another work');
  },
  'a frozen one is brought home early': async (life) => {
    await life.bring('early', 'frozen');
    await life.ask('POST', '/instances/early/prefetch', {});
  },
  'a frozen one is archived': async (life) => {
    await life.bring('packed', 'frozen');
    await life.verb('packed', 'archive', 'archived');
  },
  'an archived one is revived': (life) => life.verb('packed', 'revive', 'active'),
  'an archived one is written to once it is revived': (life) => life.put('packed', 'workspace/kept', 'revived work'),
  'an active one is archived': (life) => life.verb('packed', 'archive', 'archived'),
  'a snapshot is taken of an active one': async (life) => {
    await life.bring('source', 'active');
    const { json } = await life.ask('POST', '/instances/source/snapshots', { tag: 'kept' });
    const id = String(json.id);
    life.facts.set('the snapshot', async (call) => {
      const { status } = await call('GET', `/api/snapshots/${id}`);
      return status === 200 ? null : `answers ${status}`;
    });
  },
  'a snapshot is restored': async (life) => {
    const { json } = await life.ask('GET', '/snapshots?source=source');
    const restored = await life.ask('POST', `/snapshots/${json[0]?.id}/restore`, {
      count: 2,
      tenant: 'acme',
      name: 'clone',
    });
    for (const one of restored.json as unknown as { id: string }[]) life.made(one.id, 'created', life.of('source'));
  },
  'the first write of a clone': async (life) => {
    const { json } = await life.ask('GET', '/instances?name=clone-1');
    await life.put(String(json[0]?.id), 'workspace/own', 'its own');
  },
  'a blueprint is made of a frozen one': async (life) => {
    await life.bring('model', 'frozen');
    await life.ask('POST', '/blueprints', { name: 'base', from_instance: 'model' });
    life.facts.set('the blueprint', async (call) => {
      const { status } = await call('GET', '/api/blueprints/base');
      return status === 200 ? null : `answers ${status}`;
    });
  },
  'a clone of a blueprint is written to': async (life) => {
    const { json } = await life.ask('POST', '/blueprints/base/clone', { tenant: 'acme' });
    const id = String(json[0]?.id);
    // A blueprint is a base of work: what its source remembers is not in it.
    const files = [...life.of('model')].filter(([name]) => name.startsWith('workspace/'));
    life.made(id, 'created', new Map(files));
    await life.put(id, 'workspace/own', 'its own');
  },
  'a bundle is shipped and imported': async (life) => {
    const bundle = await life.ask('POST', '/instances/source/ship', { include_private: true });
    const { json } = await life.ask('POST', '/instances/import?tenant=acme&id=imported', bundle.bytes);
    life.made('imported', String(json.state) as State, life.of('source'));
  },
  'an imported one is written to': (life) => life.put('imported', 'workspace/own', 'its own'),
  'settings are changed': async (life) => {
    await life.ask('PATCH', '/settings', { idle_to_suspend_s: 1234 });
    await life.ask('PATCH', '/instances/made', { labels: { a: 'b' }, keep_hot: true });
    life.facts.set('the settings', async (call) => {
      const { json } = await call<{ idle_to_suspend_s: number }>('GET', '/api/settings');
      return json.idle_to_suspend_s === 1234 ? null : JSON.stringify(json);
    });
    life.facts.set('the labels', async (call) => {
      const { json } = await call<{ labels: object; keep_hot: boolean }>('GET', '/api/instances/made');
      return json.keep_hot && JSON.stringify(json.labels) === '{"a":"b"}' ? null : JSON.stringify(json);
    });
  },
  'a key is made': async (life) => {
    const { json } = await life.ask('POST', '/keys', { name: 'kept', role: 'viewer' });
    const key = String(json.key);
    life.facts.set('the key', async (call) => {
      const { status } = await call('GET', '/api/me', undefined, { key });
      return status === 200 ? null : `answers ${status}`;
    });
  },
  'a job is done': async (life) => {
    for (const id of ['job-1', 'job-2']) await life.bring(id, 'suspended');
    const { json } = await life.ask('POST', '/jobs', { verb: 'freeze', ids: ['job-1', 'job-2'] });
    const job = String(json.id);
    await expect
      .poll(async () => (await life.ask('GET', `/jobs/${job}`)).json.state, { timeout: 240_000, interval: 20 })
      .toBe('done');
    for (const id of ['job-1', 'job-2']) life.is(id, 'frozen');
    life.facts.set('the job', async (call) => {
      const { json } = await call<{ done: number }>('GET', `/api/jobs/${job}`);
      return json.done === 2 ? null : JSON.stringify(json);
    });
  },
  'one is paused after its writes': async (life) => {
    await life.bring('paused', 'active');
    await life.ask('PATCH', '/instances/paused', { hot_to_warm_s: 1 });
    await expect
      .poll(async () => (await life.ask('GET', '/instances/paused')).json.thermal, { timeout: 240_000, interval: 50 })
      .toBe('warm');
  },
  'a paused one is written to': (life) => life.put('paused', 'workspace/kept', 'written after the pause'),
  'a burst of commands to frozen ones is under way': async (life) => {
    const ids = Array.from({ length: BURST }, (_, n) => `burst-${n}`);
    for (const id of ids) await life.bring(id, 'frozen');
    life.underWay = ids.map((id) => life.exec(id, 'printf came > came', { 'workspace/came': 'came' }));
    // What is not answered may have happened or not.
    for (const id of ids) {
      const files = new Map(life.of(id)).set('workspace/came', new Set([ABSENT, ...only('came')]));
      life.book.set(id, { states: new Set(['frozen', 'suspended', 'active']), files });
    }
    await Promise.race(life.underWay);
  },
  'the burst is answered': async (life) => {
    await Promise.all(life.underWay);
  },
  'an archived one is deleted': async (life) => {
    await life.bring('deleted', 'archived');
    await life.ask('DELETE', '/instances/deleted', {});
    life.is('deleted', 'deleted');
  },
};
