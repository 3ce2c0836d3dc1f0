/**
 * Every operation that changes a disk or the registry, applicable to any number of sandboxes: its preparation, the
 * operation, and the allowed states after an interruption. Knows nothing of faults.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { State } from '../../lifecycle/state-map.ts';
import type { UploadStream } from '../../operations/streams.ts';
import { PREFETCH_SECONDS } from '../../sandboxes/files/prefetch.ts';
import type { PlainHost } from '../plain-ids.ts';
import { CALLER, openHost, type Stage, textIn } from './stage.ts';

export interface Scenario {
  name: string;
  /** Prepares a sandbox with the kept files for the operation, and returns its id. */
  prepare(stage: Stage): Promise<string>;
  act(stage: Stage, id: string): Promise<unknown>;
  /**
   * Allowed states of the sandbox after the operation was interrupted or refused, the target state last; null: there
   * may be no sandbox.
   */
  ends: readonly (State | null)[];
  /** Whether the operation can be repeated after a success. Default: yes. */
  again?: boolean;
  /** Set when no engine runs on the folder: makes the folder as a server left it. */
  folder?: (stage: Stage, id: string) => Promise<string>;
  /** What somebody does on a folder that an interruption left, before a server starts. */
  mend?(stage: Stage): Promise<void>;
  /** Set when there is no registry yet that another host could use. */
  isFirst?: boolean;
  /** What is wrong with what only this operation leaves, however it ended. */
  check?(host: PlainHost, id: string): Promise<string[]>;
  /** Whether it keeps the old file in `orphans/`. */
  keepsAside?: boolean;
}

/** A counter that writes what it has come to. */
const COUNTER = Buffer.from(`* count :component:
#+begin_src js :uses vfs :persist
let n = 0;
export default () => { n += 1; vfs.put('/n', String(n)); return n; };
export const state = { get: () => n, set: (value) => { n = value; } };
#+end_src
`);

const { operations } = { operations: (stage: Stage) => stage.host.operations };

/** A sandbox made from the snapshot of the stage and moved to a state. */
const at = (state: State) => (stage: Stage) => stage.sandbox(state);

function uploadOf(bytes: Buffer): UploadStream {
  return {
    length: bytes.byteLength,
    type: 'application/octet-stream',
    bytes: async () => bytes,
    async saveTo(path) {
      writeFileSync(path, bytes, { mode: 0o600 });
      return bytes.byteLength;
    },
  };
}

