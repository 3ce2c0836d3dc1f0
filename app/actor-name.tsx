/** The name of one actor, of an act that the page was allowed to read. */
import { nameOfActor, withinSentence } from '#components/ledger/event-words.ts';
import { actorNames } from './actor-names.ts';

/** `within`: not at the beginning of a sentence. */
export async function ActorName({ actor, within = false }: { actor: string; within?: boolean }) {
  const name = nameOfActor(actor, await actorNames([actor]));
  return within ? withinSentence(name) : name;
}
