/**
 * Names of those who acted, for the pages. Whoever may see an act may know who did it, so a page asks only about acts
 * that it was allowed to read.
 */
import { cache } from 'react';
import type { ActorNames } from '#components/ledger/event-words.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Event } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller } from './caller.ts';

/** The names of these actors; the visitor is `You`, except under the admin key, which is nobody in particular. */
export async function actorNames(actors: Iterable<string> = []): Promise<ActorNames> {
  const asked = [...new Set(actors)];
  const directory = getHost().auth.actors;
  const [caller] = await Promise.all([currentCaller(), directory.load(asked)]);
  const names = new Map<string, string>();
  for (const actor of asked) {
    const name = directory.nameOf(actor);
    if (name !== null) names.set(actor, actor.startsWith('key:') ? `The key ${name}` : name);
  }
  if (caller !== null && caller.actor !== 'key:admin') names.set(caller.actor, 'You');
  return names;
}

/** The names for lines of the ledger: of who acted, and of the people that their reasons mention. */
export function lineNames(lines: readonly Pick<Event, 'actor' | 'reason'>[]): Promise<ActorNames> {
  return actorNames(lines.flatMap(({ actor, reason }) => [actor, ...(reason?.match(/\buser:[\w-]+/g) ?? [])]));
}

/** All people and keys by actor, for a visitor who may list them; of others nobody. Read once per request. */
export const listedActors = cache(async (): Promise<ActorNames> => {
  const caller = await currentCaller();
  if (caller === null) return new Map();
  const { operations } = getHost();
  const [people, keys] = await Promise.all([
    mayDo(caller, 'people') ? operations.people(caller) : [],
    mayDo(caller, 'listKeys') ? operations.listKeys(caller) : [],
  ]);
  const isShared = (name: string) => people.filter((person) => person.name === name).length > 1;
  return new Map([
    ...people.map(({ id, name, email }): [string, string] => [
      `user:${id}`,
      isShared(name) ? `${name} (${email})` : name,
    ]),
    ...keys.map(({ id, name }): [string, string] => [`key:${id}`, `The key ${name}`]),
  ]);
});
