/** No page has this address. */
import Link from 'next/link';

export const metadata = { title: 'Not found' };

export default function NotFound() {
  return (
    <div className="page pt-12 pb-24">
      <h1 className="headline">
        Nothing here <span className="quiet">under this address</span>
      </h1>
      <p className="mt-4 max-w-xl text-ink-2">
        The address may be mistyped, or what it named is gone. Begin at the <Link href="/">overview</Link>, look in the
        list of <Link href="/sandboxes">sandboxes</Link>, or ask the <Link href="/audit">ledger</Link> what became of
        it. The API is described at <a href="/openapi.json">/openapi.json</a>.
      </p>
    </div>
  );
}
