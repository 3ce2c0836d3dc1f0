/**
 * Calls and writes: each finds or wakes the process and counts as activity. A call whose process ended before the call
 * began is sent again.
 */
import { isWinterdockError, publicMessage } from '../base/errors.ts';
import { notePart } from '../base/timing.ts';
import { isBlocking } from '../lifecycle/words.ts';
import { effectiveVariables } from '../registry/environments.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { requireCapability } from '../workers/protocol/capability-check.ts';
import type {
  CallAhead,
  EvalOutcome,
  EvalRequest,
  ExecOutcome,
  ExecRequest,
  InstanceProcess,
  OutputChunk,
  WriteOperation,
  WriteOutcome,
} from '../workers/protocol/instance.ts';
import { type Capability, profileOf } from '../workers/protocol/policies.ts';
import type { ShellJobHost } from '../workers/protocol/shell-jobs.ts';
import { absolutePath, type Engine, isOwn, livePath, now, requireInstance, requireOwnInstance } from './engine.ts';
import { refuseFaulted } from './moves/transition-check.ts';
import { archivedForCalls, type WakeOptions, wake } from './moves/wake.ts';
import { requireReachable } from './recovery/takeover.ts';
import type { SandboxRuntime } from './runtimes.ts';
import type { AuditContext, WakeReport } from './sandboxes.ts';
import { asBegun, wakeFailedBehind } from './unknown-outcome.ts';

/** How often a call is sent when its process ends before the call begins. */
const ATTEMPTS = 3;

/** How long a caller waits for a wake, what ends the wait, and whether others are suspended for it. */
export interface CallPatience {
  signal?: AbortSignal;
  makesRoom?: boolean;
  /** The time of the call is that of its run alone, and not of its wait. */
  isPatient?: boolean;
}

type WaitOptions = Pick<WakeOptions, 'makesRoom' | 'maxWaitMs' | 'signal'>;

type Send<T> = (process: InstanceProcess) => Promise<T>;

const HOT: WakeReport = { woke: 'hot', wokeMs: 0, from: null };

function warmWake(thawMs: number): WakeReport {
  notePart('thaw', thawMs);
  return { woke: 'warm', wokeMs: thawMs, from: null };
}

/**
 * Sends a message to the process of a sandbox, waking it first when it sleeps. The message follows the wake without
 * waiting for it, and the answer waits for both: nothing is answered before `active` is committed. `onWoken` runs at
 * that commit.
 */
export async function sendToProcess<T>(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  send: Send<T>,
  { onWoken = () => {}, ...patience }: WaitOptions & { onWoken?: (woken: WakeReport) => void } = {},
): Promise<{ answer: T; woken: WakeReport }> {
  for (let attempt = 1; ; attempt += 1) {
    markUsed(engine, runtime);
    try {
      const { answer, woken } = await sendOrWake(engine, runtime, audit, send, onWoken, patience);
      return { answer: await answer, woken };
    } catch (error) {
      const unstarted = isWinterdockError(error) && error.code === 'conflict' && error.extra.started === false;
      if (!unstarted || attempt === ATTEMPTS) throw error;
      await runtime.settling;
    } finally {
      markUsed(engine, runtime);
    }
  }
}

async function sendOrWake<T>(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  send: Send<T>,
  onWoken: (woken: WakeReport) => void,
  patience: WaitOptions,
): Promise<{ answer: Promise<T>; woken: WakeReport }> {
  const counted = (process: InstanceProcess): Promise<T> => {
    runtime.callStarted();
    const answer = send(process).finally(() => runtime.callEnded());
    // Awaited after the wake. When the wake fails, its error is thrown instead, and says whether this one was begun.
    answer.catch(() => {});
    return answer;
  };
  if (runtime.process !== null && runtime.pending === null) {
    const { process } = runtime;
    if (process.thermal === 'hot') {
      onWoken(HOT);
      return { answer: counted(process), woken: HOT };
    }
    // The message itself continues the process.
    const answer = counted(process);
    const thawMs = await process.thaw();
    // Without an answer it is replaced, and the call is sent again.
    if (thawMs === null) return { answer, woken: HOT };
    const woken = warmWake(thawMs);
    onWoken(woken);
    return { answer, woken };
  }
  return runtime.verbs.runExclusive(async () => {
    const sent: { answer?: Promise<T> } = {};
    const woke = await wake(engine, runtime, audit, {
      revives: false,
      ...patience,
      onProcess: (process) => {
        sent.answer = counted(process);
      },
    }).catch(async (error: unknown) => {
      throw sent.answer === undefined ? error : await wakeFailedBehind(error, sent.answer);
    });
    const woken: WakeReport =
      woke.source !== null
        ? { woke: 'cold', wokeMs: woke.tookMs, from: woke.from }
        : woke.thawMs === null
          ? HOT
          : warmWake(woke.thawMs);
    onWoken(woken);
    if (sent.answer === undefined) throw new Error('A wake handed out no process.');
    return { answer: sent.answer, woken };
  });
}

