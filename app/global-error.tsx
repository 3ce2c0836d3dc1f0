'use client';
/** The frame itself could not be rendered. Stands alone: it has no styles but its own. */

export default function GlobalError({ error, retry }: { error: unknown; retry: () => void }) {
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : null;
  return (
    <html lang="en">
      <body
        style={{ font: '16px/1.5 system-ui, sans-serif', maxWidth: '34rem', margin: '4rem auto', padding: '0 1.25rem' }}
      >
        <title>Winterdock failed</title>
        <h1>The console failed to load</h1>
        <p>
          The engine may be stopping or starting. The sandboxes’ files are not touched by this. Try again; the server’s
          log says why{digest === null ? '' : ` under ${digest}`}.
        </p>
        <button type="button" onClick={() => retry()}>
          Try again
        </button>
      </body>
    </html>
  );
}
