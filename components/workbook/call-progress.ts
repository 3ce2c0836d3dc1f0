/** What is known of a call while it runs. Pure. */
import type { ComponentCallAnswer, WorkflowCallAnswer } from '#lib/contract/schema.ts';

export interface CallProgress {
  /** How it woke the sandbox; null before it did. */
  woke: { woke: string; took_ms: number } | null;
  running: readonly string[];
  ended: WorkflowCallAnswer['components'];
  logs: ComponentCallAnswer['logs'];
}

export const NO_PROGRESS: CallProgress = { woke: null, running: [], ended: [], logs: [] };

/** An event of a streamed call, the last one apart. */
export type CallEvent =
  | { event: 'woke'; woke: string; took_ms: number }
  | { event: 'running'; path: string }
  | ({ event: 'log' } & ComponentCallAnswer['logs'][number])
  | ({ event: 'component' } & WorkflowCallAnswer['components'][number]);

/** Older pieces of the log make room: the whole of it comes with the answer. */
const LOGS_KEPT = 500;

export function withEvent(progress: CallProgress, { event, ...rest }: CallEvent): CallProgress {
  switch (event) {
    case 'woke':
      return { ...progress, woke: rest as { woke: string; took_ms: number } };
    case 'running':
      return { ...progress, running: [...progress.running, (rest as { path: string }).path] };
    case 'log':
      return { ...progress, logs: [...progress.logs, rest as CallProgress['logs'][number]].slice(-LOGS_KEPT) };
    case 'component': {
      const component = rest as CallProgress['ended'][number];
      const running = progress.running.filter((path) => path !== component.path);
      return { ...progress, running, ended: [...progress.ended, component] };
    }
  }
}
