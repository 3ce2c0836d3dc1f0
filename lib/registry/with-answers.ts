/**
 * The registry, whose answers may not come: each write carries a random id, stored with the row or in a table of its
 * own, in the same transaction, unless it may happen twice (write-rules.ts). After a lost answer it asks whether *this*
 * write happened, not another with the same outcome, and does it again only when it did not. Additions are added once,
 * however often their answers are lost. Reads pass.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, isWinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceStore } from './instances.ts';
import { isAnswerLost } from './lost-answer.ts';
import { newToken } from './owner.ts';
import type { Registry } from './registry.ts';
import type { InstanceRow } from './types.ts';
import { type StoreName, WRITE_RULES } from './write-rules.ts';

type Method = (...args: unknown[]) => Promise<unknown>;
/** A rule of any method. */
type UntypedRule =
  | string
  | { again: string }
  | { answer: (registry: Registry, args: unknown[]) => Promise<unknown> | unknown };

/** Pauses between attempts, in milliseconds: a registry that is being restarted is back within them. */
const PAUSES_MS = [50, 200, 1000, 3000];
/** The same of looking up what became of a write: a registry that fails over is back within them. */
const LOOK_UPS_MS = [...PAUSES_MS, 5000, 5000, 5000, 5000, 5000];
/** Additions whose answers never came: they are added before the next one. */
const MOST_OWED = 100;

/** Whether an error may be that of a write that an earlier attempt had made, or leaves open whether it had. */
function mayFollow(error: unknown): boolean {
  return isUnavailable(error) || (isWinterdockError(error) && error.code === 'conflict');
}

