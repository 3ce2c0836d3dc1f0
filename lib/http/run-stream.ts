/** Follows the output of one run: read from memory as fast as the client takes it, resumed at an exact byte. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunOutputReader } from '../operations/runs.ts';
import { eventText, type StreamSink } from './answer.ts';
import { toProblem } from './problem.ts';

/** A client with more bytes than this queued is read for no further; what the ring drops meanwhile it is told. */
const QUEUE_BYTES = 128 * 1024;
const READ_BYTES = 64 * 1024;
const DRAIN_POLL_MS = 20;
const BEAT_MS = 15_000;

/**
 * Sends `run` at the beginning and whenever its state changes, `stdout` and `stderr` with the offset after the piece as
 * the event's id, `gap` for what is no longer there, and at last `exit` with the run.
 */
export async function streamRun(
  reader: RunOutputReader,
  offset: number,
  sink: StreamSink,
  requestId: string,
): Promise<void> {
  const beat = setInterval(() => sink.write(': beat\n\n'), BEAT_MS);
  let leave = () => {};
  try {
    leave = reader.follow();
    sink.write('retry: 1000\n\n');
    await follow(reader, offset, sink);
  } catch (error) {
    sink.write(eventText('error', toProblem(error, requestId)));
    sink.end();
  } finally {
    leave();
    clearInterval(beat);
  }
}

async function follow(reader: RunOutputReader, offset: number, sink: StreamSink): Promise<void> {
  let at = Math.min(offset, reader.run().output_bytes);
  let told = '';
  while (!sink.gone.aborted) {
    const run = reader.run();
    if (run.state !== told && run.ended === null) sink.write(eventText('run', run, at));
    told = run.state;
    const { pieces, next } = reader.read(at, READ_BYTES);
    for (const piece of pieces) {
      if (piece.offset > at) sink.write(gap(at, piece.offset));
      at = reader.endOf(piece);
      const { stream, ...rest } = piece;
      sink.write(eventText(stream, rest, at));
    }
    if (next > at) {
      sink.write(gap(at, next));
      at = next;
    }
    while (sink.queuedBytes > QUEUE_BYTES && !sink.gone.aborted) await pause(DRAIN_POLL_MS);
    // The run as it was before the read: what it wrote until its end has been read.
    const isRead = at >= run.output_bytes;
    if (run.ended !== null && isRead) {
      sink.write(eventText('exit', run, at));
      sink.end();
      return;
    }
    const now = reader.run();
    const isUnchanged = now.state === told && now.ended === null && at >= now.output_bytes;
    if (isUnchanged) await reader.changed(sink.gone);
  }
}

function gap(from: number, to: number): string {
  return eventText('gap', { offset: from, dropped: to - from }, to);
}
