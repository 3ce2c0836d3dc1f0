/** The thread of moments: finds, lists and makes those that a replica has. Its store is opened once. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/call-thread.ts';
import type { PromptStore } from '../../storage/object-store/prompt-store.ts';
import { seriesName } from '../names/replica-names.ts';
import { TenantBundles } from '../segment-bundles/bundle-reader.ts';
import { makeMoment } from './make-moment.ts';
import { type ListedMoment, listMoments } from './moment-list.ts';
import type { LocatedMoment, MadeMoment, MomentCall, ReplicaAddress } from './moment-source.ts';
import { noMomentUpTo } from './oldest-moment.ts';
import { openToRead } from './open-to-read.ts';
import { rememberingHeads } from './remembered-heads.ts';
import { findMoment } from './replica-reader.ts';
import { lookAtSegment } from './segment-look.ts';

const address = workerData as ReplicaAddress;
let opening: Promise<PromptStore> | null = null;

/** A store that could not be opened is tried again by the next task. */
function openStore(): Promise<PromptStore> {
  opening ??= openToRead(address).then(
    ({ prompt }) => rememberingHeads(prompt),
    (error: unknown) => {
      opening = null;
      throw error;
    },
  );
  return opening;
}

answerCalls<MomentCall>(async (task, signal) => {
  const store = await openStore();
  const bundles = new TenantBundles(store, task.tenant, { signal });
  switch (task.kind) {
    case 'list':
      return list(store, bundles, task);
    case 'find':
      return find(store, bundles, task);
    case 'make':
      return make(store, bundles, task, signal);
  }
}, 'A moment was not opened for an unexpected reason.');

async function list(
  store: PromptStore,
  bundles: TenantBundles,
  { id, aroundMs, limit }: MomentCall & { kind: 'list' },
): Promise<ListedMoment[]> {
  const moments = await listMoments(store, id, bundles, { aroundMs, limit });
  if (moments.length === 0 && aroundMs !== null) throw await noMomentUpTo(store, id, aroundMs);
  return moments;
}

async function find(
  store: PromptStore,
  bundles: TenantBundles,
  { id, atMs }: MomentCall & { kind: 'find' },
): Promise<LocatedMoment> {
  const found = await findMoment(store, id, atMs, bundles);
  const last = found?.chain.at(-1);
  if (found === null || last === undefined) throw await noMomentUpTo(store, id, atMs);
  const { header } = await lookAtSegment(store, last);
  const bytes = header.commit * header.pageSize;
  return { found, key: `${seriesName(found.series)}-${last.max}`, bytes };
}

async function make(
  store: PromptStore,
  bundles: TenantBundles,
  { id, atMs, found, target }: MomentCall & { kind: 'make' },
  signal: AbortSignal,
): Promise<MadeMoment> {
  const to = { target, whose: `"${id}"`, hint: 'Name an earlier moment.', durable: false, signal };
  const { rebuilt, moment } = await makeMoment(store, { id, atMs, bundles }, found, to);
  return { timeMs: moment.timeMs, bytes: rebuilt.bytes };
}
