/** Names of the actors in ledger lines, as far as the visitor may know them. */
import { cache } from 'react';
import { mayDo } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller } from './caller.ts';

/** Actor to name: of people and keys whose lists the visitor may read, of nobody else. Read once per request. */
export const actorNames = cache(async (): Promise<ReadonlyMap<string, string>> => {
  const caller = await currentCaller();
  if (caller === null) return new Map();
  const { operations } = getHost();
  const [people, keys] = await Promise.all([
    mayDo(caller, 'people') ? operations.people(caller) : [],
    mayDo(caller, 'listKeys') ? operations.listKeys(caller) : [],
  ]);
  return new Map([
    ...people.map(({ id, name }): [string, string] => [`user:${id}`, name]),
    ...keys.map(({ id, name }): [string, string] => [`key:${id}`, `The key ${name}`]),
  ]);
});
