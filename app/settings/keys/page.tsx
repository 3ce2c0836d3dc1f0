/** The keys of programs: their rights and last use; forms to create and to revoke one. */

import { ActorName } from '#app/actor-name.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { leftInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { ROLES } from '#lib/auth/roles.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Key } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { ROLE_MEANS, rightsInWords } from '../account-words.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { NotAllowed } from '../not-allowed.tsx';
import { createKey, revokeKey } from './actions.ts';
import { KeyForm } from './key-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Keys' };

const ROLE_OPTIONS = [...ROLES].reverse().map((role) => ({ value: role, label: `${role}: ${ROLE_MEANS[role]}` }));

function Over({ expires, rendered }: { expires: number | null; rendered: number }) {
  if (expires === null) return <span className="text-ink-3">never ends</span>;
  if (expires <= rendered) return <span className="text-fault-ink">has ended</span>;
  return <>ends in {leftInWords(expires - rendered)}</>;
}

function Keys({ keys, rendered }: { keys: readonly Key[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Role</th>
          <th scope="col">Made</th>
          <th scope="col">Used</th>
          <th scope="col">Ends</th>
          <th scope="col">
            <span className="sr-only">Revoke it</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, name, role, tenant, prefix, created, created_by, expires, last_used }) => (
          <tr key={id}>
            <td className="max-md:col-span-full [overflow-wrap:anywhere]">
              <span className="font-[560]">{name}</span>
              <code className="block text-[0.8125rem] text-ink-3">{prefix}…</code>
            </td>
            <td className="max-md:col-start-1">
              {rightsInWords({ role, tenants: tenant === null ? null : [tenant] })}
            </td>
            <td className="max-md:col-span-full">
              <RelativeTime at={created} rendered={rendered} />
              <span className="text-small text-ink-3">
                {' '}
                by <ActorName actor={created_by} within />
              </span>
            </td>
            <td className="max-md:col-start-1">
              {last_used === null ? (
                <span className="text-ink-3">not used yet</span>
              ) : (
                <>
                  used <RelativeTime at={last_used} rendered={rendered} />
                </>
              )}
            </td>
            <td className="max-md:col-start-1">
              <Over expires={expires} rendered={rendered} />
            </td>
            <td className="max-md:col-start-2 text-right">
              <WithCall name="revokeKey" path={{ id }}>
                <ConfirmButton
                  action={revokeKey.bind(null, id)}
                  button="Revoke for good"
                  doing="Revoking…"
                  label={`the key ${name}`}
                  ask={{ open: 'Revoke…', says: 'Whatever uses it is refused at once.' }}
                />
              </WithCall>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export default async function KeysPage() {
  const caller = await requireCaller('/settings/keys');
  const why = whyNot(caller, 'listKeys');
  if (why !== null) return <NotAllowed title="Keys" why={why} />;
  const keys = await getHost().operations.listKeys(caller);
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Keys <span className="quiet">what programs come in with</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          A program sends its key as <code>Authorization: Bearer</code>. The admin key of the server itself is not in
          this list: it is in the data folder or in <code>WB_ADMIN_KEY</code>.
        </p>
      </div>
      <PageSection id="keys" name="Keys" note="Listed by their first characters. The rest is not kept.">
        {keys.length === 0 ? (
          <p className="text-ink-2">There is no key yet.</p>
        ) : (
          <Keys keys={keys} rendered={renderedAt()} />
        )}
      </PageSection>
      <PageSection id="make" name="Make a key">
        <WithCall name="createKey" fields={{ name: 'text', role: 'text', tenant: 'text', expires: 'days' }}>
          <KeyForm action={createKey} roles={ROLE_OPTIONS} />
        </WithCall>
      </PageSection>
      <PageSection id="endpoints" name="Endpoints" note="Where these keys are taken, each with the same rights.">
        <FactList>
          <Fact name="The API">
            <code>/api</code>, for programs, the clients and the command line
          </Fact>
          <Fact name="MCP">
            <code>/api/mcp</code>, for the hosts of agents
          </Fact>
          <Fact name="Sessions of Ash">
            {getHost().config.sessionApi ? (
              <>
                <code>/api/sessions</code>, for its clients
              </>
            ) : (
              <>
                closed; <code>WB_SESSION_API=on</code> opens <code>/api/sessions</code>
              </>
            )}
          </Fact>
        </FactList>
      </PageSection>
    </>
  );
}
