/**
 * The names of those who act: people and API keys, by the ids that the ledger has for them. It decides nothing about
 * who may know a name: whoever may see an act may know who did it, so callers ask only about acts that they may see.
 */
import type { KeyStore } from '../registry/keys.ts';
import type { PeopleStore } from '../registry/people.ts';

export interface ActorDirectory {
  /** The name of an actor, as far as it is known in memory; null for an unknown one and for one without a name. */
  nameOf(actor: string): string | null;
  /** Looks up those that are not in memory, so that `nameOf` knows them. */
  load(actors: Iterable<string>): Promise<void>;
  /** A name that was just read, made or changed. */
  learn(actor: string, name: string): void;
  /** Names may have changed: `load` looks each of them up again, and until then they are the ones that were. */
  forget(): void;
}

/** Names in memory. Beyond them the oldest is dropped, and looked up again when it is asked for. */
const MOST = 20_000;
const PERSON = 'user:';
const KEY = 'key:';

export function createActorDirectory(registry: {
  people: Pick<PeopleStore, 'find'>;
  keys: Pick<KeyStore, 'get'>;
}): ActorDirectory {
  const known = new Map<string, { name: string | null; term: number }>();
  /** Grows when names are to be looked up again. */
  let term = 0;
  const isKnown = (actor: string) => known.get(actor)?.term === term;

  const learn = (actor: string, name: string | null, learned = term) => {
    known.delete(actor);
    if (known.size >= MOST) known.delete(known.keys().next().value ?? '');
    known.set(actor, { name, term: learned });
  };

  const readName = async (actor: string): Promise<string | null> => {
    if (actor.startsWith(PERSON)) {
      const id = actor.slice(PERSON.length);
      const person = await registry.people.find('user', [{ field: 'id', operator: 'eq', value: id, connector: 'and' }]);
      return typeof person?.name === 'string' ? person.name : null;
    }
    return (await registry.keys.get(actor.slice(KEY.length)))?.name ?? null;
  };

  return {
    nameOf: (actor) => known.get(actor)?.name ?? null,
    async load(actors) {
      const missing = [...new Set(actors)].filter(
        (actor) => !isKnown(actor) && (actor.startsWith(PERSON) || (actor.startsWith(KEY) && actor !== 'key:admin')),
      );
      await Promise.all(
        missing.map(async (actor) => {
          const begun = term;
          const name = await readName(actor);
          // One that was learned meanwhile is newer than what was read.
          if (!isKnown(actor)) learn(actor, name, begun);
        }),
      );
    },
    learn: (actor, name) => learn(actor, name),
    forget() {
      term += 1;
    },
  };
}
