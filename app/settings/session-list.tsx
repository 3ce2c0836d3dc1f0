/** The open sessions of a person, each with a button that ends it. */
import { WithCall } from '#components/calls/with-call.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { PersonSession } from '#lib/contract/schema.ts';
import { browserInWords } from './account-words.ts';
import { type ConfirmAction, ConfirmButton } from './confirm-button.tsx';

export function SessionList({
  person,
  sessions,
  rendered,
  endOf,
  endAll,
}: {
  /** The id of whose they are, or `me`. */
  person: string;
  sessions: readonly PersonSession[];
  rendered: number;
  endOf: (session: string) => ConfirmAction;
  endAll: ConfirmAction;
}) {
  if (sessions.length === 0) return <p className="text-ink-2">No session is open.</p>;
  return (
    <>
      <table className="ledger ledger-cards">
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Address</th>
            <th scope="col">Began</th>
            <th scope="col">
              <span className="sr-only">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ id, agent, address, created, current }) => (
            <tr key={id}>
              <td className="max-md:col-span-full" title={agent ?? undefined}>
                {browserInWords(agent)}
                {current && <span className="text-ink-3"> · this one</span>}
              </td>
              <td className="max-md:col-start-1">{address === null ? 'unknown' : <code>{address}</code>}</td>
              <td className="max-md:col-start-1">
                <RelativeTime at={created} rendered={rendered} />
              </td>
              <td className="max-md:col-start-2 text-right">
                <WithCall name="endSession" path={{ id: person }} query={{ session: id }}>
                  <ConfirmButton
                    action={endOf(id)}
                    button="End"
                    doing="Ending…"
                    label={`the session in ${browserInWords(agent)}${current ? ', which is this one' : ''}`}
                  />
                </WithCall>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-4">
        <WithCall name="endSession" path={{ id: person }}>
          <ConfirmButton
            action={endAll}
            button="End them all"
            doing="Ending…"
            label=""
            ask={{ open: 'End all sessions…', says: 'Everyone who is signed in by this account has to sign in again.' }}
          />
        </WithCall>
      </div>
    </>
  );
}
