/**
 * Proves that sandboxes are still this host's: one read of their rows, which those who ask at the same time have in
 * common. Whoever takes a sandbox over changes its row first and looks at what its replica has afterwards; so what was
 * stored before a row is read as one's own is in what the next owner sees.
 */
import type { InstanceId } from '../../base/ids.ts';
import { SharedRounds } from '../shipping/shared-rounds.ts';

/** `unknown`: the registry did not answer. */
export type OwnerVerdict = 'own' | 'taken' | 'unknown';

export class OwnerProof {
  readonly #rounds: SharedRounds<(id: InstanceId) => OwnerVerdict>;
  #asked = new Set<InstanceId>();

  /** `stillHeld`: which of some sandboxes are still this host's, by its acquisition. */
  constructor(stillHeld: (ids: readonly InstanceId[]) => Promise<readonly InstanceId[]>) {
    this.#rounds = new SharedRounds(async () => {
      const asked = [...this.#asked];
      this.#asked = new Set();
      const held = await stillHeld(asked).then(
        (ids) => new Set(ids),
        () => null,
      );
      return (id) => (held === null ? 'unknown' : held.has(id) ? 'own' : 'taken');
    });
  }

  /** Whose a sandbox is, by a read that begins after this call. Never rejects. */
  async of(id: InstanceId): Promise<OwnerVerdict> {
    this.#asked.add(id);
    return (await this.#rounds.join())(id);
  }
}
