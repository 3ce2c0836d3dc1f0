/** What happened to a volume since a snapshot: a plain GET form, and the differences by path. Wakes nothing. */
import { fileAddress } from '#components/files/file-address.ts';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Comparison, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { VOLUMES } from '#lib/vfs/volumes.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { ChangesTable } from './changes-table.tsx';

const OFFERED = 50;
const NAMED = 200;

/** Shown only when there is a snapshot to compare with. */
export async function FileComparison({
  caller,
  instance: { id },
  search,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
}) {
  const values = singleValues(search);
  const volume = VOLUMES.find((known) => known === values.volume) ?? 'workspace';
  if (whyNot(caller, 'compare', { volume }) !== null) return null;
  const { operations } = getHost();
  const { items } = await operations.listSnapshots(caller, { source: id, limit: OFFERED });
  const wanted = values.compare ?? '';
  if (items.length === 0 && wanted === '') return null;
  const found: Comparison | ActionOutcome | null =
    wanted === ''
      ? null
      : await operations
          .compare(caller, id, volume, { snapshot: wanted, limit: NAMED })
          .catch((error) => ({ ok: false, ...problemInWords(problemOf(error, caller)) }));
  return (
    <PageSection
      id="compare"
      name="Compare with a snapshot"
      note="What was added, removed and changed since. It reads both, and wakes nothing."
    >
      <form action={`/sandboxes/${id}#compare`} className="flex flex-wrap items-end gap-3">
        <input type="hidden" name="tab" value="files" />
        <input type="hidden" name="volume" value={volume} />
        <label className="block min-w-0">
          <span className="field-name">Snapshot</span>
          <select className="input" name="compare" defaultValue={wanted || items[0]?.id}>
            {items.map((one) => (
              <option key={one.id} value={one.id}>
                {one.tag === null ? one.id : `${one.tag} (${one.id})`}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="button">
          Compare /{volume}
        </button>
      </form>
      {found !== null && (
        <div className="mt-4 grid gap-3">
          {'changes' in found ? (
            <ChangesTable
              found={found}
              address={({ path, now }) => (now === null ? null : fileAddress({ id }, volume, path))}
              before="Then"
              after="Now"
            />
          ) : (
            <Outcome outcome={found} />
          )}
        </div>
      )}
    </PageSection>
  );
}
