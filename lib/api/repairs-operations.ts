/** The operations about damaged files over the real engine: contract input in, contract objects out. */
import type { Repairs } from '../repairs.ts';
import { causeOf } from './cause.ts';
import type { RepairsOperations } from './operations/repairs.ts';

/** Makes them. */
export function repairsOperations({ repairs }: { repairs: Repairs }): RepairsOperations {
  return {
    raw: (caller, id, { part, reason }, signal) => repairs.raw(id, part, causeOf(caller, reason), signal),
  };
}
