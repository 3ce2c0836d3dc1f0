/** Ids of sandboxes for the session ids of frameworks, which have other letters. Safe for the browser. */

const SANDBOX_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** The id of the sandbox of a session: its own where it may be one, else a digest of it. Always the same. */
export async function sandboxIdOf(session: string): Promise<string> {
  if (SANDBOX_ID.test(session)) return session;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(session));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `session-${hex.slice(0, 40)}`;
}
