/** Operations that run code in a sandbox: exec, eval, and the attachments that keep one awake for a terminal. */
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type { AttachmentAnswer, EvalAnswer, EvalInput, ExecAnswer, ExecInput } from '../contract/schema.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Runs } from '../runs/runs.ts';
import { LEASE_SECONDS } from '../sandboxes/attachments.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { auditContextOf } from './audit-context.ts';
import { type OutputPiece, outputsOf, pieceOf } from './call-output.ts';
import { allowedTime, type CallTimeParts, longestFor } from './call-time.ts';

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

export function callOperations(parts: CallTimeParts & { sandboxes: Sandboxes; runs: Runs }): CallOperations {
  const { sandboxes, runs } = parts;

  return {
    async exec(
      caller,
      id,
      { command, cwd, env, encoding, timeout_ms: timeoutMs, ...input },
      { onOutput, isLongest = false, ...options } = {},
    ) {
      const longestMs = isLongest ? await longestFor(parts, caller, id) : null;
      const time =
        longestMs === null ? await allowedTime(parts, caller, id, timeoutMs) : { timeoutMs: longestMs, longestMs };
      const request = { command, cwd, env, stdin: stdinOf(input), ...time };
      const audit = auditContextOf(caller);
      const done = await sandboxes.exec(id, request, audit, {
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
      const done = await sandboxes.eval(
        id,
        { language, code, ...(await allowedTime(parts, caller, id, timeoutMs)) },
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
      await sandboxes.attach(id, attachment);
      return { attachment, lease_s: LEASE_SECONDS };
    },

    async detach(_caller, id, attachment) {
      sandboxes.detach(id, attachment);
    },
  };
}

function stdinOf({ stdin, stdin_base64 }: Pick<ExecInput, 'stdin' | 'stdin_base64'>): Uint8Array | undefined {
  if (stdin_base64 !== undefined) return Buffer.from(stdin_base64, 'base64');
  return stdin === undefined ? undefined : Buffer.from(stdin);
}
