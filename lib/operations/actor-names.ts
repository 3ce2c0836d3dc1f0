/**
 * Names beside the ids of those who acted, on what operations answer. Whoever may see an act may know who did it, so
 * it asks for no right of its own.
 */
import type { ActorDirectory } from '../auth/actor-directory.ts';

type Named<Item, Key extends string> = Item & Record<`${Key}_name`, string | null>;

/** Adds `actor_name` beside `actor`, or `created_by_name` beside `created_by`. */
export async function withActorNames<Key extends string, Item extends Record<Key, string>>(
  actors: ActorDirectory,
  key: Key,
  items: readonly Item[],
): Promise<Named<Item, Key>[]> {
  await actors.load(items.map((item) => item[key]));
  return items.map((item) => ({ ...item, [`${key}_name`]: actors.nameOf(item[key]) }) as Named<Item, Key>);
}

/** The same for one. */
export async function withActorName<Key extends string, Item extends Record<Key, string>>(
  actors: ActorDirectory,
  key: Key,
  item: Item,
): Promise<Named<Item, Key>> {
  const [named] = await withActorNames(actors, key, [item]);
  return named as Named<Item, Key>;
}
