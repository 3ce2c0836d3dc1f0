/** Shares in rows: which volumes, private or not, signed or not, the hash, who and when. Cards on a narrow page. */
import Link from 'next/link';
import type { Share } from '#lib/contract/schema.ts';
import { type ActorNames, nameOfActor } from '../ledger/event-words.ts';
import { sizeInWords } from '../ui/durations.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { VolumeNames } from '../ui/volume-names.tsx';

const HASH_SHOWN = 12;

function Members({ share }: { share: Share }) {
  return (
    <details className="mt-1">
      <summary className="text-small text-ink-3 hover:text-ink" title="All hashes">
        SHA-256{' '}
        <code className="text-[0.75rem] underline decoration-(--rule-2) underline-offset-4">
          {share.sha256.slice(0, HASH_SHOWN)}…
        </code>
      </summary>
      <dl className="mt-2 grid gap-1.5 text-[0.75rem]">
        {[
          ['the bundle', share.sha256] as const,
          ...Object.entries(share.members).map(([name, { sha256 }]) => [name, sha256] as const),
        ].map(([name, sha256]) => (
          <div key={name}>
            <dt className="text-ink-3">{name}</dt>
            <dd>
              <code className="[overflow-wrap:anywhere]">{sha256}</code>
            </dd>
          </div>
        ))}
        {share.issuer !== null && (
          <div>
            <dt className="text-ink-3">signed by</dt>
            <dd>
              <code className="[overflow-wrap:anywhere]">{share.issuer}</code>
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}

/**
 * `names`: what to call who shipped. `rendered`: the server's time in epoch seconds. `showInstance`: names the sandbox
 * and its tenant in each row.
 */
export function ShareTable({
  shares,
  names,
  rendered,
  showInstance = true,
}: {
  shares: readonly Share[];
  names: ActorNames;
  rendered: number;
  showInstance?: boolean;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Share</th>
          {showInstance && <th scope="col">Of the sandbox</th>}
          {showInstance && <th scope="col">Tenant</th>}
          <th scope="col">What left</th>
          <th scope="col">Signed</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Size
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Shipped
          </th>
        </tr>
      </thead>
      <tbody>
        {shares.map((share) => (
          <tr key={share.id} id={share.id}>
            <td className="max-md:col-span-full md:max-w-72">
              <code className="text-[0.8125rem] md:whitespace-nowrap">{share.id}</code>
              <Members share={share} />
            </td>
            {showInstance && (
              <td className="max-md:col-span-full text-small">
                <Link
                  href={`/sandboxes/${share.instance}?tab=shares`}
                  prefetch={false}
                  className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]"
                >
                  {share.instance}
                </Link>
              </td>
            )}
            {showInstance && (
              <td className="max-md:col-start-1 text-small">
                <Link href={`/shares?tenant=${share.tenant}`} prefetch={false} className="font-mono text-[0.8125rem]">
                  {share.tenant}
                </Link>
              </td>
            )}
            <td className="max-md:col-span-full text-small text-ink-2">
              <VolumeNames volumes={share.volumes} />
              {share.private_included && (
                <span className="mt-0.5 block font-[540] text-fault-ink">private volumes too</span>
              )}
            </td>
            <td className="max-md:col-start-1 text-small text-ink-2">{share.signed ? 'signed' : 'not signed'}</td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
              {sizeInWords(share.bytes)}
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
              <RelativeTime at={share.created} rendered={rendered} />
              <span className="block text-ink-3">{nameOfActor(share.actor, names)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
