/** The notice of a link that no longer works: why, and what to do next. */
import Link from 'next/link';
import type { LinkState } from '#lib/auth/sign-ins.ts';

/** Why it does not work, as far as that is known. */
const WHY: Readonly<Record<Exclude<LinkState, 'good'>, string>> = {
  used: 'It was used already: a link lets somebody in once.',
  expired: 'Its time is over: a link from the server is good for a quarter of an hour, an invitation for a week.',
  unknown:
    'This server does not know it. It was used or withdrawn, its time is over, it is of another server, or not all of it was copied.',
};

export function InvalidLink({
  state,
  signedIn,
  to,
}: {
  state: Exclude<LinkState, 'good'>;
  signedIn: boolean;
  to: string;
}) {
  return (
    <>
      <p className="mt-4">{WHY[state]}</p>
      <div className="mt-6 border-t border-ink pt-5">
        <h2 className="part-name">What to do next</h2>
        <ul className="mt-2 grid list-disc gap-2 pl-5 text-ink-2">
          {signedIn ? (
            <li>
              You are signed in: <Link href={to}>go on to the console</Link>.
            </li>
          ) : (
            <li>
              If you have an account, <Link href="/signin">sign in with your password</Link>.
            </li>
          )}
          <li>If you were invited, ask whoever invited you for a new invitation.</li>
          <li>If you run the server, start it again in a terminal: it prints a new link.</li>
        </ul>
      </div>
    </>
  );
}
