/**
 * What a replica does: shipping, spooling, merging, ageing, forgetting and restoring, as operations under faults. Every
 * answer waits for the store here, so what was answered is in a restore.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openReplica } from '../../backup/replica-backup.ts';
import { restoreAll } from '../../backup/restore.ts';
import { unfinishedRestore } from '../../backup/unfinished-restore.ts';
import { observeEffects } from '../../base/effects.ts';
import { createDrawers } from '../../host/drawers.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { registryDriver } from '../../registry/drivers.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { filesIn } from '../files-in.ts';
import { NUMBER, settled } from './replica-findings.ts';
import { jobDone, type Scenario } from './scenarios.ts';
import { CALLER, openHost, REPLICA_FOLDER, type Stage, stageConfig } from './stage.ts';

/** More pages than a log may have before it is checkpointed. */
const LONG = 'x'.repeat(5_000_000);
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/** What the file of a sandbox may have in a restore, by what was answered. */
export const mayHave = (stage: Pick<Stage, 'notes'>, id: string): (string | null)[] =>
  JSON.parse(stage.notes.get(`${id} may have`) ?? '[]');

export const nowMayHave = (stage: Pick<Stage, 'notes'>, id: string, texts: readonly (string | null)[]): void =>
  void stage.notes.set(`${id} may have`, JSON.stringify(texts));

/** Does what changes the file of a sandbox to `text`, which a restore has once that was answered. */
async function changing(stage: Stage, id: string, text: string, change: () => Promise<unknown>): Promise<void> {
  nowMayHave(stage, id, [...mayHave(stage, id), text]);
  await change();
  nowMayHave(stage, id, [text]);
}

/** In the engine of this stage, which may be that of a copy. */
const put = ({ host, cause }: Stage, id: string, path: string, text: string) =>
  host.sandboxes.write(id, { op: 'put', volume: 'workspace', path: vfsPath(path), content: Buffer.from(text) }, cause);

const write = (stage: Stage, id: string, text: string) => changing(stage, id, text, () => put(stage, id, NUMBER, text));

const suspend = (stage: Stage, id: string) => stage.host.operations.suspend(CALLER, id, {});

/** A sandbox in a state whose number is 1, and of which the replica has everything. */
const at = (state: State) => async (stage: Stage) => {
  const id = await stage.sandbox('active');
  await write(stage, id, '1');
  if (state !== 'active') await suspend(stage, id);
  if (state === 'frozen' || state === 'archived') await stage.host.sandboxes.freeze(id, stage.cause);
  if (state === 'archived') await stage.host.sandboxes.archive(id, stage.cause);
  await settled(stage.host);
  return id;
};

/** A sandbox at rest that was 1, and is 2; its notes have the second in which it was 1. */
async function changed(stage: Stage): Promise<string> {
  const id = await at('suspended')(stage);
  stage.notes.set(`${id} was 1`, String(Math.floor(stage.clock.now() / 1000)));
  stage.clock.advance(5);
  await write(stage, id, '2');
  await suspend(stage, id);
  await settled(stage.host);
  return id;
}

const secondOf = (stage: Stage, id: string) => Number(stage.notes.get(`${id} was 1`));

async function merged(stage: Stage, afterSeconds: number): Promise<void> {
  stage.clock.advance(afterSeconds);
  stage.host.replica?.levels.look();
  await stage.host.replica?.levels.whenMerged();
}

/** A copy of the data folder as a kill leaves it while a segment is on its way to the store. */
async function spooled(stage: Stage, id: string): Promise<string> {
  let copy: Promise<string> | null = null;
  observeEffects({
    before({ kind, path }) {
      if (kind === 'write' && path.includes(`/${REPLICA_FOLDER}/.staging/`)) copy ??= stage.copied();
    },
  });
  try {
    await put(stage, id, NUMBER, '2');
  } finally {
    observeEffects(null);
  }
  if (copy === null) throw new Error('Nothing was sent.');
  nowMayHave(stage, id, ['1', '2']);
  return copy;
}

/** A folder with nothing but a replica. */
async function lost(stage: Stage): Promise<string> {
  const folder = await stage.emptied();
  execFileSync('cp', ['-a', join(stage.folder, REPLICA_FOLDER), folder]);
  return folder;
}

