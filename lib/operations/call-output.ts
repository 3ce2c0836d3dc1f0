/** The output of a call as the contract has it: text when it is valid UTF-8, else base64. Knows nothing of calls. */
import { bytesOfText, textOfBytes, unfinishedEnd } from '../workers/protocol/byte-text.ts';
import { MAX_STREAM_BYTES } from '../workers/protocol/output.ts';

type Encoding = 'base64' | undefined;

/** A piece of output: `text` is base64 when `encoding` says so. */
export interface OutputPiece {
  text: string;
  encoding?: 'base64';
}

/** Encodes a piece of output. `output` is text in which bytes that are no UTF-8 are escaped (instance/byte-text.ts). */
export function pieceOf(output: string, encoding: Encoding): OutputPiece {
  if (encoding === undefined && output.isWellFormed()) return { text: output };
  return { text: Buffer.from(bytesOfText(output)).toString('base64'), encoding: 'base64' };
}

/** Encodes the whole of both outputs. A text that was cut at the limit ends with its last whole character. */
export function outputsOf(done: { stdout: string; stderr: string }, encoding: Encoding) {
  const [stdout, stderr] = [done.stdout, done.stderr].map((output) =>
    pieceOf(encoding ? output : withoutCutCharacter(output), encoding),
  );
  return {
    stdout: stdout?.text ?? '',
    stderr: stderr?.text ?? '',
    ...(stdout?.encoding && { stdout_encoding: stdout.encoding }),
    ...(stderr?.encoding && { stderr_encoding: stderr.encoding }),
  };
}

function withoutCutCharacter(output: string): string {
  if (output.isWellFormed()) return output;
  const bytes = bytesOfText(output);
  return bytes.byteLength < MAX_STREAM_BYTES
    ? output
    : textOfBytes(bytes.subarray(0, bytes.byteLength - unfinishedEnd(bytes)));
}
