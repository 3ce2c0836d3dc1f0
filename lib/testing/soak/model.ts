/**
 * For tests: the expected state after all answered and all lost commands. Concurrent commands on one sandbox may have
 * happened in any order; a command that ran alone happened as it was answered. Knows nothing of HTTP.
 */
import type { State } from '../../lifecycle/state-map.ts';
import { ABSENT, digestOf, type Kept } from '../whole.ts';
import type { Step } from './commands.ts';

/** The state of a sandbox, as far as a command decided it; the ladder moves a `live` one by itself. */
export type Life = 'none' | 'created' | 'live' | 'archived' | 'deleted';

/** What a file may hold: digests, or ABSENT. */
export type Files = Map<string, ReadonlySet<string>>;

export interface Box {
  id: string;
  lives: ReadonlySet<Life>;
  files: Files;
  /** It is never frozen, and suspended by nobody: only its process may end. */
  ephemeral: boolean;
}

/** A snapshot or a blueprint. */
export interface Copy {
  kind: 'snapshot' | 'blueprint';
  id: string;
  files: Files;
}

const STATES_OF: Record<Life, readonly State[]> = {
  none: [],
  created: ['created'],
  live: ['active', 'suspended', 'frozen'],
  archived: ['archived'],
  deleted: ['deleted'],
};

/** The life that a state shows. */
export function lifeOf(state: State): Life {
  return state === 'created' || state === 'archived' || state === 'deleted' ? state : 'live';
}

/** What a command did to one sandbox. */
export interface Effect {
  box: Box;
  /** `done`: it was answered as done. `maybe`: it may have happened, wholly or in part. `refused`: it did not. */
  how: 'done' | 'maybe' | 'refused';
  /** What it writes, in order. */
  steps: readonly Step[];
  /** Where the sandbox is when it is done; null when it may be anywhere that it was before. */
  life: Life | null;
  /** What it read, to be compared: a name and a digest or ABSENT. */
  saw?: { name: string; digest: string };
  /** Is told what the sandbox held when it ran: the contents of a copy. */
  taken?: (files: Files) => void;
}

/** The content that a number stands for in commands. */
export function textOf(salt: number): string {
  return `s${salt}`;
}

/** The content that a number stands for in uploads. */
export function bytesOf(salt: number, bytes: number): Buffer {
  return Buffer.alloc(bytes, `${textOf(salt)} `);
}

/** Takes a write whose content is known by its digest as a step. */
export function wrote(name: string, digest: string): Step & { digest: string } {
  return { op: 'write', name, salt: 0, digest };
}

const union = (...sets: (Iterable<string> | undefined)[]): Set<string> =>
  new Set(sets.flatMap((set) => [...(set ?? [])]));
const NOTHING: ReadonlySet<string> = new Set([ABSENT]);

/** What is there after the steps, and all that may be there when only some of them happened. */
function follow(
  steps: readonly Step[],
  before: (name: string) => ReadonlySet<string>,
): { after: Files; through: Files } {
  const after: Files = new Map();
  const through: Files = new Map();
  const now = (name: string) => after.get(name) ?? before(name);
  const put = (name: string, values: ReadonlySet<string>) => {
    after.set(name, values);
    through.set(name, union(through.get(name), values));
  };
  for (const step of steps) {
    if (step.op === 'write') {
      put(step.name, new Set(['digest' in step ? String(step.digest) : digestOf(textOf(step.salt))]));
    } else if (step.op === 'remove') {
      put(step.name, NOTHING);
    } else {
      const values = new Set(now(step.name));
      values.delete(ABSENT);
      put(step.to, values);
      if (step.op === 'move') put(step.name, NOTHING);
    }
  }
  return { after, through };
}

/**
 * Takes the effects of commands that ran beside each other into their sandboxes. Returns what contradicts what was
 * there.
 */
export function takeIn(effects: readonly Effect[]): string[] {
  const boxes = new Set(effects.map(({ box }) => box));
  return [...boxes].flatMap((box) =>
    takeInOne(
      box,
      effects.filter((effect) => effect.box === box),
    ),
  );
}

function takeInOne(box: Box, effects: readonly Effect[]): string[] {
  const findings: string[] = [];
  const held = (files: Files) => (name: string) => files.get(name) ?? NOTHING;
  const happened = effects.filter(({ how }) => how !== 'refused');
  const alone = effects.length === 1;

  // Everything that any of them may have seen: a second round, as one may move what another wrote.
  let loose: Files = new Map(box.files);
  for (let round = 0; round < 2 && !alone; round += 1) {
    const wider: Files = new Map(loose);
    for (const { steps } of happened) {
      for (const [name, values] of follow(steps, held(loose)).through)
        wider.set(name, union(held(wider)(name), values));
    }
    loose = wider;
  }
  for (const { saw, taken } of happened) {
    if (saw !== undefined && !held(loose)(saw.name).has(saw.digest)) {
      findings.push(`${box.id}: ${saw.name} read ${saw.digest}, not ${[...held(loose)(saw.name)].join(' or ')}`);
    }
    if (saw !== undefined && alone) box.files.set(saw.name, new Set([saw.digest]));
    taken?.(new Map(loose));
  }

  const sure = new Map<string, Set<string>>();
  const possible = new Map<string, Set<string>>();
  for (const { how, steps } of happened) {
    const { after, through } = follow(steps, held(loose));
    const into = how === 'done' ? sure : possible;
    for (const [name, values] of how === 'done' ? after : through) into.set(name, union(into.get(name), values));
  }
  for (const name of new Set([...sure.keys(), ...possible.keys()])) {
    const before = sure.has(name) ? [] : held(box.files)(name);
    box.files.set(name, union(before, sure.get(name), possible.get(name)));
  }

  const decided = happened.filter(({ life }) => life !== null);
  const lives = new Set<Life>(decided.map(({ life }) => life as Life));
  const settled = decided.some(({ how }) => how === 'done');
  box.lives = settled ? lives : new Set([...box.lives, ...lives]);
  // One that was refused for what happened beside it may have been woken meanwhile.
  if (effects.some(({ how, life }) => how === 'refused' && life !== null) && box.lives.has('created')) {
    box.lives = new Set([...box.lives, 'live']);
  }
  return findings;
}

/** A sandbox as it has to be found. */
export function keptOf({ lives, files, ephemeral }: Box): Kept {
  const states = [...lives].flatMap((life) => STATES_OF[life]).filter((state) => !(ephemeral && state === 'frozen'));
  return { states: new Set(states), files };
}
