/** The open sessions of a person, each with a button that ends it. */
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { PersonSession } from '#lib/contract/schema.ts';
import { type ConfirmAction, ConfirmButton } from './confirm-button.tsx';
import { browserInWords } from './words.ts';

export function SessionList({
  sessions,
  rendered,
  endOf,
  endAll,
}: {
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
              <td className="whole" title={agent ?? undefined}>
                {browserInWords(agent)}
                {current && <span className="text-ink-3"> · this one</span>}
              </td>
              <td className="left">{address === null ? 'unknown' : <code>{address}</code>}</td>
              <td className="left">
                <RelativeTime at={created} rendered={rendered} />
              </td>
              <td className="right">
                <ConfirmButton
                  action={endOf(id)}
                  button="End"
                  doing="Ending…"
                  label={`the session in ${browserInWords(agent)}${current ? ', which is this one' : ''}`}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-4">
        <ConfirmButton
          action={endAll}
          button="End them all"
          doing="Ending…"
          label=""
          ask={{ open: 'End all sessions…', says: 'Everyone who is signed in by this account has to sign in again.' }}
        />
      </div>
    </>
  );
}
