/** Output as it can be shown: bytes that are no text as U+FFFD, which whoever shows it says. Pure. */
import type { ExecAnswer } from '#lib/contract/schema.ts';

type Encoding = ExecAnswer['stdout_encoding'];

/** A piece of output as text for a screen. */
export function outputText(text: string, encoding: Encoding): string {
  if (encoding === undefined) return text;
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

/** Whether some of an answer's output is not what was said. */
export function isBinary({
  stdout_encoding,
  stderr_encoding,
}: Pick<ExecAnswer, 'stdout_encoding' | 'stderr_encoding'>): boolean {
  return stdout_encoding !== undefined || stderr_encoding !== undefined;
}
