/**
 * The state of the store: registry, ledger, drawers, disk, room for processes, and the data that a lost disk would
 * lose.
 */
import Link from 'next/link';
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { whyNot } from '#lib/contract/access.ts';
import type { Storage } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { NotAllowed } from '../not-allowed.tsx';
import { BackupFacts } from './backup-facts.tsx';
import { DrawerTable, MeasuredFiles } from './drawers.tsx';
import { KeptTable } from './kept-table.tsx';
import { isDatabase, RegistryFacts } from './registry-facts.tsx';
import { ReplicaPlace } from './replica-facts.tsx';
import { ScrubFacts } from './scrub-facts.tsx';
import { StoreFacts } from './store-facts.tsx';
import {
  aheadInWords,
  figures,
  memoryInWords,
  placesInWords,
  sharingInWords,
  troublesOf,
  wallsInWords,
} from './store-words.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Storage' };

function LedgerSummary({ ledger }: Pick<Storage, 'ledger'>) {
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
      <PageSection
        id="room"
        name="Room"
        note="The disk of the data folder, and the limits for processes and their memory."
      >
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
            <p className="text-small text-ink-3">Spare processes</p>
            <p className="text-[1.375rem] leading-tight tracking-[-0.015em]">
              {figures(places.spare)}{' '}
              <span className="text-small tracking-normal text-ink-2">{aheadInWords(places)}</span>
            </p>
          </div>
        </div>
        <p className="mt-4 max-w-3xl text-small text-ink-2">
          {placesInWords(places)} {memoryInWords(memory)} {sharingInWords(storage.cpu)} Nothing is refused before the
          disk is full; then writes fail and what was answered stays.
        </p>
      </PageSection>
      <PageSection
        id="walls"
        name="Walls"
        note="Around the processes of sandboxes, for code that has left its interpreter."
      >
        <FactList>
          {wallsInWords(storage.walls).map(({ wall, holds, missing }) => (
            <Fact key={wall} name={holds}>
              {missing === null ? 'in force' : <span className="text-fault-ink">not in force: {missing}</span>}{' '}
              <code className="text-small text-ink-3">{wall}</code>
            </Fact>
          ))}
        </FactList>
      </PageSection>
      <PageSection
        id="registry"
        name="Registry"
        note={`The one ${isDatabase(storage) ? 'database' : 'file'} of rows, ledger, people and keys.`}
      >
        <RegistryFacts storage={storage} rendered={rendered} />
      </PageSection>
      <PageSection id="ledger" name="Ledger" note="Sealed by month.">
        <LedgerSummary ledger={storage.ledger} />
      </PageSection>
      <PageSection id="kept" name="Kept" note="Series and logs in the registry. The oldest go first.">
        <KeptTable kept={storage.kept} />
      </PageSection>
      <PageSection id="drawers" name="Drawers" note="As the registry counts them. Files on local disk.">
        <DrawerTable drawers={storage.drawers} />
      </PageSection>
      <PageSection id="store" name="Object store" note="Where files at rest go that leave this machine.">
        <StoreFacts store={storage.store} rendered={rendered} />
      </PageSection>
      <PageSection id="replica" name="Replica" note="What sandboxes commit, shipped as they commit it.">
        <ReplicaPlace replication={storage.replication} rendered={rendered} />
      </PageSection>
      <PageSection id="measured" name="Files" note="Every file in the data folder, compared with the registry.">
        <MeasuredFiles storage={storage} rendered={rendered} />
      </PageSection>
      <PageSection id="scrub" name="Scrub" note="Files at rest, compared with what was filed.">
        <ScrubFacts scrub={storage.scrub} rendered={rendered} />
      </PageSection>
      <PageSection id="backup" name="Backup" note="What a lost disk would cost.">
        <BackupFacts
          backup={storage.backup}
          store={storage.store}
          replication={storage.replication}
          rendered={rendered}
        />
      </PageSection>
    </>
  );
}
