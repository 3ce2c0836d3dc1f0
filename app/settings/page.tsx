/** The visitor's own account: name and rights, time zone, password, open sessions. */
import { WithCall } from '#components/calls/with-call.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { mayDo } from '#lib/contract/access.ts';
import { PASSWORD_LENGTH } from '#lib/contract/schema/access.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { visitorZone } from '../zone.ts';
import { ROLE_MEANS, rightsInWords } from './account-words.ts';
import { changePassword, chooseZone, endSession } from './actions.ts';
import { PasswordForm } from './password-form.tsx';
import { SessionList } from './session-list.tsx';
import { ZoneForm } from './zone-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Your account' };

export default async function Account() {
  const caller = await requireCaller('/settings');
  const { operations } = getHost();
  const [me, chosen, shown, sessions] = await Promise.all([
    operations.me(caller),
    operations.ownZone(caller),
    visitorZone(),
    caller.session !== null && mayDo(caller, 'sessionsOf') ? operations.sessionsOf(caller, 'me') : [],
  ]);
  const { person } = me;
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          {person === null ? 'The admin key' : person.name} <span className="quiet">{rightsInWords(me)}</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          {person === null
            ? 'You are signed in with the admin key, which is nobody in particular: the ledger shows key:admin. Invite yourself under People to have an account of your own.'
            : `${person.email}. Your role: ${ROLE_MEANS[me.role]}.`}
        </p>
      </div>
      <PageSection
        id="zone"
        name="Time zone"
        note="In which the console shows times. Exports have them as in ISO 8601."
      >
        {person !== null && mayDo(caller, 'setOwnZone') ? (
          <ZoneForm
            action={chooseZone}
            chosen={chosen}
            shown={shown}
            zones={['UTC', ...Intl.supportedValuesOf('timeZone')]}
          />
        ) : (
          <p>{shown}, which your browser told. An account of your own may choose another.</p>
        )}
      </PageSection>
      {person !== null && mayDo(caller, 'changePassword') && (
        <PageSection id="password" name="Password" note="Changing it ends all your other sessions.">
          <WithCall name="changePassword" body={{ current: '…', next: '…' }}>
            <PasswordForm action={changePassword} email={person.email} shortest={PASSWORD_LENGTH.min} />
          </WithCall>
        </PageSection>
      )}
      <PageSection id="sessions" name="Sessions" note="Where you are signed in. A session ends after thirty days.">
        <SessionList
          person="me"
          sessions={sessions}
          rendered={renderedAt()}
          endOf={(session) => endSession.bind(null, 'me', session)}
          endAll={endSession.bind(null, 'me', null)}
        />
      </PageSection>
    </>
  );
}
