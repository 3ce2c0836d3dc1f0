/**
 * Brings the files that are in the store home to this machine, for an installation that is to do without a store. Each
 * row names its local file again once that is there, verified and on disk; the objects stay where they are. What is
 * interrupted goes on where it stopped.
 */
import { isCloudAddress } from '../../base/cloud-address.ts';
import { messageOf } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import { type Engine, elapsedMs, now, systemAudit } from '../engine.ts';
import { localAddressOf } from '../files/file-locations.ts';
import { bringNear } from './bring.ts';

/** Rows read at a time. */
const PAGE = 100;

export interface HomeComing {
  /** Files that are at home now. */
  brought: number;
  /** Those that could not be brought, with the reason. */
  left: { id: InstanceId; why: string }[];
}

/** Told after each file: how many are done, and the bytes of the last one's object. */
export type HomeProgress = (done: number, bytes: number) => void;

/** Brings every one of this host. */
export async function bringHome(engine: Engine, progress: HomeProgress = () => undefined): Promise<HomeComing> {
  const { registry, runtimes, stop } = engine;
  const coming: HomeComing = { brought: 0, left: [] };
  for (let after = ''; !stop.aborted; ) {
    const rows = await registry.instances.inStore(after, PAGE);
    if (rows.length === 0) break;
    for (const { id, stored } of rows) {
      if (stop.aborted) return coming;
      try {
        const isBrought = await runtimes.use(id, (runtime) =>
          runtime.verbs.runExclusive(() => runtime.exclusive(() => bringOneHome(engine, id))),
        );
        if (!isBrought) continue;
        coming.brought += 1;
        progress(coming.brought, stored?.bytes ?? 0);
      } catch (error) {
        coming.left.push({ id, why: messageOf(error) });
      }
    }
    after = rows.at(-1)?.id ?? after;
  }
  return coming;
}

async function bringOneHome(engine: Engine, id: InstanceId): Promise<boolean> {
  const started = performance.now();
  const row = await engine.registry.instances.get(id);
  if (row === null || !isCloudAddress(row.vfsPath) || row.pending !== null) return false;
  const near = await bringNear(engine, row);
  await engine.registry.instances.commit({
    id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath: localAddressOf(engine, row.vfsPath),
    file: near.row.file,
    now: now(engine),
    ledger: [
      ledgerEntry(engine, row, systemAudit('operator'), 'file.returned', {
        source: near.isBrought ? 'cloud' : 'local',
        reason: 'it is kept on this machine again',
        tookMs: elapsedMs(started),
      }),
    ],
  });
  return true;
}
