/**
 * What a call said, as the contract has it: text when it is, else base64, and nothing in between. Knows nothing of
 * calls.
 */
import { bytesOfText, textOfBytes, unfinishedEnd } from '../instance/byte-text.ts';
import { MAX_STREAM_BYTES } from '../instance/output.ts';

type Encoding = 'base64' | undefined;

/** A piece of output: `text` is base64 when `encoding` says so. */
export interface OutputPiece {
  text: string;
  encoding?: 'base64';
}

/** A piece that was said, `said` being text in which bytes that are no UTF-8 are escaped. */
export function pieceOf(said: string, encoding: Encoding): OutputPiece {
  if (encoding === undefined && said.isWellFormed()) return { text: said };
  return { text: Buffer.from(bytesOfText(said)).toString('base64'), encoding: 'base64' };
}

/** The whole of both outputs. A text that was cut at the limit ends with its last whole character. */
export function outputsOf(done: { stdout: string; stderr: string }, encoding: Encoding) {
  const [stdout, stderr] = [done.stdout, done.stderr].map((said) => pieceOf(encoding ? said : whole(said), encoding));
  return {
    stdout: stdout?.text ?? '',
    stderr: stderr?.text ?? '',
    ...(stdout?.encoding && { stdout_encoding: stdout.encoding }),
    ...(stderr?.encoding && { stderr_encoding: stderr.encoding }),
  };
}

function whole(said: string): string {
  if (said.isWellFormed()) return said;
  const bytes = bytesOfText(said);
  return bytes.byteLength < MAX_STREAM_BYTES
    ? said
    : textOfBytes(bytes.subarray(0, bytes.byteLength - unfinishedEnd(bytes)));
}
