'use client';
/** The error page for the layout itself. It depends on nothing but the console's styles. */
import './globals.css';

export default function GlobalError({ error, retry }: { error: unknown; retry: () => void }) {
  // An error without a request id was refused earlier or never arrived: its own message says why.
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : null;
  const refused = digest === null && error instanceof Error ? error.message : null;
  return (
    <html lang="en">
      <body className="page max-w-xl pt-12 pb-24">
        <title>Winterdock failed</title>
        <h1 className="headline">The console failed to load</h1>
        <p className="mt-4 mb-6">
          {refused ?? 'The engine may be stopping or starting.'} The sandboxes’ files are not touched by this. Try
          again; the server’s log says why.
        </p>
        {digest !== null && (
          <p className="mb-6 text-small text-ink-3">
            Request <code>{digest}</code>
          </p>
        )}
        <button type="button" className="button button-ink self-start" onClick={() => retry()}>
          Try again
        </button>
      </body>
    </html>
  );
}