/** The registry with certain writes. `pausesMs`, `lookUpsMs`: for tests. */
export function withAnswers<R extends Registry>(
  registry: R,
  { pausesMs = PAUSES_MS, lookUpsMs = LOOK_UPS_MS } = {},
): R {
  const { instances, ledger, usage, wakeTimes, network, facts, claims, people, copies, writes } = registry;

  /** Runs `work` again while its answer is lost. Safe for what may happen twice. */
  async function again<T>(work: () => Promise<T>): Promise<T> {
    let lost: unknown = null;
    for (const pauseMs of [...pausesMs, null]) {
      try {
        return await work();
      } catch (error) {
        if (isAnswerLost(error)) lost = error;
        // What is away now may have made it before.
        else if (lost === null || !isUnavailable(error)) throw error;
        if (pauseMs === null) throw lost;
        await pause(pauseMs);
      }
    }
    throw lost;
  }

  /**
   * Asks what became of a write whose answer was lost until that is answered. Throws `lost`, the error of the write,
   * when nobody answers: it may have been made.
   */
  async function lookUp<T>(lost: unknown, ask: () => Promise<T>): Promise<T> {
    for (const pauseMs of [...lookUpsMs, null]) {
      try {
        return await ask();
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (pauseMs !== null) await pause(pauseMs);
      }
    }
    throw lost;
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
    writeId = newToken(),
  ): Promise<T> {
    let lost: unknown = null;
    for (let attempt = 0; ; attempt += 1) {
      let failure: { error: unknown } | null = null;
      let answer: T | undefined;
      try {
        answer = await write(writeId);
        if (lost === null || !isRefused(answer)) return answer;
      } catch (error) {
        if (isAnswerLost(error)) lost = error;
        else if (lost === null || !mayFollow(error)) throw error;
        failure = { error };
      }
      const row = await lookUp(lost, () => writes.rowMadeBy(id, writeId));
      if (row !== null) return made(row);
      if (failure === null) return answer as T;
      if (!isUnavailable(failure.error)) throw failure.error;
      // One that is under way still may be made later.
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined) throw lost;
      await pause(pauseMs);
    }
  }

  /** Makes a write that carries an id, once. `made`: what it answers when an earlier attempt had made it. */
  async function carried<T>(write: (registry: Registry) => Promise<T>, made: () => Promise<T> | T): Promise<T> {
    const writeId = newToken();
    let lost: unknown = null;
    for (let attempt = 0; ; attempt += 1) {
      let outcome: { answer: T } | { error: unknown };
      try {
        outcome = { answer: await write(registry.carrying(writeId)) };
      } catch (error) {
        if (isAnswerLost(error)) lost = error;
        outcome = { error };
      }
      // Who has changed a row answers with it. Any other answer may be that of one for whom an earlier attempt, which
      // arrived late, had left nothing to do.
      if ('answer' in outcome && typeof outcome.answer === 'object' && outcome.answer !== null) return outcome.answer;
      if (lost !== null && (await lookUp(lost, () => writes.happened(writeId)))) return made();
      if ('answer' in outcome) return outcome.answer;
      if (lost === null || !isUnavailable(outcome.error)) throw outcome.error;
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined) throw lost;
      await pause(pauseMs);
    }
  }

  /** A store whose writes happen as their rules say. */
  function ruled(name: StoreName): Record<string, Method> {
    const store = registry[name] as unknown as Record<string, Method>;
    const rules = Object.entries(WRITE_RULES[name] as Record<string, UntypedRule>);
    return Object.fromEntries(
      rules.map(([method, rule]): [string, Method] => {
        const call = (on: Registry, args: unknown[]) => {
          const of = on[name] as unknown as Record<string, Method>;
          return (of[method] as Method)(...args);
        };
        if (typeof rule === 'string') return [method, (...args) => (store[method] as Method)(...args)];
        if ('again' in rule) return [method, (...args) => again(() => call(registry, args))];
        return [
          method,
          (...args) =>
            carried(
              (on) => call(on, args),
              () => rule.answer(registry, args),
            ),
        ];
      }),
    );
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
        options?.writeId ?? undefined,
      ),
    commit: (transition) =>
      once(
        transition.id,
        (writeId) => instances.commit({ ...transition, writeId }),
        (row) => row,
        undefined,
        transition.writeId ?? undefined,
      ),
    abandon: (id, patch, lines, owner) =>
      once(
        id,
        (writeId) => instances.abandon(id, { ...patch, writeId }, lines, owner),
        (row) => row,
      ),
  };
  const stores = Object.fromEntries((Object.keys(WRITE_RULES) as StoreName[]).map((name) => [name, ruled(name)]));
  const certainStores = stores as unknown as Registry;
  return {
    ...registry,
    ...certainStores,
    instances: { ...certainStores.instances, ...certain },
    ledger: {
      ...certainStores.ledger,
      append: (lines) => {
        const writeId = newToken();
        return again(() => ledger.append(lines, writeId));
      },
    },
    facts: {
      ...certainStores.facts,
      // Without a line it sets the same value again.
      write: (name, value, now, line) =>
        line === undefined
          ? again(() => facts.write(name, value, now))
          : carried(
              (on) => on.facts.write(name, value, now, line),
              () => undefined,
            ),
    },
    claims: {
      ...certainStores.claims,
      // Its token is its id.
      async acquire(ticket, over) {
        let wasLost = false;
        const isAcquired = await again(async () => {
          try {
            return await claims.acquire(ticket, over);
          } catch (error) {
            wasLost ||= isAnswerLost(error);
            throw error;
          }
        });
        if (isAcquired || !wasLost) return isAcquired;
        return (await again(() => claims.list())).some(({ token }) => token === ticket.token);
      },
    },
    copies: {
      ...certainStores.copies,
      async continueSeeding(first) {
        const next = await copies.nextOfSeeding(first);
        if (next === null) return null;
        return carried(
          (on) => on.copies.continueSeeding(first),
          () => next,
        );
      },
    },
    people: {
      ...certainStores.people,
      // Who takes it is answered with what was there.
      async take(kind, where) {
        const found = await people.find(kind, where);
        return found === null
          ? null
          : carried(
              (on) => on.people.take(kind, where),
              () => found,
            );
      },
    },
    usage: { ...certainStores.usage, add: (hour, uses) => add((writeId) => usage.add(hour, uses, writeId)) },
    wakeTimes: { ...certainStores.wakeTimes, add: (buckets) => add((writeId) => wakeTimes.add(buckets, writeId)) },
    network: {
      ...certainStores.network,
      addTraffic: (hour, traffic) => add((writeId) => network.addTraffic(hour, traffic, writeId)),
    },
  };
}
