/**
 * Calls and writes: they find or wake the process, count as activity, and are sent again when their process was gone
 * before they began.
 */
import { isWinterdockError } from '../base/errors.ts';
import type {
  EvalOutcome,
  EvalRequest,
  ExecOutcome,
  ExecRequest,
  InstanceProcess,
  OutputChunk,
  WriteOperation,
  WriteOutcome,
} from '../instance/instance.ts';
import { stampOf } from '../storage/files.ts';
import { absolute, type Engine, line, livePath, now, rowOf } from './engine.ts';
import type { Entry } from './runtimes.ts';
import type { Cause, Woken } from './sessions.ts';
import { wake } from './wake.ts';

/** How often a call is sent whose process was gone before the call began. */
const ATTEMPTS = 3;

type Send<T> = (process: InstanceProcess) => Promise<T>;

const HOT: Woken = { woke: 'hot', wokeMs: 0, from: null };

/**
 * Sends something to the process of a sandbox, waking it first when it sleeps. The first message follows the wake's own
 * without waiting for it, and the answer waits for both: nothing is answered before `active` is on disk. `onWoken` runs
 * when it is.
 */
async function toProcess<T>(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  send: Send<T>,
  onWoken: (woken: Woken) => void = () => {},
): Promise<{ answer: T; woken: Woken }> {
  for (let attempt = 1; ; attempt += 1) {
    stamp(engine, entry);
    try {
      const { answer, woken } = await sendOrWake(engine, entry, cause, send, onWoken);
      return { answer: await answer, woken };
    } catch (error) {
      const unstarted = isWinterdockError(error) && error.code === 'conflict' && error.extra.started === false;
      if (!unstarted || attempt === ATTEMPTS) throw error;
      await entry.settling;
    } finally {
      stamp(engine, entry);
    }
  }
}

async function sendOrWake<T>(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  send: Send<T>,
  onWoken: (woken: Woken) => void,
): Promise<{ answer: Promise<T>; woken: Woken }> {
  const counted = (process: InstanceProcess): Promise<T> => {
    entry.callStarted();
    const answer = send(process).finally(() => entry.callEnded());
    // It is awaited after the wake; a wake that fails takes its error instead.
    answer.catch(() => {});
    return answer;
  };
  if (entry.process !== null && entry.pending === null) {
    onWoken(HOT);
    return { answer: counted(entry.process), woken: HOT };
  }
  return entry.verbs.runExclusive(async () => {
    const sent: { answer?: Promise<T> } = {};
    const woke = await wake(engine, entry, cause, {
      revives: false,
      onProcess: (process) => {
        sent.answer = counted(process);
      },
    });
    const woken: Woken = woke.source === null ? HOT : { woke: 'cold', wokeMs: woke.tookMs, from: woke.from };
    onWoken(woken);
    if (sent.answer === undefined) throw new Error('A wake handed out no process.');
    return { answer: sent.answer, woken };
  });
}

function stamp(engine: Engine, entry: Entry): void {
  entry.used(now(engine));
}

/** A call that ran out of time may have cost the process: then the row is settled before the answer. */
async function afterTimeout(engine: Engine, entry: Entry, cause: Cause): Promise<void> {
  const row = await rowOf(engine, entry.id);
  await engine.registry.ledger.append([line(engine, row, cause, 'exec.timed_out')]);
  await entry.settling;
}

export interface ExecOptions {
  onWoke?: (woken: Woken) => void;
  onOutput?: (chunk: OutputChunk) => void;
  signal?: AbortSignal;
}

export async function exec(
  engine: Engine,
  entry: Entry,
  request: ExecRequest,
  cause: Cause,
  options: ExecOptions = {},
): Promise<ExecOutcome & Woken> {
  const { onWoke, onOutput, signal } = options;
  // Output of a script that runs while its wake is still being committed is held back until it is.
  let held: OutputChunk[] | null = [];
  const { answer, woken } = await toProcess(
    engine,
    entry,
    cause,
    (process) =>
      process.exec(request, {
        ...(signal === undefined ? {} : { signal }),
        ...(onOutput === undefined
          ? {}
          : { onOutput: (chunk: OutputChunk) => (held === null ? onOutput(chunk) : void held.push(chunk)) }),
      }),
    (woken) => {
      if (held === null) return;
      onWoke?.(woken);
      for (const chunk of held) onOutput?.(chunk);
      held = null;
    },
  );
  if (answer.timedOut) await afterTimeout(engine, entry, cause);
  return { ...answer, ...woken };
}

export async function evaluate(
  engine: Engine,
  entry: Entry,
  request: EvalRequest,
  cause: Cause,
  options: { signal?: AbortSignal } = {},
): Promise<EvalOutcome & Woken> {
  const { answer, woken } = await toProcess(engine, entry, cause, (process) => process.eval(request, options));
  if (answer.timedOut) await afterTimeout(engine, entry, cause);
  return { ...answer, ...woken };
}

export async function write(
  engine: Engine,
  entry: Entry,
  operation: WriteOperation,
  cause: Cause,
): Promise<WriteOutcome> {
  const send = async () => (await toProcess(engine, entry, cause, (process) => process.write(operation))).answer;
  return operation.op === 'put' ? reserving(engine, entry, operation.content.byteLength, send) : send();
}

/** Runs a write for which room was taken from what its tenant may have. */
async function reserving<T>(engine: Engine, entry: Entry, bytes: number, write: () => Promise<T>): Promise<T> {
  const tenant = await engine.registry.instances.tenantOf(entry.id);
  if (tenant === null || (await engine.registry.quotas.bytesLeft(tenant)) === null) return write();
  const take = async () => {
    const taken = engine.registry.quotas.reserve(entry.id, tenant, bytes);
    // In the same tick: whoever weighs the file from now on counts it.
    entry.reserved += bytes;
    entry.everReserved += bytes;
    try {
      await taken;
    } catch (error) {
      entry.reserved -= bytes;
      entry.everReserved -= bytes;
      throw error;
    }
  };
  try {
    await take();
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'quota_exceeded' || entry.process === null) throw error;
    // What was written over still counts, and so may a log that is in the file already: it is weighed exactly before it
    // is refused.
    await weigh(engine, entry);
    await take();
  }
  try {
    return await write();
  } finally {
    entry.reserved -= bytes;
  }
}

/** Keeps what an active sandbox holds, with what is being written. */
async function weigh(engine: Engine, entry: Entry): Promise<void> {
  const path = absolute(engine, livePath(entry.id));
  const size = stampOf(path)?.size;
  if (size === undefined) return;
  // A write that ends while the file is read may be missing from what is read: all that were under way meanwhile count.
  const { reserved, everReserved } = entry;
  const { volumes } = await entry.lease(() => engine.readers.read({ path, mode: 'live' }, { op: 'volumes' }));
  const held = volumes.reduce((sum, { bytes }) => sum + bytes, 0);
  const writing = reserved + entry.everReserved - everReserved;
  await engine.registry.instances.touch([{ id: entry.id, updated: 0, bytes: Math.max(size, held) + writing }]);
}
