/** The top of a sandbox's page: its name, where it is and since when, and notices of what is wrong. */
import Link from 'next/link';
import type { ReactNode } from 'react';
import { TitleStatus } from '#components/live/sandbox-status.tsx';
import { FAULT_HAPPENED, FAULT_MEANS } from '#components/sandbox/state-words.ts';
import { stuckInWords } from '#components/sandbox/stuck-words.ts';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { CopyId } from '#components/ui/copy-id.tsx';
import type { Instance } from '#lib/contract/schema.ts';
import { notOffered } from '../policies.ts';
import { tabAddress } from './tab-names.ts';

/** Few enough that the next move stays on the first screen. */
const LABELS_SHOWN = 8;

/** `from`: the list above it, for the breadcrumbs. */
export function Title({
  instance,
  rendered,
  from = { name: 'Sandboxes', href: '/sandboxes' },
}: {
  instance: Instance;
  rendered: number;
  from?: { name: string; href: string };
}) {
  const labels = Object.entries(instance.labels);
  return (
    <header className="pt-6 pb-8 sm:pt-8">
      <Breadcrumbs steps={[from, { name: instance.tenant, href: `${from.href}?tenant=${instance.tenant}` }]} />
      <h1>
        <span className="block text-[1.125rem] font-[560] tracking-[-0.01em] [overflow-wrap:anywhere]">
          {instance.name ?? instance.id}
        </span>
        <TitleStatus instance={instance} rendered={rendered} />
      </h1>
      <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 text-small">
        <CopyId id={instance.id} />
        {labels.slice(0, LABELS_SHOWN).map(([key, value]) => (
          <Link
            key={key}
            href={`${from.href}?label=${encodeURIComponent(`${key}:${value}`)}`}
            prefetch={false}
            className="pill max-w-80 hover:border-ink"
            title={`${key}: ${value}`}
          >
            {key}:{value}
          </Link>
        ))}
        {labels.length > LABELS_SHOWN && (
          <Link href={tabAddress(instance.id, 'settings')} prefetch={false}>
            {labels.length - LABELS_SHOWN} more {labels.length - LABELS_SHOWN === 1 ? 'label' : 'labels'}
          </Link>
        )}
      </div>
    </header>
  );
}

/** The notice of a fault. `children`: the ways out of it, which the text names otherwise. */
export function FaultNotice({ instance, children }: { instance: Instance; children?: ReactNode }) {
  const { fault, fault_reason: reason } = instance;
  if (fault === null) return null;
  const offered = children !== undefined && children !== false;
  return (
    <div className="mb-10 border-l-4 border-fault bg-fault-wash px-5 py-4" role="note">
      <p className="font-[560] [overflow-wrap:anywhere]">
        Fault: {fault}
        {reason !== null && <span className="font-normal">. {reason}</span>}
      </p>
      <p className="mt-1 max-w-3xl text-ink-2">{offered ? FAULT_HAPPENED[fault] : FAULT_MEANS[fault]}</p>
      {children}
    </div>
  );
}

/** The notice of a policy or workbook that is no longer offered, and what it still gives. */
export function NotOfferedNotice({ instance }: { instance: Instance }) {
  const sentences = notOffered(instance);
  if (sentences.length === 0) return null;
  return (
    <div className="mb-10 border-l-4 border-rule-2 px-5 py-4" role="note">
      {sentences.map((sentence) => (
        <p key={sentence} className="max-w-3xl text-ink-2 [overflow-wrap:anywhere]">
          {sentence}
        </p>
      ))}
    </div>
  );
}

/**
 * The notice of an interrupted operation, with the ways out as children. `rendered`: the server's time in epoch
 * seconds.
 */
export function InterruptedNotice({
  instance,
  rendered,
  children,
}: {
  instance: Instance;
  rendered: number;
  children: ReactNode;
}) {
  if (!instance.interrupted) return null;
  return (
    <div className="mb-10 border-l-4 border-fault bg-fault-wash px-5 py-4" role="note">
      <p className="font-[560]">{stuckInWords(instance, rendered)}</p>
      <p className="mt-1 mb-3 max-w-3xl text-ink-2">
        Until it is settled, every other move is refused. Settling finishes it or undoes it, depending on the file;
        nothing is lost either way.
      </p>
      {children}
    </div>
  );
}
