'use client';
/** The frame itself could not be rendered. Stands alone: nothing but the console's styles may be missing. */
import './globals.css';

export default function GlobalError({ error, retry }: { error: unknown; retry: () => void }) {
  // What has no name of the server's was refused before, or never came: it says itself why.
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
