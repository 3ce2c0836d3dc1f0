/** Completion of commands and paths: the server says how a line may go on. It wakes nothing. Talks to the API only. */
import type { LineCompletion } from '#lib/contract/schema.ts';

/** Characters that are special to a shell, outside quotes and inside double quotes; single quotes make all plain. */
const SPECIAL = /[\s'"\\`$&|;<>()*?[\]#!~]/g;
const SPECIAL_QUOTED = /["\\`$]/g;

/** How the line before the cursor may go on. No names without an answer. */
export async function completionOf(id: string, line: string, cwd: string): Promise<LineCompletion> {
  try {
    const answer = await fetch(`/api/instances/${encodeURIComponent(id)}/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ line, cwd }),
    });
    if (answer.ok) return (await answer.json()) as LineCompletion;
  } catch {
    // Without an answer there is no completion.
  }
  return { begin: '', quote: null, names: [], truncated: false };
}

/** The longest common beginning of the names. */
function common(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** The text to insert: the rest of the only name, or of the common beginning. */
export function continuation({ begin, quote, names }: Pick<LineCompletion, 'begin' | 'quote' | 'names'>): string {
  const more = common(names).slice(begin.length);
  const rest =
    quote === "'" ? more.replaceAll("'", "'\\''") : more.replace(quote === null ? SPECIAL : SPECIAL_QUOTED, '\\$&');
  return names.length === 1 && !names[0]?.endsWith('/') ? `${rest}${quote ?? ''} ` : rest;
}
