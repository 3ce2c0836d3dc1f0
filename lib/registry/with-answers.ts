/**
 * The registry, whose answers may not come: each write that it makes certain carries a random id, stored with the row
 * or in a table of its own, in the same transaction. After a lost answer it asks whether *this* write happened, not
 * another with the same outcome, and does it again only when it did not. Additions are added once, however often their
 * answers are lost. Other writes, and reads, pass.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isWinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceStore } from './instances.ts';
import { isAnswerLost } from './lost-answer.ts';
import { newToken } from './owner.ts';
import type { Registry } from './registry.ts';
import type { InstanceRow } from './types.ts';

/** Pauses between attempts, in milliseconds: a registry that is being restarted is back within them. */
const PAUSES_MS = [50, 200, 1000, 3000];
/** Additions whose answers never came: they are added before the next one. */
const MOST_OWED = 100;

/** The registry with certain writes. `pausesMs`: for tests. */
export function withAnswers<R extends Registry>(registry: R, { pausesMs = PAUSES_MS } = {}): R {
  const { instances, ledger, usage, wakeTimes, network } = registry;

  /** Runs `work` again while its answer is lost. Safe for what may happen twice. */
  async function again<T>(work: () => Promise<T>): Promise<T> {
    for (const pauseMs of pausesMs) {
      try {
        return await work();
      } catch (error) {
        if (!isAnswerLost(error)) throw error;
        await pause(pauseMs);
      }
    }
    return work();
  }

  /** The row that this write made, or null when it has not happened. */
  async function madeBy(id: InstanceId, writeId: string): Promise<InstanceRow | null> {
    const row = await again(() => instances.get(id));
    return row?.writeId === writeId ? row : null;
  }

  /**
   * Writes a row once. `isRefused`: an answer that another write can be the cause of, and this one too, when an earlier
   * attempt of it happened after all.
   */
  async function once<T>(
    id: InstanceId,
    write: (writeId: string) => Promise<T>,
    made: (row: InstanceRow) => T,
    isRefused: (answer: T) => boolean = () => false,
  ): Promise<T> {
    const writeId = newToken();
    let wasLost = false;
    for (let attempt = 0; ; attempt += 1) {
      let failure: { error: unknown } | null = null;
      let answer: T | undefined;
      try {
        answer = await write(writeId);
        if (!wasLost || !isRefused(answer)) return answer;
      } catch (error) {
        if (isAnswerLost(error)) wasLost = true;
        else if (!wasLost || !isWinterdockError(error) || error.code !== 'conflict') throw error;
        failure = { error };
      }
      const row = await madeBy(id, writeId);
      if (row !== null) return made(row);
      if (failure === null) return answer as T;
      const pauseMs = pausesMs[attempt];
      if (!isAnswerLost(failure.error) || pauseMs === undefined) throw failure.error;
      await pause(pauseMs);
    }
  }

  const owed: (() => Promise<void>)[] = [];

  /** Adds what is owed, oldest first, as far as answers come. */
  async function settleOwed(): Promise<void> {
    for (let [first] = owed; first !== undefined; [first] = owed) {
      try {
        await first();
      } catch {
        // It stays owed, with its id: it is tried again before the next addition.
        return;
      }
      // Not the first: beside another addition that settles too, that one is gone already.
      const at = owed.indexOf(first);
      if (at >= 0) owed.splice(at, 1);
    }
  }

  /** Adds once. Resolves also when the answer does not come: then it is owed. */
  async function add(work: (writeId: string) => Promise<void>): Promise<void> {
    await settleOwed();
    const writeId = newToken();
    try {
      await again(() => work(writeId));
    } catch (error) {
      if (!isAnswerLost(error) || owed.length >= MOST_OWED) throw error;
      owed.push(() => work(writeId));
    }
  }

  const certain: Partial<InstanceStore> = {
    create: (instance, now, line) =>
      once(
        instance.id,
        (writeId) => instances.create({ ...instance, writeId }, now, line),
        (row) => row,
      ),
    begin: (id, intent, options) =>
      once(
        id,
        (writeId) => instances.begin(id, intent, { ...options, writeId }),
        () => true,
        (isBegun) => !isBegun,
      ),
    commit: (transition) =>
      once(
        transition.id,
        (writeId) => instances.commit({ ...transition, writeId }),
        (row) => row,
      ),
    // Its name is written once, and tells whether this one happened.
    recordStored: (record) => again(() => instances.recordStored(record)),
    abandon: (id, patch, lines, owner) =>
      once(
        id,
        (writeId) => instances.abandon(id, { ...patch, writeId }, lines, owner),
        (row) => row,
      ),
  };
  return {
    ...registry,
    instances: { ...instances, ...certain },
    ledger: {
      ...ledger,
      append: (lines) => {
        const writeId = newToken();
        return again(() => ledger.append(lines, writeId));
      },
    },
    usage: { ...usage, add: (hour, uses) => add((writeId) => usage.add(hour, uses, writeId)) },
    wakeTimes: { ...wakeTimes, add: (buckets) => add((writeId) => wakeTimes.add(buckets, writeId)) },
    network: {
      ...network,
      addTraffic: (hour, traffic) => add((writeId) => network.addTraffic(hour, traffic, writeId)),
    },
  };
}
