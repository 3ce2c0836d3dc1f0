/** The proof of the ledger: its check, its signed head, and its sealed months with downloads. */
import { callMark } from '#components/calls/call-mark.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { LedgerSegment } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { proveLedger } from './actions.ts';
import { ProveForm } from './prove-form.tsx';

function becameOf({ exported, dropped }: LedgerSegment): string {
  if (dropped !== null) return 'exported, then dropped';
  return exported === null ? 'not exported yet' : 'exported';
}

function Segments({
  segments,
  whyNotTake,
  rendered,
}: {
  segments: readonly LedgerSegment[];
  whyNotTake: string | null;
  rendered: number;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Month</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Lines
          </th>
          <th scope="col">Sealed</th>
          <th scope="col">What became of it</th>
          <th scope="col">
            <span className="sr-only">Download</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {segments.map((segment) => (
          <tr key={segment.id}>
            <td className="max-md:col-start-1 font-[520]">{segment.id}</td>
            <td className="text-right whitespace-nowrap max-md:col-start-2">
              {segment.lines.toLocaleString('en')}{' '}
              <span className="text-small text-ink-3">
                {segment.first_seq.toLocaleString('en')}–{segment.last_seq.toLocaleString('en')}
              </span>
            </td>
            <td className="max-md:col-start-1 text-small text-ink-2">
              <RelativeTime at={segment.sealed} rendered={rendered} />
            </td>
            <td className="max-md:col-start-2 max-md:text-right text-small text-ink-2">{becameOf(segment)}</td>
            <td className="max-md:col-span-full text-small md:text-right">
              {segment.dropped === null && whyNotTake === null && (
                <a
                  href={`/api/events/segments/${segment.id}`}
                  download
                  {...callMark({ name: 'exportLedgerSegment', path: { id: segment.id } })}
                >
                  Download<span className="sr-only"> {segment.id}</span>
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The sealed months, or none for a visitor who may not list them. */
export async function readSegments(caller: Caller): Promise<readonly LedgerSegment[]> {
  return mayDo(caller, 'ledgerSegments') ? getHost().operations.ledgerSegments(caller) : [];
}

/** `rendered`: the server's time in epoch seconds. */
export function LedgerProofSections({
  caller,
  segments,
  rendered,
}: {
  caller: Caller;
  segments: readonly LedgerSegment[];
  rendered: number;
}) {
  const refusal = whyNot(caller, 'verifyLedger');
  const whyNotTake = whyNot(caller, 'exportSegment');
  return (
    <>
      <PageSection
        id="proof"
        name="Proof"
        note="Each line holds the hash of the one before it. Whoever changes, removes or reorders one breaks the chain."
      >
        {refusal === null ? (
          <WithCall name="verifyLedger">
            <ProveForm action={proveLedger} />
          </WithCall>
        ) : (
          <DisabledAction id="prove" label="Check the ledger" whyNot={refusal} />
        )}
      </PageSection>
      {refusal === null && (
        <PageSection
          id="head"
          name="Head"
          note="Keep a copy elsewhere: it proves later that nothing before it was changed."
        >
          <a
            href="/api/events/head"
            download="winterdock-ledger-head.json"
            className="button"
            {...callMark({ name: 'getLedgerHead' })}
          >
            Download the signed head
          </a>
        </PageSection>
      )}
      {refusal === null && (
        <PageSection id="months" name="Sealed months" note="A month is sealed and signed when it is over.">
          {segments.length === 0 ? (
            <p className="text-ink-2">No month is sealed yet. A month is sealed when it is over.</p>
          ) : (
            <Segments segments={segments} whyNotTake={whyNotTake} rendered={rendered} />
          )}
          {segments.length > 0 && whyNotTake !== null && (
            <p className="mt-3 text-small text-ink-3">Downloading a month: {whyNotTake}</p>
          )}
        </PageSection>
      )}
    </>
  );
}
