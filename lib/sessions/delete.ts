/** Delete: the row becomes a tombstone, then the files go. */
import type { InstanceRow } from '../registry/types.ts';
import type { Engine } from './engine.ts';
import { clearLive, placeOf } from './file-locations.ts';
import { runFiling } from './filing.ts';
import { forgetArchived } from './pass-through.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';

/**
 * archived → deleted: the row first, so that a failure leaves the whole sandbox; then its files. `passing`: from
 * created, which has none.
 */
export function deleteSandbox(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  { passing = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    entry,
    cause,
    {
      verb: 'delete',
      to: 'deleted',
      ...(passing ? { through: ['active', 'archived'] } : {}),
      toPath: () => null,
      work: async () => ({ vfsPath: null, file: null, bytes: null }),
      after: async (before) => {
        await forgetArchived(engine, before.id);
        const place = placeOf(engine, before);
        if (place === 'live') await clearLive(engine, before.id);
        if (place === 'cold') await engine.cold.remove(before.id);
        engine.reached('delete.removed');
      },
    },
    true,
  );
}
