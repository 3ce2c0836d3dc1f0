/** The keys limited to this tenant, for a visitor who may list keys. */
import Link from 'next/link';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Key } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';

function KeyTable({ keys, rendered }: { keys: readonly Key[]; rendered: number }) {
  if (keys.length === 0) {
    return (
      <p className="text-ink-2">
        No key is limited to it.{' '}
        <Link href="/settings/keys" prefetch={false}>
          Make one
        </Link>{' '}
        for a program of this tenant.
      </p>
    );
  }
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Role</th>
          <th scope="col">Used</th>
          <th scope="col">Ends</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, name, role, prefix, last_used, expires }) => (
          <tr key={id}>
            <td className="max-md:col-span-full [overflow-wrap:anywhere] md:w-full">
              <span className="font-[540]">{name}</span> <code className="text-[0.8125rem] text-ink-3">{prefix}…</code>
            </td>
            <td className="max-md:col-start-1">{role}</td>
            <td className="max-md:col-start-2 max-md:text-right text-small whitespace-nowrap text-ink-2">
              {last_used === null ? 'not used yet' : <RelativeTime at={last_used} rendered={rendered} />}
            </td>
            <td className="max-md:col-start-1 text-small whitespace-nowrap text-ink-2">
              {expires === null ? 'never ends' : `ends on ${new Date(expires * 1000).toISOString().slice(0, 10)} (UTC)`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `rendered`: the server's time in epoch seconds. */
export async function KeysSection({ caller, tenant, rendered }: { caller: Caller; tenant: string; rendered: number }) {
  if (!mayDo(caller, 'listKeys')) return null;
  const keys = await getHost().operations.listKeys(caller);
  return (
    <PageSection id="keys" name="Keys" note="Keys of programs that see this tenant only.">
      <KeyTable keys={keys.filter((key) => key.tenant === tenant)} rendered={rendered} />
    </PageSection>
  );
}
