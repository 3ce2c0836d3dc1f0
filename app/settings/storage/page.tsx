/**
 * How the store does: the registry, the ledger, the drawers, the disk, the places for processes, and what a loss would
 * cost.
 */
import Link from 'next/link';
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { lengthInWords, sizeInWords, tookInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { whyNot } from '#lib/contract/access.ts';
import type { Storage } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { NotAllowed } from '../not-allowed.tsx';
import { checkStorage } from './actions.ts';
import {
  backupInWords,
  comparedByWalk,
  comparedInWords,
  DRAWER_MEANS,
  memoryInWords,
  placesInWords,
  troublesOf,
  wrongInWords,
} from './words.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Storage' };

const figures = (count: number) => count.toLocaleString('en');

function RegistryPart({ storage, rendered }: { storage: Storage; rendered: number }) {
  const { registry, running } = storage;
  const { check } = registry;
  return (
    <div className="grid gap-5">
      <FactList>
        <Fact name="File">
          {registry.file === null ? (
            'in memory: gone with the process'
          ) : (
            <>
              <code className="text-[0.8125rem]">{registry.file}</code>{' '}
              {!registry.inside_data && <span className="text-small text-ink-3">outside the data folder</span>}
            </>
          )}
        </Fact>
        <Fact name="Size">
          {sizeInWords(registry.bytes)}{' '}
          {registry.free_bytes > 0 && (
            <span className="text-small text-ink-3">{sizeInWords(registry.free_bytes)} of it unused</span>
          )}
        </Fact>
        <Fact name="Write-ahead log">{sizeInWords(registry.wal_bytes)}</Fact>
        <Fact name="Last checkpoint">
          {registry.checkpointed === null ? 'none' : <RelativeTime at={registry.checkpointed} rendered={rendered} />}
        </Fact>
        <Fact name="Structure" wide>
          {check === null ? (
            'not checked yet'
          ) : (
            <>
              {check.ok ? 'sound' : <span className="text-fault-ink">{check.says}</span>}{' '}
              <span className="text-small text-ink-3">
                checked <RelativeTime at={check.time} rendered={rendered} /> in {tookInWords(check.took_ms)}
              </span>
            </>
          )}
        </Fact>
      </FactList>
      {running.includes('registry') && <p className="text-ink-2">A check is under way.</p>}
      <ConfirmButton
        action={checkStorage.bind(null, 'registry')}
        button="Check its structure"
        doing="Checking…"
        label="of the registry"
      />
    </div>
  );
}

function LedgerPart({ ledger }: Pick<Storage, 'ledger'>) {
  return (
    <p className="max-w-3xl">
      {figures(ledger.seq)} {ledger.seq === 1 ? 'line was' : 'lines were'} ever written.{' '}
      {ledger.last_sealed === null
        ? 'No month is sealed yet.'
        : `${figures(ledger.sealed)} ${ledger.sealed === 1 ? 'month is' : 'months are'} sealed, the last ${ledger.last_sealed}${
            ledger.dropped > 0 ? `; the lines of ${figures(ledger.dropped)} were dropped` : ''
          }.`}{' '}
      {ledger.last_sealed !== null &&
        `${figures(ledger.open_lines)} ${ledger.open_lines === 1 ? 'was' : 'were'} written since. `}
      <Link href="/settings/ledger" prefetch={false}>
        Prove it
      </Link>
    </p>
  );
}

