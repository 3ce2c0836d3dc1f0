/** An engine with an object store in a folder below its drawers, for each test of a file. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { objectNameOf } from '../../../base/cloud-address.ts';
import type { InstanceRow } from '../../../registry/types.ts';
import type { ObjectStore } from '../../../storage/object-store/object-store.ts';
import { filesIn } from '../../../testing/files-in.ts';
import { REQUEST, startTestEngine, type TestEngine, type TestEngineOptions } from '../../testing/test-engine.ts';
import type { StoreBelowOptions } from '../store-below.ts';
import { folderStore } from './folder-store.ts';

export interface StoreStage {
  readonly folder: string;
  /** Where the objects are. */
  readonly bucket: string;
  readonly dock: TestEngine;
  readonly objects: ObjectStore;
  /** Starts an engine on the folder, after stopping the one before. `over`: what the engine sees of the store. */
  start(
    store?: Partial<StoreBelowOptions>,
    options?: Omit<TestEngineOptions, 'dataFolder' | 'store'>,
  ): Promise<TestEngine>;
  /** A sandbox with a file in two volumes, `of <id>` if no other text is given, frozen; archived too if so asked. */
  rest(id: string, to?: 'frozen' | 'archived', text?: string): Promise<void>;
  rowOf(id: string): Promise<InstanceRow>;
  /** The states of its names in the store, in order. */
  statesOf(id: string): Promise<string[]>;
  /** The types of its ledger lines, oldest first. */
  typesOf(id: string): Promise<string[]>;
  /** The store, counting what is brought from it and how often it is listed. */
  counting(): { objects: ObjectStore; downloads: string[]; lists: number };
  /** Names in the store, in order. */
  names(): string[];
  /** The path of the object that a row names. */
  objectOf(row: Pick<InstanceRow, 'stored'>): string;
  /** The path of the cached copy, or of the only one, in its drawer. */
  copyOf(id: string, kind?: 'cold' | 'archive'): string;
  has(id: string, kind?: 'cold' | 'archive'): boolean;
  /** Takes the store away, as a disk that is unplugged, and brings it back. */
  away(isAway: boolean): void;
}

/** Waits until `holds`; only for what happens by itself. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error('It has not come to that.');
    },
    { timeout: 240_000, interval: 20 },
  );
}

/** Creates a stage before each test of the calling file, and removes it after. */
export function storeStage(): StoreStage {
  let folder = '';
  let dock: TestEngine | null = null;
  let objects: ObjectStore;
  const bucket = () => join(folder, 'bucket');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-store-'));
    objects = await folderStore(bucket());
  });
  afterEach(async () => {
    await dock?.stop();
    dock = null;
    await objects.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const current = () => {
    if (dock === null) throw new Error('No engine runs.');
    return dock;
  };
  const copyOf = (id: string, kind: 'cold' | 'archive' = 'cold') =>
    join(folder, 'data', kind, `${id}.sqlite${kind === 'archive' ? '.zst' : ''}`);
  return {
    get folder() {
      return join(folder, 'data');
    },
    get bucket() {
      return bucket();
    },
    get dock() {
      return current();
    },
    get objects() {
      return objects;
    },
    async start(store = {}, options = {}) {
      await dock?.stop();
      dock = await startTestEngine({ ...options, dataFolder: join(folder, 'data'), store: { objects, ...store } });
      dock.sandboxes.start();
      return dock;
    },
    async rest(id, to = 'frozen', text = `of ${id}`) {
      const { sandboxes, create, put } = current();
      await create(id);
      await put(id, '/kept', text);
      await put(id, '/kept', text, 'memory');
      await sandboxes.suspend(id, REQUEST);
      await sandboxes.freeze(id, REQUEST);
      if (to === 'archived') await sandboxes.archive(id, REQUEST);
    },
    statesOf: async (id) => (await current().registry.storeNames.ofInstance(id)).map(({ state }) => state).sort(),
    async typesOf(id) {
      const { rows } = await current().registry.ledger.page({ instance: id }, 500);
      return rows.map(({ type }) => type).reverse();
    },
    counting() {
      const counted = { objects, downloads: [] as string[], lists: 0 };
      counted.objects = {
        ...objects,
        download: (name, ...rest) => {
          counted.downloads.push(name);
          return objects.download(name, ...rest);
        },
        list: (...args) => {
          counted.lists += 1;
          return objects.list(...args);
        },
      };
      return counted;
    },
    async rowOf(id) {
      const row = await current().registry.instances.get(id);
      if (row === null) throw new Error(`There is no row of ${id}.`);
      return row as InstanceRow;
    },
    names: () =>
      existsSync(bucket())
        ? filesIn(bucket())
            .filter((path) => !path.startsWith('.'))
            .sort()
        : [],
    objectOf: ({ stored }) => join(bucket(), objectNameOf(stored?.address ?? '')),
    copyOf,
    has: (id, kind) => existsSync(copyOf(id, kind)),
    away(isAway) {
      const elsewhere = join(folder, 'unplugged');
      if (isAway) renameSync(bucket(), elsewhere);
      else renameSync(elsewhere, bucket());
    },
  };
}
