/** One person: rights, account status, open sessions. */

import Link from 'next/link';
import { notFound } from 'next/navigation';
import { WithCall } from '#components/calls/with-call.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../../caller.ts';
import { rightsInWords } from '../../account-words.ts';
import { endSession } from '../../actions.ts';
import { ConfirmButton } from '../../confirm-button.tsx';
import { NotAllowed } from '../../not-allowed.tsx';
import { SessionList } from '../../session-list.tsx';
import { changePerson, setDisabled } from '../actions.ts';
import { PersonForm } from '../person-form.tsx';
import { ROLE_OPTIONS } from '../roles.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'A person' };

/** The open sessions of a person; none where there is no such person. */
async function readSessions(caller: Caller, id: string) {
  try {
    return await getHost().operations.sessionsOf(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return [];
    throw error;
  }
}

export default async function PersonPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const caller = await requireCaller(`/settings/people/${id}`);
  const why = whyNot(caller, 'people');
  if (why !== null) return <NotAllowed title="A person" why={why} />;
  const { operations } = getHost();
  const [people, sessions] = await Promise.all([operations.people(caller), readSessions(caller, id)]);
  const person = people.find((one) => one.id === id);
  if (person === undefined) notFound();
  const rendered = renderedAt();
  const { name, role, tenants, disabled } = person;
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline [overflow-wrap:anywhere]">
          {name}{' '}
          <span className="quiet">
            {rightsInWords(person)}
            {disabled && ', disabled'}
          </span>
        </h1>
        <p className="mt-4 text-ink-2 [overflow-wrap:anywhere]">
          {person.email}, here since <RelativeTime at={person.created} rendered={rendered} as="length" />
          {caller.actor === `user:${id}` && ' (this is you)'}.{' '}
          <Link href={`/audit?actor=user:${id}`} prefetch={false}>
            What they did
          </Link>
        </p>
      </div>
      <PageSection id="rights" name="Rights" note="Changes apply at once, in open sessions too.">
        <WithCall name="patchPerson" path={{ id }} fields={{ name: 'text', role: 'text', tenants: 'list' }}>
          <PersonForm
            action={changePerson.bind(null, id)}
            roles={ROLE_OPTIONS}
            person={{ name, role, tenants: tenants?.join(', ') ?? '' }}
          />
        </WithCall>
      </PageSection>
      <PageSection id="account" name="Account" note="A disabled account keeps its lines in the ledger.">
        {disabled ? (
          <WithCall name="patchPerson" path={{ id }} body={{ disabled: false }}>
            <ConfirmButton
              action={setDisabled.bind(null, id, false)}
              button="Enable the account"
              doing="Enabling…"
              label=""
            />
          </WithCall>
        ) : (
          <WithCall name="patchPerson" path={{ id }} body={{ disabled: true }}>
            <ConfirmButton
              action={setDisabled.bind(null, id, true)}
              button="Disable the account"
              doing="Disabling…"
              label=""
              ask={{ open: 'Disable…', says: 'The person cannot sign in any more, and all their sessions end now.' }}
            />
          </WithCall>
        )}
      </PageSection>
      <PageSection id="sessions" name="Sessions" note="Where the person is signed in.">
        <SessionList
          person={id}
          sessions={sessions}
          rendered={rendered}
          endOf={(session) => endSession.bind(null, id, session)}
          endAll={endSession.bind(null, id, null)}
        />
      </PageSection>
    </>
  );
}
