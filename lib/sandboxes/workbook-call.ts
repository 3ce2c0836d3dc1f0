/** A call of the workbook that a sandbox is docked to, and what it comes to. Types only. */

import type { State } from '../lifecycle/state-map.ts';
import type { Thermal } from '../lifecycle/words.ts';
import type { ComponentLog, StepResult } from '../workers/protocol/component-call.ts';

/** A call of a component or of a world. */
export interface WorkbookCall {
  /** A name or path; null: the whole workflow. */
  component: string | null;
  /** The name or path of the world to run; absent: the only one. */
  world?: string | undefined;
  input?: Record<string, unknown> | undefined;
  timeoutMs?: number | undefined;
  /** Milliseconds that one component may have of it; default: what the policy allows. */
  longestMs?: number | undefined;
}

/** The result of one component of a call. */
export interface ComponentResult extends StepResult {
  path: string;
}

/** A piece of log, and the component that wrote it. */
export interface NamedLog extends Omit<ComponentLog, 'step'> {
  path: string;
}

/** What a call came to, its wake aside. */
export interface WorkbookCallOutcome {
  components: ComponentResult[];
  /** The exports of a workflow, as far as they came to be. */
  outputs: Record<string, unknown>;
  logs: NamedLog[];
  timedOut: boolean;
  tookMs: number;
}

/** What a caller who follows a call is told. */
export type WorkbookProgress = { running: string } | { component: ComponentResult } | { log: NamedLog };

export interface WorkbookCallOptions {
  onWoke?: (woken: { woke: Thermal; wokeMs: number; from: State | null }) => void;
  onProgress?: (progress: WorkbookProgress) => void;
  signal?: AbortSignal;
  /** As in exec. */
  makesRoom?: boolean;
  /** The time of the call is that of its run alone, and not of its wait. */
  isPatient?: boolean;
}