async function restoreEverything({ folder, among, stores, clock }: Stage): Promise<void> {
  const config = stageConfig(folder, among, stores);
  const { replica } = config.store;
  if (replica === null) throw new Error('There is no replica.');
  const store = await openObjectStore(replica.url, config.store.connection);
  const tmpFolder = join(folder, 'restoring');
  rmSync(tmpFolder, { recursive: true, force: true });
  try {
    const backup = await openReplica({ store, tmpFolder, atMs: null, only: null });
    try {
      const driver = registryDriver(config.registry);
      const from = pathToFileURL(join(folder, REPLICA_FOLDER)).href;
      await restoreAll({
        ...{ config, driver, drawers: createDrawers(config), backup, from, clock },
        ...{ force: true, passphrase: null },
      });
    } finally {
      await backup.close();
    }
  } finally {
    await store.close();
  }
}

/** What somebody does who finds that a restore was broken off. */
async function restoreAgain(stage: Stage): Promise<void> {
  const isThere = existsSync(join(stage.folder, 'registry.sqlite'));
  if (!isThere || unfinishedRestore(stage.folder) !== null) await restoreEverything(stage);
}

export const REPLICA_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a write of one that is awake, shipped',
    prepare: at('active'),
    async act(stage, id) {
      await write(stage, id, '2');
      await settled(stage.host);
    },
    ends: ['suspended', 'active'],
  },
  {
    name: 'a wake that goes on where the replica ends',
    prepare: at('suspended'),
    async act(stage, id) {
      await write(stage, id, '2');
      await settled(stage.host);
    },
    ends: ['suspended', 'active'],
  },
  {
    name: 'the first wake of a clone, shipped from its base',
    async prepare(stage) {
      const id = await stage.sandbox('created');
      nowMayHave(stage, id, [null]);
      await settled(stage.host);
      return id;
    },
    async act(stage, id) {
      await changing(stage, id, '2', async () => {
        await stage.host.operations.resume(CALLER, id, {});
        await put(stage, id, NUMBER, '2');
      });
      await settled(stage.host);
    },
    ends: ['created', 'suspended', 'active'],
  },
  {
    name: 'a suspension, shipped to the end of its log',
    prepare: at('active'),
    async act(stage, id) {
      await write(stage, id, '2');
      await suspend(stage, id);
      await settled(stage.host);
    },
    ends: ['active', 'suspended'],
  },
  {
    name: 'a long log that is confirmed and written over',
    prepare: at('active'),
    async act(stage, id) {
      await put(stage, id, '/long', LONG);
      await write(stage, id, '2');
      await settled(stage.host);
    },
    ends: ['suspended', 'active'],
  },
  {
    name: 'a freeze of what is awake, and its row',
    prepare: at('active'),
    async act(stage, id) {
      await stage.host.operations.runPlan(CALLER, id, { to: 'frozen' } as never);
      await settled(stage.host);
    },
    ends: ['active', 'suspended', 'frozen'],
  },
  {
    name: 'a snapshot put in the place of a file, shipped as it rests',
    prepare: at('frozen'),
    async act(stage, id) {
      nowMayHave(stage, id, []);
      await stage.host.sandboxes.restore(id, stage.snapshotContent, stage.cause);
      await settled(stage.host);
    },
    ends: ['frozen'],
    keepsAside: true,
  },
  {
    name: 'a snapshot, whose file is shipped',
    async prepare(stage) {
      const id = await at('suspended')(stage);
      await write(stage, id, id);
      await suspend(stage, id);
      await settled(stage.host);
      return id;
    },
    async act(stage, id) {
      const { id: snapshot } = await stage.host.operations.takeSnapshot(CALLER, id, { tag: id });
      const row = await stage.host.registry.copies.snapshot(snapshot);
      const name = `${REPLICA_FOLDER}/replica/_copies/snapshot/${row?.hash}`;
      while (!existsSync(join(stage.folder, name))) await pause(10);
      await settled(stage.host);
    },
    ends: ['suspended'],
  },
  {
    name: 'the segments of a minute, merged',
    async prepare(stage) {
      const id = await at('active')(stage);
      for (const text of ['2', '3']) await write(stage, id, text);
      await suspend(stage, id);
      await settled(stage.host);
      return id;
    },
    act: (stage) => merged(stage, MINUTE_SECONDS + 10),
    ends: ['suspended'],
  },
  {
    name: 'the minutes of an hour, merged',
    async prepare(stage) {
      const id = await at('active')(stage);
      for (const text of ['2', '3']) {
        await merged(stage, MINUTE_SECONDS + 10);
        await write(stage, id, text);
      }
      await suspend(stage, id);
      await settled(stage.host);
      return id;
    },
    act: (stage) => merged(stage, HOUR_SECONDS),
    ends: ['suspended'],
  },
  {
    name: 'a round of what grows coarser with age',
    async prepare(stage) {
      const id = await at('active')(stage);
      for (const text of ['2', '3']) await write(stage, id, text);
      await suspend(stage, id);
      await settled(stage.host);
      await merged(stage, MINUTE_SECONDS + 10);
      return id;
    },
    async act(stage) {
      stage.clock.advance(3 * DAY_SECONDS);
      await stage.host.replica?.retention.run();
    },
    ends: ['suspended'],
  },
  {
    name: 'a deletion, with its row',
    prepare: at('archived'),
    async act(stage, id) {
      nowMayHave(stage, id, []);
      await stage.host.operations.deleteInstance(CALLER, id);
      await settled(stage.host);
    },
    ends: ['archived', 'deleted'],
    again: false,
  },
  {
    name: 'the forgetting of a tenant in the replica',
    async prepare(stage) {
      const id = stage.newId();
      await stage.host.operations.createInstance(CALLER, { id, tenant: `of-${id}` } as never);
      await put(stage, id, NUMBER, '1');
      await suspend(stage, id);
      await settled(stage.host);
      return id;
    },
    async act(stage, id) {
      const { operations } = stage.host;
      const { started } = (await operations.forgetTenant(CALLER, `of-${id}`, { confirm: `of-${id}` } as never)) as {
        started?: { id: string };
      };
      if (started !== undefined) await jobDone(stage.host, started);
      await settled(stage.host);
    },
    ends: ['suspended', 'deleted'],
    again: false,
    async check(host, id) {
      const row = await host.registry.instances.get(id);
      if (row !== null && row.tenant === `of-${id}`) return [];
      const left = filesIn(host.config.dataFolder).filter((path) => path.split('/').includes(id));
      return left.map((path) => `${path} was left of a forgotten tenant`);
    },
  },
  {
    name: 'a moment put in the place of a file',
    prepare: changed,
    async act(stage, id) {
      const time = secondOf(stage, id);
      await changing(stage, id, '1', () => stage.host.operations.restoreInstance(CALLER, id, { time } as never));
      await settled(stage.host);
    },
    ends: ['suspended'],
    keepsAside: true,
  },
  {
    name: 'a new sandbox of a moment',
    prepare: changed,
    async act(stage, id) {
      await stage.host.operations.instanceFromMoment(CALLER, id, { time: secondOf(stage, id) } as never);
      await settled(stage.host);
    },
    ends: ['suspended'],
  },
  {
    name: 'a start with a spool, a wake and a stop',
    prepare: at('active'),
    folder: spooled,
    async act(stage, id) {
      const host = await openHost(stage.folder, stage.clock, stage.among, stage.stores);
      try {
        await settled(host);
        await changing(stage, id, '2', () => host.operations.resume(CALLER, id, {}));
      } finally {
        await host.stop();
      }
    },
    ends: ['active', 'suspended'],
  },
  {
    name: 'a restore of everything to a folder that was lost',
    prepare: at('active'),
    folder: lost,
    act: restoreEverything,
    mend: restoreAgain,
    // Where the replica was made it was awake.
    ends: ['active', 'suspended'],
  },
  {
    name: 'a restore of everything over what is there',
    prepare: at('frozen'),
    folder: (stage) => stage.copied(),
    act: restoreEverything,
    mend: restoreAgain,
    ends: ['frozen'],
  },
];
