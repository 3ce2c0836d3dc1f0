/** The state map: the only copy there is. Pure; imports nothing. */

export const STATES = ['created', 'active', 'suspended', 'frozen', 'archived', 'deleted'] as const;

export type State = (typeof STATES)[number];

/** Every hop there is. The diagram, the buttons, the API's errors and the docs are made from it. */
export const TRANSITIONS: Readonly<Record<State, readonly State[]>> = {
  created: ['active'],
  active: ['suspended', 'archived'],
  suspended: ['active', 'frozen'],
  frozen: ['active', 'archived'],
  archived: ['active', 'deleted'],
  deleted: [],
};

/**
 * States that an ephemeral sandbox is not brought to: at its time it ends, and nobody files it before that. One whose
 * process ended without being asked to (a crash, a timeout, the end of the server) lies in `suspended` until the next
 * call or its time, for that is what a file without a process is called.
 */
const CLOSED_TO_EPHEMERAL: readonly State[] = ['suspended', 'frozen'];

/** What a sandbox was created as, as far as the map asks. */
export interface SandboxKind {
  ephemeral?: boolean;
}

/** Whether a sandbox of this kind may be asked to go to `to` at all, from wherever it is. */
export function mayReach(to: State, { ephemeral = false }: SandboxKind): boolean {
  return !(ephemeral && CLOSED_TO_EPHEMERAL.includes(to));
}

/** The hops that a sandbox of this kind may be asked to take from `state`. */
export function hopsFrom(state: State, kind: SandboxKind): State[] {
  return TRANSITIONS[state].filter((to) => mayReach(to, kind));
}

/** True when `value` is one of the six states. */
export function isState(value: unknown): value is State {
  return typeof value === 'string' && (STATES as readonly string[]).includes(value);
}

/** Whether the map has the hop `from` → `to`. Unknown states are invalid. */
export function transition(from: string, to: string): 'ok' | 'invalid' {
  return isState(from) && isState(to) && TRANSITIONS[from].includes(to) ? 'ok' : 'invalid';
}

/** What asks for each hop, in words, for the labels of the diagram. `auto` hops are also taken by the ladder. */
export const HOPS: readonly { from: State; to: State; verb: Verb; auto: boolean; label: string }[] = [
  { from: 'created', to: 'active', verb: 'resume', auto: false, label: 'first resume' },
  { from: 'active', to: 'suspended', verb: 'suspend', auto: true, label: 'idle' },
  { from: 'active', to: 'archived', verb: 'archive', auto: false, label: 'filed away' },
  { from: 'suspended', to: 'active', verb: 'resume', auto: false, label: 'a request lands' },
  { from: 'suspended', to: 'frozen', verb: 'freeze', auto: true, label: 'stays idle' },
  { from: 'frozen', to: 'active', verb: 'resume', auto: false, label: 'thaws' },
  { from: 'frozen', to: 'archived', verb: 'archive', auto: false, label: 'filed away' },
  { from: 'archived', to: 'active', verb: 'revive', auto: false, label: 'revived' },
  { from: 'archived', to: 'deleted', verb: 'delete', auto: false, label: 'the only exit' },
];

export const VERBS = ['resume', 'suspend', 'freeze', 'archive', 'revive', 'delete'] as const;

export type Verb = (typeof VERBS)[number];

/** The state that each verb leads to. */
export const VERB_TARGET: Readonly<Record<Verb, State>> = {
  resume: 'active',
  suspend: 'suspended',
  freeze: 'frozen',
  archive: 'archived',
  revive: 'active',
  delete: 'deleted',
};
