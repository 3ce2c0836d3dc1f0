/**
 * What a workbook's source declares, as the engine knows it: languages, capabilities, and the plan. Safe for the
 * browser: imports nothing.
 */

export const WORKBOOK_LANGUAGES = ['js', 'ts', 'python', 'sh', 'wasm'] as const;
export type WorkbookLanguage = (typeof WORKBOOK_LANGUAGES)[number];

/** What a component may name in `:uses`. */
export const COMPONENT_CAPABILITIES = ['vfs', 'log', 'clock', 'random', 'fetch'] as const;
export type ComponentCapability = (typeof COMPONENT_CAPABILITIES)[number];

/** An input or output. `type`: a word of the types, with `[]` behind it for an array. */
export interface ComponentPort {
  name: string;
  type: string;
  optional: boolean;
}

/** When a component or world is due by its source: a cron expression, or a time with a repeater. */
export interface PlanSchedule {
  /** From the property `:SCHEDULE:`. */
  cron: string | null;
  timezone: string | null;
  /** From `SCHEDULED:`, in epoch seconds of its time zone. */
  at?: number | null;
  /** The repeater as org has it, for example `+1d`. */
  repeat?: string | null;
}

export interface PlanComponent {
  name: string;
  /** Names of its worlds and its own, joined by `/`. */
  path: string;
  lang: WorkbookLanguage;
  deps: string[];
  uses: ComponentCapability[];
  in: ComponentPort[];
  out: ComponentPort[];
  persist: boolean;
  /** `:persist memory`: the whole memory of a WebAssembly module is what is kept. */
  persist_memory?: boolean;
  src: string;
  /** A WebAssembly module in the workspace, in place of `src`. */
  file?: string;
  schedule: PlanSchedule | null;
  /** Line of its heading, from 1. */
  line: number;
}

/** A dependency between two siblings: components or sub-workflows. */
export interface PlanEdge {
  from: string;
  to: string;
  /** The output that goes over it; absent when only the order matters. */
  name?: string;
}

export interface PlanWorld {
  name: string;
  path: string;
  schedule: PlanSchedule | null;
  imports: ComponentPort[];
  exports: ComponentPort[];
  components: PlanComponent[];
  edges: PlanEdge[];
  workflows: PlanWorld[];
  deps: string[];
  line: number;
}

export interface WorkbookPlan {
  worlds: PlanWorld[];
}

export const PLAN_PROBLEMS = [
  'syntax',
  'name',
  'duplicate',
  'language',
  'capability',
  'dependency',
  'input',
  'output_taken',
  'type',
  'cycle',
  'component_body',
  'schedule',
  'size',
  'depth',
  'count',
] as const;

/** What is wrong at one place of a source, and what would mend it. */
export interface PlanProblem {
  code: (typeof PLAN_PROBLEMS)[number];
  message: string;
  mend: string;
  /** From 1. */
  line: number;
  column: number;
  /** Of the component or world that it is about. */
  name?: string;
}

export const UPGRADE_CHANGES = [
  'removed_component',
  'changed_output',
  'changed_input',
  'new_capability',
  'dropped_persist',
  'added_component',
  'changed_code',
] as const;

/** A difference between two versions that a docked sandbox would notice. */
export interface UpgradeChange {
  kind: (typeof UPGRADE_CHANGES)[number];
  /** The component's path. */
  component: string;
  message: string;
  breaking: boolean;
}
