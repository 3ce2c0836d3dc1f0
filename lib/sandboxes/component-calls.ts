/**
 * Calls of components: as exec, each finds or wakes the process and counts as activity. What a component did wrong is
 * in its result; what goes wrong around it is thrown.
 */
import { notePart } from '../base/timing.ts';
import type { ComponentLog, ComponentProgress } from '../workers/protocol/component-call.ts';
import type { InstanceProcess } from '../workers/protocol/instance.ts';
import { afterTimeout, patienceOf, readyToSend, sendToProcess } from './calls.ts';
import type { ComponentRecords } from './component-records.ts';
import type { ComponentRequests, PreparedCall } from './component-requests.ts';
import type { Engine } from './engine.ts';
import type { SandboxRuntime } from './runtimes.ts';
import type { AuditContext, WakeReport } from './sandboxes.ts';
import type {
  ComponentResult,
  NamedLog,
  WorkbookCall,
  WorkbookCallOptions,
  WorkbookCallOutcome,
  WorkbookProgress,
} from './workbook-call.ts';

export async function callWorkbook(
  engine: Engine,
  parts: { requests: ComponentRequests; records: ComponentRecords },
  runtime: SandboxRuntime,
  call: WorkbookCall,
  audit: AuditContext,
  options: WorkbookCallOptions = {},
): Promise<WorkbookCallOutcome & WakeReport> {
  const { requests, records } = parts;
  const { onWoke, onProgress, signal } = options;
  const { prepared, env } = await runtime.inOrder(async () => {
    const prepared = await requests.prepare(runtime, call, audit.trigger);
    return { prepared, env: await readyToSend(engine, runtime, audit) };
  });
  // Progress of a call that runs before its wake is committed is held back until then.
  let held: ComponentProgress[] | null = [];
  const tell = (progress: ComponentProgress) => onProgress?.(named(prepared, progress));
  const take = (progress: ComponentProgress) => (held === null ? tell(progress) : void held.push(progress));
  const { answer, woken } = await sendToProcess(
    engine,
    runtime,
    audit,
    (process: InstanceProcess) =>
      process.callComponents(
        { ...prepared.request, env },
        {
          ...(signal === undefined ? {} : { signal }),
          ...(onProgress === undefined ? {} : { onProgress: take }),
        },
      ),
    {
      ...patienceOf(call.timeoutMs, options),
      onWoken: (report) => {
        if (held === null) return;
        onWoke?.(report);
        for (const progress of held) tell(progress);
        held = null;
      },
    },
  );
  requests.pin(runtime, prepared);
  notePart('run', answer.tookMs);
  const components = answer.steps.map((step, at) => ({ ...step, path: pathOf(prepared, at) }));
  records.note(runtime.id, components, audit);
  if (answer.timedOut) await afterTimeout(engine, runtime, audit);
  return {
    ...woken,
    components,
    outputs: outputsOf(prepared, components, call.input ?? {}),
    logs: answer.logs.map((log) => namedLog(prepared, log)),
    timedOut: answer.timedOut,
    tookMs: answer.tookMs,
  };
}

function pathOf({ paths }: PreparedCall, step: number): string {
  return paths[step] ?? '';
}

function namedLog(prepared: PreparedCall, { step, ...log }: ComponentLog): NamedLog {
  return { ...log, path: pathOf(prepared, step) };
}

function named(prepared: PreparedCall, progress: ComponentProgress): WorkbookProgress {
  if ('log' in progress) return { log: namedLog(prepared, progress.log) };
  const { step, ...result } = progress;
  const path = pathOf(prepared, step);
  return result.state === 'running' ? { running: path } : { component: { ...result, path } };
}

function outputsOf(
  { outputs }: PreparedCall,
  components: readonly ComponentResult[],
  input: Record<string, unknown>,
): Record<string, unknown> {
  const parsed = new Map<number, Record<string, unknown>>();
  const valuesOf = (step: number) => {
    let values = parsed.get(step);
    if (values === undefined) {
      values = JSON.parse(components[step]?.json ?? '{}') as Record<string, unknown>;
      parsed.set(step, values);
    }
    return values;
  };
  return Object.fromEntries(
    outputs.flatMap(({ name, from }): [string, unknown][] => {
      const [values, key] = 'input' in from ? [input, from.input] : [valuesOf(from.step), from.output];
      return Object.hasOwn(values, key) ? [[name, values[key]]] : [];
    }),
  );
}
