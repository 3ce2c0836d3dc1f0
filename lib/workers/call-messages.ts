/** Makes the messages of calls from requests, within the limits of the profile. */

import { cappedTimeout, componentLimits } from './call-limits.ts';
import type { ComponentsCall, ComponentsRequest } from './protocol/component-call.ts';
import type { EvalRequest, ExecRequest } from './protocol/instance.ts';
import type { PolicyProfile } from './protocol/policies.ts';
import type { EvalCall, ExecCall } from './protocol/protocol.ts';

/** `streaming`: the caller follows it. */
export function execCall(request: ExecRequest, profile: PolicyProfile, streaming: boolean): ExecCall {
  const { command, cwd, env, stdin, endless = false, commitsMeanwhile = false, kept } = request;
  const timeoutMs = cappedTimeout(request, profile);
  return { kind: 'exec', command, cwd, env, stdin, timeoutMs, streaming, endless, commitsMeanwhile, kept };
}

export function evalCall(request: EvalRequest, profile: PolicyProfile): EvalCall {
  const { language, code, env, commitsMeanwhile = false } = request;
  const timeoutMs = cappedTimeout(request, profile);
  return { kind: 'eval', language, code, env, timeoutMs, commitsMeanwhile };
}

export function componentsCall(
  { workbook, steps, input, env = {}, trigger, timeoutMs, longestMs }: ComponentsRequest,
  profile: PolicyProfile,
  streaming: boolean,
): ComponentsCall {
  const limits = componentLimits(timeoutMs, steps.length, {
    timeMs: profile.timeMs,
    longestMs: longestMs ?? profile.longestMs,
  });
  return { kind: 'components', workbook, steps, input, env, trigger, ...limits, streaming };
}
