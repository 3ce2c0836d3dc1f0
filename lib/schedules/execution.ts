/**
 * What a firing does in its sandbox, as any request does it but behind those of people: a command, and an entry in the
 * sandbox's own event log after it; or a component or world, whose call makes its own entry. Knows no times.
 */
import { isWinterdockError, messageOf, publicMessage } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { ScheduledOutcome, ScheduleRow } from '../registry/schedules.ts';
import type { AuditContext, Sandboxes, WakeReport } from '../sandboxes/sandboxes.ts';
import { EVENT_LOG_PATH, ROTATED_EVENT_LOG_PATH } from '../vfs/event-log-files.ts';
import { eventEntry, MAX_EVENT_LOG_BYTES } from '../workbooks/event-log.ts';

/** How much of a command's output its entry keeps: the end. */
const OUTPUT_LENGTH = 4000;
/** How often an entry is added again when somebody else writes the log at the same time. */
const ATTEMPTS = 5;
/** Refusals before anything was run in the sandbox. */
const UNBEGUN = ['capacity', 'quota_exceeded', 'storage_unavailable', 'rate_limited', 'unknown_state', 'corrupt'];
const UNBEGUN_TOO = [
  'registry_unavailable',
  'missing_file',
  'archived',
  'gone',
  'capability',
  'not_found',
  'validation',
];

export interface Executed extends ScheduledOutcome {
  /** Nothing of it was done. */
  isUnbegun: boolean;
  /** What it printed: for the sandbox's own log alone. */
  output: string;
}

export type SandboxCalls = Pick<Sandboxes, 'callWorkbook' | 'exec' | 'read' | 'write'>;

type Action = Pick<ScheduleRow, 'instance' | 'target' | 'action' | 'input' | 'timeoutMs'> & {
  /** What its `timeoutMs` may be now; undefined: what the policy allows. */
  longestMs?: number | undefined;
};
type Outcome = Pick<Executed, 'error' | 'exitCode' | 'output'>;

/**
 * Runs what the schedule names. Never throws. `onWoken` is called once the sandbox has its process; `makesRoom`:
 * somebody waits for it.
 */
export async function execute(
  sandboxes: SandboxCalls,
  row: Action,
  audit: AuditContext,
  { makesRoom, onWoken }: { makesRoom: boolean; onWoken: () => void },
): Promise<Executed> {
  const started = performance.now();
  let woke: ScheduledOutcome['woke'] = null;
  const onWoke = (report: WakeReport) => {
    woke = report.woke;
    onWoken();
  };
  const run = row.target === 'command' ? runCommand : callComponents;
  try {
    const outcome = await run(sandboxes, row, audit, { makesRoom, isPatient: true, onWoke });
    const result = outcome.error === null ? 'done' : 'failed';
    return { ...outcome, result, tookMs: tookMs(started), woke, isUnbegun: false };
  } catch (thrown) {
    const error = publicMessage(thrown);
    const nothing = { exitCode: null, output: '' };
    return { ...nothing, result: 'failed', error, tookMs: tookMs(started), woke, isUnbegun: isUnbegun(thrown) };
  }
}

type CallOptions = Parameters<Sandboxes['exec']>[3];

async function runCommand(
  sandboxes: SandboxCalls,
  { instance, action, timeoutMs, longestMs }: Action,
  audit: AuditContext,
  options: CallOptions,
): Promise<Outcome> {
  const done = await sandboxes.exec(instance, { command: action, ...timeOf(timeoutMs, longestMs) }, audit, options);
  const { exitCode } = done;
  const output = endOf(`${done.stdout}${done.stderr}`);
  if (done.timedOut) return { error: 'The command ran out of time.', exitCode, output };
  return { error: exitCode === 0 ? null : `The command ended with the exit code ${exitCode}.`, exitCode, output };
}

/** Calls a component, or runs a world. What a component said of its failure stays in the sandbox's own log. */
async function callComponents(
  sandboxes: SandboxCalls,
  { instance, target, action, input, timeoutMs, longestMs }: Action,
  audit: AuditContext,
  options: CallOptions,
): Promise<Outcome> {
  const called = target === 'world' ? { component: null, world: action } : { component: action };
  const done = await sandboxes.callWorkbook(
    instance,
    { ...called, input: input ?? {}, ...timeOf(timeoutMs, longestMs) },
    audit,
    options,
  );
  const outcome = { exitCode: null, output: '' };
  if (done.timedOut) return { ...outcome, error: 'The call ran out of time.' };
  const failed = done.components.find(({ state }) => state === 'failed');
  if (failed === undefined) return { ...outcome, error: null };
  return { ...outcome, error: `The component "${failed.path}" failed: ${failed.error?.kind ?? 'component'}.` };
}

const timeOf = (timeoutMs: number | null, longestMs: number | undefined) => ({
  ...(timeoutMs === null ? {} : { timeoutMs }),
  ...(longestMs === undefined ? {} : { longestMs }),
});

function isUnbegun(error: unknown): boolean {
  if (!isWinterdockError(error)) return false;
  if (error.code === 'not_replicated') return error.extra.committed === undefined;
  return [...UNBEGUN, ...UNBEGUN_TOO].includes(error.code) || error.extra.started === false;
}

const tookMs = (started: number) => Math.round((performance.now() - started) * 100) / 100;

function endOf(output: string): string {
  return output.length <= OUTPUT_LENGTH ? output : `…${output.slice(-OUTPUT_LENGTH)}`;
}

/**
 * Adds an entry to the event log in the workspace; a full one is moved aside first. Never throws: the run itself is
 * recorded elsewhere, so a sandbox without room only lacks the entry.
 */
export async function logFiring(
  { sandboxes, log }: { sandboxes: SandboxCalls; log: Logger },
  instance: InstanceId,
  entry: Parameters<typeof eventEntry>[0],
  audit: AuditContext,
): Promise<void> {
  const text = Buffer.from(eventEntry(entry));
  try {
    for (let attempt = 1; !(await append(sandboxes, instance, text, audit)); attempt += 1) {
      if (attempt === ATTEMPTS) throw new Error('somebody else kept writing it');
    }
  } catch (error) {
    log.warn({ id: instance, error: messageOf(error) }, 'no entry in the event log');
  }
}

const VOLUME = 'workspace';

/** False when somebody else has written it meanwhile. */
async function append(
  sandboxes: SandboxCalls,
  instance: InstanceId,
  entry: Buffer,
  audit: AuditContext,
): Promise<boolean> {
  const { stat, content } = await sandboxes.read(instance, { op: 'get', volume: VOLUME, path: EVENT_LOG_PATH });
  const before = content ?? new Uint8Array();
  const newline = before.byteLength === 0 || before.at(-1) === 10 ? '' : '\n';
  try {
    const isFull = before.byteLength + entry.byteLength > MAX_EVENT_LOG_BYTES;
    if (isFull)
      await sandboxes.write(
        instance,
        { op: 'put', volume: VOLUME, path: ROTATED_EVENT_LOG_PATH, content: before },
        audit,
      );
    await sandboxes.write(
      instance,
      {
        op: 'put',
        volume: VOLUME,
        path: EVENT_LOG_PATH,
        content: isFull ? entry : Buffer.concat([before, Buffer.from(newline), entry]),
        condition: stat === null ? { ifNoneMatch: '*' } : { ifMatch: [stat.version] },
      },
      audit,
    );
    return true;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'precondition_failed') return false;
    throw error;
  }
}
