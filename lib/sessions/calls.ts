/** Calls and writes: they find or wake the process, count as activity, and are sent again when their process was gone before they began. */
import { isWinterdockError } from '../errors.ts';
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
import { type Engine, line, now, rowOf } from './engine.ts';
import type { Entry } from './entries.ts';
import type { Cause, Woken } from './sessions.ts';
import { weightOf } from './ticker.ts';
import { wake } from './wake.ts';

/** How often a call is sent whose process was gone before the call began. */
const ATTEMPTS = 3;

type Send<T> = (process: InstanceProcess) => Promise<T>;

const HOT: Woken = { woke: 'hot', wokeMs: 0 };

/**
 * Sends something to the process of a sandbox, waking it first when it sleeps. The first message follows the wake's own without
 * waiting for it, and the answer waits for both: nothing is answered before `active` is on disk. `onWoken` runs when it is.
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
    const woken: Woken = woke.source === null ? HOT : { woke: 'cold', wokeMs: woke.tookMs };
    onWoken(woken);
    if (sent.answer === undefined) throw new Error('A wake handed out no process.');
    return { answer: sent.answer, woken };
  });
}

function stamp(engine: Engine, entry: Entry): void {
  entry.activity = Math.max(entry.activity, now(engine));
}

/** A call that ran out of time may have cost the process: then the row is settled before the answer. */
async function afterTimeout(engine: Engine, entry: Entry, cause: Cause): Promise<void> {
  const row = await rowOf(engine, entry.id);
  await engine.registry.append([line(engine, row, cause, 'exec.timed_out')]);
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
  if (operation.op === 'put') await reserve(engine, entry, operation.content.byteLength);
  const { answer } = await toProcess(engine, entry, cause, (process) => process.write(operation));
  return answer;
}

/** Takes room for a write from what the tenant may have. What was written over counts until the file is weighed: so it is weighed first. */
async function reserve(engine: Engine, entry: Entry, bytes: number): Promise<void> {
  const tenant = await engine.registry.tenantOf(entry.id);
  if (tenant === null) return;
  try {
    await engine.registry.quotas.reserve(entry.id, tenant, bytes);
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'quota_exceeded') throw error;
    const weight = entry.process === null ? undefined : weightOf(engine, entry.id);
    if (weight !== undefined) await engine.registry.touch([{ id: entry.id, updated: 0, bytes: weight }]);
    await engine.registry.quotas.reserve(entry.id, tenant, bytes);
  }
}
