/**
 * What the server sends a worker to run components, and what comes back. Types, and the checks of what came back. A
 * call of one component is a workflow of one step. Knows nothing of interpreters.
 */
import { countJsonValues, MOST_JSON_VALUES } from '../../base/json-weight.ts';
import type { ComponentCapability, ComponentPort, WorkbookLanguage } from '../../workbooks/types.ts';

/** A component as its worker needs it. */
export interface ComponentSpec {
  /** Names of its worlds and its own, joined by `/`. */
  path: string;
  lang: WorkbookLanguage;
  /** Names what it is made of: a component of another hash is another one. */
  hash: string;
  /** Absent when the process has it already, by its hash, and for a `file`. */
  src?: string;
  /** A WebAssembly module in the workspace. */
  file?: string;
  uses: readonly ComponentCapability[];
  in: readonly ComponentPort[];
  out: readonly ComponentPort[];
  /** `memory`: the whole memory of a WebAssembly module. */
  persist: 'no' | 'state' | 'memory';
}

/** Where one input of a step comes from: an input of the call, or an output of an earlier step. */
interface StepInput {
  name: string;
  from: { input: string } | { step: number; output: string };
}

export interface ComponentStep {
  component: ComponentSpec;
  /** Steps, by number, that must be done before. */
  after: readonly number[];
  /** Null: it gets the whole input of the call. */
  inputs: readonly StepInput[] | null;
}

export interface ComponentsRequest {
  workbook: { id: string; version: number };
  steps: readonly ComponentStep[];
  /** An object as JSON. */
  input: string;
  /** Variables of every step. Default: none. */
  env?: Readonly<Record<string, string>>;
  /** What started it: for the event log. */
  trigger: string;
  /** Milliseconds for the whole call. */
  timeoutMs?: number;
  /** Milliseconds that one step may have of it at most; default: what its profile allows. */
  longestMs?: number;
}

/** The call as its worker gets it. */
export interface ComponentsCall extends Omit<ComponentsRequest, 'timeoutMs' | 'longestMs'> {
  kind: 'components';
  timeoutMs: number;
  /** Milliseconds that one step may take. */
  stepMs: number;
  /** Whether the caller follows it: then progress is sent. */
  streaming: boolean;
}

const COMPONENT_FAULTS = [
  'input',
  'output',
  'capability',
  'component',
  'timeout',
  'memory',
  'state',
  'dependency',
] as const;
type ComponentFault = (typeof COMPONENT_FAULTS)[number];

export interface ComponentFailure {
  kind: ComponentFault;
  message: string;
}

/** A piece of what a component printed or logged. */
export interface ComponentLog {
  stream: 'stdout' | 'stderr' | 'log';
  text: string;
  /** The number of its step. */
  step: number;
}

export interface StepResult {
  state: 'done' | 'failed' | 'skipped';
  /** Absent when it has no output. */
  json?: string;
  error?: ComponentFailure;
  /** Why it was skipped. */
  because?: string;
  tookMs: number;
}

export interface ComponentsResult {
  /** One a step, in their order. */
  steps: StepResult[];
  logs: ComponentLog[];
  timedOut: boolean;
  tookMs: number;
}

/** What happens while a call runs. */
export type ComponentProgress =
  | { step: number; state: 'running' }
  | ({ step: number } & StepResult)
  | { log: ComponentLog };

const STATES = ['done', 'failed', 'skipped'] as const;
const STREAMS = ['stdout', 'stderr', 'log'] as const;
/** Most steps of one call, and most pieces of log in one message. */
const MAX_PARTS = 100_000;
/** Characters of one text: an output may have 4 MiB. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Most bytes and JSON values of all outputs of one call: one message holds them (channel.ts), and one answer. */
export const MAX_OUTPUTS = { bytes: 4 * 1024 * 1024, values: MOST_JSON_VALUES };

type Fields = Record<string, unknown>;

/** A result from a worker, with its known fields alone, or null when it is none. */
export function parseComponentsResult(value: unknown): ComponentsResult | null {
  if (!isFields(value)) return null;
  const { steps, logs, timedOut, tookMs } = value;
  if (!Array.isArray(steps) || !Array.isArray(logs) || steps.length > MAX_PARTS || logs.length > MAX_PARTS) return null;
  const [parsedSteps, parsedLogs] = [steps.map(parseStep), logs.map(parseLog)];
  if (parsedSteps.includes(null) || parsedLogs.includes(null)) return null;
  let values = 0;
  for (const step of parsedSteps) values += countJsonValues(step?.json ?? '');
  if (values > MAX_OUTPUTS.values) return null;
  if (typeof timedOut !== 'boolean' || !Number.isFinite(tookMs)) return null;
  return {
    steps: parsedSteps as StepResult[],
    logs: parsedLogs as ComponentLog[],
    timedOut,
    tookMs: tookMs as number,
  };
}

/** Progress from a worker, or null when it is none. */
export function parseComponentProgress(value: unknown): ComponentProgress | null {
  if (!isFields(value)) return null;
  if ('log' in value) {
    const log = parseLog(value.log);
    return log === null ? null : { log };
  }
  const { step, state } = value;
  if (!isIndex(step)) return null;
  if (state === 'running') return { step, state };
  const parsed = parseStep(value);
  return parsed === null ? null : { step, ...parsed };
}

function parseStep(value: unknown): StepResult | null {
  if (!isFields(value)) return null;
  const { state, json, error, because, tookMs } = value;
  if (!isOneOf(STATES, state) || !Number.isFinite(tookMs) || !isTextOrAbsent(json) || !isTextOrAbsent(because))
    return null;
  if (json !== undefined && countJsonValues(json) > MAX_OUTPUTS.values) return null;
  const result: StepResult = { state, tookMs: tookMs as number };
  if (json !== undefined) result.json = json;
  if (because !== undefined) result.because = because;
  if (error === undefined) return result;
  if (!isFields(error) || !isOneOf(COMPONENT_FAULTS, error.kind) || !isText(error.message)) return null;
  return { ...result, error: { kind: error.kind, message: error.message } };
}

function parseLog(value: unknown): ComponentLog | null {
  if (!isFields(value)) return null;
  const { stream, text, step } = value;
  return isOneOf(STREAMS, stream) && isText(text) && isIndex(step) ? { stream, text, step } : null;
}

function isOneOf<T extends string>(names: readonly T[], value: unknown): value is T {
  return (names as readonly unknown[]).includes(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isText(value);
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