/** Waits for a job to end. Throws what failed of it. */
export async function jobDone(host: PlainHost, started: { dryRun: unknown } | { id: string }): Promise<void> {
  if (!('id' in started)) return;
  for (;;) {
    const { state } = await host.operations.getJob(CALLER, started.id);
    if (state !== 'running') break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // The job reports its failures in its results.
  const { items } = await host.operations.jobResults(CALLER, started.id, { limit: 10 });
  const failed = items.find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) throw new WinterdockError('conflict', failed.reason ?? 'it failed');
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'create',
    prepare: async (stage) => stage.newId(),
    act: (stage, id) => operations(stage).createInstance(CALLER, { id, tenant: 'acme' } as never),
    ends: [null, 'created'],
    again: false,
  },
  {
    name: 'the first resume of a new sandbox',
    prepare: (stage) => stage.fresh(),
    act: (stage, id) => operations(stage).resume(CALLER, id, {}),
    ends: ['created', 'suspended', 'active'],
  },
  ...(
    [
      ['created', ['created', 'suspended', 'active']],
      ['suspended', ['suspended', 'active']],
      ['frozen', ['frozen', 'suspended', 'active']],
      ['archived', ['archived', 'suspended', 'active']],
    ] as const
  ).map(
    ([from, ends]): Scenario => ({
      name: `resume of what is ${from}`,
      prepare: at(from),
      act: (stage, id) =>
        from === 'archived' ? operations(stage).revive(CALLER, id, {}) : operations(stage).resume(CALLER, id, {}),
      ends,
    }),
  ),
  ...(['frozen', 'archived'] as const).map(
    (from): Scenario => ({
      name: `prefetch of what is ${from}, and its way back`,
      prepare: at(from),
      async act(stage, id) {
        await operations(stage).prefetch(CALLER, id);
        stage.clock.advance(PREFETCH_SECONDS);
        await stage.host.sandboxes.tick();
      },
      ends: [from],
    }),
  ),
  {
    name: 'suspend',
    prepare: at('active'),
    act: (stage, id) => operations(stage).suspend(CALLER, id, {}),
    ends: ['active', 'suspended'],
  },
  {
    name: 'freeze',
    prepare: at('suspended'),
    act: (stage, id) => operations(stage).freeze(CALLER, id, {}),
    ends: ['suspended', 'frozen'],
  },
  ...(['active', 'frozen'] as const).map(
    (from): Scenario => ({
      name: `archive of what is ${from}`,
      prepare: at(from),
      // The verb's own filing. When it fails from a state without a direct hop, an active sandbox is suspended.
      act: (stage, id) => operations(stage).runPlan(CALLER, id, { to: 'archived' } as never),
      ends: [from, 'suspended', 'archived'],
    }),
  ),
  {
    name: 'delete',
    prepare: at('archived'),
    act: (stage, id) => operations(stage).deleteInstance(CALLER, id),
    ends: ['archived', 'deleted'],
    again: false,
  },
  ...(
    [
      ['created', 'suspended', ['created', 'suspended']],
      ['created', 'archived', ['created', 'archived']],
      ['suspended', 'archived', ['suspended', 'archived']],
      ['archived', 'suspended', ['archived', 'suspended']],
      ['frozen', 'deleted', ['frozen', 'archived', 'deleted']],
      ['created', 'deleted', ['created', 'deleted']],
    ] as const
  ).map(
    ([from, to, ends]): Scenario => ({
      name: `the plan from ${from} to ${to}`,
      prepare: at(from),
      act: (stage, id) => operations(stage).runPlan(CALLER, id, { to } as never),
      ends,
      again: to !== 'deleted',
    }),
  ),
  ...(['suspended', 'archived', 'active'] as const).map(
    (from): Scenario => ({
      name: `a snapshot of what is ${from}`,
      prepare: async (stage) => {
        const id = await stage.sandbox(from);
        if (from === 'active') await stage.put(id, '/own', id);
        return id;
      },
      async act(stage, id) {
        if (from === 'active') await operations(stage).resume(CALLER, id, {});
        return operations(stage).takeSnapshot(CALLER, id, { tag: id });
      },
      ends: [...(from === 'active' ? (['suspended'] as const) : []), from],
    }),
  ),
  {
    name: 'the restore of a snapshot as new sandboxes',
    prepare: at('suspended'),
    act: (stage) => operations(stage).restoreSnapshot(CALLER, stage.snapshot, { count: 2 } as never),
    ends: ['suspended'],
  },
  {
    name: 'the restore of a snapshot in place',
    prepare: at('frozen'),
    act: (stage, id) => stage.host.sandboxes.restore(id, stage.snapshotContent, stage.cause),
    ends: ['frozen'],
    keepsAside: true,
  },
  {
    name: 'the deletion of a snapshot',
    async prepare(stage) {
      const id = await stage.sandbox('active');
      await stage.put(id, '/own', id);
      const { id: snapshot } = await operations(stage).takeSnapshot(CALLER, id, { tag: 'to go' });
      stage.notes.set(id, snapshot);
      await operations(stage).suspend(CALLER, id, {});
      return id;
    },
    act: (stage, id) => operations(stage).deleteSnapshot(CALLER, stage.notes.get(id) ?? ''),
    ends: ['suspended'],
    again: false,
  },
  {
    name: 'a blueprint of a sandbox, a clone of it and its deletion',
    prepare: at('suspended'),
    async act(stage, id) {
      try {
        await operations(stage).createBlueprint(CALLER, { name: id, from_instance: id } as never);
      } catch (error) {
        // After a repetition it may exist: the clone failed before.
        if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
      }
      await operations(stage).cloneBlueprint(CALLER, id, { tenant: 'acme', count: 1 } as never);
      await operations(stage).deleteBlueprint(CALLER, id);
    },
    ends: ['suspended'],
    again: false,
  },
  {
    name: 'the upload of a blueprint',
    prepare: at('suspended'),
    act: (stage, id) =>
      operations(stage).uploadBlueprint(
        CALLER,
        { name: id },
        uploadOf(readFileSync(join(stage.folder, `snapshots/${stage.snapshotContent.hash}.sqlite`))),
      ),
    ends: ['suspended'],
    again: false,
  },
  {
    name: 'ship',
    prepare: at('suspended'),
    async act(stage, id) {
      const { outgoing } = await operations(stage).ship(CALLER, id, { include_private: false } as never);
      await buffer(outgoing.stream);
    },
    ends: ['suspended'],
  },
  {
    name: 'import',
    prepare: async (stage) => stage.newId(),
    act: (stage, id) => operations(stage).importBundle(CALLER, { tenant: 'acme', id } as never, uploadOf(stage.bundle)),
    ends: [null, 'created'],
    again: false,
  },
  {
    name: 'a job',
    prepare: at('suspended'),
    async act(stage, id) {
      const { host } = stage;
      const started = await host.operations.startJob(CALLER, { verb: 'freeze', ids: [id], dry_run: false } as never);
      await jobDone(host, started);
    },
    ends: ['suspended', 'frozen'],
  },
  {
    name: 'the sealing of a month of the ledger',
    prepare: at('suspended'),
    async act(stage) {
      stage.clock.advance(40 * 86_400);
      await stage.host.ledger.tick();
    },
    ends: ['suspended'],
  },
  {
    name: 'a start after a kill, a wake and a stop',
    prepare: at('active'),
    // The folder that a SIGKILL leaves while the stage's sandbox is awake.
    folder: async (stage, id) => {
      await stage.put(id, '/own', id);
      return stage.copied();
    },
    async act(stage, id) {
      const host = await openHost(stage.folder, stage.clock, stage.among, stage.stores);
      try {
        await host.operations.resume(CALLER, id, {});
      } finally {
        await host.stop();
      }
    },
    ends: ['active', 'suspended'],
  },
  {
    name: 'a first start, with its keys',
    isFirst: true,
    prepare: async (stage) => stage.newId(),
    folder: (stage) => stage.emptied(),
    async act(stage) {
      await (await openHost(stage.folder, stage.clock, stage.among, stage.stores)).stop();
    },
    ends: [null],
  },
  {
    name: 'a call of a component that keeps its state',
    async prepare(stage) {
      const id = await stage.sandbox('suspended');
      const headers = { ifMatch: null, ifNoneMatch: null };
      await operations(stage).putWorkbook(CALLER, 'counter', { tenant: 'acme' } as never, uploadOf(COUNTER), headers);
      await operations(stage).patchInstance(CALLER, id, { workbook: 'counter' } as never);
      return id;
    },
    async act(stage, id) {
      const { error } = await operations(stage).callComponent(CALLER, id, 'count', {});
      if (error !== undefined) throw new WinterdockError('conflict', error.message);
    },
    ends: ['suspended', 'active'],
    /** The file that a call writes and the state that it keeps are of the same call. */
    async check(host, id) {
      const file = await textIn(host, id, 'workspace', '/n');
      const state = (await textIn(host, id, 'memory', '/.workbook/main/count.state'))?.split('\n')[1] ?? null;
      return file === state ? [] : [`its file says ${file} and its state ${state}`];
    },
  },
  {
    name: 'a setting',
    prepare: at('suspended'),
    act: (stage, id) => operations(stage).patchInstance(CALLER, id, { name: `called-${id}` } as never),
    ends: ['suspended'],
  },
];
