/** The way in: by the link that the server printed, or by the admin key. */
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { BrandMark } from '#components/brand-mark.tsx';
import { cookieRules, isLoopback } from '#lib/auth/cookies.ts';
import { getHost } from '#lib/host.ts';
import { currentCaller } from '../caller.ts';
import { enter } from './actions.ts';
import { KeyForm } from './key-form.tsx';
import { LinkForm } from './link-form.tsx';
import { safePath } from './safe-path.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Sign in' };

type Search = Record<string, string | string[] | undefined>;

function first(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

/** What is wrong with the address that the visitor came by, or null: whether it is readable on the way, whether it keeps a session. */
async function concernOf(): Promise<{ says: string; hint: string } | null> {
  const { config } = getHost();
  const { secure } = cookieRules(config);
  if (!secure) {
    return {
      says: 'What you type here can be read on its way: this server is not reached by https.',
      hint: 'Whoever runs it can put a proxy with TLS in front and set WB_PUBLIC_URL.',
    };
  }
  const asked = (await headers()).get('host') ?? '';
  const known = config.publicUrl !== null && new URL(config.publicUrl).host === asked.toLowerCase();
  if (known || isLoopback(asked)) return null;
  return {
    says: `A browser that came by ${asked} may not keep the session.`,
    hint: `Come by ${config.publicUrl ?? `http://localhost:${config.port}`}, or set WB_PUBLIC_URL to this address if it is https.`,
  };
}

export default async function SignIn({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const token = first(search.token);
  const to = safePath(first(search.to));
  if ((await currentCaller()) !== null) redirect(to);
  const concern = await concernOf();
  const fromEnvironment = getHost().config.adminKey !== null;
  return (
    <div className="page max-w-[34rem] py-16 sm:py-24">
      <p className="mb-10 flex items-center gap-2.5 text-[1.0625rem] font-[620] tracking-[-0.02em]">
        <BrandMark />
        Winterdock
      </p>
      <h1 className="headline">Sign in</h1>
      {concern !== null && (
        <div className="outcome outcome-bad mt-6" role="note">
          <p>{concern.says}</p>
          <p className="text-small text-ink-2">{concern.hint}</p>
        </div>
      )}
      {token !== '' && <LinkForm action={enter} token={token} to={to} />}
      <div className="mt-8 border-t border-ink pt-5">
        <h2 className="part-name">{token === '' ? 'By the printed link' : 'Another way'}</h2>
        <p className="mt-2 text-ink-2">
          The server prints a sign-in link in its terminal when it starts. It works once, for a quarter of an hour;
          start the server again for a new one.
        </p>
      </div>
      <div className="mt-8 border-t border-rule-2 pt-5">
        <h2 className="part-name">By the admin key</h2>
        <p className="mt-2 text-ink-2">
          {fromEnvironment ? (
            <>
              It is the value of <code>WB_ADMIN_KEY</code> that the server was started with.
            </>
          ) : (
            <>
              It is in the file <code>admin.key</code> of the server’s data folder, which only its owner can read.
            </>
          )}
        </p>
        <KeyForm action={enter} to={to} />
      </div>
    </div>
  );
}