function markUsed(engine: Engine, runtime: SandboxRuntime): void {
  runtime.markUsed(now(engine));
}

/** A call that ran out of time may have ended the process: the row is settled before the answer. */
export async function afterTimeout(engine: Engine, runtime: SandboxRuntime, audit: AuditContext): Promise<void> {
  try {
    const row = await requireOwnInstance(engine, runtime.id);
    await engine.registry.ledger.append([ledgerEntry(engine, row, audit, 'exec.timed_out')]);
  } catch (error) {
    throw asBegun(error);
  }
  await runtime.settling;
}

/** A caller who limits a call to some time waits no longer than that for its turn, unless they are patient. */
export function patienceOf(
  timeoutMs: number | undefined,
  { signal, makesRoom, isPatient = false }: CallPatience,
): WaitOptions {
  return {
    ...(timeoutMs === undefined || isPatient ? {} : { maxWaitMs: timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
    ...(makesRoom === undefined ? {} : { makesRoom }),
  };
}

/** Throws `quota_exceeded` when the sandbox's tenant has used up its processor time of the day. */
async function requireCpuTime(engine: Engine, runtime: SandboxRuntime, audit: AuditContext): Promise<void> {
  // No lookup before a call unless some tenant is refused.
  if (!engine.cpuBudget.mayRefuse) return;
  const row = await requireInstance(engine, runtime.id);
  try {
    await engine.cpuBudget.require(row.tenant);
  } catch (error) {
    const refused = { trigger: 'quota', error: publicMessage(error) } as const;
    await engine.registry.ledger.append([ledgerEntry(engine, row, audit, 'exec.refused', refused)]);
    throw error;
  }
}

/**
 * Throws what a call would be refused for as the sandbox is now, before anything begins: `gone`, `archived`, a fault,
 * `capability`, `quota_exceeded`.
 */
export async function requireCallable(
  engine: Engine,
  runtime: SandboxRuntime,
  capability: Capability,
  audit: AuditContext,
): Promise<InstanceRow> {
  let row = await requireInstance(engine, runtime.id);
  if (!isOwn(engine, row)) row = await runtime.verbs.runExclusive(() => requireReachable(engine, runtime, audit));
  if (row.state === 'archived') throw archivedForCalls(row.id);
  const { store } = engine;
  if (isBlocking(row.fault) && store !== null) {
    row = await runtime.verbs.runExclusive(async () =>
      store.settleFault(runtime, await requireOwnInstance(engine, runtime.id)),
    );
  }
  refuseFaulted(row);
  requireCapability(profileOf(row.policy), capability, row);
  await requireCpuTime(engine, runtime, audit);
  return row;
}

/**
 * What a call needs before it is sent: processor time that its tenant has left, else it throws `quota_exceeded`, and
 * its variables: those of the sandbox as they are now, under those of the call itself. `hasWholeEnv`: those alone.
 */
export async function readyToSend(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  { env, hasWholeEnv = false }: { env?: Record<string, string> | undefined; hasWholeEnv?: boolean | undefined } = {},
): Promise<Record<string, string> | undefined> {
  await requireCpuTime(engine, runtime, audit);
  return hasWholeEnv ? env : guestEnv(engine, runtime, env);
}

async function guestEnv(
  engine: Engine,
  runtime: SandboxRuntime,
  ofCall: Record<string, string> = {},
): Promise<Record<string, string>> {
  const variables = effectiveVariables(await engine.registry.environments.of(runtime.id));
  const known = variables.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(known), ...ofCall };
}

export interface ExecOptions {
  onWoke?: (woken: WakeReport) => void;
  /** It waits for another call, which the function names; null once it waits no more. */
  onWaiting?: (ahead: () => CallAhead | null) => void;
  /** The call begins: those before it have ended. */
  onStarted?: () => void;
  onOutput?: (chunk: OutputChunk) => void;
  /** Answers what its script asks about its jobs. */
  onJob?: ShellJobHost;
  signal?: AbortSignal;
  /** False: nobody waits for it. Its wake comes behind those of people, and suspends nobody. Default: true. */
  makesRoom?: boolean;
  /** Its time limit is that of its run, and not of its wait. Default: false. */
  isPatient?: boolean;
  /** Its `env` is that of the script that began it: nothing of the sandbox's comes to it. Default: false. */
  hasWholeEnv?: boolean;
}

export async function exec(
  engine: Engine,
  runtime: SandboxRuntime,
  request: ExecRequest,
  audit: AuditContext,
  options: ExecOptions = {},
): Promise<ExecOutcome & WakeReport> {
  const { onWoke, onWaiting, onStarted, onOutput, onJob, signal } = options;
  const { env: ofCall } = request;
  const env = await runtime.inOrder(() =>
    readyToSend(engine, runtime, audit, { env: ofCall, hasWholeEnv: options.hasWholeEnv }),
  );
  // Output of a script that runs before its wake is committed is held back until then.
  let heldOutput: OutputChunk[] | null = [];
  const { answer, woken } = await sendToProcess(
    engine,
    runtime,
    audit,
    (process) =>
      process.exec(
        { ...request, env, mostMs: engine.config.maxCallMs },
        {
          ...(signal === undefined ? {} : { signal }),
          ...(onWaiting === undefined ? {} : { onWaiting }),
          ...(onStarted === undefined ? {} : { onStarted }),
          ...(onJob === undefined ? {} : { onJob }),
          ...(onOutput === undefined
            ? {}
            : {
                onOutput: (chunk: OutputChunk) => (heldOutput === null ? onOutput(chunk) : void heldOutput.push(chunk)),
              }),
        },
      ),
    {
      ...patienceOf(request.timeoutMs, options),
      onWoken: (woken) => {
        if (heldOutput === null) return;
        onWoke?.(woken);
        for (const chunk of heldOutput) onOutput?.(chunk);
        heldOutput = null;
      },
    },
  );
  notePart('run', answer.tookMs);
  if (answer.timedOut) await afterTimeout(engine, runtime, audit);
  return { ...answer, ...woken };
}

export async function evaluateInSandbox(
  engine: Engine,
  runtime: SandboxRuntime,
  request: EvalRequest,
  audit: AuditContext,
  { onWoke, ...options }: Pick<ExecOptions, 'onWoke' | 'onWaiting' | 'onStarted' | 'signal' | 'isPatient'> = {},
): Promise<EvalOutcome & WakeReport> {
  const { isPatient: _, ...followed } = options;
  const env = await runtime.inOrder(() => readyToSend(engine, runtime, audit, { env: request.env }));
  const send = (process: InstanceProcess) =>
    process.eval({ ...request, env, mostMs: engine.config.maxCallMs }, followed);
  const patience = patienceOf(request.timeoutMs, options);
  const { answer, woken } = await sendToProcess(engine, runtime, audit, send, {
    ...patience,
    ...(onWoke === undefined ? {} : { onWoken: onWoke }),
  });
  notePart('run', answer.tookMs);
  if (answer.timedOut) await afterTimeout(engine, runtime, audit);
  return { ...answer, ...woken };
}

export async function write(
  engine: Engine,
  runtime: SandboxRuntime,
  operation: WriteOperation,
  audit: AuditContext,
): Promise<WriteOutcome> {
  const send = async () => (await sendToProcess(engine, runtime, audit, (process) => process.write(operation))).answer;
  return 'content' in operation ? withReservedQuota(engine, runtime, operation.content.byteLength, send) : send();
}

/** Runs a write after reserving its bytes from the quota of the tenant. */
async function withReservedQuota<T>(
  engine: Engine,
  runtime: SandboxRuntime,
  bytes: number,
  write: () => Promise<T>,
): Promise<T> {
  const tenant = await engine.registry.instances.tenantOf(runtime.id);
  if (tenant === null || (await engine.registry.quotas.bytesLeft(tenant)) === null) return write();
  const take = async () => {
    const taken = engine.registry.quotas.reserve(runtime.id, tenant, bytes);
    // In the same tick, so that nobody measures the file without these bytes.
    runtime.reserved += bytes;
    runtime.everReserved += bytes;
    try {
      await taken;
    } catch (error) {
      runtime.reserved -= bytes;
      runtime.everReserved -= bytes;
      throw error;
    }
  };
  try {
    await take();
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'quota_exceeded' || runtime.process === null) throw error;
    // The recorded size still counts overwritten bytes, and perhaps a log: measure the file exactly before refusing.
    await recordHeldBytes(engine, runtime);
    await take();
  }
  try {
    return await write();
  } finally {
    runtime.reserved -= bytes;
  }
}

/** Records how many bytes an active sandbox holds, writes under way included. */
async function recordHeldBytes(engine: Engine, runtime: SandboxRuntime): Promise<void> {
  const path = absolutePath(engine, livePath(runtime.id));
  const size = stampOf(path)?.size;
  if (size === undefined) return;
  // A write that ends while the file is read may be missing from the result: count all that were under way meanwhile.
  const { reserved, everReserved } = runtime;
  const { volumes } = await runtime.lease(() => engine.readers.read({ path, mode: 'live' }, { op: 'volumes' }));
  const bytesHeld = volumes.reduce((sum, { bytes }) => sum + bytes, 0);
  const writing = reserved + runtime.everReserved - everReserved;
  await engine.registry.instances.touch([{ id: runtime.id, updated: 0, bytes: Math.max(size, bytesHeld) + writing }]);
}