function Drawers({ drawers }: Pick<Storage, 'drawers'>) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Drawer</th>
          <th scope="col" className="figure">
            Sandboxes
          </th>
          <th scope="col" className="figure">
            Size awake
          </th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {drawers.map(({ drawer, rows, bytes, writable, same_disk }) => (
          <tr key={drawer}>
            <td className="left">
              {drawer} <span className="text-small text-ink-3">{DRAWER_MEANS[drawer]}</span>
            </td>
            <td className="figure right">
              {figures(rows)}
              <span className="md:sr-only"> {rows === 1 ? 'sandbox' : 'sandboxes'}</span>
            </td>
            <td className="figure left max-md:!text-left">{sizeInWords(bytes)}</td>
            <td className="whole">
              {writable ? (
                <>
                  on this disk{drawer === 'live' || same_disk ? '' : ', another than the live drawer’s'}
                  <span className="text-small text-ink-3">
                    {drawer === 'cold' ? (same_disk ? ': freezing is a rename' : ': freezing copies') : ''}
                  </span>
                </>
              ) : (
                <span className="text-fault-ink">cannot be reached</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Measured({ storage, rendered }: { storage: Storage; rendered: number }) {
  const { measured, running } = storage;
  const rowsOf: Readonly<Record<string, number>> = measured?.rows ?? {};
  return (
    <div className="grid gap-4">
      {measured === null ? (
        <p className="text-ink-2">
          Nobody has looked yet. A walk looks at every file once; with a million of them that takes minutes, so it is
          not done by itself.
        </p>
      ) : (
        <>
          <p className="text-small text-ink-2">
            As it was <RelativeTime at={measured.time} rendered={rendered} />; the walk took{' '}
            {tookInWords(measured.took_ms)}. What moved meanwhile may be counted twice or not at all.
          </p>
          <table className="ledger">
            <thead>
              <tr>
                <th scope="col">Folder</th>
                <th scope="col" className="figure">
                  Files
                </th>
                <th scope="col" className="figure">
                  On disk
                </th>
                <th scope="col" className="max-sm:hidden">
                  Against the rows
                </th>
              </tr>
            </thead>
            <tbody>
              {measured.drawers.map(({ drawer, files, bytes }) => {
                const rows = rowsOf[drawer];
                return (
                  <tr key={drawer}>
                    <td>
                      {drawer} <span className="text-small text-ink-3 max-sm:block">{DRAWER_MEANS[drawer]}</span>
                    </td>
                    <td className="figure">{figures(files)}</td>
                    <td className="figure">{sizeInWords(bytes)}</td>
                    <td className="text-small text-ink-2 max-sm:hidden">
                      {rows === undefined ? '' : comparedInWords(files, rows)}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <p className="text-small">
            <Link href="/audit?type=orphan.set_aside" prefetch={false}>
              What was set aside, and when
            </Link>
          </p>
        </>
      )}
      {running.includes('drawers') && <p className="text-ink-2">A walk is under way.</p>}
      <ConfirmButton
        action={checkStorage.bind(null, 'drawers')}
        button={measured === null ? 'Look at every file' : 'Look again'}
        doing="Looking…"
        label="in the drawers"
      />
    </div>
  );
}

function Scrubber({ scrub, rendered }: Pick<Storage, 'scrub'> & { rendered: number }) {
  const { walk, last, next } = scrub;
  return (
    <div className="grid gap-5">
      <p className="max-w-3xl">
        Once a day it goes through what rests (suspended, frozen and archived sandboxes), one file at a time, waking
        none: an archived one is expanded to nowhere. Bytes that are no longer what was filed become a fault. What is
        awake, at fault or a copy is left out. It takes a twentieth of one core, and goes on where it was after a
        restart.
      </p>
      <FactList>
        <Fact name="Now">
          {walk === null ? (
            'waiting'
          ) : (
            <>
              {comparedByWalk(walk)}{' '}
              <span className="text-small text-ink-3">
                begun <RelativeTime at={walk.begun} rendered={rendered} />
              </span>
            </>
          )}
        </Fact>
        <Fact name="Last whole walk">
          {last === null ? (
            'none yet'
          ) : (
            <>
              {comparedByWalk(last)}{' '}
              <span className="text-small text-ink-3">
                ended <RelativeTime at={last.ended} rendered={rendered} />
              </span>
            </>
          )}
        </Fact>
        {next !== null && (
          <Fact name="Next">{next > rendered ? `in ${lengthInWords(next - rendered)}` : 'about now'}</Fact>
        )}
      </FactList>
      <p className="text-small">
        <Link href="/sandboxes?fault=corrupt" prefetch={false}>
          What is corrupt now
        </Link>
      </p>
    </div>
  );
}

function Backup({ backup, rendered }: Pick<Storage, 'backup'> & { rendered: number }) {
  return (
    <div className="grid gap-5">
      <FactList>
        <Fact name="Last one">{backup === null ? 'never' : <RelativeTime at={backup.time} rendered={rendered} />}</Fact>
        {backup !== null && (
          <>
            <Fact name="Holds">
              {backupInWords(backup)}{' '}
              {backup.wrong > 0 && <span className="text-fault-ink">{wrongInWords(backup.wrong)}</span>}
            </Fact>
            <Fact name="Key files">{backup.keys ? 'in it, encrypted' : 'not in it'}</Fact>
            <Fact name="Written to">
              <code className="text-[0.8125rem]">{backup.to}</code>
            </Fact>
          </>
        )}
      </FactList>
      <p className="max-w-3xl">
        Nothing replicates: what is lost with this disk is lost, up to the last backup that lies on another one. To make
        one, on the machine of the server, while it runs or not:
      </p>
      <pre className="paper-log px-3 py-2">{'npm run backup -- /mnt/elsewhere/winterdock --with-keys'}</pre>
      <p className="max-w-3xl text-small text-ink-2">
        The next one to the same folder copies only what changed. <code>npm run restore</code> brings back everything or
        one sandbox; <code>docs/operations.md</code> says how. What this page knows is that one was made, not whether it
        is still there: <code>npm run backup -- --verify</code> reads it.
      </p>
    </div>
  );
}

export default async function StoragePage() {
  const caller = await requireCaller('/settings/storage');
  const why = whyNot(caller, 'storage');
  if (why !== null) return <NotAllowed title="Storage" why={why} />;
  const storage = await getHost().operations.storage(caller);
  const rendered = renderedAt();
  const { places, memory, disk } = storage;
  const troubles = troublesOf(storage);
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Storage{' '}
          <span className="quiet">
            {troubles.length === 0 ? `${sizeInWords(disk.free_bytes)} free` : 'needs someone'}
          </span>
        </h1>
        {troubles.length > 0 && (
          <ul className="mt-6 grid gap-1 border-l-4 border-fault bg-fault-wash px-5 py-4">
            {troubles.map((trouble) => (
              <li key={trouble}>{trouble}</li>
            ))}
          </ul>
        )}
      </div>
      <PageSection id="room" name="Room" note="The disk of the data folder, and the places and memory for processes.">
        <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2 lg:grid-cols-4">
          <QuotaMeter name="Disk in use" used={disk.bytes - disk.free_bytes} limit={disk.bytes} inWords={sizeInWords} />
          <QuotaMeter name="Processes serving" used={places.serving} limit={places.most} inWords={figures} />
          <QuotaMeter
            name="Their memory"
            used={memory.serving_bytes + memory.spare_bytes}
            limit={memory.limit_bytes}
            inWords={sizeInWords}
          />
          <div className="grid content-start gap-1.5">
            <p className="text-small text-ink-3">Started ahead of need</p>
            <p className="text-[1.375rem] leading-tight tracking-[-0.015em]">
              {figures(places.spare)}{' '}
              <span className="text-small tracking-normal text-ink-2">of {figures(places.ahead)}</span>
            </p>
          </div>
        </div>
        <p className="mt-4 max-w-3xl text-small text-ink-2">
          {placesInWords(places)} {memoryInWords(memory)} Nothing is refused before the disk is full; then writes fail
          and what was answered stays.
        </p>
      </PageSection>
      <PageSection id="registry" name="Registry" note="The one file of rows, ledger, people and keys.">
        <RegistryPart storage={storage} rendered={rendered} />
      </PageSection>
      <PageSection id="ledger" name="Ledger" note="Sealed by month.">
        <LedgerPart ledger={storage.ledger} />
      </PageSection>
      <PageSection id="drawers" name="Drawers" note="As the rows have them. Files on local disk.">
        <Drawers drawers={storage.drawers} />
      </PageSection>
      <PageSection id="measured" name="What lies there" note="Every file in the data folder, against the rows.">
        <Measured storage={storage} rendered={rendered} />
      </PageSection>
      <PageSection id="scrub" name="Rot" note="What rests, against what was filed.">
        <Scrubber scrub={storage.scrub} rendered={rendered} />
      </PageSection>
      <PageSection id="backup" name="Backup" note="What a lost disk would cost.">
        <Backup backup={storage.backup} rendered={rendered} />
      </PageSection>
    </>
  );
}
