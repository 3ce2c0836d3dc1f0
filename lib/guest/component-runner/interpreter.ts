/** What the interpreters of components have in common: one call, and what it comes to. Types only. */
import type { Overlay } from '../../vfs/overlay.ts';
import type { ComponentFailure, ComponentSpec } from '../../workers/protocol/component-call.ts';
import type { GuestNetwork } from '../../workers/protocol/guest-network.ts';

/** One call of one component. */
export interface ComponentRun {
  component: ComponentSpec;
  /** Its text, or a WebAssembly module: asked for when the component is not loaded. */
  source: () => string | Uint8Array;
  /** An object as JSON. */
  input: string;
  /** Variables of this call alone. */
  env: Readonly<Record<string, string>>;
  files: Overlay;
  /** In milliseconds of `monotonicMs`. */
  deadline: number;
  signal: AbortSignal;
  /** For a component that declares `fetch`. */
  network: GuestNetwork;
  log: (stream: 'stdout' | 'stderr' | 'log', text: string) => void;
  /** The state that was kept last; null when there is none. Asked for when the component starts. */
  savedState: () => Uint8Array | null;
}

export type ComponentRunResult =
  /** `state`: what a component with `:persist` keeps now. */
  { ok: true; json: string | undefined; state?: Uint8Array } | ({ ok: false } & ComponentFailure);

/** The kept interpreter of one language. It runs one component at a time. */
export interface ComponentInterpreter {
  run(run: ComponentRun): Promise<ComponentRunResult>;
  /** Forgets the memory of one component: its next call starts it afresh. */
  forget(path: string): void;
  /** The components that have memory in it. */
  readonly paths: readonly string[];
  /** Drops it when no component has memory in it. */
  dropIdle(): void;
}

/** The sentence for the others when an interpreter had to be ended. */
export function lossSentence(paths: readonly string[], ended: string): string {
  const others = paths.filter((path) => path !== ended);
  if (others.length === 0) return '';
  return ` With it the memory of these components of this start is lost: ${others.join(', ')}.`;
}

/** What `:uses` grants beside files. Printing is none of them: it is in the answer of the call alone. */
export const GUARDED_USES = ['clock', 'random', 'fetch'] as const;

/** A component used a capability that it did not declare. */
export class UndeclaredUse extends Error {
  constructor(path: string, capability: string) {
    super(
      `The component "${path}" uses ${capability} and does not declare it: add ":uses ${capability}" to its header.`,
    );
  }
}
