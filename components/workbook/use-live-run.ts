'use client';
/** Runs a component or a workflow through the API and follows it, in place of the form's own action. */
import { useEffect, useRef, useState } from 'react';
import type { ComponentPort } from '#lib/contract/schema.ts';
import type { ActionOutcome } from '../ui/outcome.tsx';
import { type CallProgress, NO_PROGRESS, withEvent } from './call-progress.ts';
import { fieldOf, typedInputs } from './port-values.ts';
import type { RunState } from './run-state.ts';

/** What is called: a component of a sandbox, or a whole workflow. */
export interface CallTarget {
  sandbox: string;
  kind: 'component' | 'world';
  path: string;
}

interface LiveRun {
  /** While it runs. */
  progress: CallProgress | null;
  /** Once it has ended; null: the form's own state counts. */
  state: RunState | null;
  start(form: FormData): void;
  stop(): void;
}

function problemIn(error: unknown): ActionOutcome {
  const { detail, hint } = error as { detail?: string; hint?: string };
  if (detail !== undefined) return { ok: false, says: detail, hint };
  return {
    ok: false,
    says: 'The connection ended before the call did.',
    hint: 'What it kept until then is kept. Look at the last results before running it again.',
  };
}

export function useLiveRun(target: CallTarget, ports: readonly ComponentPort[]): LiveRun {
  const [progress, setProgress] = useState<CallProgress | null>(null);
  const [state, setState] = useState<RunState | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const follow = async (input: Record<string, unknown>, signal: AbortSignal): Promise<RunState['result']> => {
    const { createClient } = await import('#lib/client/client.ts');
    const api = createClient({ url: '', key: null, retries: 0 });
    const { sandbox, kind, path } = target;
    if (kind === 'component') {
      for await (const event of api.callComponentStream(sandbox, path, { input }, { signal })) {
        if (event.event === 'result') return { component: event };
        setProgress((before) => before && withEvent(before, event));
      }
      return null;
    }
    for await (const event of api.callWorkflowStream(sandbox, { input, world: path }, { signal })) {
      if (event.event === 'result') return { workflow: event };
      setProgress((before) => before && withEvent(before, event));
    }
    return null;
  };

  const run = async (form: FormData) => {
    const textOf = (field: string) => String(form.get(field) ?? '');
    const values = Object.fromEntries(ports.map((port) => [port.name, textOf(fieldOf(port))]));
    const { input, errors } = typedInputs(ports, textOf);
    if (Object.keys(errors).length > 0) return setState({ values, errors, problem: null, result: null });
    const stop = new AbortController();
    running.current = stop;
    setState({ values, errors: {}, problem: null, result: null });
    setProgress(NO_PROGRESS);
    try {
      const result = await follow(input, stop.signal);
      setState({ values, errors: {}, problem: result === null ? problemIn({}) : null, result });
    } catch (error) {
      const problem = stop.signal.aborted ? { ok: false, says: 'It was stopped.' } : problemIn(error);
      setState({ values, errors: {}, problem, result: null });
    } finally {
      running.current = null;
      setProgress(null);
    }
  };

  return {
    progress,
    state,
    start(form) {
      if (running.current === null) void run(form);
    },
    stop: () => running.current?.abort(),
  };
}
