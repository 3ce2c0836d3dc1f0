/**
 * The sandboxes, whose answers say nothing that the replica lacks where that is promised (`sync`): every answer of a
 * verb, a call, a write or a read waits here, and every piece of a call's output. Nothing else holds one back.
 */
import { isWinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { tellLate } from '../base/kept-request.ts';
import type { AnswerBarrier, AnswerPatience } from '../replication/promise/answer-barrier.ts';
import { bytesOfText } from '../workers/protocol/byte-text.ts';
import type { OutputChunk } from '../workers/protocol/instance.ts';
import { type Engine, requireInstance } from './engine.ts';
import type { Sandboxes } from './sandboxes.ts';

/** How long the answer of a filing waits for the last segment, and that of a move for the registry's. */
const MOVE_MS = 5000;
/** Characters of output that are held back of one call, at most; beyond that the oldest is skipped. */
const MOST_HELD = 4 * 1024 * 1024;

/** The same sandboxes where nothing is replicated. */
export function withHeldAnswers(sandboxes: Sandboxes, engine: Engine): Sandboxes {
  const { replica } = engine;
  if (replica === null) return sandboxes;
  const answers = goingOn(replica.answers, engine.stop);

  /** Work that may commit: refused while the store is known to be away, and answered once it has everything. */
  async function done<T>(id: InstanceId, work: () => Promise<T>, patience?: AnswerPatience): Promise<T> {
    await answers.requireStore(id);
    return seen(id, work, patience);
  }

  /** Answers once the store has everything that the answer may say. What failed says little, and is told as it is. */
  async function seen<T>(id: InstanceId, work: () => Promise<T>, patience?: AnswerPatience): Promise<T> {
    const answer = await work();
    if (!answers.isInStep(id)) await answers.whenInStep(id, patience);
    return answer;
  }

  /** A move: it is carried out all the same, and answered once file and row are in the store. */
  async function moved<T>(id: InstanceId, work: () => Promise<T>, patience: AnswerPatience = {}): Promise<T> {
    const answer = await work();
    await answers.whenInStep(id, patience);
    const row = await engine.registry.instances.get(id);
    if (row !== null) await answers.whenRecorded(row, { mostMs: MOVE_MS });
    return answer;
  }
  const filed = <T>(id: InstanceId, work: () => Promise<T>) => moved(id, work, { mostMs: MOVE_MS });

  const held: Partial<Sandboxes> = {
    resume: (id, ...rest) => moved(id, () => sandboxes.resume(id, ...rest)),
    suspend: (id, ...rest) => filed(id, () => sandboxes.suspend(id, ...rest)),
    freeze: (id, ...rest) => filed(id, () => sandboxes.freeze(id, ...rest)),
    archive: (id, ...rest) => filed(id, () => sandboxes.archive(id, ...rest)),
    revive: (id, ...rest) => moved(id, () => sandboxes.revive(id, ...rest)),
    runPlan: (id, ...rest) => filed(id, () => sandboxes.runPlan(id, ...rest)),
    settle: (id, ...rest) => filed(id, () => sandboxes.settle(id, ...rest)),
    restore: (id, ...rest) => moved(id, () => sandboxes.restore(id, ...rest)),
    async delete(id, ...rest) {
      const row = await requireInstance(engine, id);
      answers.requireStoreFor(row, { makesRoom: true });
      await sandboxes.delete(id, ...rest);
      await answers.whenRecorded(row, { mostMs: MOVE_MS });
    },
    exec(id, request, audit, options = {}) {
      const patience = patienceOf(options, engine.stop);
      const { onOutput } = options;
      if (onOutput === undefined) return done(id, () => sandboxes.exec(id, request, audit, options), patience);
      const output = new HeldOutput(answers, id, onOutput, patience);
      return done(
        id,
        async () => {
          const running = sandboxes.exec(id, request, audit, { ...options, onOutput: (one) => output.push(one) });
          // What failed is told behind its output too.
          await running.then(
            () => output.ended(),
            () => output.ended().catch(() => undefined),
          );
          return running;
        },
        patience,
      );
    },
    eval: (id, request, audit, options = {}) =>
      done(id, () => sandboxes.eval(id, request, audit, options), patienceOf(options, engine.stop)),
    callWorkbook: (id, ...rest) => done(id, () => sandboxes.callWorkbook(id, ...rest)),
    write: (id, ...rest) => done(id, () => sandboxes.write(id, ...rest)),
    read: (id, request) => seen(id, () => sandboxes.read(id, request)),
    copyOut: (id, path, options) => seen(id, () => sandboxes.copyOut(id, path, options)),
    async recorded(row) {
      await answers.whenInStep(row.id);
      await answers.whenRecorded(row);
    },
    requireRecordable: (row) => answers.requireStoreFor(row),
  };
  return new Proxy(sandboxes, { get: (target, name) => Reflect.get(name in held ? held : target, name) });
}

/**
 * The same, for requests that are kept: whoever sent one is told when the store takes too long, and its answer waits
 * on, until the server stops, so that it is there when they ask again.
 */
function goingOn(answers: AnswerBarrier, stop: AbortSignal): AnswerBarrier {
  async function through(wait: (patience?: AnswerPatience) => Promise<void>, patience?: AnswerPatience) {
    try {
      await wait(patience);
    } catch (error) {
      if (patience?.isPatient || !isWinterdockError(error) || error.code !== 'not_replicated') throw error;
      if (!tellLate(error)) throw error;
      await wait({ isPatient: true, signal: stop });
    }
  }
  return {
    isInStep: (id) => answers.isInStep(id),
    whenInStep: (id, patience) => through((longer) => answers.whenInStep(id, longer), patience),
    requireStore: (id) => answers.requireStore(id),
    requireStoreFor: (row, how) => answers.requireStoreFor(row, how),
    whenRecorded: (row, patience) => through((longer) => answers.whenRecorded(row, longer), patience),
  };
}

/** A run is kept by nobody's request: it waits for a store that is away, until the server stops. */
function patienceOf(
  { isPatient = false, signal }: { isPatient?: boolean; signal?: AbortSignal },
  stop: AbortSignal,
): AnswerPatience {
  if (isPatient) return { isPatient, signal: stop };
  return signal === undefined ? {} : { signal };
}

/** Pieces of output, in order, each once the store has what was committed when it came. */
class HeldOutput {
  readonly #answers: AnswerBarrier;
  readonly #id: InstanceId;
  readonly #tell: (chunk: OutputChunk) => void;
  readonly #patience: AnswerPatience;
  #held: OutputChunk[] = [];
  #heldLength = 0;
  /** Of the first ones something is asked already. */
  #due = 0;
  #telling: Promise<void> | null = null;

  constructor(answers: AnswerBarrier, id: InstanceId, tell: (chunk: OutputChunk) => void, patience: AnswerPatience) {
    this.#answers = answers;
    this.#id = id;
    this.#tell = tell;
    this.#patience = patience;
  }

  push(chunk: OutputChunk): void {
    if (this.#telling === null && this.#answers.isInStep(this.#id)) {
      this.#tell(chunk);
      return;
    }
    this.#held.push(chunk);
    this.#heldLength += chunk.text.length;
    while (this.#heldLength > MOST_HELD && this.#held.length > 1) this.#skip();
    this.#telling ??= this.#tellHeld();
    // Whoever waits for the end is told why.
    this.#telling.catch(() => undefined);
  }

  /** Resolves once everything was told. Throws `not_replicated`. */
  async ended(): Promise<void> {
    await this.#telling;
  }

  async #tellHeld(): Promise<void> {
    while (this.#held.length > 0) {
      this.#due = this.#held.length;
      await this.#answers.whenInStep(this.#id, this.#patience);
      for (const chunk of this.#held.splice(0, this.#due)) {
        this.#heldLength -= chunk.text.length;
        this.#tell(chunk);
      }
    }
    this.#telling = null;
  }

  /** The oldest is counted by the one after it. */
  #skip(): void {
    const [oldest, next] = this.#held.splice(0, 2);
    if (oldest === undefined || next === undefined) return;
    this.#heldLength -= oldest.text.length;
    // One that nobody has asked for takes the place of the last that somebody has.
    if (this.#due > 0) this.#due -= 1;
    const skipped = (oldest.skipped ?? 0) + bytesOfText(oldest.text).length + (next.skipped ?? 0);
    this.#held.unshift({ ...next, skipped });
  }
}
