/** The sign-in page: by password, by the link that the server printed, by an invitation, by the admin key. */
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { ForgetVisits } from '#components/palette/recent-visits.tsx';
import { BrandMark } from '#components/ui/brand-mark.tsx';
import { cookieRules, isLoopback } from '#lib/auth/cookies.ts';
import type { AccountOffer } from '#lib/auth/sign-ins.ts';
import { PASSWORD_LENGTH } from '#lib/contract/schema/access.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller } from '../caller.ts';
import type { SearchParams } from '../search-params.ts';
import { acceptInvitation, signIn } from './actions.ts';
import { InvalidLink } from './invalid-link.tsx';
import { JoinForm } from './join-form.tsx';
import { SignInKeyForm } from './key-form.tsx';
import { LinkForm } from './link-form.tsx';
import { SignInPasswordForm } from './password-form.tsx';
import { safePath } from './safe-path.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Sign in' };

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/**
 * The problem with the visitor's address of the server, or null: it can be read in transit, or a browser keeps no
 * session for it.
 */
async function addressConcern(): Promise<{ says: string; hint: string } | null> {
  const { config } = getHost();
  const { secure } = cookieRules(config);
  if (!secure) {
    return {
      says: 'What you type here can be read in transit: this server is not reached over https.',
      hint: 'Whoever runs it can put a proxy with TLS in front and set WB_PUBLIC_URL.',
    };
  }
  const host = (await headers()).get('host') ?? '';
  const isPublicHost = config.publicUrl !== null && new URL(config.publicUrl).host === host.toLowerCase();
  if (isPublicHost || isLoopback(host)) return null;
  return {
    says: `A browser may not keep a session at ${host}.`,
    hint: `Use ${config.publicUrl ?? `http://localhost:${config.port}`}, or set WB_PUBLIC_URL to this address if it is https.`,
  };
}

/** Role and tenants of an invitation, in words. */
function offerInWords({ role, tenants }: AccountOffer): string {
  const article = role === 'admin' || role === 'operator' ? 'an' : 'a';
  const who = role === 'support' ? 'support' : `${article} ${role}`;
  return tenants === null ? who : `${who} of ${tenants.join(', ')}`;
}

function headlineOf(offer: AccountOffer | null, isSpent: boolean): string {
  if (isSpent) return 'This link does not work any more';
  if (offer === null) return 'Sign in';
  return offer.first ? 'The first admin' : 'Join';
}

function ByKey({ to, first }: { to: string; first: boolean }) {
  return (
    <div className="mt-8 border-t border-rule-2 pt-5">
      <h2 className="part-name">By the admin key</h2>
      <p className="mt-2 text-ink-2">
        {getHost().config.adminKey !== null ? (
          <>
            It is the value of <code>WB_ADMIN_KEY</code> that the server was started with.
          </>
        ) : (
          <>
            It is in the file <code>admin.key</code> of the server’s data folder, which only its owner can read.
          </>
        )}
      </p>
      <SignInKeyForm action={signIn} to={to} first={first} />
    </div>
  );
}

export default async function SignIn({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const search = await searchParams;
  const token = first(search.token);
  const to = safePath(first(search.to));
  const { signIns } = getHost().auth;
  const [state, caller, concern, hasAdmin, hasPeople] = await Promise.all([
    token === '' ? null : signIns.linkState(token),
    currentCaller(),
    addressConcern(),
    signIns.hasAdmin(),
    signIns.hasPeople(),
  ]);
  const spent = state === null || state === 'good' ? null : state;
  const offer = state === 'good' ? await signIns.offerOf(token) : null;
  const signedIn = caller !== null;
  if (offer === null && spent === null && signedIn) redirect(to);
  return (
    <div className="page max-w-[34rem] py-16 sm:py-24">
      <ForgetVisits />
      <p className="mb-10 flex items-center gap-2.5 text-[1.0625rem] font-[620] tracking-[-0.02em]">
        <BrandMark />
        Winterdock
      </p>
      <h1 className="headline">{headlineOf(offer, spent !== null)}</h1>
      {spent !== null && <InvalidLink state={spent} signedIn={signedIn} to={to} />}
      {concern !== null && spent === null && (
        <div className="outcome outcome-bad mt-6" role="note">
          <p>{concern.says}</p>
          <p className="text-small text-ink-2">{concern.hint}</p>
        </div>
      )}
      {offer !== null && (
        <>
          <p className="mt-4 text-ink-2">
            {offer.first
              ? 'You followed the link that the server printed. It makes the account of its first admin.'
              : `You are invited as ${offerInWords(offer)}.`}
          </p>
          <JoinForm
            action={acceptInvitation}
            token={token}
            email={offer.email}
            button={offer.first ? 'Create the admin account' : 'Create the account'}
            shortest={PASSWORD_LENGTH.min}
          />
        </>
      )}
      {offer === null && state === 'good' && (
        <LinkForm action={signIn} token={token} to={to} shortest={PASSWORD_LENGTH.min} />
      )}
      {token === '' && hasPeople && <SignInPasswordForm action={signIn} to={to} />}
      {offer === null && spent === null && (
        <div className="mt-8 border-t border-ink pt-5">
          <h2 className="part-name">By the printed link</h2>
          <p className="mt-2 text-ink-2">
            {hasAdmin
              ? 'Who runs the server in a terminal finds a link there when it starts. It signs in the first admin, once, within a quarter of an hour.'
              : 'Nobody is an admin yet. The server prints a link when it starts, which makes the first admin, once, within a quarter of an hour; start it again for a new one.'}
          </p>
        </div>
      )}
      {offer === null && spent === null && <ByKey to={to} first={!hasPeople} />}
    </div>
  );
}
