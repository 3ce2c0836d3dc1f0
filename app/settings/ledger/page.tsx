/** The proof of the ledger: its check, its signed head, its sealed months. The lines are on the audit page. */
import Link from 'next/link';
import { whyNot } from '#lib/contract/access.ts';
import { LedgerProofSections, readSegments } from '../../audit/ledger-proof.tsx';
import { renderedAt, requireCaller } from '../../caller.ts';
import { NotAllowed } from '../not-allowed.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Ledger' };

export default async function LedgerPage() {
  const caller = await requireCaller('/settings/ledger');
  const why = whyNot(caller, 'verifyLedger');
  if (why !== null) return <NotAllowed title="The ledger" why={why} />;
  const segments = await readSegments(caller);
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          The ledger <span className="quiet">and how to prove it</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          The lines themselves are on the page <Link href="/audit">Audit</Link>.
        </p>
      </div>
      <LedgerProofSections caller={caller} segments={segments} rendered={renderedAt()} />
    </>
  );
}
