/** Secrets that requests carry: where each goes, who set it, and the form that sets one. No value is ever shown. */
import { actorNames } from '#app/actor-names.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { nameOfActor, withinSentence } from '#components/ledger/event-words.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Secret } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../settings/confirm-button.tsx';
import { removeSecret, setSecret } from './actions.ts';
import { SecretForm } from './guest-forms.tsx';
import { type SecretOwner, secretsOf } from './owners.ts';

const SET = { sandbox: 'setInstanceSecret', tenant: 'setTenantSecret' } as const;
const REMOVE = { sandbox: 'deleteInstanceSecret', tenant: 'deleteTenantSecret' } as const;
const PARAMETER = { sandbox: 'id', tenant: 'tenant' } as const;
/** Stands for the secret in a call that is shown. */
const PLACEHOLDER = 'THE-SECRET';

interface Shown {
  owner: SecretOwner;
  mayChange: boolean;
  rendered: number;
}

async function Secrets({ secrets, owner, mayChange, rendered }: Shown & { secrets: Secret[] }) {
  if (secrets.length === 0) return <p className="mb-6 text-ink-2">None.</p>;
  const names = await actorNames(secrets.map((secret) => secret.updated_by));
  return (
    <table className="ledger ledger-cards mb-6">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Goes to</th>
          <th scope="col">Set</th>
          <th scope="col">Used</th>
          {mayChange && (
            <th scope="col">
              <span className="sr-only">Remove</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {secrets.map((secret) => (
          <tr key={`${secret.of} ${secret.name}`}>
            <td className="max-md:col-span-full [overflow-wrap:anywhere] md:min-w-44">
              <code className="font-[540]">{secret.name}</code>
              {owner.kind !== secret.of && <span className="block text-small text-ink-3">its tenant’s</span>}
            </td>
            <td className="max-md:col-span-full [overflow-wrap:anywhere] md:w-full">
              <code>{secret.url}</code>
              <span className="block text-small text-ink-2">
                as{' '}
                <code>
                  {secret.header}: {secret.format.replace('{}', '••••')}
                </code>
              </span>
            </td>
            <td className="max-md:col-start-1 text-small text-ink-2 md:whitespace-nowrap">
              <span className="md:hidden">set </span>
              <RelativeTime at={secret.updated} rendered={rendered} />{' '}
              <span className="md:block">by {withinSentence(nameOfActor(secret.updated_by, names))}</span>
            </td>
            <td className="max-md:col-start-1 text-small text-ink-2 md:whitespace-nowrap">
              {!secret.opens ? (
                <span className="text-fault-ink">lost: set it again</span>
              ) : secret.last_used === null ? (
                'not used yet'
              ) : (
                <>
                  used <RelativeTime at={secret.last_used} rendered={rendered} />
                </>
              )}
            </td>
            {mayChange && (
              <td className="max-md:col-start-1">
                {owner.kind === secret.of && (
                  <WithCall name={REMOVE[owner.kind]} path={{ [PARAMETER[owner.kind]]: owner.name, name: secret.name }}>
                    <ConfirmButton
                      action={removeSecret.bind(null, owner, secret.name)}
                      button="Remove for good"
                      doing="Removing…"
                      label={`the secret ${secret.name}`}
                      ask={{ open: 'Remove…', says: 'Requests go without it from now on.' }}
                    />
                  </WithCall>
                )}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `tenant`: whose sandbox it is, or the tenant itself. */
export async function SecretsSection({
  caller,
  owner,
  tenant,
  rendered,
}: {
  caller: Caller;
  owner: SecretOwner;
  tenant: string;
  rendered: number;
}) {
  const secrets = await secretsOf(caller, owner);
  const why = whyNot(caller, SET[owner.kind], { tenant });
  return (
    <PageSection
      id="secrets"
      name="Secrets"
      note="The server adds them to requests that the network list allows. No sandbox sees them, and nobody can read them again."
    >
      <Secrets secrets={secrets} owner={owner} mayChange={why === null} rendered={rendered} />
      {why === null ? (
        <WithCall
          name={SET[owner.kind]}
          path={{ [PARAMETER[owner.kind]]: owner.name }}
          body={{ value: PLACEHOLDER }}
          fields={{ name: { to: 'name', in: 'path' }, url: 'text', header: 'text', format: 'text' }}
        >
          <SecretForm action={setSecret.bind(null, owner)} />
        </WithCall>
      ) : (
        <DisabledAction id="secrets" label="Set the secret" whyNot={why} />
      )}
    </PageSection>
  );
}
