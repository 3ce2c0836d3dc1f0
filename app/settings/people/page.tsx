/** Everyone who has an account, the open invitations, and the form for a new one. */

import Link from 'next/link';
import { ActorName } from '#app/actor-name.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { leftInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { whyNot } from '#lib/contract/access.ts';
import type { Invitation, Person } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { rightsInWords } from '../account-words.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { NotAllowed } from '../not-allowed.tsx';
import { invitePerson, withdrawInvitation } from './actions.ts';
import { InviteForm } from './invite-form.tsx';
import { ROLE_OPTIONS } from './roles.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'People' };

function Everyone({ people, rendered }: { people: readonly Person[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col">Signed in</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Sessions
          </th>
        </tr>
      </thead>
      <tbody>
        {people.map((person) => (
          <tr key={person.id}>
            <td className="max-md:col-span-full">
              <Link href={`/settings/people/${person.id}`} prefetch={false} className="font-[560]">
                {person.name}
              </Link>
              <span className="block text-small text-ink-3 [overflow-wrap:anywhere]">{person.email}</span>
            </td>
            <td className="max-md:col-start-1 [overflow-wrap:anywhere]">
              {rightsInWords(person)}
              {person.disabled && <span className="text-fault-ink"> · disabled</span>}
            </td>
            <td className="max-md:col-start-1">
              {person.signed_in === null ? (
                <span className="text-ink-3">not now</span>
              ) : (
                <RelativeTime at={person.signed_in} rendered={rendered} />
              )}
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2">
              {person.sessions}
              <span className="md:sr-only"> open</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Open({ invitations, rendered }: { invitations: readonly Invitation[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">For</th>
          <th scope="col">Role</th>
          <th scope="col">Made</th>
          <th scope="col">Ends</th>
          <th scope="col">
            <span className="sr-only">Withdraw it</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {invitations.map((invitation) => {
          const { id, email, created, created_by, expires } = invitation;
          return (
            <tr key={id}>
              <td className="max-md:col-span-full [overflow-wrap:anywhere]">{email ?? 'whoever has the link'}</td>
              <td className="max-md:col-start-1">{rightsInWords(invitation)}</td>
              <td className="max-md:col-start-1">
                <RelativeTime at={created} rendered={rendered} />, by <ActorName actor={created_by} within />
              </td>
              <td className="max-md:col-start-1">ends in {leftInWords(expires - rendered)}</td>
              <td className="max-md:col-start-2 text-right">
                <WithCall name="withdrawInvitation" path={{ id: invitation.id }}>
                  <ConfirmButton
                    action={withdrawInvitation.bind(null, id)}
                    button="Withdraw"
                    doing="Withdrawing…"
                    label={`the invitation for ${email ?? 'whoever has the link'}`}
                  />
                </WithCall>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export default async function PeoplePage() {
  const caller = await requireCaller('/settings/people');
  const why = whyNot(caller, 'people');
  if (why !== null) return <NotAllowed title="People" why={why} />;
  const { operations } = getHost();
  const [people, invitations] = await Promise.all([operations.people(caller), operations.invitations(caller)]);
  const rendered = renderedAt();
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          People <span className="quiet">who may come in, and what for</span>
        </h1>
      </div>
      <PageSection
        id="everyone"
        name="Accounts"
        note="Change a role, disable an account or end its sessions on its own page."
      >
        {people.length === 0 ? (
          <p className="text-ink-2">
            Nobody has an account yet. Invite yourself, so that the ledger knows you by name.
          </p>
        ) : (
          <Everyone people={people} rendered={rendered} />
        )}
      </PageSection>
      <PageSection id="invite" name="Invite" note="Nothing is sent: you get a link and pass it on.">
        <WithCall name="invite" fields={{ role: 'text', email: 'text', tenants: 'list' }}>
          <InviteForm action={invitePerson} roles={ROLE_OPTIONS} />
        </WithCall>
      </PageSection>
      {invitations.length > 0 && (
        <PageSection
          id="invitations"
          name="Open invitations"
          note="Whoever follows one makes an account with its role."
        >
          <Open invitations={invitations} rendered={rendered} />
        </PageSection>
      )}
    </>
  );
}
