/** The ledger as a proof: checking it, its signed head, its sealed months. */
import { Part } from '#components/part.tsx';
import { mayDo, whyNot } from '#lib/api/access.ts';
import type { LedgerSegment } from '#lib/api/schema.ts';
import { getHost } from '#lib/host.ts';
import { requireCaller } from '../../caller.ts';
import { NotYours } from '../not-yours.tsx';
import { check } from './actions.ts';
import { CheckForm } from './check-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Ledger' };

function becameOf({ exported, dropped }: LedgerSegment): string {
  if (dropped !== null) return 'exported, then dropped';
  return exported === null ? 'never exported' : 'exported';
}

function Segments({ segments, mayTake }: { segments: readonly LedgerSegment[]; mayTake: boolean }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Month</th>
          <th scope="col">Lines</th>
          <th scope="col">What became of it</th>
          <th scope="col">
            <span className="sr-only">Download it</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {segments.map((segment) => (
          <tr key={segment.id}>
            <td className="left">{segment.id}</td>
            <td className="right">
              {segment.lines.toLocaleString('en')}
              <span className="text-small text-ink-3">
                {' '}
                ({segment.first_seq.toLocaleString('en')} to {segment.last_seq.toLocaleString('en')})
              </span>
            </td>
            <td className="left">{becameOf(segment)}</td>
            <td className="right">
              {mayTake && segment.dropped === null && (
                <a href={`/api/events/segments/${segment.id}`} download>
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

export default async function LedgerPage() {
  const caller = await requireCaller('/settings/ledger');
  const why = whyNot(caller, 'verifyLedger');
  if (why !== null) return <NotYours title="The ledger" why={why} />;
  const segments = await getHost().operations.ledgerSegments(caller);
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          The ledger <span className="quiet">and how to prove it</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          Each line holds the hash of the one before it, and months are sealed with a signature. Whoever changes,
          removes or reorders a line in the registry’s file breaks the chain.
        </p>
      </div>
      <Part id="proof" name="Proof" note="Every hash is made again.">
        <CheckForm action={check} />
      </Part>
      <Part
        id="head"
        name="Head"
        note="Keep one elsewhere from time to time: it proves later that nothing up to there was changed."
      >
        <a href="/api/events/head" download="winterdock-ledger-head.json" className="button">
          Download the signed head
        </a>
      </Part>
      <Part id="months" name="Sealed months" note="A month is sealed when it is over.">
        {segments.length === 0 ? (
          <p className="text-ink-2">No month is sealed yet.</p>
        ) : (
          <Segments segments={segments} mayTake={mayDo(caller, 'exportSegment')} />
        )}
      </Part>
    </>
  );
}
