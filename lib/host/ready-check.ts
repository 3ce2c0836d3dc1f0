/** What `/readyz` asks of a host: whether it runs, its registry can be written, and its drawers take files. */
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { checkDrawers } from '../health/readiness.ts';
import type { Registry } from '../registry/registry.ts';
import type { Drawers } from '../storage/drawer.ts';

/** How long an answer is kept, in milliseconds. */
const KEPT_MS = 1000;

/** Makes the check. It throws `storage_unavailable`, and `registry_unavailable` for the database of a registry. */
export function createReadyCheck(parts: {
  config: Pick<Config, 'dataFolder'>;
  registry: Pick<Registry, 'maintenance'>;
  drawers: Drawers;
  log: Logger;
  /** Whether the engine runs. */
  isServing: () => boolean;
}): () => Promise<void> {
  const { config, registry, drawers, log, isServing } = parts;
  const check = async (): Promise<void> => {
    if (!isServing()) {
      throw new WinterdockError('storage_unavailable', 'The engine does not run.', { retryAfterSeconds: 1 });
    }
    try {
      await registry.maintenance.ping();
    } catch (error) {
      log.error({ err: error }, 'not ready');
      if (isWinterdockError(error) && error.code === 'registry_unavailable') throw error;
      throw new WinterdockError('storage_unavailable', `The registry cannot be written: ${publicMessage(error)}.`, {
        retryAfterSeconds: 5,
        cause: error,
      });
    }
    await checkDrawers(config.dataFolder, drawers).catch((error: unknown) => {
      log.error({ err: error }, 'not ready');
      throw error;
    });
  };
  let kept: { at: number; answer: Promise<void> } | null = null;
  return () => {
    if (kept === null || performance.now() - kept.at > KEPT_MS) kept = { at: performance.now(), answer: check() };
    return kept.answer;
  };
}
