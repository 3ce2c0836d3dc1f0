/** Follows a log: its newest lines, then those that are printed, as fast as the client takes them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PrintedLine } from '../contract/schema.ts';
import type { LogFeed, LogPage } from '../operations/logs.ts';
import { eventText, type StreamSink } from './answer.ts';

/** A client with more bytes than this queued is read for no further; what is dropped meanwhile it is told. */
const QUEUE_BYTES = 128 * 1024;
/** Lines that are queued at once. */
const LINES = 100;
const DRAIN_POLL_MS = 20;
const BEAT_MS = 15_000;

/**
 * Sends `line` for each line, oldest first, with its number as the event's id, and `gap` where some are missing:
 * `dropped` says how many, null when that is not known. Ends when the client is gone.
 */
export async function streamLog(page: LogPage, feed: LogFeed, isResumed: boolean, sink: StreamSink): Promise<void> {
  const beat = setInterval(() => sink.write(': beat\n\n'), BEAT_MS);
  try {
    sink.write('retry: 1000\n\n');
    if (isResumed && page.next !== null) sink.write(eventText('gap', { dropped: null }));
    await send(page.items.toReversed(), sink);
    while (!sink.gone.aborted) {
      const { lines, dropped } = feed.take();
      if (dropped > 0) sink.write(eventText('gap', { dropped }));
      await send(lines, sink);
      await feed.changed(sink.gone);
    }
  } finally {
    feed.leave();
    clearInterval(beat);
  }
}

async function send(lines: readonly PrintedLine[], sink: StreamSink): Promise<void> {
  for (let at = 0; at < lines.length && !sink.gone.aborted; at += LINES) {
    for (const line of lines.slice(at, at + LINES)) sink.write(eventText('line', line, line.seq));
    while (sink.queuedBytes > QUEUE_BYTES && !sink.gone.aborted) await pause(DRAIN_POLL_MS);
  }
}
