/** What changed between two moments, or since one: files by path, their contents, and what happened meanwhile. */
import Link from 'next/link';
import { type FilesPage, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Comparison, FileChange, Instance, VolumeInfo } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { VOLUMES } from '#lib/vfs/volumes.ts';
import { problemInWords, problemOf } from '../../../problem.ts';
import { ChangesTable } from '../changes-table.tsx';
import { VolumeTab } from '../volume-tabs.tsx';
import { FileDifference } from './file-difference.tsx';
import { COMPARED_BYTES, type FileSides, readSides } from './file-sides.ts';
import { secondInWords } from './moment-words.ts';
import { exactTime, type PastView, pastAddress } from './past-address.ts';

const NAMED = 200;
/** Files whose contents are on the page of all of them. */
const OPENED = 10;

/** Two times, in epoch milliseconds; `laterMs` is null for now. */
export interface ComparedTimes {
  thenMs: number;
  laterMs: number | null;
}

const isSmall = ({ before, now }: FileChange) => Math.max(before?.size ?? 0, now?.size ?? 0) <= COMPARED_BYTES;

interface Compared {
  infos: VolumeInfo[];
  found: Comparison;
  /** The contents of the first files, or of the one that is chosen. */
  contents: { path: string; sides: FileSides }[];
}

async function compare(
  caller: Caller,
  instance: Instance,
  volume: VolumeName,
  chosen: string | null,
  { thenMs, laterMs }: ComparedTimes,
): Promise<Compared | ActionOutcome> {
  const { id } = instance;
  const { operations } = getHost();
  const before = { at: Number(exactTime(thenMs)) };
  const after = laterMs === null ? {} : { at: Number(exactTime(laterMs)) };
  try {
    const [infos, found] = await Promise.all([
      operations.volumes(caller, id, after),
      operations.compare(caller, id, volume, { since: before.at, limit: NAMED, ...after }),
    ]);
    const paths =
      chosen === null
        ? found.changes
            .filter(isSmall)
            .slice(0, OPENED)
            .map(({ path }) => path)
        : [chosen];
    const contents = [];
    for (const path of paths) {
      contents.push({ path, sides: await readSides(caller, id, { volume, path, before, after }) });
    }
    return { infos, found, contents };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

export async function Differences({
  caller,
  instance,
  view,
  times,
  zone,
}: {
  caller: Caller;
  instance: Instance;
  view: PastView;
  times: ComparedTimes;
  zone: string;
}) {
  const { id } = instance;
  const { thenMs, laterMs } = times;
  const [at, to] = [exactTime(thenMs), laterMs === null ? 'now' : exactTime(laterMs)];
  const asked = VOLUMES.find((known) => known === view.volume) ?? 'workspace';
  const volume = whyNot(caller, 'compare', { volume: asked }) === null ? asked : 'workspace';
  const chosen = view.path === null || view.path.endsWith('/') ? null : view.path;
  const compared = await compare(caller, instance, volume, chosen, times);
  const place: FilesPage = { id, keep: { tab: 'past', at, to } };
  const pages = {
    before: { id, at, keep: { tab: 'past', at } },
    after: laterMs === null ? { id } : { id, at: to, keep: { tab: 'past', at: to } },
  };
  const title = `Between ${secondInWords(thenMs, zone)} and ${laterMs === null ? 'now' : secondInWords(laterMs, zone)}.`;
  return (
    <PageSection id="inside" name="What changed" note={title} margin={false}>
      <p className="mb-4 flex flex-wrap gap-x-5 gap-y-2 text-small">
        <Link href={pastAddress(id, view, { at })} prefetch={false} scroll={false}>
          All as it was then
        </Link>
        {laterMs !== null && (
          <>
            <Link href={pastAddress(id, view, { at: to })} prefetch={false} scroll={false}>
              All as it became
            </Link>
            <Link href={pastAddress(id, view, { at, to: 'now' })} prefetch={false} scroll={false}>
              What changed until now
            </Link>
          </>
        )}
      </p>
      {'found' in compared ? (
        <div className="grid gap-4">
          <div className="grid gap-3 md:grid-cols-3">
            {compared.infos.map((info) => (
              <VolumeTab
                key={info.volume}
                place={place}
                info={info}
                current={info.volume === volume}
                closed={whyNot(caller, 'compare', { volume: info.volume })}
              />
            ))}
          </div>
          {chosen === null ? (
            <ChangesTable
              found={compared.found}
              address={({ path }) => fileAddress(place, volume, path)}
              before="Then"
              after={laterMs === null ? 'Now' : 'Later'}
            />
          ) : (
            <p className="text-small">
              <Link href={fileAddress(place, volume)} prefetch={false} scroll={false}>
                All that changed in /{volume}
              </Link>
            </p>
          )}
          {compared.contents.map(({ path, sides }, index) => (
            <FileDifference key={path} id={`file-${index}`} pages={pages} volume={volume} path={path} sides={sides} />
          ))}
        </div>
      ) : (
        <Outcome outcome={compared} />
      )}
    </PageSection>
  );
}
