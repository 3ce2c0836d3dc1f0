/** Shows one terminal to one browser: what stands in it, then what happens. While it is open, it counts as shown. */
import { setTimeout as pause } from 'node:timers/promises';
import { type OutputPiece, pieceOf } from '../operations/call-output.ts';
import type { TerminalReader } from '../terminals/terminal-types.ts';
import { eventText, type StreamSink } from './answer.ts';
import { toProblem } from './problem.ts';

/** A browser with more bytes than this queued is read for no further. */
const QUEUE_BYTES = 256 * 1024;
const ENTRIES = 50;
const DRAIN_POLL_MS = 20;
const BEAT_MS = 15_000;

/** The id of an event is the number of its entry. The last event, `gone`, says why the terminal went. */
export async function streamTerminal(
  reader: TerminalReader,
  after: number,
  sink: StreamSink,
  requestId: string,
): Promise<void> {
  const leave = reader.show();
  const beat = setInterval(() => sink.write(': beat\n\n'), BEAT_MS);
  try {
    sink.write('retry: 1000\n\n');
    await follow(reader, after, sink);
  } catch (error) {
    sink.write(eventText('error', toProblem(error, requestId)));
    sink.end();
  } finally {
    clearInterval(beat);
    leave();
  }
}

async function follow(reader: TerminalReader, after: number, sink: StreamSink): Promise<void> {
  // A number that an earlier server gave, or that was made up, begins anew.
  let sent = after > reader.last() ? 0 : after;
  while (!sink.gone.aborted) {
    const entries = reader.after(sent, ENTRIES);
    for (const { seq, event, data } of entries) {
      // Nobody misses what was cleared.
      if (seq > sent + 1 && event !== 'clear') sink.write(eventText('gap', { entries: seq - sent - 1 }));
      sent = seq;
      sink.write(eventText(event, isOutput(data) ? pieceIn(data.output) : data, seq));
    }
    while (sink.queuedBytes > QUEUE_BYTES && !sink.gone.aborted) await pause(DRAIN_POLL_MS);
    const because = reader.goneBecause();
    if (because !== null && sent >= reader.last()) {
      sink.write(eventText('gone', { because }));
      return sink.end();
    }
    if (sent >= reader.last()) await reader.changed(sink.gone);
  }
}

function isOutput(data: unknown): data is { output: string } {
  return typeof data === 'object' && data !== null && 'output' in data && typeof data.output === 'string';
}

/** Output as the contract has it: text when it is valid UTF-8, else base64. */
function pieceIn(output: string): OutputPiece {
  return pieceOf(output, undefined);
}
