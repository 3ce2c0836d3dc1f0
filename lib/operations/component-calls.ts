/** Operations that call the components of the workbook that a sandbox is docked to. */
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type {
  ComponentCallAnswer,
  ComponentCallInput,
  WorkflowCallAnswer,
  WorkflowCallInput,
} from '../contract/schema.ts';
import type { Sandboxes, WakeReport } from '../sandboxes/sandboxes.ts';
import type {
  ComponentResult,
  NamedLog,
  WorkbookCallOptions,
  WorkbookCallOutcome,
} from '../sandboxes/workbook-call.ts';
import { auditContextOf } from './audit-context.ts';
import { type CallTimeParts, longestFor, requireAtMost } from './call-time.ts';

export interface ComponentCallOperations {
  /** Calls one component, by its name or path. */
  callComponent(
    caller: Caller,
    id: InstanceId,
    component: string,
    input: ComponentCallInput,
    options?: WorkbookCallOptions,
  ): Promise<ComponentCallAnswer>;
  /** Runs a workflow: its components in the order of their dependencies. */
  callWorkflow(
    caller: Caller,
    id: InstanceId,
    input: WorkflowCallInput,
    options?: WorkbookCallOptions,
  ): Promise<WorkflowCallAnswer>;
}

export function componentCallOperations(parts: CallTimeParts & { sandboxes: Sandboxes }): ComponentCallOperations {
  const { sandboxes, config } = parts;

  /** The whole may take what the server allows; what one of them may take is looked up. */
  const timeOf = async (caller: Caller, id: InstanceId, timeoutMs: number | undefined) => {
    if (timeoutMs === undefined) return {};
    requireAtMost(timeoutMs, config.maxCallMs, id);
    return { timeoutMs, longestMs: (await longestFor(parts, caller, id)) ?? undefined };
  };

  return {
    async callComponent(caller, id, component, { input, timeout_ms: timeoutMs }, options = {}) {
      const call = { component, input, ...(await timeOf(caller, id, timeoutMs)) };
      const outcome = await sandboxes.callWorkbook(id, call, auditContextOf(caller), options);
      const [result] = outcome.components;
      if (result === undefined) throw new Error('A call of a component has no result.');
      const { output, error } = componentAnswer(result);
      return { ...(output === undefined ? {} : { output }), ...(error && { error }), ...answerOf(outcome) };
    },

    async callWorkflow(caller, id, { input, timeout_ms: timeoutMs, world }, options = {}) {
      const call = { component: null, world, input, ...(await timeOf(caller, id, timeoutMs)) };
      const outcome = await sandboxes.callWorkbook(id, call, auditContextOf(caller), options);
      return { outputs: outcome.outputs, components: outcome.components.map(componentAnswer), ...answerOf(outcome) };
    },
  };
}

/** One component as the contract has it. */
export function componentAnswer(result: ComponentResult): WorkflowCallAnswer['components'][number] {
  const { path, state, json, error, because, tookMs } = result;
  const answer: WorkflowCallAnswer['components'][number] = { path, state, took_ms: tookMs };
  if (json !== undefined) answer.output = JSON.parse(json) as unknown;
  if (error !== undefined) answer.error = { ...error, component: path };
  if (because !== undefined) answer.because = because;
  return answer;
}

export function logAnswer({ stream, text, path }: NamedLog): ComponentCallAnswer['logs'][number] {
  return { stream, text, component: path };
}

function answerOf({ logs, timedOut, tookMs, woke }: WorkbookCallOutcome & WakeReport) {
  return { logs: logs.map(logAnswer), timed_out: timedOut, took_ms: tookMs, woke };
}
