/** An engine for each test of a file, in a temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { startTestEngine, type TestEngine, type TestEngineOptions } from './test-engine.ts';

export interface Stage {
  readonly folder: string;
  readonly dock: TestEngine;
  /** Stops the engine and starts another on the same folder. */
  restart(options?: Omit<TestEngineOptions, 'dataFolder'>): Promise<TestEngine>;
  stateOf(id: string): Promise<string | undefined>;
  /** As the API shows it. */
  thermalOf(id: string): Promise<string | undefined>;
  /** `from to trigger` of every hop of a sandbox, oldest first. */
  transitionsOf(id: string): Promise<string[]>;
  /** The path of a sandbox in the cold drawer. */
  cold(id: string): string;
}

/** Creates a stage before each test of the calling file, and removes it after. */
export function stage(): Stage {
  let folder = '';
  let dock: TestEngine;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-sandboxes-'));
    dock = await startTestEngine({ dataFolder: folder });
  });
  afterEach(async () => {
    await dock.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    get folder() {
      return folder;
    },
    get dock() {
      return dock;
    },
    async restart(options = {}) {
      await dock.stop();
      dock = await startTestEngine({ ...options, dataFolder: folder });
      return dock;
    },
    stateOf: async (id) => (await dock.registry.instances.get(id))?.state,
    async thermalOf(id) {
      const row = await dock.registry.instances.get(id);
      return row === null ? undefined : dock.sandboxes.live(row).thermal;
    },
    transitionsOf: async (id) =>
      (await dock.registry.ledger.page({ instance: id, type: 'transition' }, 500)).rows
        .reverse()
        .map((entry) => `${entry.from} ${entry.to} ${entry.trigger}`),
    cold: (id) => join(folder, 'cold', `${id}.sqlite`),
  };
}
