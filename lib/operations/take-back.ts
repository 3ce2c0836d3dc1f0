/** Takes one file or folder back from a moment: read in the past, written in the present, one line of the ledger. */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { TakeBackInput, TakenBack } from '../contract/schema.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { VOLUME_CONTRACTS, type Volume } from '../vfs/volumes.ts';
import { auditContextOf } from './audit-context.ts';
import { endOfMoment, openPast } from './moments.ts';

interface TakeBackParts {
  config: Pick<Config, 'maxFileBytes'>;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'past' | 'write'>;
  clock: Clock;
}

/** Throws `not_found`, `moment_gone`, `too_large`, `validation` for tmp, and what a write throws. */
export async function takeFromPast(
  parts: TakeBackParts,
  caller: Caller,
  id: InstanceId,
  volume: Volume,
  { path, time, moment, reason }: TakeBackInput,
): Promise<TakenBack> {
  if (!VOLUME_CONTRACTS[volume].survivesResume) {
    throw new WinterdockError('validation', `What was in ${volume} is not taken back: it is gone at every wake.`, {
      hint: 'Read it as of the moment, and write it where it stays.',
    });
  }
  const atMs = moment === undefined ? endOfMoment(time ?? 0) : await timeOfNamed(parts, id, moment);
  const found = await openPast(parts.sandboxes, id, atMs, async ({ timeMs, read }) => ({
    timeMs,
    ...(await read({ op: 'pieces', volume, path, bytes: parts.config.maxFileBytes })),
  }));
  const asOf = new Date(found.timeMs).toISOString();
  const { pieces, content } = found;
  if (pieces === null || content === null) {
    throw new WinterdockError('not_found', `There was nothing at "${path}" in ${volume} as of ${asOf}.`);
  }
  const audit = auditContextOf(caller, reason);
  await parts.sandboxes.write(id, { op: 'replace', volume, path, pieces, content }, audit);
  const files = pieces.filter(({ kind }) => kind !== 'dir').length;
  const bytes = content.byteLength;
  const what = `${volume}:${path} as of ${asOf}: ${files} ${files === 1 ? 'file' : 'files'}, ${bytes} bytes`;
  await parts.registry.ledger.append([
    ledgerEntry(parts, await requireInstance(parts, id), audit, 'files.taken_back', {
      reason: audit.reason === null ? what : `${audit.reason} (${what})`,
    }),
  ]);
  return { used: found.timeMs / 1000, files, bytes };
}

async function timeOfNamed({ registry }: TakeBackParts, id: InstanceId, name: string): Promise<number> {
  const found = (await registry.copies.namedMoments(id)).find(({ tag }) => tag === name);
  if (found !== undefined) return found.momentMs;
  throw new WinterdockError('not_found', `The sandbox "${id}" has no moment named "${name}".`);
}
