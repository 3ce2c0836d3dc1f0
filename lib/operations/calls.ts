/** Operations that run code in a sandbox: exec, eval, and the attachments that keep one awake for a terminal. */
import type { Caller } from '../auth/caller.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { AttachmentAnswer, EvalAnswer, EvalInput, ExecAnswer, ExecInput } from '../contract/schema.ts';
import { LEAST_LONGEST_MS, profileOf } from '../instance/policies.ts';
import type { State } from '../lifecycle/states.ts';
import type { Registry } from '../registry/registry.ts';
import type { Runs } from '../runs/runs.ts';
import { LEASE_SECONDS } from '../sessions/attachments.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { auditContextOf } from './audit-context.ts';
import { type OutputPiece, outputsOf, pieceOf } from './call-output.ts';

export interface CallOperations {
  exec(
    caller: Caller,
    id: InstanceId,
    input: ExecInput,
    options?: {
      onWoke?: (woken: { woke: string; wokeMs: number; from: State | null }) => void;
      onOutput?: (piece: OutputPiece & { stream: 'stdout' | 'stderr' }) => void;
      signal?: AbortSignal;
      /** It has as long as a call of this sandbox may take, in place of `timeout_ms`. */
      isLongest?: boolean;
    },
  ): Promise<ExecAnswer>;
  eval(caller: Caller, id: InstanceId, input: EvalInput, signal?: AbortSignal): Promise<EvalAnswer>;
  /** Begins or renews an attachment, which holds off automatic moves while a terminal is open. Wakes nothing. */
  attach(caller: Caller, id: InstanceId, attachment: string): Promise<AttachmentAnswer>;
  /** Ends an attachment. Idempotent. */
  detach(caller: Caller, id: InstanceId, attachment: string): Promise<void>;
}

export function callOperations(parts: {
  sessions: Sessions;
  runs: Runs;
  registry: Pick<Registry, 'instances'>;
  config: Pick<Config, 'maxCallMs'>;
}): CallOperations {
  const { sessions, runs } = parts;

  /** The longest time that a call of a sandbox may ask for, in milliseconds; null for a sandbox that is not there. */
  const longestMs = async (id: InstanceId): Promise<number | null> => {
    const row = await parts.registry.instances.get(id);
    return row && Math.min(profileOf(row.policy).longestMs, parts.config.maxCallMs);
  };

  /** Throws `validation` for a longer time than a call of this sandbox may ask for. */
  const requireTime = async (id: InstanceId, timeoutMs: number | undefined) => {
    // Every policy allows that much.
    if (timeoutMs === undefined || timeoutMs <= Math.min(LEAST_LONGEST_MS, parts.config.maxCallMs)) return;
    const most = await longestMs(id);
    if (most === null || timeoutMs <= most) return;
    throw new WinterdockError('validation', `A call in "${id}" may take ${most} ms at most.`, {
      hint: 'Its policy and WB_MAX_CALL_MS say how long. A run (POST /instances/:id/runs) may take longer.',
      extra: { errors: [{ path: 'timeout_ms', message: `must be at most ${most}` }] },
    });
  };

  return {
    async exec(
      caller,
      id,
      { command, cwd, env, encoding, timeout_ms: timeoutMs, ...input },
      { onOutput, isLongest = false, ...options } = {},
    ) {
      await requireTime(id, timeoutMs);
      const time = { timeoutMs: isLongest ? ((await longestMs(id)) ?? undefined) : timeoutMs };
      const request = { command, cwd, env, stdin: stdinOf(input), ...time };
      const audit = auditContextOf(caller);
      const done = await sessions.exec(id, request, audit, {
        ...options,
        onJob: runs.jobs.hostFor(id, audit),
        ...(onOutput && { onOutput: ({ stream, text }) => onOutput({ stream, ...pieceOf(text, encoding) }) }),
      });
      return {
        exit_code: done.exitCode,
        ...outputsOf(done, encoding),
        cwd: done.cwd,
        timed_out: done.timedOut,
        truncated: done.truncated,
        took_ms: done.tookMs,
        woke: done.woke,
      };
    },

    async eval(caller, id, { language, code, encoding, timeout_ms: timeoutMs }, signal) {
      await requireTime(id, timeoutMs);
      const done = await sessions.eval(
        id,
        { language, code, timeoutMs },
        auditContextOf(caller),
        signal ? { signal } : {},
      );
      return {
        ok: done.ok,
        ...(done.value === undefined ? {} : { value: done.value }),
        ...outputsOf(done, encoding),
        ...(done.error === undefined ? {} : { error: done.error }),
        timed_out: done.timedOut,
        took_ms: done.tookMs,
        woke: done.woke,
      };
    },

    async attach(_caller, id, attachment) {
      await sessions.attach(id, attachment);
      return { attachment, lease_s: LEASE_SECONDS };
    },

    async detach(_caller, id, attachment) {
      sessions.detach(id, attachment);
    },
  };
}

function stdinOf({ stdin, stdin_base64 }: Pick<ExecInput, 'stdin' | 'stdin_base64'>): Uint8Array | undefined {
  if (stdin_base64 !== undefined) return Buffer.from(stdin_base64, 'base64');
  return stdin === undefined ? undefined : Buffer.from(stdin);
}
