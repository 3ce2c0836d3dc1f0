/** Output as text for a screen: bytes that are not text become U+FFFD; the caller tells the reader. Pure. */
import type { ExecAnswer } from '#lib/contract/schema.ts';

type Encoding = ExecAnswer['stdout_encoding'];

/** A piece of output as text. */
export function outputText(text: string, encoding: Encoding): string {
  if (encoding === undefined) return text;
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

/** Whether some of an answer's output was not text. */
export function isBinary({
  stdout_encoding,
  stderr_encoding,
}: Pick<ExecAnswer, 'stdout_encoding' | 'stderr_encoding'>): boolean {
  return stdout_encoding !== undefined || stderr_encoding !== undefined;
}
