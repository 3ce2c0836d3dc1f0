/** The way in: by the link that the server printed, or by the admin key. */
import { redirect } from 'next/navigation';
import { BrandMark } from '#components/brand-mark.tsx';
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

export default async function SignIn({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const token = first(search.token);
  const to = safePath(first(search.to));
  if ((await currentCaller()) !== null) redirect(to);
  const fromEnvironment = getHost().config.adminKey !== null;
  return (
    <div className="page max-w-[34rem] py-16 sm:py-24">
      <p className="mb-10 flex items-center gap-2.5 text-[1.0625rem] font-[620] tracking-[-0.02em]">
        <BrandMark />
        Winterdock
      </p>
      <h1 className="headline">Sign in</h1>
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
