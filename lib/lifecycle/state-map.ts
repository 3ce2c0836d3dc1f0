/** The state map: one table of hops, and everything else about states derived from it. Pure; imports nothing. */

export const STATES = ['created', 'active', 'suspended', 'frozen', 'archived', 'deleted'] as const;

export type State = (typeof STATES)[number];

/**
 * Every hop of the map, by the verb that asks for it. `auto`: the ladder takes the hop too. `label`: what leads to it,
 * for the diagram. Verbs, their targets and the transitions of each state are derived from this table.
 */
export const HOPS = [
  { verb: 'resume', from: 'created', to: 'active', auto: false, label: 'first resume' },
  { verb: 'resume', from: 'suspended', to: 'active', auto: false, label: 'a request lands' },
  { verb: 'resume', from: 'frozen', to: 'active', auto: false, label: 'thaws' },
  { verb: 'suspend', from: 'active', to: 'suspended', auto: true, label: 'idle' },
  { verb: 'freeze', from: 'suspended', to: 'frozen', auto: true, label: 'stays idle' },
  { verb: 'archive', from: 'active', to: 'archived', auto: false, label: 'filed away' },
  { verb: 'archive', from: 'frozen', to: 'archived', auto: false, label: 'filed away' },
  { verb: 'revive', from: 'archived', to: 'active', auto: false, label: 'revived' },
  { verb: 'delete', from: 'archived', to: 'deleted', auto: false, label: 'the only exit' },
] as const satisfies readonly { verb: string; from: State; to: State; auto: boolean; label: string }[];

type Hop = (typeof HOPS)[number];

export type Verb = Hop['verb'];

/** Each verb once, in the order of the table. */
export const VERBS: readonly Verb[] = [...new Set(HOPS.map(({ verb }) => verb))];

/** The state that each verb leads to. */
export const VERB_TARGET = Object.fromEntries(HOPS.map(({ verb, to }) => [verb, to])) as Readonly<{
  [V in Verb]: Extract<Hop, { verb: V }>['to'];
}>;

/** The verbs that start a process. */
export const WAKE_VERBS: readonly Verb[] = VERBS.filter((verb) => VERB_TARGET[verb] === 'active');

/** The states that the ladder moves a sandbox to. */
export type LadderTarget = Extract<Hop, { auto: true }>['to'];

/** The states that each state has a hop to. */
export const TRANSITIONS = Object.fromEntries(
  STATES.map((state): [State, readonly State[]] => [
    state,
    HOPS.filter(({ from }) => from === state).map(({ to }) => to),
  ]),
) as Readonly<Record<State, readonly State[]>>;

/**
 * States that nobody brings an ephemeral sandbox to: it ends at its timeout and is not filed before. It lies in
 * `suspended` all the same when its process ended by itself (a crash, a timeout, the end of the server), until the next
 * call or its timeout.
 */
const CLOSED_TO_EPHEMERAL: readonly State[] = ['suspended', 'frozen'];

/** What the map asks about a sandbox besides its state. */
export interface SandboxKind {
  ephemeral?: boolean;
}

/** Whether somebody may bring a sandbox of this kind to the state `to`, from any other. */
export function mayReach(to: State, { ephemeral = false }: SandboxKind): boolean {
  return !(ephemeral && CLOSED_TO_EPHEMERAL.includes(to));
}

/** The states that somebody may bring a sandbox of this kind to by one hop. */
export function hopsFrom(state: State, kind: SandboxKind): State[] {
  return TRANSITIONS[state].filter((to) => mayReach(to, kind));
}

/** Whether `value` is one of the six states. */
export function isState(value: unknown): value is State {
  return typeof value === 'string' && (STATES as readonly string[]).includes(value);
}

/** Whether the map has the hop `from` → `to`. An unknown state is invalid. */
export function transition(from: string, to: string): 'ok' | 'invalid' {
  return isState(from) && isState(to) && TRANSITIONS[from].includes(to) ? 'ok' : 'invalid';
}
