/** Notices of what is wrong with a sandbox: a fault, an interrupted operation, what is no longer offered. */
import type { ReactNode } from 'react';
import { FAULT_MEANS } from '#components/sandbox/state-words.ts';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Instance } from '#lib/contract/schema.ts';
import { FAULT_HAPPENED, stuckInWords } from '#lib/contract/trouble-words.ts';
import { notOffered } from '../policies.ts';

function Notice({ bad = false, children }: { bad?: boolean; children: ReactNode }) {
  return (
    <div className={`my-6 border-l-4 px-5 py-4 ${bad ? 'border-fault bg-fault-wash' : 'border-rule-2'}`} role="note">
      {children}
    </div>
  );
}

/** The notice of a fault. `children`: the ways out of it, which the text names otherwise. */
export function FaultNotice({ instance, children }: { instance: Instance; children?: ReactNode }) {
  const { fault, fault_reason: reason } = instance;
  if (fault === null) return null;
  const offered = children !== undefined && children !== false;
  return (
    <Notice bad>
      <p className="font-[560] [overflow-wrap:anywhere]">
        Fault: {fault}
        {reason !== null && <span className="font-normal">. {reason}</span>}
      </p>
      <p className="mt-1 max-w-3xl text-ink-2">{offered ? FAULT_HAPPENED[fault] : FAULT_MEANS[fault]}</p>
      {children}
    </Notice>
  );
}

/** The notice of a sandbox whose host does not answer. `rendered`: the server's time in epoch seconds. */
export function AwayNotice({ instance, rendered }: { instance: Instance; rendered: number }) {
  const { host, unreachable } = instance;
  if (unreachable === null) return null;
  const { last_seen: lastSeen, recovery_point: point, goes_on: goesOn } = unreachable;
  return (
    <Notice bad>
      <p className="font-[560] [overflow-wrap:anywhere]" id="away">
        Its host, {host}, is away
        {lastSeen !== null && (
          <>
            : it was seen last <RelativeTime at={lastSeen} rendered={rendered} />
          </>
        )}
        .
      </p>
      {goesOn !== null ? (
        <p className="mt-1 max-w-3xl text-ink-2">
          It is {instance.state} there. {GOES_ON[goesOn]} What its host still has of it is set aside when it is back.
        </p>
      ) : (
        <p className="mt-1 max-w-3xl text-ink-2">
          It is {instance.state} there, and only that host has what is newest:{' '}
          {point === null ? (
            'the object store has nothing of it'
          ) : (
            <>
              the object store has it as it was <RelativeTime at={point} rendered={rendered} />
            </>
          )}
          . Nothing older is given in its place. Once the host is started, with its disk, all of it is back by itself.
        </p>
      )}
    </Notice>
  );
}

const GOES_ON = {
  whole: 'Woken now, it goes on elsewhere from its replica, with all that was answered.',
  seconds:
    'Woken now, it goes on elsewhere as its replica has it: what it wrote in its last seconds may be missing, and is lost then. The ledger says up to which moment it goes on.',
} as const;

/** The notice of a policy or workbook that is no longer offered, and what it still gives. */
export function NotOfferedNotice({ instance }: { instance: Instance }) {
  const sentences = notOffered(instance);
  if (sentences.length === 0) return null;
  return (
    <Notice>
      {sentences.map((sentence) => (
        <p key={sentence} className="max-w-3xl text-ink-2 [overflow-wrap:anywhere]">
          {sentence}
        </p>
      ))}
    </Notice>
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
    <Notice bad>
      <p className="font-[560]">{stuckInWords(instance, rendered)}</p>
      <p className="mt-1 mb-3 max-w-3xl text-ink-2">
        Until it is settled, every other move is refused. Settling finishes it or undoes it, depending on the file;
        nothing is lost either way.
      </p>
      {children}
    </Notice>
  );
}
